// What the service remembers for the reader, in a menu: alerts, saved claims and what was asked.

import { claimOf } from "./verdict.js";
import { announce, button, byId, count, element, holding } from "./dom.js";
import { mayShare } from "./library.js";
import { call } from "./service.js";
import { shareButton } from "./share.js";
import { judgeCards } from "./wrong.js";

const SHOWN = 8;
const TURNS = { "first contradiction": "Contradicted for the first time", "new contradiction": "Contradicted again", "support retracted": "A supporting paper was retracted", "paper removed": "A paper is no longer in the library" };

/** Fills the menu where the service remembers anything; without a key that it asks for, there is none. */
export async function showMemory() {
  const menu = byId("memory");
  const opens = byId("history");
  try {
    const about = await call("memory");
    opens.hidden = !about.on;
    if (!about.on) return;
    const shares = mayShare().then((may) => (may ? call("shared") : { shared: [] }));
    const [{ alerts }, { saved }, { shared }, { entries }] = await Promise.all([call("alerts"), call("saved"), shares, call(`history?limit=${SHOWN}`)]);
    const parts = [alertsPart(alerts), savedPart(saved), sharedPart(shared), historyPart(entries)].filter(Boolean);
    if (!parts.length) parts.push(element("p", "Nothing was asked yet."));
    menu.replaceChildren(...parts, aboutPart(about));
    opens.textContent = alerts.length ? `History · ${count(alerts.length, "alert")}` : "History";
  } catch (error) {
    // A list that cannot be had keeps nobody from asking.
    if (!error.status) console.error(error);
    opens.hidden = true;
  }
}

// What opens again takes the menu's place.
byId("memory").addEventListener("click", (event) => {
  if (event.target.closest("li > a")) byId("memory").hidePopover();
});

/** An answer has come: it can be saved and shared, and its cards judged; none of this for one that was shared. */
export async function remember({ mode, body }, found) {
  const bar = byId("answer").querySelector(".actions");
  // The cards of an earlier claim are gone.
  judgeCards(null);
  if (mode === "shared") return;
  await showMemory();
  const share = mode !== "paper" && (await mayShare());
  // A newer answer has taken its place, or there is nothing to keep it in.
  if (!bar.isConnected || byId("history").hidden) return;
  if (share) bar.prepend(shareButton({ mode, body }, found, showMemory));
  judgeCards(mode === "claim" ? found : null);
  const claim = mode === "claim" ? body : found.verdict && { claim: claimOf(found.verdict) };
  if (claim) bar.prepend(saveButton(claim));
}

function saveButton(body) {
  const made = button("Save and watch", "quiet save", async (pressed) => {
    if (pressed.getAttribute("aria-busy") === "true") return;
    pressed.setAttribute("aria-busy", "true");
    try {
      await call("saved", "POST", body);
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

/** The reader's saved claims that rest on these papers of a library (null: on any), in a sentence; "" where there are none. */
export async function claimsResting(library, pmids = null) {
  const { saved } = await call(`saved?library=${encodeURIComponent(library)}`).catch(() => ({ saved: [] }));
  const texts = saved.filter(({ papers }) => !pmids || papers.some(({ pmid }) => pmids.has(pmid))).map(({ text }) => `“${text}”`);
  const more = texts.length > SHOWN ? ` and ${texts.length - SHOWN} more` : "";
  return texts.length ? `${count(texts.length, "saved claim")} ${texts.length === 1 ? "rests" : "rest"} on ${pmids ? "what you chose" : "it"}: ${texts.slice(0, SHOWN).join("; ")}${more}.` : "";
}

// ---- The parts of the list -------------------------------------------------------------------------------------

function alertsPart(alerts) {
  return part("Alerts", alerts.map((one) => {
    const item = row(one.claim, one.link, "Dismiss the alert", () => call(`alerts/${one.id}`, "DELETE"));
    item.prepend(element("p", TURNS[one.kind] ?? one.kind, one.kind.endsWith("contradiction") ? "turn" : "turn gone"));
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
    const item = row(one.text, one.link, "Delete the saved claim", () => call(`saved/${one.id}`, "DELETE"));
    item.append(element("small", `${against} against, ${one.papers.length - against} for`));
    return item;
  }));
}

function sharedPart(shared) {
  return part("Shared", shared.map((one) => {
    const item = row(one.title, one.link, "Withdraw the shared result", () => call(`shared/${one.id}`, "DELETE"));
    item.append(element("small", [new Date(one.at).toLocaleDateString("en-GB", { dateStyle: "long" }), one.library_name, one.by].filter(Boolean).join(" · ")));
    return item;
  }));
}

function historyPart(entries) {
  const made = part("Asked before", entries.map((one) => row(one.text, one.link, "Delete this entry", () => call(`history/${one.id}`, "DELETE"))));
  made?.append(button("Clear history", "plain", () => change(() => call("history", "DELETE"), "History cleared.")));
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
    if (erase.dataset.sure) change(() => call("memory", "DELETE"), "Everything was deleted.");
    erase.dataset.sure = "yes";
    erase.textContent = "Delete history, saved claims, alerts, feedback and shared results?";
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
  byId("memory").focus();
}

