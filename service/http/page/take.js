// Taking an answer along: its link, its text, and the files that reference managers read.

import { announce, byId, copyOf } from "./dom.js";
import { topicOf } from "./form.js";
import { linkTo } from "./links.js";
import { exported } from "./service.js";

const FORMATS = ["markdown", "ris", "bibtex", "html", "csv", "xlsx"];
// What can be taken of a checked text, and of a result that was shared; claims and answers have all.
const OF = { text: ["text", "json", "html", "markdown", "csv", "xlsx"], shared: ["link", "text", "json", "html", "csv", "xlsx"] };

/** Gives an answer its buttons: `asked` is what the form asked, `text` the answer as plain text, `title` its name. */
export function addActions(shown, asked, answer, text, title) {
  shown.querySelector(".bar").append(copyOf("actions-template"));
  const name = slug(topicOf(asked.body) ?? title);
  const link = linkTo(asked, answer);
  const actions = {
    link: (pressed) => copy(link, pressed),
    text: (pressed) => copy(text, pressed),
    json: () => save(`${JSON.stringify(answer, null, 2)}\n`, "application/json", `counterpoint-${name}.json`),
  };
  for (const format of FORMATS) actions[format] = (pressed) => fetchAndSave(asked, format, name, pressed);
  for (const pressed of shown.querySelectorAll("[data-do]")) {
    const wanted = pressed.dataset.do;
    if (offered(wanted, asked.mode, answer)) pressed.addEventListener("click", () => actions[wanted](pressed));
    else pressed.remove();
  }
}

function offered(wanted, mode, answer) {
  // No link holds a text to check.
  if (OF[mode] && !OF[mode].includes(wanted)) return false;
  // Browsers offer the clipboard only over https or on this machine.
  if (["link", "text"].includes(wanted)) return Boolean(navigator.clipboard);
  // Of a paper that the reader gave, the service knows nothing that a reference could be made of.
  if (wanted === "json" || mode === "paper") return wanted === "json";
  return Boolean(OF[mode]) || ["markdown", "html"].includes(wanted) || listed(answer) > 0;
}

/** How many papers a reference manager would get. */
const listed = (answer) => (answer.documents?.filter((one) => one.cited) ?? [...answer.contradicting, ...answer.supporting]).length;

/** The list of formats closes where another place is pressed, and with Escape. */
function closeLists(event) {
  const open = document.querySelector(".files[open]");
  if (!open || (event.key !== "Escape" && (event.key || open.contains(event.target)))) return;
  if (open.contains(document.activeElement)) open.querySelector("summary").focus();
  open.open = false;
}
addEventListener("click", closeLists);
addEventListener("keydown", closeLists);

async function copy(text, pressed) {
  const label = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    pressed.textContent = "Not copied";
  }
  announce(pressed.textContent);
  setTimeout(() => { pressed.textContent = label; }, 1500);
}

/** The service writes these formats, from the same request: a paper's abstract is not in the answer on the page. */
async function fetchAndSave({ mode, body }, format, name, pressed) {
  const label = pressed.textContent;
  byId("trouble").textContent = "";
  // Disabled would take the keyboard away from it.
  if (pressed.getAttribute("aria-busy") === "true") return;
  pressed.setAttribute("aria-busy", "true");
  pressed.textContent = "Writing…";
  try {
    const { content, type, ending } = await exported(mode, body, format);
    save(content, type, `counterpoint-${name}${ending}`);
    announce(`${label} saved.`);
  } catch (error) {
    byId("trouble").textContent = `${label} could not be written. ${error.message}`;
  } finally {
    pressed.removeAttribute("aria-busy");
    pressed.textContent = label;
  }
}

export function save(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  saveFrom(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Saves what is at an address, which the browser fetches by itself. */
export function saveFrom(address, name) {
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
}

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "answer";
