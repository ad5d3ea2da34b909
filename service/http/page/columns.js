// The columns of papers: what contradicts, what is uncertain, what supports; and, folded to a button, what says nothing.

import { button, count, element, number } from "./dom.js";
import { card } from "./evidence.js";
import { columnOf, papersOf, SIDES } from "./papers.js";
import { tableOf, watchView } from "./table.js";

// How many papers of a column stand there at first.
const FIRST = 3;
const NAMES = { contradict: "Contradicts", uncertain: "Uncertain", support: "Supports", silent: "Say nothing about the claim", retracted: "Retracted, not counted" };
// What stands below the columns. The silent papers are many; of the others each is wanted.
const BELOW = { silent: 0, retracted: FIRST };

// The order of the table's papers.
const TOLD = ["contradict", "support", "uncertain"];

/** Fills the columns of an answer; returns what filters and sorts them, and what shows one paper. */
export function fillColumns(at, answer) {
  const found = papersOf(answer);
  const columns = SIDES.map((side) => {
    const papers = found.filter((one) => columnOf(one) === side);
    return column(side, at(`#${side}`).parentElement, papers, answer);
  });
  const filled = columns.filter((one) => !(one.side in BELOW) && one.cards.length).length;
  at(".sides").dataset.columns = String(Math.max(filled, 1));
  const table = tableOf(at(".papers-table"), TOLD.flatMap((side) => found.filter((one) => columnOf(one) === side)));
  watchView(at(".views"), at(".sides"), at(".papers-table"));
  // Where no side has a paper, the verdict has said so.
  if (!filled) for (const one of [".sides", ".views", ".papers-table"]) at(one).remove();
  return {
    choose: (keep, compare) => [...columns, table].forEach((one) => one.choose(keep, compare)),
    open(pmid) {
      columns.forEach((one) => one.open(pmid));
      focusOn(table.find(pmid));
    },
  };
}

function column(side, part, papers, answer) {
  const heading = part.querySelector("h2");
  heading.firstChild.data = `${NAMES[side]} `;
  if (!papers.length) {
    if (side === "contradict" || side === "support") tellEmpty(part, side, answer);
    else part.remove();
    return { side, cards: [], choose() {}, open() {} };
  }
  const list = element("ol");
  // The rank is the column's own: what stands there comes from several lists of the answer.
  const cards = papers.map((one, index) => ({ one, shown: card({ ...one, rank: index + 1 }, side === "uncertain" ? `May ${one.stance}` : "") }));
  let most = BELOW[side] ?? FIRST;
  let [keep, compare] = [() => true, () => 0];
  const more = button("", "quiet more", () => {
    const next = [...list.children].find((one) => one.hidden);
    most = Infinity;
    show();
    focusOn(next);
  });
  const show = () => {
    const left = cards.filter(({ one }) => keep(one)).sort((a, b) => compare(a.one, b.one));
    list.replaceChildren(...left.map(({ shown }) => shown));
    left.forEach(({ shown }, index) => { shown.hidden = index >= most; });
    heading.querySelector("span").textContent = left.length === cards.length ? count(cards.length, "paper") : `${number(left.length)} of ${count(cards.length, "paper")}`;
    const hidden = Math.max(0, left.length - most);
    more.hidden = !hidden;
    more.textContent = most ? `Show ${number(hidden)} more` : `Show ${count(hidden, "paper")}`;
    list.hidden = !left.length || !most;
  };
  part.append(list, more);
  show();
  return {
    side,
    cards,
    choose(nowKeep, nowCompare) {
      [keep, compare] = [nowKeep, nowCompare];
      show();
    },
    open(pmid) {
      const found = cards.find(({ one }) => one.pmid === pmid);
      if (!found?.shown.isConnected) return;
      if (found.shown.hidden || list.hidden) {
        most = Infinity;
        show();
      }
      focusOn(found.shown);
    },
  };
}

/** Brings a card into view and puts the keyboard there. */
function focusOn(shown) {
  if (!shown) return;
  shown.tabIndex = -1;
  shown.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  shown.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  shown.classList.remove("shown");
  requestAnimationFrame(() => shown.classList.add("shown"));
}

/** One line that says what was looked at in vain. */
function tellEmpty(part, side, answer) {
  part.classList.add("empty");
  part.querySelector("h2 span").textContent = "none found";
  part.append(element("p", nothingFound(answer.checked, side === "support" ? "support" : "contradiction"), "none"));
}

function nothingFound(counts, noun) {
  if (!counts.documents) return "Nothing could be checked: no document in the index matches this claim.";
  const some = counts.read && counts.read < counts.documents ? `${number(counts.read)} of ` : "";
  return `No ${noun} found among ${count(counts.sentences, "sentence")} checked in ${some}${count(counts.documents, "document")}.`;
}
