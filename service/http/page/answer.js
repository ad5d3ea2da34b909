// An answer with its citations: each opens on the very sentence that bears it out.

import { announce, byId, button, copyOf, count, element, holding, percent } from "./dom.js";
import { toHash } from "./form.js";
import { answerVerdictOf } from "./verdict.js";
import { card, factsOf, fillTerms, keyOf, openInContext, originOf, source } from "./evidence.js";
import { fillFollowUps } from "./next.js";
import { addRows } from "./table.js";

/** The answer to a question, ready to be put on the page. */
export function answered(answer) {
  const shown = copyOf("answer-template");
  const at = (selector) => shown.querySelector(selector);
  const cited = answer.documents.filter((one) => one.cited);
  const told = answer.sentences.length + answer.rows.length > 0;
  at(".asked").textContent = answer.topic.question;
  const nearest = answer.outcome === "nearest";
  at(".too-little").hidden = told && !nearest;
  at(".too-little p").textContent = answer.note;
  at(".sum").hidden = !told;
  at(".sum").textContent = summaryOf(answer, cited.length);
  // A question of another kind has no verdict, and one that no paper is on has its note.
  if (answer.verdict) at(".glance").append(answerVerdictOf(answer, (claim) => toHash({ mode: "claim", body: { claim } })));
  else at(".glance").remove();
  const listed = answer.outcome === "listed";
  // Where no generator wrote, the sentences are those of the table: each paper is listed once.
  const tabled = answer.rows.length > 0 && !answer.drafted;
  at(".too-little h3").textContent = nearest ? "Not answered by these papers" : listed ? "No answer is claimed" : "Not enough evidence to answer";
  fillProse(at(".prose"), tabled ? { ...answer, sentences: [] } : answer);
  fillRows(at(".rows"), answer);
  fillOthers(at(".others"), answer);
  fillConflicts(at(".conflicts"), answer);
  fillSources(at(".sources"), answer, tabled ? [] : cited);
  // Said every time where there is no language model; what else is noted, such as that one failed, the reader must know.
  if (told && !nearest && answer.note && !answer.note.startsWith("This answer is extractive")) at(".asked").after(element("p", answer.note, "notice"));
  fillFollowUps(at(".follow-ups"), answer);
  fillRemoved(at(".removed"), answer.removed);
  const shownBelow = new Set([...(tabled ? answer.rows.map(({ evidence }) => evidence.pmid) : []), ...answer.others.map(({ pmid }) => pmid)]);
  fillRest(at(".rest"), answer.documents.filter((one) => !one.cited && !shownBelow.has(one.pmid)), told);
  fillTerms(at(".origin"), [...writtenBy(answer), ...originOf(answer)]);
  announce(told ? `The answer is ready. ${summaryOf(answer, cited.length)}` : `${at(".too-little h3").textContent}. ${answer.note}`);
  return shown;
}

function summaryOf({ sentences, conflicts, note }, papers) {
  const cited = sentences.flatMap((one) => one.citations);
  const quoted = cited.filter((one) => one.verbatim).length;
  const how = [quoted && `${count(quoted, "citation")} quoted word for word`, cited.length - quoted && `${count(cited.length - quoted, "citation")} supported according to the judge`];
  const first = sentences.length ? `${count(sentences.length, "sentence")} from ${count(papers, "paper")}. Checked: ${how.filter(Boolean).join(", ")}.` : "";
  const second = conflicts.length ? ` ${count(papersAgainst(conflicts), "paper")} may contradict it.` : "";
  return `${first}${second} ${note}`.trim();
}

/** The sentences in a row, each with its citations before its last stop. */
function fillProse(place, { sentences, documents }) {
  const byNumber = new Map(documents.map((one) => [one.number, one]));
  place.hidden = !sentences.length;
  for (const { text, citations } of sentences) {
    const stop = /[.!?]$/.test(text) ? text.slice(-1) : "";
    const marks = citations.map((one) => citation(one, byNumber.get(one.number)));
    // The marks stay with the last word, so that no line begins with one.
    const head = text.slice(0, text.length - stop.length);
    place.append(holding("span", "said", head, holding("span", "cites", "\u2060\u00a0", ...marks, stop)), " ");
  }
}

/** How well a sentence bears out what cites it, for a citation's note and, shorter, for the list of papers. */
const borneOut = ({ verbatim, verdict, sentence }) =>
  verbatim ? `Quoted word for word from the ${sentence.location ? "full text" : "abstract"}` : `${percent(verdict.support)} likely to support this, according to the judge`;
const shortly = ({ verbatim, verdict }) => (verbatim ? "word for word" : `${percent(verdict.support)} likely to support it`);

// ---- Citations -------------------------------------------------------------------------------------------------

/** The number of a paper; hovered or focused it shows the sentence, pressed it keeps it open. */
function citation(cited, paper) {
  const mark = button(String(cited.number), "cite", () => {
    if (open?.mark === mark && open.pinned) closeNote();
    else openNote(mark, cited, paper, true);
  });
  mark.setAttribute("aria-label", `Citation ${cited.number}: ${paper.title || "(no title)"}`);
  mark.setAttribute("aria-expanded", "false");
  mark.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") openNote(mark, cited, paper);
  });
  mark.addEventListener("pointerleave", closeSoon);
  mark.addEventListener("focus", () => {
    if (!returning) openNote(mark, cited, paper);
  });
  mark.addEventListener("blur", closeSoon);
  return mark;
}

let open = null;
let closing = 0;
// While the keyboard is put back on a citation whose note was closed: that must not open it again.
let returning = false;

/** Shows a citation's sentence beside it; only one is open at a time. */
function openNote(mark, cited, paper, pinned = false) {
  clearTimeout(closing);
  if (open?.mark === mark) {
    open.pinned ||= pinned;
    return;
  }
  // What the reader has pressed open is not taken away by the mouse passing over another.
  if (open?.pinned && !pinned && document.activeElement !== mark) return;
  closeNote();
  const note = noteOf(cited, paper);
  mark.setAttribute("aria-expanded", "true");
  mark.setAttribute("aria-describedby", "note-text");
  mark.after(note);
  open = { mark, note, pinned };
  placeNote(mark, note);
}

/** The paper and its sentence, with the way to the whole abstract. */
function noteOf(cited, paper) {
  const note = element("span", "", "note");
  const text = element("span", "", "note-text");
  const quote = element("span", `“${cited.sentence.text}”`, "note-quote");
  const title = element("span", paper.title || "(no title)", "note-title");
  title.dir = quote.dir = "auto";
  text.id = "note-text";
  const how = [cited.sentence.location?.text, borneOut(cited)].filter(Boolean).join(" · ");
  text.append(title, element("span", `${factsOf(paper)}${cited.pmid}`, "note-facts"), quote, element("span", how, "note-how"));
  const show = button(`Show in the ${cited.sentence.location ? "full text" : "abstract"}`, "quiet", () => {
    closeNote();
    openInContext(byId(`source-${cited.number}`), cited.sentence);
  });
  note.append(text, show);
  note.addEventListener("pointerenter", () => clearTimeout(closing));
  note.addEventListener("pointerleave", closeSoon);
  note.addEventListener("focusin", () => clearTimeout(closing));
  note.addEventListener("focusout", closeSoon);
  return note;
}

/** Below the citation, or above where that is nearer to being seen, and never beyond the text's edges. */
function placeNote(mark, note) {
  const prose = mark.closest(".prose");
  const around = prose.getBoundingClientRect();
  const at = mark.getBoundingClientRect();
  const left = Math.max(0, Math.min(at.left - around.left - 24, prose.clientWidth - note.offsetWidth));
  const above = at.bottom + note.offsetHeight + 12 > innerHeight && at.top > note.offsetHeight + 12;
  note.style.left = `${left}px`;
  note.style.top = `${above ? at.top - around.top - note.offsetHeight - 6 : at.bottom - around.top + 6}px`;
}

function closeNote() {
  clearTimeout(closing);
  if (!open) return;
  const { mark, note } = open;
  open = null;
  // Whoever reads within the note is put back where it was opened.
  returning = true;
  if (note.contains(document.activeElement)) mark.focus();
  returning = false;
  note.remove();
  mark.setAttribute("aria-expanded", "false");
  mark.removeAttribute("aria-describedby");
}

/** Leaves time to get from the citation into its note. */
function closeSoon() {
  clearTimeout(closing);
  closing = setTimeout(() => {
    const held = open && (open.mark === document.activeElement || open.note.contains(document.activeElement));
    if (!held && !open?.pinned) closeNote();
  }, 200);
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeNote();
});
addEventListener("pointerdown", (event) => {
  if (open && !open.note.contains(event.target) && event.target !== open.mark) closeNote();
});
addEventListener("resize", () => open && placeNote(open.mark, open.note));

// ---- What stands below -----------------------------------------------------------------------------------------

/** What papers found to be an answer to an open question; its name leads to the statement, checked against the whole index. */
function fillRows(section, { heading, rows }) {
  section.hidden = !rows.length;
  section.querySelector("h2").textContent = heading;
  let before = "";
  // Only a language model grades what a paper says of the statement; the embedded models list what supports it.
  const told = rows.map((one) => ({ ...one.evidence, side: one.evidence.verdict?.quote ? one.evidence.side : "", condition: one.condition, asked: one }));
  addRows(section, told, ({ asked: { answer, statement }, side }) => {
    const name = answer === before ? "" : answer;
    before = answer;
    // The name stands once above its papers; a screen reader has it in every row.
    const named = element("span", answer, name ? "" : "unseen");
    if (side) return holding("div", "stated", named, checkOf(statement, statement));
    return name && statement ? checkOf(name, statement) : named;
  });
}

/** Words that lead to a statement, checked against the whole index. */
const checkOf = (words, statement) => Object.assign(element("a", words), { href: toHash({ mode: "claim", body: { claim: statement } }), title: `Check: ${statement}` });

/** What the other papers on the subject of an open question found. */
function fillOthers(section, { others, rows }) {
  section.hidden = !others.length;
  section.querySelector("h2").textContent = `${rows.length ? "Other papers" : "Papers"} on this subject`;
  section.querySelector("ol").append(...others.map((one) => source(one, one.sentence ? [{ sentence: one.sentence, note: "" }] : [])));
}

/** Each sentence of the answer that something speaks against, beside what does. */
function fillConflicts(section, { conflicts, sentences }) {
  section.hidden = !conflicts.length;
  section.querySelector("h2 span").textContent = count(papersAgainst(conflicts), "paper");
  const list = section.querySelector("ol");
  for (const place of new Set(conflicts.map((one) => one.sentence))) {
    const said = holding("div", "against", element("p", "The answer says", "label"), element("p", sentences[place]?.text ?? "", "words"));
    said.lastChild.dir = "auto";
    const against = document.createElement("ol");
    const found = conflicts.filter((one) => one.sentence === place);
    against.append(...found.map(({ evidence }, index) => card({ ...evidence, rank: index + 1 }, "", "what the answer says")));
    list.append(holding("li", "pair", said, holding("div", "contradict side", element("p", "Contradicting evidence", "label"), against)));
  }
}

const papersAgainst = (conflicts) => new Set(conflicts.map(({ evidence }) => evidence.pmid)).size;

/** The papers cited, each with the sentences that bear the answer out, once each. */
function fillSources(section, { sentences }, cited) {
  section.hidden = !cited.length;
  section.querySelector("h2 span").textContent = count(cited.length, "paper");
  for (const paper of cited) {
    const borne = sentences.flatMap((one) => one.citations).filter((one) => one.number === paper.number);
    const once = new Map(borne.map((one) => [keyOf(one.sentence), { sentence: one.sentence, note: shortly(one) }]));
    const shown = source(paper, once.values());
    shown.id = `source-${paper.number}`;
    section.querySelector("ol").append(shown);
  }
}

function fillRemoved(folded, removed) {
  folded.hidden = !removed.length;
  folded.querySelector("summary").textContent = `${count(removed.length, "sentence")} removed by the check`;
  const line = ({ text, reason }) => holding("li", "", element("span", text, "words"), element("span", reason, "reason"));
  folded.querySelector("ul").append(...removed.map(line));
}

/** What was read and not cited. */
function fillRest(folded, documents, told) {
  folded.hidden = !documents.length;
  folded.querySelector("summary").textContent = told ? `${count(documents.length, "paper")} read and not cited` : `${count(documents.length, "paper")} nearest to the question`;
  const line = ({ title, ...facts }) => holding("li", "", element("span", title || "(no title)"), element("span", `${factsOf(facts)}${facts.pmid}`, "reason"));
  folded.querySelector("ul").append(...documents.map(line));
}

function writtenBy({ generated_by, extractive, words, outcome }) {
  return outcome === "answered" ? [[extractive ? "Quoted by" : "Written by", `${generated_by}, ${count(words, "word")}`]] : [];
}

/** The same as plain text, to be pasted. */
export function answerText({ topic, text, note, documents }) {
  const references = documents.filter((one) => one.cited).map((one) => `[${one.number}] ${one.title || "(no title)"} (${[one.journal, one.year, one.pmid].filter(Boolean).join(", ")})`);
  return `${[topic.question, text || note, references.join("\n")].filter(Boolean).join("\n\n")}\n`;
}

// ---- While it is made ------------------------------------------------------------------------------------------

/** Shows each event of the stream in a place: the stages as a list, the sentences as they come. */
export function draftIn(place) {
  const stages = element("ol", "", "stages");
  const prose = element("p", "", "prose draft");
  const said = new Map();
  place.replaceChildren(stages, prose);
  return (name, data) => {
    if (name === "stage") {
      stages.append(element("li", data.detail));
      announce(data.detail);
    } else if (name === "sentence") {
      said.set(data.place, data.text);
      prose.replaceChildren(...[...said].sort(([a], [b]) => a - b).map(([, text]) => element("span", `${text} `)));
    } else if (name === "removed") {
      stages.append(element("li", `Removed a sentence: ${data.reason}`, "aside"));
    }
  };
}
