// Files that the reader chooses or drops: they are read here, and go nowhere but into the request.

import { count } from "./dom.js";
import { Told } from "./service.js";

/**
 * Listens for files at an input. While `wanted()`, one may be dropped anywhere: a browser opens a file that misses its field, and all
 * that was typed is gone. `field` shows that one would be taken, `take` gets it, and `told` its fault, or nothing where it was read.
 * An input that takes several may get several, one after the other.
 */
export function watchFiles({ field, input, wanted, take, told }) {
  const takeAll = async (files) => {
    try {
      if (!input.multiple && files.length !== 1) throw new Told(`${count(files.length, "file")} given: expected one.`, { field: field.id });
      for (const file of files) await take(file);
      told();
    } catch (error) {
      told(error);
    }
  };
  input.addEventListener("change", async () => {
    if (input.files.length) await takeAll([...input.files]);
    // Else choosing the same file again would be no change.
    input.value = "";
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
    if (over(event)) takeAll([...event.dataTransfer.files]);
  });
}

/** A file's bytes; `field` is where its fault is told. */
export async function bytesOf(file, most, field) {
  if (file.size > most) throw new Told(`“${file.name}” has more than ${most / 1e6} MB: expected a smaller file.`, { field });
  return file.arrayBuffer().catch(() => {
    throw new Told(`“${file.name}” could not be read: expected a file that the browser may read.`, { field });
  });
}

/** Text in UTF-8; null for anything else, a PDF among it even where its bytes would pass. */
export function decoded(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") || text.startsWith("%PDF-") ? null : text;
  } catch {
    return null;
  }
}
