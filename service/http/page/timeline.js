// The papers by year: a dot a paper, coloured and placed by its stance, as large as its design counts.

import { count, drawn, element, holding } from "./dom.js";
import { columnOf, papersOf, SIDES } from "./papers.js";

const LANES = { contradict: "Contradict", uncertain: "Uncertain", support: "Support", silent: "Say nothing", retracted: "Retracted" };
// As in style.css.
const LANE = 27;
const TOP = 4;
// Where the first and the last year stand, in hundredths of the width.
const [FROM, TO] = [6, 92];

/** The timeline, or null where no paper has a year; `open(pmid)` is called when a dot is chosen. */
export function timelineOf(answer, open) {
  const every = papersOf(answer);
  const papers = every.filter((one) => one.year);
  if (!papers.length) return null;
  const lanes = SIDES.filter((side) => papers.some((one) => columnOf(one) === side));
  const years = papers.map((one) => one.year);
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const x = (year) => (first === last ? (FROM + TO) / 2 : FROM + ((year - first) / (last - first)) * (TO - FROM));
  const floor = TOP + lanes.length * LANE;
  const shown = drawn("svg", { class: "years", role: "group", "aria-label": summaryOf(papers, first, last), width: "100%", height: floor + 22 });
  lanes.forEach((_, at) => shown.append(lane(TOP + (at + 0.5) * LANE)));
  for (const year of ticks(first, last)) shown.append(tick(year, x(year), floor + 15));
  const taken = new Map();
  for (const one of [...papers].sort((a, b) => a.year - b.year)) {
    const side = columnOf(one);
    const spot = `${side} ${one.year}`;
    const before = taken.get(spot) ?? 0;
    taken.set(spot, before + 1);
    shown.append(dot(one, side, x(one.year), TOP + (lanes.indexOf(side) + 0.5) * LANE, before, open));
  }
  const left = every.length - papers.length;
  const caption = `Larger dots: stronger designs.${left ? ` Not shown: ${count(left, "paper")} without a year.` : ""}`;
  // Each dot says its lane itself.
  const names = holding("div", "lanes", ...lanes.map((side) => element("span", LANES[side])));
  names.setAttribute("aria-hidden", "true");
  return holding("figure", "timeline", names, shown, element("figcaption", caption));
}

const summaryOf = (papers, first, last) => `Timeline of ${count(papers.length, "paper")}, ${first === last ? first : `${first} to ${last}`}`;

const percent = (value) => `${value.toFixed(2)}%`;

function tick(year, x, y) {
  const made = drawn("text", { x: percent(x), y, "text-anchor": "middle" });
  made.textContent = year;
  return made;
}

const lane = (y) => drawn("line", { class: "lane", x1: 0, x2: "100%", y1: y, y2: y });

/** The first and the last year, and round ones between, never so many that they meet. */
function ticks(first, last) {
  if (first === last) return [first];
  const step = [1, 2, 5, 10, 20, 50].find((one) => (last - first) / one <= 5) ?? 100;
  const between = [];
  for (let year = Math.ceil(first / step) * step; year < last; year += step) {
    if (year - first >= step * 0.6 && last - year >= step * 0.6) between.push(year);
  }
  return [first, ...between, last];
}

/** A paper; papers of one year and lane stand side by side. */
function dot(one, side, x, y, before, open) {
  const radius = 3 + 5 * one.design.weight;
  const shown = drawn("svg", { class: `dot ${side}`, role: "button", tabindex: 0, "aria-label": labelOf(one, side), x: percent(x), y, width: 1, height: 1, overflow: "visible" });
  const title = drawn("title");
  title.textContent = labelOf(one, side);
  shown.append(title, drawn("circle", { r: radius, cx: before * 11 }));
  const act = () => open(one.pmid);
  shown.addEventListener("click", act);
  shown.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  return shown;
}

const labelOf = (one, side) => [one.year, LANES[side].toLowerCase(), one.design.text, one.title || one.pmid].filter(Boolean).join(", ");
