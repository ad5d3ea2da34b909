// The papers of a library: found, opened, chosen and removed.

import { announce, byId, count, element, holding, number } from "./dom.js";
import { badgesOf, factsOf, fillBadges, folded } from "./evidence.js";
import { asked, call } from "./service.js";

const PAGE = 50;

let library = null;
let begin = 0;
let may = false;
let chosen = new Set();
let removed = () => {};
// The list that was asked for last; an earlier one may come after it.
let turn = 0;

/** Shows the papers of a library; where the reader `mayChange` them they can be chosen, and `when` is told of the job that removes them. */
export async function showPapers(of, mayChange, when) {
  const known = library?.id === of.id && byId("papers").firstChild && ["papers", "full_texts"].every((held) => library[held] === of[held]);
  if (library?.id !== of.id) {
    byId("filter").reset();
    begin = 0;
    chosen = new Set();
  }
  [library, may, removed] = [of, mayChange, when];
  // What is the same stays, and what is open in it.
  if (!known) await list();
}

async function list() {
  const own = ++turn;
  const wanted = new URLSearchParams([...new FormData(byId("filter"))].filter(([, value]) => value));
  wanted.set("begin", begin);
  wanted.set("limit", PAGE);
  byId("holdings-trouble").textContent = "";
  try {
    const { total, papers } = await call(`libraries/${library.id}/papers?${wanted}`);
    if (own === turn) fill(total, papers);
  } catch (error) {
    if (own !== turn) return;
    fill(0, []);
    byId("holdings-trouble").textContent = error.message;
  }
}

function fill(total, papers) {
  byId("papers").replaceChildren(...papers.map(row));
  byId("papers").start = begin + 1;
  byId("holdings-count").textContent = papers.length ? `${number(begin + 1)}–${number(begin + papers.length)} of ${number(total)}` : "none";
  byId("earlier").hidden = !begin;
  byId("later").hidden = begin + papers.length >= total;
  showChosen();
}

function row(paper) {
  const { pmid, title, full_text } = paper;
  const name = title || "(no title)";
  const opens = element("a", name);
  opens.href = `#claim=${encodeURIComponent(pmid)}&library=${encodeURIComponent(library.id)}`;
  opens.dir = "auto";
  const badges = element("ul", "", "badges");
  badges.setAttribute("aria-label", "Notes on this paper");
  const made = holding("li", "", holding("p", "", opens), element("p", `${factsOf(paper)}${pmid}`, "facts"), badges, abstractOf(paper));
  fillBadges(badges, [...badgesOf(paper), ...(full_text ? [["Full text", ""]] : [])]);
  if (!may) return made;
  const box = Object.assign(element("input"), { type: "checkbox", checked: chosen.has(pmid) });
  box.setAttribute("aria-label", `Choose ${name}`);
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(pmid);
    else chosen.delete(pmid);
    showChosen();
  });
  made.prepend(box);
  return made;
}

/** The abstract, folded away; fetched when it is first opened. */
const abstractOf = ({ pmid, title }) =>
  folded(`Abstract of ${title || pmid}`, async (box) => {
    if (box.firstChild) return;
    box.append(element("p", "Opening the abstract…", "wait"));
    try {
      const { abstract } = await (await asked(`v1/documents/${encodeURIComponent(pmid)}?library=${encodeURIComponent(library.id)}`)).json();
      box.replaceChildren(Object.assign(element("p", abstract || "It has no abstract."), { dir: "auto" }));
    } catch (error) {
      box.replaceChildren();
      byId("holdings-trouble").textContent = error.message;
    }
  }, "Abstract");

function showChosen() {
  const pressed = byId("remove");
  pressed.hidden = !chosen.size;
  delete pressed.dataset.sure;
  pressed.textContent = `Remove ${count(chosen.size, "paper")}`;
}

async function remove() {
  const pressed = byId("remove");
  if (!pressed.dataset.sure) {
    pressed.dataset.sure = "yes";
    pressed.textContent = `Remove ${count(chosen.size, "paper")} from ${library.name} for good?`;
    announce(pressed.textContent);
    return;
  }
  try {
    await call(`libraries/${library.id}/jobs`, "POST", { removed: [...chosen], vectors: library.vectors });
    chosen = new Set();
    await list();
    removed();
  } catch (error) {
    byId("holdings-trouble").textContent = error.message;
  }
}

function turnTo(place) {
  begin = Math.max(0, place);
  list();
  byId("holdings-title").scrollIntoView({ block: "start", behavior: "instant" });
}

let soon = 0;
byId("filter").addEventListener("input", () => {
  clearTimeout(soon);
  soon = setTimeout(() => turnTo(0), 250);
});
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("earlier").addEventListener("click", () => turnTo(begin - PAGE));
byId("later").addEventListener("click", () => turnTo(begin + PAGE));
byId("remove").addEventListener("click", remove);
