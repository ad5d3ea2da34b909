// The form: what is asked, and the link that asks it again.

import { byId } from "./dom.js";
import { examplePaper, offerExamples } from "./example.js";
import { partsOf, release, watchManuscript } from "./manuscript.js";
import { fillPaper, notePaper, partOf, watchPaper } from "./paper.js";
import { inLibrary } from "./service.js";

const WORDS = {
  claim: { what: "Claim", go: "Check claim", working: "Checking…", hint: "one sentence that can be true or false", more: "Question, known PMIDs, full texts" },
  question: { what: "Question", go: "Answer", working: "Answering…", hint: "answered briefly, with citations", more: "Narrative: who asks, and why" },
  paper: { what: "Hypothesis", go: "Find evidence", working: "Reading…", hint: "one sentence that the paper may support or contradict" },
  text: { what: "Text", go: "Check text", working: "Checking…", hint: "a paragraph, a manuscript or a language model’s answer: pasted, or a file" },
  find: { what: "Paper", go: "Find", working: "Finding…", hint: "author and year, words of the title, a reference, PMID or DOI" },
};
// How many sentences of a paper are chosen unless the reader says otherwise.
const SENTENCES = 5;

// A link holds these and nothing else: a paper may be long, or not for everyone's eyes.
const LINKED = ["claim", "find", "question", "narrative", "hypothesis", "k", "results_only", "full_text"];

// What the reader chose by hand stays until the box is empty again.
let chosen = false;
// Called when an example is chosen.
let submitted = () => {};

export const words = (mode = modeOf()) => WORDS[mode];

/** Whether a claim is to be checked, a question answered, a paper read or found. */
export const modeOf = () => Object.keys(WORDS).find((mode) => byId(`mode-${mode}`).checked);

/** What is asked about, in the reader's words. A claim may come with a question as its context. */
export const topicOf = ({ claim, find, hypothesis, question, text, name }) => claim ?? find ?? hypothesis ?? question ?? text ?? name;

/** Turns the switch, and shows what belongs to it. */
export function setMode(mode) {
  byId(`mode-${mode}`).checked = true;
  byId("hint").textContent = words().hint;
  byId("what").textContent = words().what;
  byId("more").querySelector("summary").textContent = words().more ?? "";
  byId("go").textContent = words().go;
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(mode);
  placeButton(byId(mode === "paper" ? "options" : "ask"));
  byId("ask").classList.toggle("long", mode === "text");
  byId("text").enterKeyHint = mode === "text" ? "enter" : "search";
  offerExamples(mode, askExample);
}

/** The examples of this mode, once the service has made them. */
export const showExamples = () => offerExamples(modeOf(), askExample);

/** Asks an example, with nothing else that may stand in the form. */
function askExample(asked) {
  for (const id of ["question", "known", "narrative"]) byId(id).value = "";
  byId("full-text").checked = false;
  if (modeOf() === "paper") {
    byId("count").value = SENTENCES;
    byId("results-only").checked = false;
    fillPaper(examplePaper());
  }
  byId("text").value = asked;
  release();
  submitted();
}

/** The button comes after all that is asked with it, for the eye and for the keyboard. */
function placeButton(place) {
  // Moved to where it is, it would lose the keyboard.
  if (byId("go").parentElement !== place) place.append(byId("go"));
}

/** What ends with a question mark is a question, in the scripts that have one of their own too. */
const seemsQuestion = (text) => /[?？؟]["'”’»)\]\s]*$/.test(text);

/** Three sentences or more, and longer than a claim is. */
const seemsText = (text) => text.length > 300 && (text.match(/[.!?]\s+\S/g) ?? []).length > 1;

function suggest() {
  // A hypothesis looks like a claim, a title like a question, and a text is written sentence by sentence: only the reader leaves these.
  if (["paper", "text", "find"].includes(modeOf())) return;
  const text = byId("text").value;
  if (!text.trim()) chosen = false;
  if (!chosen && text.trim()) setMode(seemsText(text) ? "text" : seemsQuestion(text) ? "question" : "claim");
}

/** What the form asks for: the mode, and the body of its request. */
export function asked() {
  const value = (id) => byId(id).value.trim();
  const mode = modeOf();
  if (mode === "question") return { mode, body: { question: value("text"), narrative: value("narrative") } };
  if (mode === "paper") {
    const results_only = byId("results-only").checked;
    return { mode, body: { hypothesis: value("text"), k: byId("count").valueAsNumber, results_only, ...partOf(byId("paper").value) } };
  }
  if (mode === "text") return { mode, body: partsOf(value("text")) };
  if (mode === "find") return { mode, body: { find: value("text") } };
  const known_pmids = value("known").split(/[\s,;]+/).filter(Boolean);
  const full_text = byId("full-text").checked;
  return { mode, body: { claim: value("text"), question: value("question"), known_pmids, ...(full_text && { full_text }) } };
}

/** The same as the part of a link after “#”: the link opens the answer, and the server's log never sees what was asked. */
export function toHash({ mode, body }) {
  if (mode === "text") return "#mode=text";
  const named = LINKED.map((name) => [name, body[name]]);
  const parts = [...named, ["known", (body.known_pmids ?? []).join(",")]].filter(([, value]) => value);
  if (parts.length && inLibrary()) parts.push(["library", inLibrary()]);
  return parts.length ? "#" + parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&") : "";
}

/**
 * Fills the form from the link; true where it holds all that is to be asked, which for a paper it never does. A link with a claim
 * has the question for its context.
 */
export function fromHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const get = (name) => given.get(name) ?? "";
  const mode = given.get("mode") === "text" ? "text" : given.has("find") ? "find" : given.has("claim") ? "claim" : given.has("hypothesis") ? "paper" : given.has("question") ? "question" : "claim";
  chosen = [...given].length > 0;
  setMode(mode);
  // A link holds no text to check: what stands in the box stays.
  if (mode !== "text") byId("text").value = get(mode === "paper" ? "hypothesis" : mode);
  byId("count").value = given.get("k") ?? SENTENCES;
  byId("results-only").checked = get("results_only") === "true";
  if (mode === "paper") notePaper(byId("paper").value ? "" : "Links do not include the paper: paste it or choose its file.");
  byId("question").value = mode === "claim" ? get("question") : "";
  byId("known").value = get("known");
  byId("full-text").checked = get("full_text") === "true";
  byId("narrative").value = get("narrative");
  byId("more").open = mode === "claim" ? given.has("question") || given.has("known") || given.has("full_text") : given.has("narrative");
  return mode !== "text" && given.has(mode);
}

/** Offers to read full texts alone where the index has some. */
export function offerFullTexts(some) {
  byId("full-text-option").hidden = !some;
  if (!some) byId("full-text").checked = false;
}

/** Shows which example was asked; another paper with the same hypothesis is none. */
export function markExample({ body } = { body: {} }) {
  // As the form sends it: without white space at its ends.
  const own = body.hypothesis !== undefined && body.text !== examplePaper().trim();
  for (const example of document.querySelectorAll("[data-example]")) {
    example.setAttribute("aria-pressed", String(!own && example.dataset.example === topicOf(body)));
  }
}

/** Listens to the form; `submit` is called when the reader wants an answer, `told` with what is wrong with a file, or nothing. */
export function watchForm(submit, told) {
  submitted = submit;
  for (const mode of Object.keys(WORDS)) {
    byId(`mode-${mode}`).addEventListener("change", () => {
      chosen = true;
      setMode(mode);
    });
  }
  byId("text").addEventListener("input", suggest);
  const reads = (mode) => () => modeOf() === mode && !byId("asking").hidden;
  watchPaper(reads("paper"), told);
  watchManuscript(reads("text"), told);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("form").addEventListener("keydown", (event) => {
    // Enter that ends the choice of a character (Japanese, Chinese) is not the wish to send.
    if (event.key !== "Enter" || event.isComposing) return;
    const plain = event.target === byId("text") && !event.shiftKey && modeOf() !== "text";
    const anywhere = (event.ctrlKey || event.metaKey) && event.target.matches("textarea, input");
    if (!plain && !anywhere) return;
    event.preventDefault();
    submit();
  });
}
