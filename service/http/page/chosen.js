// The sentences of one paper that were chosen for a hypothesis.

import { announce, copyOf, count, element, holding, number } from "./dom.js";
import { askedOf, fillBadges, fillTerms, fillVerdict, folded, here, READS_AS, scrollToSentence } from "./evidence.js";
import { formatOf, textOf } from "./paper.js";

/** The answer to a hypothesis, ready to be put on the page; `body` is what was asked, the paper in it. */
export function chosen(answer, body) {
  const shown = copyOf("chosen-template");
  const at = (selector) => shown.querySelector(selector);
  // The service counts characters, JavaScript UTF-16 units.
  const characters = Array.from(textOf(body));
  at(".asked").textContent = answer.hypothesis;
  at(".entitled").textContent = answer.title;
  at(".entitled").hidden = !answer.title;
  at(".says").textContent = answer.says;
  at(".sum").textContent = summaryOf(answer);
  at(".sentences").append(...answer.evidence.map((one) => card(one, characters, answer.results_only)));
  fillTerms(at(".origin"), originOf(answer, body));
  announce(answer.says);
  return shown;
}

const summaryOf = ({ evidence, read, judged }) => `${number(evidence.length)} of ${count(read, "sentence")} chosen; the small reader judged ${number(judged)}.`;

// ---- A sentence ------------------------------------------------------------------------------------------------

const takesSide = ({ stance }) => Boolean(stance) && stance.label !== "neutral";
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

/** Where a sentence stands: its heading, and what that stands for where it does not say so itself. */
function placeOf({ section, kind }) {
  if (!section) return [kind === "other" ? "No heading" : capital(kind), ""];
  return [section, section.toLowerCase() === kind || kind === "other" ? "" : capital(kind)];
}

/** One of those chosen, as a list item: the sentence, and beside it what speaks for it. */
function card(one, characters, resultsOnly) {
  const shown = copyOf("card-template").firstElementChild;
  const at = (selector) => shown.querySelector(selector);
  const [section, kind] = placeOf(one);
  if (takesSide(one)) shown.classList.add(one.stance.label);
  at(".rank").textContent = one.rank;
  at("h3").textContent = section;
  at(".facts").textContent = [kind, `Sentence ${number(one.index + 1)}, headings included`].filter(Boolean).join(" · ");
  at(".badges").setAttribute("aria-label", "The judge's verdict");
  fillBadges(at(".badges"), takesSide(one) ? [[`Judged: ${READS_AS[one.stance.label]}`, "says"]] : []);
  at(".quotes").append(quoted(one, characters));
  if (one.stance) fillVerdict(shown, one.stance);
  else at(".verdict").replaceWith(element("p", "Not judged: the small reader reads only the abstract and the sentences most relevant to the hypothesis.", "unjudged"));
  at(".likely").textContent = `Score ${one.score.toFixed(2)}`;
  at(".likely").title = "Scores of different papers are not comparable.";
  at(".why").textContent = one.why;
  at(".score").remove();
  const parts = partsOf(one, resultsOnly);
  if (one.stance) parts.append(at(".verdict"));
  at(".numbers").replaceWith(holding("div", "beside", at(".likely"), ...shown.querySelectorAll(".unjudged"), at(".why"), parts));
  return shown;
}

function quoted(one, characters) {
  const figure = holding("figure", "", holding("blockquote", "", "“", one.text, "”"));
  figure.firstChild.dir = "auto";
  const around = contextOf(one, characters);
  if (around) figure.append(around);
  return figure;
}

const PARTS = {
  place: "In the abstract",
  role: "Role: result, method or background",
  relevance: "Relevance to the hypothesis",
  stance: "Supports or contradicts",
  length: "Length",
  figures: "Numbers in it",
  reporting: "Wording that reports a finding",
};

/** What the score is the sum of, folded away. */
function partsOf({ parts, score, repeats, rank }, resultsOnly) {
  const list = element("dl", "", "parts");
  // Without results-only these words count nothing.
  const counted = Object.entries(parts).filter(([name]) => name !== "reporting" || resultsOnly);
  fillTerms(list, [...counted.map(([name, value]) => [PARTS[name] ?? name, signed(value)]), ["Score", signed(score)]]);
  const made = holding("details", "folded", element("summary", "Parts of the score, and the verdict"), list);
  if (rank > 1) made.append(element("p", `Similarity to the closest sentence above: ${repeats.toFixed(2)}. Repetition lowers a sentence's rank.`, "reason"));
  return made;
}

/** With its sign, and a minus that is as wide as a plus. */
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

// ---- In context ------------------------------------------------------------------------------------------------

// Some ten lines before and after: a whole paper in the box would hide how little of it is near.
const AROUND = 900;

/** The sentence among its neighbours, folded away; null where the page does not have the text in which it stands. */
function contextOf({ start, end, text, rank }, characters) {
  if (characters.slice(start, end).join("") !== text) return null;
  return folded(`The paper around sentence ${rank}`, (box) => {
    if (!box.firstChild) box.append(neighbours(characters, start, end));
    scrollToSentence(box);
  });
}

function neighbours(characters, start, end) {
  const before = Math.max(0, start - AROUND);
  const after = Math.min(characters.length, end + AROUND);
  const piece = (from, to) => characters.slice(from, to).join("");
  // Cut between words; what was cut off is told by a sign.
  const head = before ? `… ${piece(before, start).replace(/^\S*\s+/, "")}` : piece(0, start);
  const tail = after < characters.length ? `${piece(end, after).replace(/\s+\S*$/, "")} …` : piece(end);
  const shown = holding("p", "lines", head, here(piece(start, end)), tail);
  shown.dir = "auto";
  return shown;
}

// ---- Where it comes from ---------------------------------------------------------------------------------------

function originOf({ models, how, results_only, read, judged, usage }, body) {
  return [
    ["Paper", `read as ${formatOf(body)}: ${count(read, "sentence")}, without headings; ${number(judged)} of them judged`],
    ["Chosen by", how === "embedded" ? "the embedded models" : `a language model (${how})`],
    ["Models", models],
    ["Results only", results_only ? "yes: background and methods skipped" : "no"],
    ...askedOf(usage),
  ];
}

/** The same as plain text, to be pasted. */
export function chosenText(answer) {
  const line = (one) => {
    const where = placeOf(one).filter(Boolean).join(", ");
    return `${one.rank}. “${one.text}” (${where}${takesSide(one) ? `; judged: ${READS_AS[one.stance.label]}` : ""})`;
  };
  return `${[answer.hypothesis, answer.title, answer.says, summaryOf(answer), answer.evidence.map(line).join("\n")].filter(Boolean).join("\n\n")}\n`;
}
