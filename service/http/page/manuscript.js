// The file that is to be checked: text goes into the field, and what the service must read (DOCX, PDF, a table) is held until asked.

import { announce, byId } from "./dom.js";
import { bytesOf, decoded, watchFiles } from "./files.js";

// What the service takes unless its operator says otherwise: 8 MiB in base64.
const MOST_BYTES = 6_000_000;

let held = null;

/** The parts of the request: the file that is held, or the text in the field. */
export const partsOf = (text) => (held && !text ? held : { text });

/** Listens for a file while `wanted()`; `told` gets its fault, or nothing where it was read. */
export function watchManuscript(wanted, told) {
  const field = byId("text");
  watchFiles({ field, input: byId("manuscript"), wanted, take, told });
  // Who writes has another text in mind.
  field.addEventListener("input", () => { if (held) release(); });
  byId("release").addEventListener("click", () => {
    release();
    announce("The file was removed.");
    field.focus();
  });
}

/** Forgets the file: another mode or another text has taken its place. */
export function release() {
  held = null;
  note("");
}

async function take(file) {
  const bytes = await bytesOf(file, MOST_BYTES, "text");
  const text = /\.(csv|tsv)$/i.test(file.name) ? null : decoded(bytes);
  const field = byId("text");
  release();
  field.value = text ?? "";
  if (text === null) {
    held = { file: await inBase64(file), name: file.name };
    note(`“${file.name}” will be read when you check it.`);
  } else {
    announce(`“${file.name}” is in the field.`);
    field.setSelectionRange(0, 0);
    field.scrollTop = 0;
  }
  field.focus();
}

function note(text) {
  byId("manuscript-note").textContent = text;
  byId("release").hidden = !text;
  if (text) announce(text);
}

/** A file's bytes in base64, as the browser writes them into an address. */
function inBase64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => failed(reader.error));
    reader.readAsDataURL(file);
  });
}
