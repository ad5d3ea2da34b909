// The paper that the reader gives: pasted, chosen or dropped. It stands in its field, and goes nowhere but into the request.

import { announce, byId, count } from "./dom.js";
import { Told } from "./service.js";

// Far beyond any paper: a larger file would hold up the browser before the service could refuse it.
const MOST_BYTES = 10_000_000;
const EXPECTED = "expected plain text, JATS XML or a JSON list of sentences";

/** The field of the request that a paper goes into, told by how it begins. */
export function partOf(paper) {
  const given = paper.trim();
  if (given.startsWith("<")) return { jats: given };
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
export const formatOf = ({ jats, sentences }) => (jats !== undefined ? "JATS XML" : sentences ? "a list of sentences" : "plain text");

/** The text into which the service's offsets point; "" for JATS, whose paragraphs the page never sees. */
export function textOf({ text, sentences }) {
  if (sentences) return sentences.map((one) => one.trim().replace(/\s+/g, " ")).join("\n");
  return text ?? "";
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

/**
 * Listens for files. While `wanted()`, one may be dropped anywhere: a browser opens a file that misses its field, and all that was
 * typed is gone. `told` gets a file's fault, or nothing where one was read.
 */
export function watchFiles(wanted, told) {
  const field = byId("paper");
  const take = async (files) => {
    try {
      await takeFile(files);
      told();
    } catch (error) {
      told(error);
    }
  };
  field.addEventListener("input", () => notePaper(""));
  byId("file").addEventListener("change", async ({ target }) => {
    if (target.files.length) await take([...target.files]);
    // Else choosing the same file again would be no change.
    target.value = "";
  });
  const over = (event) => {
    const file = wanted() && [...event.dataTransfer.types].includes("Files");
    field.classList.toggle("over", file && event.type === "dragover");
    if (file) event.preventDefault();
    return file;
  };
  addEventListener("dragover", over);
  addEventListener("dragleave", () => field.classList.remove("over"));
  addEventListener("drop", (event) => {
    if (over(event)) take([...event.dataTransfer.files]);
  });
}

async function takeFile(files) {
  if (files.length !== 1) throw faulty(`${count(files.length, "file")} given: expected one paper.`);
  const [file] = files;
  const text = await read(file);
  fillPaper(text, `“${file.name}” is in the field, as ${formatOf(partOf(text))}.`);
  byId("paper").focus();
  byId("paper").setSelectionRange(0, 0);
  byId("paper").scrollTop = 0;
}

/** A file's text; what is no text, or no paper, is told before anything is made of it. */
async function read(file) {
  if (file.size > MOST_BYTES) throw faulty(`“${file.name}” has more than ${MOST_BYTES / 1e6} MB: expected one paper.`);
  const bytes = await file.arrayBuffer().catch(() => {
    throw faulty(`“${file.name}” could not be read: expected a file that the browser may read.`);
  });
  const text = decoded(bytes);
  if (text === null) throw faulty(`“${file.name}” is not UTF-8 text: ${EXPECTED}; for a PDF, copy and paste its text.`);
  if (/\.json$/i.test(file.name) && !partOf(text).sentences) throw faulty(`“${file.name}” is not a list of sentences: ${EXPECTED}.`);
  return text;
}

/** Text in UTF-8; null for anything else, a PDF among it even where its bytes would pass. */
function decoded(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") || text.startsWith("%PDF-") ? null : text;
  } catch {
    return null;
  }
}

const faulty = (message) => new Told(message, { field: "paper" });
