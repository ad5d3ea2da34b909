// What the service remembers for the reader, in a list beside the form: alerts, saved claims and what was asked.

import { announce, button, byId, element, holding } from "./dom.js";
import { changesSince } from "./links.js";
import { remembered } from "./service.js";
import { judgeCards } from "./wrong.js";

const SHOWN = 8;
const TURNS = { "first contradiction": "Contradicted for the first time", "new contradiction": "Contradicted again", "support retracted": "A supporting paper was retracted" };

/** Shows the list where the service remembers anything; without a key that it asks for, there is none. */
export async function showMemory() {
  const place = byId("memory") ?? makePlace();
  try {
    const about = await remembered("memory");
    if (!about.on) return hide(place);
    const [{ alerts }, { saved }, { entries }] = await Promise.all([remembered("alerts"), remembered("saved"), remembered(`history?limit=${SHOWN}`)]);
    const parts = [alertsPart(alerts), savedPart(saved), historyPart(entries), aboutPart(about)].filter(Boolean);
    place.firstElementChild.replaceChildren(...parts);
    const empty = parts.length === 1;
    place.hidden = empty;
    delete place.dataset.off;
    document.querySelector("main").classList.toggle("remembers", !empty);
  } catch (error) {
    // A list that cannot be had keeps nobody from asking.
    if (!error.status) console.error(error);
    hide(place);
  }
  return undefined;
}

/** An answer has come: it can be saved and its cards judged, and its link may be older than the index. */
export async function remember({ mode, body }, found) {
  const changed = changesSince(found);
  if (changed.length) {
    const notice = element("p", changed.join(" "), "notice since");
    byId("answer").querySelector(".asked").after(notice);
  }
  const bar = byId("answer").querySelector(".bar");
  await showMemory();
  // A newer answer has taken its place, or there is nothing to keep it in.
  if (!bar.isConnected || byId("memory").dataset.off) return;
  judgeCards(mode === "claim" ? found : null);
  if (mode === "claim") (bar.querySelector(".actions") ?? bar).prepend(saveButton(body));
}

function makePlace() {
  const place = holding("aside", "memory", holding("div", "remembered"));
  place.id = "memory";
  place.hidden = true;
  place.setAttribute("aria-label", "Alerts, saved claims and history");
  // Last in the page: in a narrow window the answer comes before it. Where there is room it stands beside the form.
  document.querySelector("main").append(place);
  return place;
}

function hide(place) {
  place.hidden = true;
  place.dataset.off = "yes";
  document.querySelector("main").classList.remove("remembers");
}

function saveButton(body) {
  const made = button("Save and watch", "quiet save", async (pressed) => {
    if (pressed.getAttribute("aria-busy") === "true") return;
    pressed.setAttribute("aria-busy", "true");
    try {
      await remembered("saved", "POST", body);
      pressed.textContent = "Saved";
      announce("Saved. You will be told when the evidence turns.");
      await showMemory();
    } catch (error) {
      byId("trouble").textContent = `The claim could not be saved. ${error.message}`;
    } finally {
      pressed.removeAttribute("aria-busy");
    }
  });
  made.title = "The claim is checked again when the index changes";
  return made;
}

// ---- The parts of the list -------------------------------------------------------------------------------------

function alertsPart(alerts) {
  return part("Alerts", alerts.map((one) => {
    const item = row(one.claim, one.link, "Dismiss the alert", () => remembered(`alerts/${one.id}`, "DELETE"));
    item.prepend(element("p", TURNS[one.kind] ?? one.kind, one.kind === "support retracted" ? "turn gone" : "turn"));
    const by = element("p", [one.paper.title || one.paper.pmid, one.paper.year].filter(Boolean).join(", "), "by");
    by.dir = "auto";
    by.title = one.paper.sentence;
    item.append(by);
    return item;
  }), "alerts");
}

function savedPart(saved) {
  return part("Saved and watched", saved.map((one) => {
    const against = one.papers.filter((paper) => paper.stance === "contradict").length;
    const item = row(one.text, one.link, "Delete the saved claim", () => remembered(`saved/${one.id}`, "DELETE"));
    item.append(element("small", `${against} against, ${one.papers.length - against} for`));
    return item;
  }));
}

function historyPart(entries) {
  const made = part("Asked before", entries.map((one) => row(one.text, one.link, "Delete this entry", () => remembered(`history/${one.id}`, "DELETE"))));
  made?.append(button("Clear history", "plain", () => change(() => remembered("history", "DELETE"), "History cleared.")));
  return made;
}

function aboutPart({ feed, holder, saved }) {
  const whose = holder ? `for ${holder}` : "on this machine";
  const made = element("p", `Kept by this service ${whose}. `, "kept");
  if (saved) {
    const link = element("a", "Alerts as a feed");
    link.href = feed;
    made.append(link, " ");
  }
  const erase = button("Delete everything", "plain", () => {
    // Asked again in place: a dialog of the browser cannot be read back or styled.
    if (erase.dataset.sure) change(() => remembered("memory", "DELETE"), "Everything was deleted.");
    erase.dataset.sure = "yes";
    erase.textContent = "Delete history, saved claims, alerts and feedback?";
  });
  made.append(erase);
  return made;
}

function part(heading, items, className = "") {
  if (!items.length) return null;
  return holding("section", className, element("h2", `${heading} `), holding("ul", "", ...items));
}

/** A claim that opens again, with what deletes it. */
function row(text, link, label, erase) {
  const opens = element("a", text);
  // Nothing else than the page itself is ever linked to.
  opens.href = link.startsWith("#") ? link : "#";
  opens.dir = "auto";
  const gone = button("×", "erase", () => change(erase, "Deleted."));
  gone.setAttribute("aria-label", `${label}: ${text}`);
  gone.title = label;
  return holding("li", "", opens, gone);
}

async function change(act, said) {
  try {
    await act();
    announce(said);
  } catch (error) {
    announce(`This could not be deleted. ${error.message}`);
  }
  await showMemory();
  byId("text").focus();
}

