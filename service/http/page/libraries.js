// The libraries of the service, beside what is asked of them: a list, one of them with its papers, and the form for a new one.

import { announce, button, byId, count, element, holding } from "./dom.js";
import { openGather, watchGather } from "./gather.js";
import { showPapers } from "./holdings.js";
import { doingOf, goesOn, listJobs, stopWatching, watchJobs } from "./jobs.js";
import { askedOf, mayChange } from "./library.js";
import { claimsResting } from "./memory.js";
import { showModel } from "./model.js";
import { call } from "./service.js";
import { saveFrom } from "./take.js";

const NEW = "new";
const WELCOME = [
  "A library holds the papers that claims are checked against: your own collection, or what a search finds.",
  "Choose a file from your reference manager and give it a name; you can ask as soon as it has been read.",
];

// What was on the page before, which the way back leads to.
let back = "";
// Until the list is looked at anew, while something is done to a library.
let timer = 0;

/** What the link opens here: a library's id, “new”, "" for the list; null where it is something else. */
const wantedOf = () => new URLSearchParams(location.hash.slice(1)).get("libraries");

/** A link to a library, to the new one, or to the list. */
const linkTo = (id = "") => (id ? `#libraries=${encodeURIComponent(id)}` : "#libraries");

/** Shows the libraries where the link says so; true where it does. `from` is the link that was open before. */
export function openLibraries(from) {
  const wanted = wantedOf();
  const opened = wanted !== null;
  if (opened && byId("shelf").hidden) back = from;
  byId("asking").hidden = opened;
  byId("shelf").hidden = !opened;
  stopWatching();
  clearTimeout(timer);
  if (!opened) return false;
  byId("back").href = back || "#";
  show(wanted, true);
  return true;
}

/** Where there is no library yet, and the reader may make one, the page begins with that. */
export async function beginEmpty({ libraries: found, scope }) {
  if (found.length || !mayChange(scope) || location.hash) return;
  const jobs = await listJobs().catch(() => null);
  // Of a service that keeps none, the form would promise what it does not do.
  if (jobs) location.hash = jobs.length ? linkTo() : linkTo(NEW);
}

/** Fills the view; where it has just been opened, a screen reader goes on at its heading. */
async function show(wanted, opened = false) {
  const at = (id) => byId(`shelf-${id}`);
  at("trouble").textContent = "";
  let all;
  let jobs;
  try {
    [all, jobs] = await Promise.all([call("libraries"), listJobs()]);
  } catch (error) {
    at("title").textContent = "Libraries";
    at("trouble").textContent = error.message;
    return;
  }
  // Another place was opened meanwhile.
  if (wantedOf() !== wanted) return;
  const may = mayChange(all.scope);
  const mayMake = may && jobs !== null;
  byId("by-zotero").hidden = all.scope !== "admin";
  if (opened || wanted) showModel(all.scope === "admin" && wanted === "");
  jobs ??= [];
  const shelf = [...all.libraries, ...draftsIn(jobs, all.libraries)];
  const one = shelf.find(({ id }) => id === wanted);
  if (opened) {
    for (const id of ["gather", "holdings"]) byId(id).hidden = true;
    for (const id of ["shelf-about", "shelf-list", "jobs", "papers"]) byId(id).replaceChildren();
  }
  byId("to-all").hidden = wanted === "" || !shelf.length;
  if (wanted === NEW) showNew(shelf, mayMake, opened);
  else if (one) showOne(one, may && (one.kept || one.draft), may, jobs, opened, all.scope === "admin" && one.linked);
  else if (wanted) at("trouble").textContent = "There is no such library; it may have been deleted.";
  else showAll(shelf, mayMake, jobs);
  at("title").textContent = wanted === NEW ? "New library" : (one?.name ?? "Libraries");
  document.title = `${at("title").textContent} · Counterpoint`;
  if (!opened) return;
  at("title").focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Libraries that are being made: nobody can search them yet. */
function draftsIn(jobs, found) {
  const made = jobs.filter(({ library }) => !found.some(({ id }) => id === library));
  return [...new Map(made.map(({ library, name }) => [library, { id: library, name, draft: true }])).values()];
}

// ---- The list --------------------------------------------------------------------------------------------------

function showAll(shelf, may, jobs) {
  const focused = document.activeElement.href;
  const about = byId("shelf-about");
  const asked = askedOf(shelf.filter(({ draft }) => !draft));
  about.replaceChildren(...(may ? [linkButton("New library", linkTo(NEW), "go")] : []));
  if (!shelf.length) about.prepend(element("p", may ? WELCOME[0] : "There is no library yet. Who may make one opens the link that `counterpoint serve` printed."));
  byId("shelf-list").replaceChildren(...shelf.map((one) => {
    const name = element("a", one.name);
    name.href = linkTo(one.id);
    name.dir = "auto";
    const doing = jobs.find((job) => job.library === one.id && goesOn(job));
    const made = holding("li", "", holding("h3", "", name), ...wordsOf(one, doing));
    if (doing) made.append(element("p", doingOf(doing), "facts"));
    if (one === asked) made.append(element("small", "searched now", "now"));
    else if (canAsk(one)) made.append(askButton(one));
    return made;
  }));
  if (focused) [...document.querySelectorAll("#shelf a")].find((link) => link.href === focused)?.focus();
  if (jobs.some(goesOn)) timer = setTimeout(() => (document.hidden ? showAll(shelf, may, jobs) : wantedOf() === "" && show("")), 2000);
}

const canAsk = ({ draft, damaged }) => !draft && !damaged;
const askButton = ({ id, name }) => Object.assign(linkButton("Check a claim in it", `#library=${encodeURIComponent(id)}`), { title: `Searches ${name} from now on` });

function linkButton(text, href, className = "quiet") {
  const made = element("a", text, className);
  made.href = href;
  return made;
}

/** What is to be known of a library: what it holds, what is said of it, what is wrong with it; `doing` is a job that goes on. */
function wordsOf({ draft, description, papers, full_texts, vectors, damaged }, doing) {
  const held = [count(papers ?? 0, "paper"), full_texts ? count(full_texts, "full text") : "", vectors ? "with vectors" : ""].filter(Boolean).join(" · ");
  return [
    element("p", damaged ? "Damaged; it is not searched." : draft ? (doing ? "Being made" : "Not made yet") : held, "facts"),
    description ? Object.assign(element("p", description), { dir: "auto" }) : null,
    damaged ? element("p", damaged, "fault") : null,
  ].filter(Boolean);
}

// ---- One library -----------------------------------------------------------------------------------------------

function showNew(shelf, may, opened) {
  if (!may) {
    byId("shelf-trouble").textContent = "You may ask libraries here, and not make them; who may opens the link that `counterpoint serve` printed.";
    return;
  }
  byId("shelf-about").replaceChildren(...(shelf.length ? [] : WELCOME.map((text) => element("p", text))));
  if (opened) openGather(null);
}

function showOne(one, may, mayName, jobs, opened, maySync) {
  const again = () => show(one.id);
  const about = byId("shelf-about");
  const working = jobs.find((job) => job.library === one.id && goesOn(job));
  const acts = holding("div", "actions");
  if (canAsk(one)) acts.append(Object.assign(askButton(one), { className: working || !one.vectors ? "go" : "quiet" }));
  if (may) acts.append(button("Add papers", "quiet", () => openMore(one)));
  if (maySync) acts.append(button("Sync with Zotero", "quiet", () => syncIt(one, again)));
  if (mayName && !one.draft) acts.append(button("Rename or describe", "quiet", () => nameIt(one, again)));
  if (may && canAsk(one)) acts.append(button("Download", "quiet", () => download(one)));
  if (may) acts.append(deleteButton(one));
  const soon = canAsk(one) && working ? [element("p", "It can be searched already, while this goes on.", "facts")] : [];
  const made = holding("div", "", ...wordsOf(one, working), ...soon, acts);
  // What is asked here stays while the rest of the view is looked at anew; a button keeps the keyboard.
  const held = about.contains(document.activeElement) ? document.activeElement : null;
  const same = held && [...made.querySelectorAll("a, button")].find(({ textContent }) => textContent === held.textContent);
  if (opened || !held || same) about.replaceChildren(made);
  same?.focus();
  watchJobs(byId("jobs"), jobs, one.id, may, again);
  byId("holdings").hidden = !canAsk(one);
  if (canAsk(one)) showPapers(one, may, again);
}

/** Saves the library as one file; the browser, which sends no key with what it saves, gets a ticket. */
async function download({ id }) {
  try {
    const { address, name } = await call(`libraries/${id}/pack`, "POST");
    saveFrom(address, name);
    announce("The download has begun.");
  } catch (error) {
    byId("shelf-trouble").textContent = error.message;
  }
}

async function syncIt({ id, vectors }, again) {
  byId("shelf-trouble").textContent = "";
  try {
    await call(`libraries/${id}/jobs`, "POST", { sync: true, vectors });
    await again();
  } catch (error) {
    byId("shelf-trouble").textContent = error.message;
  }
}

async function openMore(one) {
  await openGather(one);
  byId("gathered").focus();
}

/** A form in place of the buttons. */
function nameIt({ id, name, description }, again) {
  const field = (label, value, most) => {
    const input = Object.assign(element("input"), { type: "text", value, maxLength: most });
    return [holding("label", "field", label, input), input];
  };
  const [nameLabel, nameInput] = field("Name", name, 100);
  const [aboutLabel, aboutInput] = field("Description", description, 1000);
  const leave = () => {
    form.remove();
    again();
  };
  const fault = element("p", "", "trouble");
  fault.setAttribute("role", "alert");
  const form = holding("form", "box", nameLabel, aboutLabel, fault, holding("div", "actions", element("button", "Save", "go"), button("Cancel", "quiet", leave)));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await call(`libraries/${id}`, "PATCH", { name: nameInput.value, description: aboutInput.value });
      announce("Saved.");
      leave();
    } catch (error) {
      fault.textContent = error.message;
    }
  });
  byId("shelf-about").replaceChildren(form);
  nameInput.focus();
}

/** Asks in place, and names what depends on it where the service says that something does. */
function deleteButton({ id, name }) {
  let sure = false;
  let confirmed = false;
  return button("Delete", "quiet", async (pressed) => {
    try {
      if (sure) {
        await call(`libraries/${id}?confirmed=${confirmed}`, "DELETE");
        announce(`${name} was deleted.`);
        location.hash = linkTo();
        return;
      }
      sure = true;
      byId("shelf-trouble").textContent = await claimsResting(id);
      pressed.textContent = `Delete ${name} with its history?`;
    } catch (error) {
      byId("shelf-trouble").textContent = error.status === 409 ? error.message.replace(/;.*/, "; they go with it.") : error.message;
      confirmed = error.status === 409;
      pressed.textContent = confirmed ? "Delete all of it" : "Delete";
    }
    announce(pressed.textContent);
  });
}

watchGather((id) => {
  byId("gather").hidden = true;
  // Who has gone on to something else stays there.
  if (byId("shelf").hidden) return;
  if (wantedOf() === id) show(id);
  else location.hash = linkTo(id);
});
