// What stands in the claim box is looked at first: a question, keywords, a text or another language get a choice, not a verdict.

import { announce, button, byId, element, holding } from "./dom.js";
import { pmidOf } from "./evidence.js";
import { namesResult } from "./links.js";
import { missingFrom } from "./papers.js";
import { ground, lookAt, searched } from "./service.js";

// The text that the reader wants checked as a claim, whatever it looks like.
let wanted = "";

const plain = (text) => text.split(/\s+/).join(" ").trim();

/** Both sides of a claim, or, where it is none, what it is taken for; `onProgress` gets the stages of the former. */
export async function askInput(body, signal, onProgress) {
  if (!body.claim || plain(body.claim) === wanted || namesResult()) return ground(body, signal, onProgress);
  const input = await lookAt(body.claim, signal);
  if (input.kind === "claim" || input.kind === "paper") return ground(body, signal, onProgress);
  const hits = input.kind === "keywords" ? (await searched(input.text, signal)).hits : [];
  return { input, hits };
}

/** What was typed and what can be done with it; `go(mode, text)` does it. */
export function choices({ input, hits }, go) {
  const shown = element("div", "", "input");
  const heading = element("h2", input.text.length > 200 ? `${input.text.slice(0, 200)}…` : input.text, "asked");
  heading.id = "answered";
  heading.tabIndex = -1;
  heading.dir = "auto";
  shown.append(heading, element("p", input.detail, "sum"), offersOf(input, go));
  if (input.kind === "keywords") shown.append(listOf(input, hits, go));
  announce(input.detail);
  return shown;
}

function offersOf(input, go) {
  const acts = {
    answer: () => button("Answer the question", "quiet", () => go("question", input.text)),
    text: () => button("Check this text", "quiet", () => go("text", byId("text").value)),
    ground: () => button(input.kind === "question" ? `Check “${input.claim}”` : "Check it as a claim all the same", "quiet", () => asClaim(input.claim || input.text, go)),
  };
  return holding("div", "offers", ...input.offers.filter((one) => acts[one]).map((one) => acts[one]()), ...spelt(input, go));
}

function asClaim(text, go) {
  wanted = plain(text);
  go("claim", text);
}

/** An offer for each word that the index does not know. */
const spelt = (input, go) =>
  input.suggestions.map(({ word, instead }) => button(`“${word}” is in no paper: try “${instead}”`, "quiet", () => go("claim", input.text.replace(word, instead))));

/** The papers that hold the keywords, or what to say where there are none. */
function listOf(input, hits, go) {
  if (!hits.length) return element("p", missingFrom(input) || "No paper in this index has these words.", "none");
  const named = hits.filter((one) => one.why);
  const others = hits.filter((one) => !one.why);
  const parts = [[named, named.length > 1 ? "Papers that you may mean" : "The paper that you may mean"], [others, "Papers with these words, best match first"]];
  return holding("div", "found", ...parts.filter(([papers]) => papers.length).flatMap(([papers, words]) => [element("h3", words), listed(papers, go)]));
}

/** Papers by title, with what they are and what named them; one is checked by its id. */
function listed(papers, go) {
  const list = element("ol", "", "plain hits");
  for (const { pmid, doi, title, authors, year, journal, retracted, why } of papers) {
    const families = authors.map((one) => one.split(",")[0]);
    const by = [...families.slice(0, 3), families.length > 3 ? "et al." : ""].filter(Boolean).join(", ");
    const facts = [by, journal, year, retracted ? "retracted" : ""].filter(Boolean).join(" · ");
    const known = holding("small", "", facts, " · ", pmidOf(pmid, doi), why ? ` · found by ${why}` : "");
    list.append(holding("li", "", button(title || "(no title)", "link", () => go("claim", pmid)), known));
  }
  return list;
}

/** What was found for a paper to be found: it, or papers with the words; pressed, one is checked by what it finds. */
export function foundPapers({ query, hits, note }, go) {
  const heading = Object.assign(element("h2", query.length > 200 ? `${query.slice(0, 200)}…` : query, "asked"), { id: "answered", tabIndex: -1, dir: "auto" });
  const told = note || (hits.some((one) => one.why) ? "Press a title to check what the paper finds." : hits.length ? "Nothing here names one paper of this index for certain." : "");
  const shown = holding("div", "input", heading, ...(told ? [element("p", told, "sum")] : []), ...(hits.length || !note ? [listOf(null, hits, go)] : []));
  announce(told || "No paper in this index has these words.");
  return shown;
}

/** What the reader should know of what was typed, above its result; null where it is surely a claim, of known words. */
export function noteOf(input, go) {
  const offers = input ? spelt(input, go) : [];
  const unsure = input?.kind === "claim" && input.offers.includes("search");
  if (!input || (input.kind !== "paper" && !unsure && !offers.length)) return null;
  const note = element("div", "", "input told");
  if (input.kind === "paper" || unsure) note.append(element("p", input.detail));
  if (unsure) offers.push(button("List the papers with these words", "quiet", () => listWords(input, note, go)));
  if (offers.length) note.append(holding("div", "offers", ...offers));
  return note;
}

/** Puts the papers with the words of a claim that may be keywords in place of the note on it. */
async function listWords(input, note, go) {
  const found = await searched(input.text).catch((fault) => fault);
  note.replaceChildren(found.hits ? listOf(input, found.hits, go) : element("p", found.message, "none"));
}
