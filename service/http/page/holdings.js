// The papers of a library: found, opened, given their full text, chosen and removed.

import { announce, button, byId, count, element, holding, number } from "./dom.js";
import { badgesOf, factsOf, fillBadges, folded } from "./evidence.js";
import { claimsResting } from "./memory.js";
import { asked, call } from "./service.js";
import { upload } from "./upload.js";

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

/** The abstract, folded away; fetched when it is first opened. Who may change the library gives the paper its full text here. */
const abstractOf = (paper) => {
  const { pmid, title } = paper;
  return folded(`Abstract of ${title || pmid}`, async (box) => {
    if (box.firstChild) return;
    box.append(element("p", "Opening the abstract…", "wait"));
    try {
      const { abstract } = await (await asked(`v1/documents/${encodeURIComponent(pmid)}?library=${encodeURIComponent(library.id)}`)).json();
      box.replaceChildren(Object.assign(element("p", abstract || "It has no abstract."), { dir: "auto" }));
      if (may) box.after(attachment(paper));
    } catch (error) {
      box.replaceChildren();
      byId("holdings-trouble").textContent = error.message;
    }
  }, "Abstract");
};

/** A button that takes a file as the full text of a paper; what is doubtful is asked in place, and the file goes where it is not wanted. */
function attachment({ pmid, title, full_text }) {
  const id = `text-of-${pmid.replace(/[^\w-]/g, "_")}`;
  const input = Object.assign(element("input", "", "unseen"), { type: "file", id, accept: ".pdf,.xml,.nxml,.gz" });
  const label = Object.assign(element("label", full_text ? "Replace the full text" : "Attach the full text", "quiet"), { htmlFor: id });
  label.append(element("span", ` of ${title || pmid}`, "unseen"));
  const told = element("p", "", "facts");
  told.setAttribute("role", "status");
  const acts = element("div", "", "actions");
  const leave = (name) => call(`libraries/${library.id}/files/${encodeURIComponent(name)}`, "DELETE").catch(() => {});
  const join = async (name, confirmed) => {
    acts.replaceChildren();
    try {
      await call(`libraries/${library.id}/jobs`, "POST", { files: [name], joins: pmid, confirmed, vectors: library.vectors });
      told.textContent = "The text is being joined.";
      removed();
    } catch (error) {
      const asks = error.status === 409;
      told.textContent = asks ? error.message.replace(/;[^;]*$/, ". Join it all the same?") : error.message;
      if (!asks) return leave(name);
      acts.replaceChildren(
        button("Join it", "quiet", () => join(name, true)),
        button("Leave it", "quiet", () => {
          leave(name);
          acts.replaceChildren();
          told.textContent = "";
          input.focus();
        }),
      );
      acts.firstChild.focus();
    }
    return undefined;
  };
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    told.textContent = `Reading “${file.name}”…`;
    try {
      await upload(library.id, { name: file.name, file }, new AbortController().signal, () => {});
    } catch (error) {
      told.textContent = error.message;
      return;
    }
    await join(file.name, false);
  });
  return holding("div", "file", input, label, told, acts);
}

function showChosen() {
  const pressed = byId("remove");
  pressed.hidden = !chosen.size;
  delete pressed.dataset.sure;
  byId("holdings-trouble").textContent = "";
  pressed.textContent = `Remove ${count(chosen.size, "paper")}`;
}

async function remove() {
  const pressed = byId("remove");
  if (!pressed.dataset.sure) {
    const resting = await claimsResting(library.id, chosen);
    byId("holdings-trouble").textContent = resting;
    pressed.dataset.sure = "yes";
    pressed.textContent = `Remove ${count(chosen.size, "paper")} from ${library.name} for good?`;
    announce(`${resting} ${pressed.textContent}`);
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
