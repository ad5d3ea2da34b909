// The form that makes a library or adds papers to one: files, a search, ids; one button uploads the files and starts the job.

import { announce, button, byId, count, element, holding, number } from "./dom.js";
import { watchFiles } from "./files.js";
import { call, Told } from "./service.js";
import { upload, waitingOf } from "./upload.js";

const DRAFT = "counterpoint-draft";

// The library that is added to, or the new one once it has a name; null before.
let target = null;
let isNew = false;
// What is to be read: files of this page, and those that the service has from an earlier try.
let files = [];
let sending = null;

const trouble = (text = "") => (byId("gather-trouble").textContent = text);
const value = (id) => byId(id).value.trim();

/** Opens the form for a library; without one for a new one, which may have been begun earlier. */
export async function openGather(library) {
  if (sending) {
    byId("gather").hidden = false;
    return;
  }
  isNew = !library || library.draft === true;
  const begun = library ?? (await unfinished());
  target = begun ? { id: begun.id, name: begun.name } : null;
  const waiting = target ? await waitingOf(target.id).catch(() => []) : [];
  files = waiting.filter(({ whole }) => whole).map(({ name, received }) => ({ name, at: received, size: received }));
  byId("naming").hidden = Boolean(library);
  Object.assign(byId("library-name"), { value: target?.name ?? "", disabled: Boolean(target) });
  byId("unfinished").hidden = Boolean(library) || !begun;
  byId("gather-go").textContent = library ? "Add the papers" : "Make the library";
  for (const id of ["search-query", "gather-ids"]) byId(id).value = "";
  for (const id of ["by-search", "by-zotero", "by-ids"]) byId(id).open = false;
  byId("zotero-key").value = "";
  chooseZotero();
  byId("looked").replaceChildren();
  trouble();
  showFiles();
  byId("gather").hidden = false;
}

/** A library that was named, and never filled. */
async function unfinished() {
  const id = window.kept((store) => store.getItem(DRAFT));
  if (!id) return null;
  const found = await call(`libraries/${encodeURIComponent(id)}/files`).catch(() => null);
  if (!found) forgetDraft();
  return found;
}

const forgetDraft = () => window.kept((store) => store.removeItem(DRAFT));

/** Deletes what was begun: nobody else would. */
async function beginAnew() {
  try {
    await call(`libraries/${target.id}`, "DELETE");
    forgetDraft();
    await openGather(null);
    byId("library-name").focus();
  } catch (error) {
    trouble(error.message);
  }
}

// ---- Files -----------------------------------------------------------------------------------------------------

function add(file) {
  if (!file.size) throw new Told(`“${file.name}” is empty, or a folder: expected files; pack a folder into a zip archive.`);
  if (files.some((one) => one.file && one.file.name === file.name && one.size === file.size && one.file.lastModified === file.lastModified)) return;
  let name = file.name;
  // Files of one name from several folders are several.
  for (let copy = 2; files.some((one) => one.name === name && one.file); copy++) name = file.name.replace(/(\.[^.]*)?$/, ` ${copy}$1`);
  files = [...files.filter((one) => one.name !== name), { name, file, at: 0, size: file.size }];
  if (!value("library-name")) byId("library-name").value = nameOf(file.name.replace(/\.[^.]*$/, ""));
  showFiles();
}

/** A text as the name of a library may be. */
const nameOf = (text) => text.replace(/[/\\]/g, " ").trim().slice(0, 100);

function showFiles() {
  byId("uploads").replaceChildren(...files.map((one) => {
    const bar = Object.assign(element("progress"), { max: one.size, value: one.at, hidden: one.at === one.size || !(sending || one.at) });
    bar.setAttribute("aria-label", `Upload of ${one.name}`);
    const gone = button("×", "erase", () => {
      files = files.filter((other) => other !== one);
      if (one.at) call(`libraries/${target.id}/files/${encodeURIComponent(one.name)}`, "DELETE").catch(() => {});
      showFiles();
      byId("gathered").focus();
    });
    gone.setAttribute("aria-label", `Leave out ${one.name}`);
    gone.hidden = Boolean(sending);
    one.row = holding("li", "", element("span", one.name), element("small", farOf(one)), gone, bar);
    return one.row;
  }));
}

const bytes = (value) => (value < 1e6 ? `${number(Math.ceil(value / 1e3))} kB` : `${number(Math.round(value / 1e5) / 10)} MB`);
const farOf = ({ at, size }) => (at === size ? `${bytes(size)}, uploaded` : at ? `${bytes(at)} of ${bytes(size)}` : bytes(size));

function showFar(one, fault) {
  one.row.querySelector("small").textContent = fault ? `${farOf(one)}; the connection broke, trying again` : farOf(one);
  one.row.querySelector("progress").value = one.at;
}

// ---- A search --------------------------------------------------------------------------------------------------

function searchOf() {
  const query = value("search-query");
  const most = byId("search-most").valueAsNumber;
  return query ? { query, source: byId("search-source").value, most, full_texts: byId("search-texts").checked } : null;
}

async function look() {
  const place = byId("looked");
  const search = searchOf();
  if (!search) return byId("search-query").focus();
  place.replaceChildren(element("p", "Looking…"));
  try {
    const { found, titles } = await call("preview", "POST", search);
    const fetched = found > search.most ? `; the first ${number(search.most)} will be fetched` : "";
    const list = holding("ol", "plain", ...titles.map((title) => Object.assign(element("li", title), { dir: "auto" })));
    place.replaceChildren(element("p", `${count(found, "paper")} found${fetched}. The first of them:`), list);
  } catch (error) {
    place.replaceChildren(element("p", error.message));
  }
  return undefined;
}

// ---- Zotero ----------------------------------------------------------------------------------------------------

const ABOUT_ZOTERO = {
  local: "Open Zotero, and in its settings, under Advanced, allow other applications on this computer to communicate with it.",
  web: "Your user ID stands at zotero.org/settings/keys, where you make a key that may only read. It is kept by this service for later syncs and shown to nobody; leave it empty to use the one that is kept, or for a public group.",
};

/** "users/ID" or "groups/ID" at zotero.org; "" for the Zotero on this machine. */
const zoteroLibrary = () => (byId("zotero-from").value ? `${byId("zotero-from").value}/${value("zotero-id")}` : "");

function chooseZotero() {
  const web = byId("zotero-from").value !== "";
  for (const one of byId("by-zotero").querySelectorAll("[data-web]")) one.hidden = !web;
  byId("zotero-told").textContent = ABOUT_ZOTERO[web ? "web" : "local"];
  offerCollections(null);
}

/** The collections as a tree: each is moved in below the one that holds it; null where they are not known. */
function offerCollections(collections) {
  const choices = (collections ?? []).map(({ key, path, items }) => [key, `${"\u2003".repeat(path.length - 1)}${path.at(-1)} (${number(items)})`]);
  const all = collections ? [["all", "The whole library"]] : [];
  byId("zotero-collection").replaceChildren(...[["", "None"], ...all, ...choices].map(([key, name]) => new Option(name, key)));
}

async function listZotero() {
  const told = byId("zotero-told");
  const library = zoteroLibrary();
  if (byId("zotero-from").value && !/^\d+$/.test(value("zotero-id"))) {
    told.textContent = "Expected the ID of a user or a group, a number; it stands at zotero.org/settings/keys, or in the address of the group.";
    return;
  }
  told.textContent = "Asking Zotero…";
  try {
    const { collections } = await (library ? call("zotero", "POST", { library, key: value("zotero-key") }) : call("zotero"));
    byId("zotero-key").value = "";
    offerCollections(collections);
    told.textContent = `${count(collections.length, "collection")} found; choose one.`;
  } catch (error) {
    told.textContent = error.message;
  }
}

function zoteroOf() {
  const collection = byId("zotero-collection").value;
  return collection ? { collection, pdfs: byId("zotero-pdfs").checked, library: zoteroLibrary() } : null;
}

async function forgetZoteroKey() {
  try {
    await call(`zotero?of=${encodeURIComponent(zoteroLibrary())}`, "DELETE");
    byId("zotero-told").textContent = "The key is forgotten.";
  } catch (error) {
    byId("zotero-told").textContent = error.message;
  }
}

// ---- Start -----------------------------------------------------------------------------------------------------

/** Names the library where it is new, uploads what is not there yet, and starts the job; returns the library's id. */
async function start(signal) {
  const search = searchOf();
  const ids = value("gather-ids");
  const zotero = zoteroOf();
  if (!files.length && !search && !ids && !zotero) throw new Told("There is nothing to read yet: choose files, search, choose a collection, or paste ids.");
  if (search && !(search.most >= 1)) throw new Told("Expected how many papers to fetch at most, a number from 1 on.");
  if (!target) {
    target = await call("libraries", "POST", { name: value("library-name") || nameOf(search?.query ?? (zotero && byId("zotero-collection").selectedOptions[0].text.replace(/ \(\d[^()]*\)$/, "").trim()) ?? "My library") });
    byId("library-name").disabled = true;
    window.kept((store) => store.setItem(DRAFT, target.id));
  }
  for (const one of files.filter(({ at, size }) => at < size)) {
    await upload(target.id, one, signal, (at, fault) => {
      one.at = at;
      showFar(one, fault);
    });
  }
  // A library that is restored may get the id that it had.
  return (await call(`libraries/${target.id}/jobs`, "POST", { files: files.map(({ name }) => name), search, ids, zotero, vectors: byId("vectors").checked })).library;
}

async function submit(begun) {
  if (sending) return;
  trouble();
  sending = new AbortController();
  show(true);
  announce("Uploading.");
  let id = "";
  try {
    id = await start(sending.signal);
  } catch (error) {
    if (!(error instanceof Told) && error.name !== "AbortError") console.error(error);
    trouble(error.name === "AbortError" ? "Stopped. What was uploaded is kept; press the button to go on." : error.message);
  } finally {
    sending = null;
    show(false);
  }
  if (!id) return;
  if (isNew) forgetDraft();
  files = [];
  begun(id);
}

function show(busy) {
  byId("gather-stop").hidden = !busy;
  byId("gather-go").setAttribute("aria-busy", String(busy));
  showFiles();
}

/** Listens to the form while it is shown; `begun(id)` is called once the service works on a library. */
export function watchGather(begun) {
  const form = byId("gather");
  const wanted = () => !byId("shelf").hidden && !form.hidden && !sending;
  watchFiles({ field: byId("drop"), input: byId("gathered"), wanted, take: add, told: (fault) => trouble(fault?.message) });
  byId("look").addEventListener("click", look);
  byId("zotero-list").addEventListener("click", listZotero);
  byId("zotero-forget").addEventListener("click", forgetZoteroKey);
  byId("zotero-from").addEventListener("change", chooseZotero);
  byId("zotero-id").addEventListener("input", () => offerCollections(null));
  byId("anew").addEventListener("click", beginAnew);
  byId("gather-stop").addEventListener("click", () => sending?.abort());
  byId("search-query").addEventListener("keydown", (event) => {
    // Enter looks; it does not fetch what nobody has seen.
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    look();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(begun);
  });
  addEventListener("beforeunload", (event) => {
    if (sending) event.preventDefault();
  });
}
