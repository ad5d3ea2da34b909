// Both sides of a claim.

import { announce, copyOf, count, element, number } from "./dom.js";
import { card, fillTerms, originOf } from "./evidence.js";

/** The answer to a claim, ready to be put on the page. */
export function grounding(answer) {
  const shown = copyOf("grounding-template");
  const at = (selector) => shown.querySelector(selector);
  const all = [...answer.contradicting, ...answer.supporting, ...answer.uncertain];
  at(".asked").textContent = answer.claim.text;
  at(".sum").textContent = answer.summary;
  at(".notice").hidden = !all.length || all.some((one) => one.verdict);
  fillLegend(at(".legend"), all);
  fillSide(at(".side.contradict"), answer.contradicting, answer.checked.contradict, "contradiction");
  fillSide(at(".side.support"), answer.supporting, answer.checked.support, "support");
  fillUncertain(at(".uncertain"), answer.uncertain);
  at("tbody").append(...CHECKED.map((line) => countsRow(line, answer.checked)));
  fillTerms(at(".origin"), originOf(answer.provenance));
  announce(answer.summary);
  return shown;
}

/** Explains the marks that are there. */
function fillLegend(legend, evidence) {
  const negated = evidence.some((one) => one.sentence && one.negations.length);
  const turned = evidence.some((one) => one.directions.length);
  legend.hidden = !negated && !turned;
  legend.querySelector(".of-negation").hidden = !negated;
  legend.querySelector(".of-turning").hidden = !turned;
}

/** One column: its cards, or a sentence that says how much was looked at in vain. */
function fillSide(side, evidence, counts, noun) {
  side.querySelector("h2 span").textContent = evidence.length ? count(evidence.length, "document") : "none found";
  if (!evidence.length) {
    side.append(element("p", nothingFound(counts, noun), "none"));
    return;
  }
  // Without a judge nothing was found to contradict or support: the heading must not say more than was computed.
  if (!evidence.some((one) => one.verdict)) side.querySelector("h2").firstChild.data = noun === "support" ? "May support " : "May contradict ";
  const list = document.createElement("ol");
  list.append(...evidence.map((one) => card(one)));
  side.append(list);
}

/** What came close, folded away; gone where nothing did. */
function fillUncertain(side, evidence) {
  if (!evidence.length) return side.remove();
  side.querySelector("summary span").textContent = count(evidence.length, "document");
  const list = document.createElement("ol");
  list.append(...evidence.map((one) => card(one, `May ${one.stance}`)));
  side.append(list);
  return undefined;
}

function nothingFound(counts, noun) {
  if (!counts.documents) return "Nothing could be checked: no document in the index matches this claim.";
  const where = counts.judged ? `${count(counts.judged, "sentence")} checked` : count(counts.candidates, "candidate sentence");
  const some = counts.read && counts.read < counts.documents ? `${number(counts.read)} of ` : "";
  return `No ${noun} found among ${where} in ${some}${count(counts.documents, "document")}.`;
}

const CHECKED = [
  ["documents", "Documents retrieved"],
  ["sentences", "Sentences in them"],
  ["candidates", "Sentences that passed the filter"],
  ["judged", "Sentences judged"],
  ["read", "Documents with judged sentences"],
];

function countsRow([key, name], { contradict, support }) {
  const row = document.createElement("tr");
  const head = element("th", name);
  head.scope = "row";
  row.append(head, element("td", number(contradict[key])), element("td", number(support[key])));
  return row;
}

// ---- While it is made ------------------------------------------------------------------------------------------

/** Shows each stage of the stream in a place, one line a side. */
export function stagesIn(place) {
  const lines = new Map();
  const list = element("ol", "", "stages");
  place.replaceChildren(list);
  return (name, data) => {
    if (name !== "stage") return;
    if (!lines.has(data.side)) {
      lines.set(data.side, element("li"));
      list.append(lines.get(data.side));
    }
    lines.get(data.side).textContent = data.detail;
    lines.get(data.side).className = data.name === "decided" ? "done" : "";
    announce(data.detail);
  };
}

/** The same as plain text, to be pasted. */
export function groundingText(answer) {
  const line = ({ sentence, title, year, journal, pmid, retracted }) =>
    [`- ${sentence ? `“${sentence.text}” ` : ""}${title || "(no title)"} (${[journal, year, pmid].filter(Boolean).join(", ")})`, retracted ? " RETRACTED" : ""].join("");
  const part = (heading, evidence) => [`${heading}: ${evidence.length || "none found"}`, ...evidence.map(line)].join("\n");
  const parts = [answer.claim.text, answer.summary, part("Contradicts", answer.contradicting), part("Supports", answer.supporting)];
  return `${parts.join("\n\n")}\n`;
}
