// What stands in the claim box is looked at first: a question, keywords, a text or another language get a choice, not a verdict.

import { announce, button, byId, element, holding } from "./dom.js";
import { namesResult } from "./links.js";
import { missingFrom } from "./papers.js";
import { ground, lookAt, searched } from "./service.js";

// The text that the reader wants checked as a claim, whatever it looks like.
let wanted = "";

const plain = (text) => text.split(/\s+/).join(" ").trim();

/** Both sides of a claim, or, where it is none, what it is taken for; `tell` gets the stages of the former. */
export async function askTyped(body, signal, tell) {
  if (!body.claim || plain(body.claim) === wanted || namesResult()) return ground(body, signal, tell);
  const typed = await lookAt(body.claim, signal);
  if (typed.kind === "claim" || typed.kind === "paper") return ground(body, signal, tell);
  const hits = typed.kind === "keywords" ? (await searched(typed.text, signal)).hits : [];
  return { typed, hits };
}

/** What was typed and what can be done with it; `go(mode, text)` does it. */
export function choices({ typed, hits }, go) {
  const shown = element("div", "", "typed");
  const heading = element("h2", typed.text.length > 200 ? `${typed.text.slice(0, 200)}…` : typed.text, "asked");
  heading.id = "answered";
  heading.tabIndex = -1;
  heading.dir = "auto";
  shown.append(heading, element("p", typed.detail, "sum"), offersOf(typed, go));
  if (typed.kind === "keywords") shown.append(listOf(typed, hits, go));
  announce(typed.detail);
  return shown;
}

function offersOf(typed, go) {
  const acts = {
    answer: () => button("Answer the question", "quiet", () => go("question", typed.text)),
    text: () => button("Check this text", "quiet", () => go("text", byId("text").value)),
    ground: () => button(typed.kind === "question" ? `Check “${typed.claim}”` : "Check it as a claim all the same", "quiet", () => asClaim(typed.claim || typed.text, go)),
  };
  return holding("div", "offers", ...typed.offers.filter((one) => acts[one]).map((one) => acts[one]()), ...spelt(typed, go));
}

function asClaim(text, go) {
  wanted = plain(text);
  go("claim", text);
}

/** An offer for each word that the index does not know. */
const spelt = (typed, go) =>
  typed.suggestions.map(({ word, instead }) => button(`“${word}” is in no paper: try “${instead}”`, "quiet", () => go("claim", typed.text.replace(word, instead))));

/** The papers that hold the keywords; one of them opens by its id. */
function listOf(typed, hits, go) {
  if (!hits.length) return element("p", missingFrom(typed) || "No paper in this index has these words.", "none");
  const list = element("ol", "", "plain hits");
  for (const { pmid, title, year, journal, retracted } of hits) {
    const facts = [journal, year, pmid, retracted ? "retracted" : ""].filter(Boolean).join(" · ");
    list.append(holding("li", "", button(title || "(no title)", "link", () => go("claim", pmid)), element("small", ` ${facts}`)));
  }
  return holding("div", "found", element("h3", "Papers with these words, best match first"), list);
}

/** What the reader should know of what was typed, above its result; null where it is surely a claim, of known words. */
export function noteOf(typed, go) {
  const offers = typed ? spelt(typed, go) : [];
  const unsure = typed?.kind === "claim" && typed.offers.includes("search");
  if (!typed || (typed.kind !== "paper" && !unsure && !offers.length)) return null;
  const note = element("div", "", "typed told");
  if (typed.kind === "paper" || unsure) note.append(element("p", typed.detail));
  if (unsure) offers.push(button("List the papers with these words", "quiet", () => listWords(typed, note, go)));
  if (offers.length) note.append(holding("div", "offers", ...offers));
  return note;
}

/** Puts the papers with the words of a claim that may be keywords in place of the note on it. */
async function listWords(typed, note, go) {
  const found = await searched(typed.text).catch((fault) => fault);
  note.replaceChildren(found.hits ? listOf(typed, found.hits, go) : element("p", found.message, "none"));
}
