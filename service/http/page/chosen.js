// The sentences of one paper that were chosen for a hypothesis.

import { announce, copyOf, count, element, holding, number } from "./dom.js";
import { fillBadges, fillTerms, fillVerdict, folded, here, READS_AS, scrollToSentence } from "./evidence.js";
import { formatOf } from "./paper.js";

/** The answer to a hypothesis, ready to be put on the page; `body` is what was asked, the paper in it. */
export function chosen(answer, body) {
  const shown = copyOf("chosen-template");
  const at = (selector) => shown.querySelector(selector);
  at(".asked").textContent = answer.hypothesis;
  at(".entitled").append(answer.source.title, ...(answer.source.retracted ? [" ", element("strong", "Retracted")] : []));
  at(".entitled").hidden = !answer.source.title;
  at(".headline").textContent = answer.text;
  at(".sum").textContent = summaryOf(answer);
  at(".sentences").append(...answer.evidence.map((one) => card(one, answer.results_only)));
  fillTerms(at(".origin"), originOf(answer, body));
  announce(answer.text);
  return shown;
}

const summaryOf = ({ evidence, read }) => `${number(evidence.length)} of ${count(read, "sentence")} chosen.`;

// ---- A sentence ------------------------------------------------------------------------------------------------

const takesSide = ({ stance }) => stance.label !== "neutral";

/** One of those chosen, as a list item: the sentence, and beside it what speaks for it. */
function card(one, resultsOnly) {
  const shown = copyOf("card-template").firstElementChild;
  const at = (selector) => shown.querySelector(selector);
  if (takesSide(one)) shown.classList.add(one.stance.label);
  at(".rank").textContent = one.rank;
  at("h3").textContent = one.location.text;
  at(".facts").textContent = one.context ?? "";
  at(".badges").setAttribute("aria-label", "The judge's verdict");
  fillBadges(at(".badges"), takesSide(one) ? [[`Judged: ${READS_AS[one.stance.label]}`, "headline"]] : []);
  at(".quotes").append(quoted(one));
  fillVerdict(shown, one.stance);
  at(".likely").textContent = `Score ${one.score.toFixed(2)}`;
  at(".likely").title = "Scores of different papers are not comparable.";
  at(".why").textContent = one.why;
  at(".score").remove();
  const parts = partsOf(one, resultsOnly);
  parts.append(at(".verdict"));
  at(".numbers").replaceWith(holding("div", "beside", at(".likely"), at(".why"), parts));
  return shown;
}

function quoted(one) {
  const figure = holding("figure", "", holding("blockquote", "", "“", one.quotation, "”"));
  figure.firstChild.dir = "auto";
  if (one.block !== one.quotation) figure.append(contextOf(one));
  return figure;
}

const PARTS = {
  place: "In the abstract",
  role: "Role: result, method or background",
  relevance: "Relevance to the hypothesis",
  side: "Most surely takes a side, of the full text",
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

/** The sentence in its paragraph, folded away. */
function contextOf({ block, start, end, rank }) {
  return folded(`The paragraph of sentence ${rank}`, (box) => {
    if (!box.firstChild) {
      // The service counts characters, JavaScript UTF-16 units.
      const characters = Array.from(block);
      const piece = (from, to) => characters.slice(from, to).join("");
      box.append(holding("p", "lines", piece(0, start), here(piece(start, end)), piece(end)));
      box.firstChild.dir = "auto";
    }
    scrollToSentence(box);
  });
}

// ---- Where it comes from ---------------------------------------------------------------------------------------

function originOf({ models, results_only, read }, body) {
  return [
    ["Paper", `read as ${formatOf(body)}: ${count(read, "sentence")}, without headings`],
    ["Models", models],
    ["Results only", results_only ? "yes: background and methods skipped" : "no"],
  ];
}

/** The same as plain text, to be pasted. */
export function chosenText(answer) {
  const line = (one) => {
    const stance = takesSide(one) ? `; judged: ${READS_AS[one.stance.label]}` : "";
    return `${one.rank}. “${one.quotation}” (${one.location.text}${stance})`;
  };
  return `${[answer.hypothesis, answer.source.title, answer.text, summaryOf(answer), answer.evidence.map(line).join("\n")].filter(Boolean).join("\n\n")}\n`;
}
