// The table of papers: of an open question, and of a claim in place of its columns.

import { button, element, holding, percent } from "./dom.js";
import { marked, pmidOf, READS_AS } from "./evidence.js";
import { columnOf, designOf, SIDES } from "./papers.js";

const KEY = "counterpoint-view";

/** What a paper says of the claim, in words. */
function directionOf({ side, stance, standing }) {
  if (!side) return "";
  if (standing === "equal") return "no different from another";
  if (side !== stance) return `may ${stance}`;
  return `${READS_AS[stance]}${standing === "partial" ? " in part" : ""}`;
}

// What a column is sorted by, and whether its largest value comes first.
const SORTS = {
  Paper: [({ title }) => title.toLowerCase(), false],
  Direction: [(one) => SIDES.indexOf(columnOf(one)), false],
  Probability: [({ score }) => score, true],
  Design: [({ design }) => design.weight, true],
  Year: [({ year }) => year ?? 0, true],
};

/** The rows of `papers` in a table, what `first` makes of each in its first cell; a column that no paper fills is taken away. */
export function addRows(table, papers, first) {
  const rows = papers.map((one) => holding("tr", "", Object.assign(holding("th", "", first(one)), { scope: "row" }), ...cellsOf(one)));
  for (const [place, column] of [...table.querySelectorAll("thead th").entries()].reverse()) {
    const cells = rows.map(({ children }) => children[place]);
    // A narrow screen shows the name of a column before each cell.
    if (place) for (const cell of cells) cell.dataset.label = column.textContent;
    if (cells.every((cell) => !cell.textContent)) for (const one of [column, ...cells]) one.remove();
  }
  for (const row of rows) row.addEventListener("click", follow);
  table.querySelector("tbody").append(...rows);
  return rows;
}

/** Where a row is named by a link, the whole row leads there; words that are being selected, and other links, stay what they are. */
function follow({ currentTarget, target }) {
  if (!target.closest("a, button") && !String(getSelection())) currentTarget.querySelector("th a")?.click();
}

function cellsOf(evidence) {
  const { side, standing, design, trial, year, score, verdict, sentence, pmid, doi, condition = "" } = evidence;
  const { people = "", number = "", effect = "" } = verdict?.details ?? {};
  const quote = holding("p", "words", ...(sentence ? ["“", ...marked(sentence, evidence), "”"] : []));
  quote.dir = "auto";
  const words = [people, number, effect, condition].map((one) => Object.assign(element("td", one, "own"), { dir: "auto" }));
  // Of a paper that was not judged as a whole, or found no difference, the score is no probability of a side.
  const likely = element("td", verdict?.of === "document" && standing !== "equal" ? percent(score) : "", "figure");
  return [element("td", directionOf(evidence), side), likely, element("td", `${designOf(design)}${trial ? `; reports ${trial}` : ""}`), element("td", year ?? "", "figure"), ...words, holding("td", "quotation", quote, sentence?.location ? ` (${sentence.location.text}) ` : " ", pmidOf(pmid, doi))];
}

/** A claim's papers as a table, best first; filtered, sorted and opened like a column, and sorted by the heads of its columns. */
export function tableOf(table, papers) {
  const shown = addRows(table, papers, ({ title }) => Object.assign(element("span", title || "(no title)"), { dir: "auto" }));
  const rows = papers.map((one, place) => ({ one, shown: shown[place] }));
  let keep = () => true;
  const show = (compare) => table.querySelector("tbody").replaceChildren(...rows.filter(({ one }) => keep(one)).sort((a, b) => compare(a.one, b.one)).map((row) => row.shown));
  const heads = [...table.querySelectorAll("thead th")];
  const unmark = () => heads.forEach((head) => head.removeAttribute("aria-sort"));
  for (const head of heads.filter(({ textContent }) => SORTS[textContent])) {
    const [valueOf, largestFirst] = SORTS[head.textContent];
    head.replaceChildren(button(head.textContent, "sort", () => {
      const falls = head.ariaSort ? head.ariaSort === "ascending" : largestFirst;
      unmark();
      head.ariaSort = falls ? "descending" : "ascending";
      show((one, other) => (falls ? -1 : 1) * (valueOf(one) < valueOf(other) ? -1 : Number(valueOf(one) > valueOf(other))));
    }));
  }
  return {
    choose(nowKeep, compare) {
      keep = nowKeep;
      unmark();
      show(compare);
    },
    find: (pmid) => rows.find(({ one }) => one.pmid === pmid)?.shown,
  };
}

/** Shows the columns or the table, as the reader chose; the choice is kept for the next claim. */
export function watchView(views, sides, table) {
  const apply = (view) => {
    sides.hidden = view === "table";
    table.hidden = !sides.hidden;
  };
  views.addEventListener("change", ({ target }) => {
    window.kept((store) => store.setItem(KEY, target.value));
    apply(target.value);
  });
  const view = window.kept((store) => store.getItem(KEY)) === "table" ? "table" : "list";
  views.querySelector(`[value=${view}]`).checked = true;
  apply(view);
}
