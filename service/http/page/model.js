// A language model set up by who may: its server's models, a trial, on and off again. The key is named and never typed here.

import { announce, button, byId, element } from "./dom.js";
import { call } from "./service.js";

const given = () => ({ address: byId("model-address").value.trim(), key_env: byId("model-key").value.trim() || undefined });

/** Shows the form where the reader may set up a model, and the operator lets it be set up here. */
export async function showModel(may) {
  const form = byId("model");
  const state = may ? await call("model").catch(() => null) : null;
  form.hidden = !state;
  if (state) fill(state);
}

/** Which model is in use, what its trial found, and what switches it on or off. */
function fill({ in_use: used, tried, profile }) {
  const shown = used ?? tried;
  const line = used ? "In use:" : tried ? "Tried and not in use:" : `None is in use; the profile ${profile} reads and writes.`;
  const parts = [element("p", shown ? `${line} ${shown.description}` : line)];
  if (shown?.remote) parts.push(element("p", `Claims, questions and abstracts ${used ? "are" : "would be"} sent to ${shown.address}.`, "fault"));
  if (used) parts.push(button("Switch it off", "quiet", () => switchTo({ on: false })));
  if (tried) parts.push(button(used ? `Use ${tried.model} instead` : "Use it", "quiet", () => switchTo({ on: true, model: tried.model, address: tried.address })));
  byId("model-state").replaceChildren(...parts);
}

const switchTo = (body) => doing("Loading the models…", async () => {
  fill(await call("model", "PUT", body));
  return body.on ? "The language model is in use." : "The language model is switched off.";
});

/** Says what is done and how it ended; a fault stands where it is read out. */
async function doing(what, act) {
  const told = byId("model-told");
  byId("model-trouble").textContent = "";
  told.textContent = what;
  try {
    told.textContent = await act();
    announce(told.textContent);
  } catch (error) {
    told.textContent = "";
    byId("model-trouble").textContent = error.message;
  }
}

byId("model-list").addEventListener("click", () => doing("Asking the server…", async () => {
  const { models, warning } = await call("model/names", "POST", given());
  byId("model-name").replaceChildren(...models.map((name) => element("option", name)));
  byId("model-choice").hidden = byId("model-try").hidden = !models.length;
  return models.length ? `Choose a model and try it. ${warning}`.trim() : "The server lists no model; load one there.";
}));

byId("model").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byId("model-try").hidden) {
    byId("model-list").click();
    return;
  }
  doing("It reads eight claims about invented papers; a slow model takes minutes…", async () => {
    const { sentences, warning } = await call("model/trial", "POST", { ...given(), model: byId("model-name").value });
    fill(await call("model"));
    return [...sentences, warning].filter(Boolean).join(" ");
  });
});
