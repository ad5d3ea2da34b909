// The verdict at a glance: one line in words, how certain it is, and one bar with a cell for each paper that was counted.

import { drawn, element, holding, number } from "./dom.js";
import { COLUMNS, missingFrom, SAYS } from "./papers.js";

const HEIGHT = 26;
const WEIGHED = 10;

/** Whether the papers read say nothing, or there are none: then one sentence says it all. */
export const isEmpty = ({ weighed }) => ["nothing", "silent"].includes(weighed.outcome);

/** The verdict in one sentence; an empty one names the words of the claim that no paper has. */
export const textOf = (answer) => (isEmpty(answer) && missingFrom(answer.input)) || answer.weighed.text;

/** The verdict and its bar, ready to be put on the page; `figures` are further lines for whoever wants them. */
export function weighedOf(answer, figures = []) {
  const { weighed } = answer;
  const shown = holding("div", "weighed", element("p", textOf(answer), `headline ${weighed.outcome}`));
  if (isEmpty(answer)) return shown;
  if (weighed.certain) shown.append(element("p", weighed.certain, "certain"));
  if (COLUMNS.some((side) => weighed.papers[side])) shown.append(bar(weighed), key(weighed));
  shown.append(inFigures(weighed, figures));
  return shown;
}

const VERDICTS = { yes: "Yes", no: "No", mixed: "Mixed", unclear: "Unclear" };

/** The same for the answer to a yes-or-no question, in its words; `linkTo(claim)` is the address of both sides of its claim. */
export function answerVerdictOf(answer, linkTo) {
  const { weighed, verdict } = answer;
  const shown = weighedOf(answer);
  const claim = claimOf(verdict);
  const both = element("a", claim.slice(0, -1));
  both.href = linkTo(claim);
  both.title = "Both sides of this claim";
  const says = shown.querySelector(".headline");
  const [before, after = ""] = says.textContent.split("this claim");
  const [open, close] = after ? ["the claim “", "”"] : [" The claim is “", "”."];
  const told = holding("p", "asks", before, open, both, close, after);
  says.textContent = verdict.choice?.length ? capital(verdict.chosen) || "Not settled" : VERDICTS[verdict.outcome];
  (shown.querySelector(".certain") ?? says).after(told);
  return shown;
}

const capital = (text = "") => text.charAt(0).toUpperCase() + text.slice(1);

/** The claim that a question asks about, as a sentence. */
export const claimOf = ({ claim }) => `${capital(claim).replace(/\.$/, "")}.`;

/** A cell a paper, the strongest designs first and marked. */
function bar({ papers, strong, detail }) {
  const cells = COLUMNS.flatMap((side) => Array.from({ length: papers[side] }, (_, at) => [side, at < strong[side]]));
  const shown = drawn("svg", { class: "scale", role: "img", "aria-label": detail, width: "100%", height: HEIGHT });
  cells.forEach(([side, marked], at) => {
    shown.append(cell(side, at / cells.length, 1 / cells.length, HEIGHT));
    if (marked) shown.append(diamond((at + 0.5) / cells.length));
  });
  return shown;
}

/** All figures in words, with a bar of the papers' weights, and who read them. */
function inFigures(weighed, figures) {
  const { detail, weights } = weighed;
  const total = COLUMNS.reduce((sum, side) => sum + weights[side], 0);
  const shown = holding("details", "folded figures", element("summary", "In figures"), element("p", detail));
  if (total) {
    const scale = drawn("svg", { class: "scale", "aria-hidden": "true", width: "100%", height: WEIGHED });
    let from = 0;
    for (const side of COLUMNS) {
      scale.append(cell(side, from / total, weights[side] / total, WEIGHED));
      from += weights[side];
    }
    shown.append(scale);
  }
  const how = weighed.certain && "“Certain” is how often such a verdict was right on questions with known answers.";
  shown.append(...[how, ...figures].filter(Boolean).map((line) => element("p", line)));
  return shown;
}

const share = (part) => `${(part * 100).toFixed(3)}%`;

const cell = (side, from, width, height) => drawn("rect", { class: side, x: share(from), width: share(width), height });

/** A mark in the middle of a cell; a drawing within the drawing, since no path can stand at a percentage. */
function diamond(at) {
  const inner = drawn("svg", { x: share(at), y: HEIGHT / 2, width: 1, height: 1, overflow: "visible" });
  inner.append(drawn("path", { class: "strong", d: "M0 -6 6 0 0 6 -6 0Z" }));
  return inner;
}

/** What the colours mean, with the number of papers of each. */
function key({ papers, strong, retracted }) {
  const list = element("ul", "", "scale-key");
  for (const side of COLUMNS.filter((one) => papers[one])) {
    list.append(holding("li", side, element("b", number(papers[side])), ` ${SAYS[side][papers[side] === 1 ? 0 : 1]}`));
  }
  if (COLUMNS.some((side) => strong[side])) list.append(element("li", "systematic review or randomised trial", "mark"));
  if (retracted) list.append(element("li", `${number(retracted)} retracted, not counted`, "none"));
  return list;
}
