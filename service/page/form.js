// The form: what is asked, and the link that asks it again.

import { byId } from "./dom.js";

const WORDS = {
  claim: { go: "Check claim", working: "Checking…", hint: "one sentence that can be true or false", more: "Question and known PMIDs" },
  question: { go: "Answer", working: "Answering…", hint: "answered in a few sentences, each with citations that were checked", more: "Narrative: who asks, and what for" },
};

// What the reader chose by hand stays until the box is empty again.
let chosen = false;

export const words = (mode = modeOf()) => WORDS[mode];

/** Whether a claim is to be checked or a question answered. */
export const modeOf = () => (byId("mode-question").checked ? "question" : "claim");

/** Turns the switch, and shows what belongs to it. */
export function setMode(mode) {
  byId(`mode-${mode}`).checked = true;
  byId("hint").textContent = words().hint;
  byId("what").textContent = mode === "claim" ? "Claim" : "Question";
  byId("more").querySelector("summary").textContent = words().more;
  byId("go").textContent = words().go;
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== mode;
}

/** What ends with a question mark is a question, in the scripts that have one of their own too. */
const seemsQuestion = (text) => /[?？؟]["'”’»)\]\s]*$/.test(text);

function suggest() {
  const text = byId("text").value;
  if (!text.trim()) chosen = false;
  if (!chosen && text.trim()) setMode(seemsQuestion(text) ? "question" : "claim");
}

/** What the form asks for: the mode, and the body of its request. */
export function asked() {
  const value = (id) => byId(id).value.trim();
  const mode = modeOf();
  if (mode === "question") return { mode, body: { question: value("text"), narrative: value("narrative") } };
  const known_pmids = value("known").split(/[\s,;]+/).filter(Boolean);
  return { mode, body: { claim: value("text"), question: value("question"), known_pmids } };
}

/** The same as the part of a link after “#”: the link opens the answer, and the server's log never sees what was asked. */
export function toHash({ body }) {
  const { known_pmids = [], ...texts } = body;
  const parts = [...Object.entries(texts), ["known", known_pmids.join(",")]].filter(([, value]) => value);
  return parts.length ? "#" + parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&") : "";
}

/** Fills the form from the link; true where it holds something to ask. A link with a claim has the question for its context. */
export function fromHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const get = (name) => given.get(name) ?? "";
  const mode = !given.has("claim") && given.has("question") ? "question" : "claim";
  chosen = [...given].length > 0;
  setMode(mode);
  byId("text").value = get(mode);
  byId("question").value = mode === "claim" ? get("question") : "";
  byId("known").value = get("known");
  byId("narrative").value = get("narrative");
  byId("more").open = mode === "claim" ? given.has("question") || given.has("known") : given.has("narrative");
  return given.has(mode);
}

/** Shows which example is in the form. */
export function markExample(text) {
  for (const example of document.querySelectorAll("[data-example]")) {
    example.setAttribute("aria-pressed", String(example.dataset.example === text));
  }
}

/** Listens to the form; `submit` is called when the reader wants an answer. */
export function watchForm(submit) {
  for (const mode of ["claim", "question"]) {
    byId(`mode-${mode}`).addEventListener("change", () => {
      chosen = true;
      setMode(mode);
    });
  }
  byId("text").addEventListener("input", suggest);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("form").addEventListener("keydown", (event) => {
    // Enter that ends the choice of a character (Japanese, Chinese) is not the wish to send.
    if (event.key !== "Enter" || event.isComposing) return;
    const plain = event.target === byId("text") && !event.shiftKey;
    const anywhere = (event.ctrlKey || event.metaKey) && event.target.matches("textarea, input");
    if (!plain && !anywhere) return;
    event.preventDefault();
    submit();
  });
  for (const example of document.querySelectorAll("[data-example]")) {
    example.title = example.dataset.example;
    example.addEventListener("click", () => {
      for (const id of ["question", "known", "narrative"]) byId(id).value = "";
      byId("text").value = example.dataset.example;
      submit();
    });
  }
}
