// The paper that the reader gives: pasted, chosen or dropped. It stands in its field, and goes nowhere but into the request.

import { announce, byId } from "./dom.js";
import { bytesOf, decoded, watchFiles } from "./files.js";
import { Told } from "./service.js";

// Far beyond any paper: a larger file would hold up the browser before the service could refuse it.
const MOST_BYTES = 10_000_000;
const EXPECTED = "expected plain text, JATS XML or a JSON list of sentences";
// A paper of the index: one word, which no paper is.
const ID = /^(?:PMID:?\s*)?\S{1,200}$/i;

/** The field of the request that a paper goes into, told by how it begins. */
export function partOf(paper) {
  const given = paper.trim();
  if (given.startsWith("<")) return { jats: given };
  if (ID.test(given)) return { pmid: given };
  const sentences = sentencesIn(given);
  return sentences ? { sentences } : { text: given };
}

/** The texts of a JSON list of texts; null for everything else. */
function sentencesIn(given) {
  if (!given.startsWith("[")) return null;
  try {
    const list = JSON.parse(given);
    return list.every((one) => typeof one === "string") ? list : null;
  } catch {
    // A text may begin with a bracket too.
    return null;
  }
}

/** What a paper was sent as, in words. */
export function formatOf({ pmid, jats, sentences }) {
  if (pmid !== undefined) return "a paper of the index";
  return jats !== undefined ? "JATS XML" : sentences ? "a list of sentences" : "plain text";
}

// ---- The field -------------------------------------------------------------------------------------------------

/** Puts a paper into its field, with a word on where it comes from. */
export function fillPaper(text, note = "") {
  byId("paper").value = text;
  notePaper(note);
}

/** Says something of the paper beside its field. */
export function notePaper(text) {
  byId("paper-note").textContent = text;
  if (text) announce(text);
}

/** Listens for the paper's file while `wanted()`; `told` gets its fault, or nothing where it was read. */
export function watchPaper(wanted, told) {
  const field = byId("paper");
  field.addEventListener("input", () => notePaper(""));
  watchFiles({ field, input: byId("file"), wanted, take, told });
}

async function take(file) {
  const text = await read(file);
  fillPaper(text, `“${file.name}” is in the field, as ${formatOf(partOf(text))}.`);
  byId("paper").focus();
  byId("paper").setSelectionRange(0, 0);
  byId("paper").scrollTop = 0;
}

/** A file's text; what is no text, or no paper, is told before anything is made of it. */
async function read(file) {
  const text = decoded(await bytesOf(file, MOST_BYTES, "paper"));
  if (text === null) throw faulty(`“${file.name}” is not UTF-8 text: ${EXPECTED}; for a PDF, copy and paste its text.`);
  if (/\.json$/i.test(file.name) && !partOf(text).sentences) throw faulty(`“${file.name}” is not a list of sentences: ${EXPECTED}.`);
  return text;
}

const faulty = (message) => new Told(message, { field: "paper" });
