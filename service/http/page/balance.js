// The verdict at a glance: one line in words, and one bar with a cell for each paper that was read.

import { drawn, element, holding, number } from "./dom.js";
import { COLUMNS, missingFrom, papersOf, SAYS } from "./papers.js";

const HEIGHT = 26;
const WEIGHED = 10;
const GAP = 4;

/** Whether the papers read say nothing, or there are none: then one sentence says it all. */
export const isEmpty = ({ balance }) => ["nothing", "silent"].includes(balance.leans);

/** The verdict in one sentence; an empty one names the words of the claim that no paper has. */
export const saysOf = (answer) => (isEmpty(answer) && missingFrom(answer.typed)) || answer.balance.says;

/** The verdict and its bar, ready to be put on the page. */
export function balanceOf(answer) {
  const { detail, leans, papers } = answer.balance;
  const shown = holding("div", "balance", element("p", saysOf(answer), `says ${leans}`));
  if (isEmpty(answer)) return shown;
  if (COLUMNS.some((place) => papers[place])) shown.append(bar(answer), key(answer.balance));
  if (detail) shown.append(holding("details", "folded", element("summary", "In figures"), element("p", detail, "detail")));
  return shown;
}

/** A cell a paper, the strongest designs marked; below it the same weighed by design. */
function bar(answer) {
  const { papers, weights } = answer.balance;
  const total = (tally) => COLUMNS.reduce((sum, place) => sum + tally[place], 0);
  const cells = COLUMNS.flatMap((place) => counted(answer, place).map((one) => [place, one.design.strong]));
  const shown = drawn("svg", { class: "scale", role: "img", "aria-label": answer.balance.detail, width: "100%", height: HEIGHT + GAP + WEIGHED });
  cells.forEach(([place, strong], at) => {
    shown.append(cell(place, at / cells.length, 1 / cells.length, 0, HEIGHT));
    if (strong) shown.append(diamond((at + 0.5) / cells.length));
  });
  let from = 0;
  for (const place of COLUMNS) {
    const share = weights[place] / (total(weights) || total(papers));
    if (share) shown.append(cell(place, from, share, HEIGHT + GAP, WEIGHED));
    from += share;
  }
  return shown;
}

/** The papers that the bar counts: none that is retracted or that nobody judged; the strongest designs first. */
const counted = (answer, place) =>
  papersOf(answer).filter((one) => one.place === place && !one.retracted).sort((one, other) => other.design.strong - one.design.strong);

const share = (part) => `${(part * 100).toFixed(3)}%`;

const cell = (place, from, width, y, height) => drawn("rect", { class: place, x: share(from), width: share(width), y, height });

/** A mark in the middle of a cell; a drawing within the drawing, since no path can stand at a percentage. */
function diamond(at) {
  const inner = drawn("svg", { x: share(at), y: HEIGHT / 2, width: 1, height: 1, overflow: "visible" });
  inner.append(drawn("path", { class: "strong", d: "M0 -6 6 0 0 6 -6 0Z" }));
  return inner;
}

/** What the colours mean, with the number of papers of each. */
function key({ papers, strong, retracted }) {
  const list = element("ul", "", "scale-key");
  for (const place of COLUMNS.filter((one) => papers[one])) {
    list.append(holding("li", place, element("b", number(papers[place])), ` ${SAYS[place][papers[place] === 1 ? 0 : 1]}`));
  }
  if (COLUMNS.some((place) => strong[place])) list.append(element("li", "systematic review or randomised trial", "mark"));
  if (retracted) list.append(element("li", `${number(retracted)} retracted, not counted`, "none"));
  list.append(element("li", "thin bar: weighted by study design", "thin"));
  return list;
}
