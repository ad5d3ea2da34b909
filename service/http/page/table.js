// The table of papers: of an open question, and of a claim in place of its columns.

import { element, holding } from "./dom.js";
import { marked, pmidOf, READS_AS } from "./evidence.js";
import { designOf } from "./papers.js";

const KEY = "counterpoint-view";

/** What a paper says of the claim, in words. */
function directionOf({ place, stance, standing }) {
  if (place !== stance) return `may ${stance}`;
  return `${READS_AS[stance]}${standing === "partial" ? " in part" : ""}`;
}

/** One row, `first` in its first cell; a narrow screen shows the name of a column before each cell. */
export function rowOf(table, first, evidence) {
  const names = [...table.querySelectorAll("thead th")].map((one) => one.textContent);
  const quote = holding("p", "words", ...(evidence.sentence ? ["“", ...marked(evidence.sentence, evidence), "”"] : []));
  quote.dir = "auto";
  const head = holding("th", "", first);
  head.scope = "row";
  const direction = element("td", directionOf(evidence), evidence.place);
  const design = element("td", [designOf(evidence.design), evidence.year].filter(Boolean).join(", "));
  const row = holding("tr", "", head, direction, design, holding("td", "", quote, " ", pmidOf(evidence.pmid, evidence.doi)));
  for (const [place, cell] of [...row.children].entries()) if (place) cell.dataset.label = names[place];
  return row;
}

/** A claim's papers as a table, best first; filtered, sorted and opened like a column. */
export function tableOf(table, papers) {
  const rows = papers.map((one) => {
    const title = element("span", one.title || "(no title)");
    title.dir = "auto";
    return { one, shown: rowOf(table, title, one) };
  });
  const body = table.querySelector("tbody");
  const show = (keep, compare) => body.replaceChildren(...rows.filter(({ one }) => keep(one)).sort((a, b) => compare(a.one, b.one)).map(({ shown }) => shown));
  show(() => true, () => 0);
  return { choose: show, find: (pmid) => rows.find(({ one }) => one.pmid === pmid)?.shown };
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
