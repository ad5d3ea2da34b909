// The page: what is asked goes out, what comes back is shown, and a newer question takes the place of a running one.

import { answered, answerText, draftIn } from "./answer.js";
import { chosen, chosenText } from "./chosen.js";
import { announce, button, byId, count, element, holding, number } from "./dom.js";
import { loadExamples, showFirst } from "./example.js";
import { asked, fromHash, markExample, offerFullTexts, setMode, modeOf, showExamples, toHash, watchForm, words } from "./form.js";
import { grounding, groundingText, stagesIn } from "./grounding.js";
import { beginEmpty, openLibraries } from "./libraries.js";
import { offerLibraries, takeLibrary } from "./library.js";
import { changesSince } from "./links.js";
import { remember, showMemory } from "./memory.js";
import { about, answer as askAnswer, evidence as askEvidence, forgetDocuments, health, searched as askSearch, shared as askShared, text as askText, Told, useKey } from "./service.js";
import { keptNote, sharedIn } from "./share.js";
import { addActions } from "./take.js";
import { checkedText, claimsIn, wordsOf } from "./text.js";
import { askInput, choices, foundPapers, noteOf } from "./input.js";

// What each mode asks, how its answer is shown and told as text, what is said and drawn while it is made, and what of the answer is
// in view at once, below the verdict.
const MODES = {
  claim: { ask: askInput, shown: grounding, text: groundingText, topic: (found) => found.claim.text, reading: "Reading the papers for and against", drawn: stagesIn, first: "blockquote, .papers-table tbody tr" },
  question: { ask: askAnswer, shown: answered, text: answerText, topic: (found) => found.topic.question, reading: "Looking for an answer", drawn: draftIn, first: ".prose .said, .papers-table tbody tr, blockquote" },
  // It comes at once or not at all: there is nothing to draw on the way.
  paper: { ask: askEvidence, shown: chosen, text: chosenText, topic: (found) => found.hypothesis, reading: "Reading the paper", drawn: (place) => place.replaceChildren(), first: ".card" },
  text: { ask: askText, shown: checkedText, text: wordsOf, topic: () => "Checked text", reading: "Checking the text", drawn: claimsIn, first: ".claims tbody tr" },
  shared: { ask: ({ shared }, signal) => askShared(shared, signal), reading: "Opening the shared result", drawn: (place) => place.replaceChildren() },
  find: { ask: ({ find }, signal) => askSearch(find, signal), reading: "Finding the paper", drawn: (place) => place.replaceChildren() },
};

// So many pixels of what is to be in view are enough.
const ENOUGH = 180;

// With all that is given in it the form may fill the window.
const tall = (mode) => mode === "paper" || mode === "text";

// After so many milliseconds the page asks whether the service is still there.
const LOOK_AGAIN = 10_000;

let searched = null;
// The index that /health named when what is searched was last read.
let toldIndex = "";
let begun = false;
// The link that is open, and that of the answer on the page.
let opened = "";
let shownLink = null;
let running = new AbortController();
let retryTimer = 0;

/** Asks what the form says, with `extra` beside it, and shows the answer or what was wrong. */
async function ask(extra = {}) {
  running.abort();
  clearTimeout(retryTimer);
  const { signal } = (running = new AbortController());
  const wanted = sharedIn() ? { mode: "shared", body: { shared: sharedIn() } } : asked();
  Object.assign(wanted.body, extra);
  markExample(wanted);
  showIntro(false);
  showProblem();
  forgetDocuments();
  const busy = showBusy(wanted.mode);
  try {
    const found = await MODES[wanted.mode].ask(wanted.body, signal, busy.onProgress);
    // An aborted request has been replaced by another, whose busy state must stay.
    if (signal.aborted) return;
    // What stands above the answer goes first: then it is measured where it stays.
    busy.stop();
    showAnswer(wanted, found);
  } catch (error) {
    if (signal.aborted) return;
    busy.stop();
    await showFault(error, signal);
  }
}

function showAnswer(wanted, came) {
  const kept = wanted.mode === "shared" ? came : null;
  const found = kept ? kept.result : came;
  const place = byId("answer");
  shownLink = location.hash;
  if (wanted.mode === "find" || (wanted.mode === "claim" && !found.claim)) {
    place.replaceChildren((wanted.mode === "find" ? foundPapers : choices)(found, askInstead));
    goTo(place, "");
    document.title = "Counterpoint";
    return;
  }
  const mode = MODES[kept?.mode ?? wanted.mode];
  const shown = mode.shown(found, wanted.body, kept ? undefined : ask);
  addActions(shown, wanted, found, mode.text(found), kept?.title);
  if (kept) shown.querySelector(".asked").textContent = kept.title;
  const changed = changesSince(found);
  const notes = kept ? [keptNote(kept)] : [noteOf(found.input, askInstead), changed.length ? element("p", changed.join(" "), "notice") : null];
  shown.querySelector(".asked").after(...notes.filter(Boolean));
  place.replaceChildren(shown);
  goTo(place, mode.first);
  remember(wanted, found);
  document.title = `${kept?.title ?? mode.topic(found)} · Counterpoint`;
}

/** Shows what came; a screen reader goes on at its heading, and Tab leads into it. */
function goTo(place, wanted) {
  place.hidden = false;
  byId("answered").focus({ preventScroll: true });
  const first = (wanted && [...place.querySelectorAll(wanted)].find((one) => one.checkVisibility())) || place;
  const { top, bottom } = first.getBoundingClientRect();
  const above = place.getBoundingClientRect().top < 0;
  // Instantly: a page that is still moving can be moved by what comes next.
  if (above || Math.min(bottom, top + ENOUGH) > innerHeight) place.scrollIntoView({ block: "start", behavior: "instant" });
}

/** What the reader chose in place of what was typed. */
function askInstead(mode, text) {
  setMode(mode);
  byId("text").value = text;
  submit();
}

/** What stands there before anything was asked. */
function showIntro(wanted) {
  byId("intro").hidden = !wanted;
  showFirst(wanted, modeOf());
  document.body.classList.toggle("asked-something", !wanted);
}

// ---- States of the page ----------------------------------------------------------------------------------------

/** Shows that work is going on; returns what is told on the way and what ends it. Nothing flashes for an answer at once. */
function showBusy(mode) {
  const began = performance.now();
  const answer = byId("answer");
  const { reading, drawn } = MODES[mode];
  const say = () => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    byId("stage").textContent = `${reading}…${seconds > 1 ? ` ${seconds} s` : ""}`;
  };
  const appear = () => {
    answer.hidden = true;
    byId("busy").hidden = false;
    if (tall(mode) && byId("busy").getBoundingClientRect().top > innerHeight * 0.75) byId("busy").scrollIntoView({ block: "nearest" });
  };
  const soon = setTimeout(() => {
    appear();
    // The first stage may have been told already.
    if (!byId("draft").querySelector("li")) announce(`${reading}.`);
  }, 150);
  say();
  const ticking = setInterval(say, 1000);
  const onProgress = drawn(byId("draft"));
  byId("ghosts").hidden = mode !== "claim";
  if (mode !== "shared") byId("go").textContent = words(mode).working;
  answer.setAttribute("aria-busy", "true");
  const halt = () => {
    clearTimeout(soon);
    clearInterval(ticking);
  };
  const stop = () => {
    halt();
    byId("busy").hidden = true;
    byId("go").textContent = words().go;
    answer.removeAttribute("aria-busy");
  };
  // The next request shows its own busy state.
  running.signal.addEventListener("abort", halt);
  return { onProgress, stop };
}

/** The reader will not wait: the page goes back to what it was. */
function stopWaiting() {
  running.abort();
  clearTimeout(retryTimer);
  byId("busy").hidden = true;
  byId("go").textContent = words().go;
  byId("answer").removeAttribute("aria-busy");
  byId("answer").hidden = !byId("answer").firstElementChild;
  showIntro(byId("answer").hidden);
  announce("Stopped.");
  byId("text").focus();
}

/** Says what went wrong. 503 is loading, failed to load, or too busy; /health tells which. */
async function showFault(error, signal) {
  if (!(error instanceof Told)) {
    console.error(error);
    return showProblem("The answer could not be shown.", { detail: "See the browser's console for the reason.", retry: true });
  }
  if (error.status === 401) return askForKey(error);
  if (!error.status) showHealth();
  if (sharedIn()) return showProblem(error.message, { retry: true });
  if (error.status !== 503) return showProblem(error.message, { ...error, field: error.field || fieldOf(error) });
  const state = await showHealth();
  if (signal.aborted) return undefined;
  if (state?.status !== "loading") return showProblem(error.message, { retry: true });
  // Loading is the only one that ends by itself.
  showProblem("The service is still loading.", { detail: "Your answer will follow as soon as it is ready.", retry: true, waiting: true });
  return askWhenReady(signal);
}

/** The field that a sentence of the service is about. */
function fieldOf({ message, status }) {
  if (modeOf() !== "paper") return "text";
  return /^k\b/.test(message) ? "count" : status === 413 || /^The paper/.test(message) ? "paper" : "text";
}

/** The operator asks for a key: there is a place to give it. */
function askForKey(error) {
  showProblem(error.message, { retry: true });
  const form = holding("form", "key-form");
  const label = element("label", "API key", "field");
  const input = Object.assign(element("input"), { type: "password", id: "key", autocomplete: "off", required: true });
  label.htmlFor = "key";
  form.append(holding("div", "", label, input), element("button", "Use this key", "quiet"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useKey(input.value.trim());
    offerLibraries(changeLibrary);
    ask();
  });
  byId("problem").querySelector("button").replaceWith(form);
  input.focus();
}

/** Asks again once loading has ended; /health is asked until then, so that the message stays and is read out once. */
function askWhenReady(signal) {
  retryTimer = setTimeout(async () => {
    const state = await showHealth();
    if (signal.aborted) return;
    if (state?.status === "loading") askWhenReady(signal);
    else ask();
  }, 1000);
}

/** Shows what went wrong where the eye is, or clears it. */
function showProblem(text = "", { detail = "", retry = false, waiting = false, field = "text" } = {}) {
  const place = byId("problem");
  place.replaceChildren();
  place.className = "";
  for (const one of ["text", "paper", "count"]) byId(one).removeAttribute("aria-invalid");
  if (!text) return;
  byId("answer").hidden = true;
  announce("");
  place.className = waiting ? "problem waiting" : "problem";
  place.append(element("p", text, "what"));
  if (detail) place.append(element("p", detail));
  if (retry) {
    place.append(button("Try again", "quiet", () => ask()));
    return;
  }
  byId(field).setAttribute("aria-invalid", "true");
  byId(field).focus();
}

/** One line on what is searched and whether the service can answer. */
async function showHealth() {
  const line = byId("health");
  const state = await health();
  const ready = state?.status === "ready";
  const loading = state?.status === "loading";
  if (ready && (!searched || toldIndex !== state.index)) {
    toldIndex = state.index;
    searched = await about();
    offerFullTexts(Boolean(searched?.full_texts));
  }
  line.textContent = ready ? searchedIn(state) : loading ? "Loading…" : state ? "Not available" : "The service cannot be reached";
  line.classList.toggle("ready", ready);
  line.classList.toggle("failed", !ready && !loading);
  return state;
}

function searchedIn({ documents, asks = "" }) {
  if (!searched) return documents ? count(documents, "document") : "Ready";
  const { name, source, built } = searched;
  const date = new Date(built).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return `Searches ${name}: ${number(searched.documents)} ${source} · ${date}${asks && ` · ${asks}`}`;
}

/** Keeps that line true as long as the page is open. */
async function watchHealth() {
  const state = document.hidden && begun ? null : await showHealth();
  setTimeout(watchHealth, state?.status === "loading" ? 2000 : LOOK_AGAIN);
  if (state?.status !== "ready" || begun) return;
  begun = true;
  beginWithExamples();
}

/** The examples of the index, in the form and in the first view. */
async function beginWithExamples() {
  const claim = (text) => {
    setMode("claim");
    byId("text").value = text;
    submit();
  };
  await loadExamples(claim);
  showFirst(!byId("intro").hidden, modeOf());
  showExamples();
  if (!byId("answer").hidden) markExample(asked());
}

// ---- Start -----------------------------------------------------------------------------------------------------

/** The link first, then the answer: the address bar always names what is on the page. */
function submit() {
  const hash = toHash(asked());
  if (hash !== location.hash) history.pushState(null, "", hash || location.pathname);
  opened = location.hash;
  ask();
}

/** Another library is asked: what is told of it and remembered for it, and its examples. */
function tellLibrary() {
  searched = null;
  showHealth();
  showMemory();
  beginWithExamples();
}

/** The same, and the same question again. */
function changeLibrary() {
  tellLibrary();
  if (sharedIn()) location.hash = "";
  else if (!byId("answer").hidden) submit();
  else history.replaceState(null, "", location.pathname);
}

/** Opens what the link names; a link that asks nothing is the empty page, one for a paper waits for the paper. */
function open() {
  const from = opened;
  opened = location.hash;
  const left = !byId("shelf").hidden;
  if (takeLibrary() && begun) tellLibrary();
  if (openLibraries(from)) return;
  if (left) {
    // There may be others now, or fewer.
    offerLibraries(changeLibrary);
    if (opened === shownLink && byId("answer").firstElementChild) return;
  }
  if (fromHash() || sharedIn()) {
    ask();
    return;
  }
  running.abort();
  clearTimeout(retryTimer);
  showProblem();
  markExample();
  setMode(modeOf());
  byId("busy").hidden = true;
  byId("answer").hidden = true;
  showIntro(true);
  document.title = "Counterpoint";
  byId(modeOf() === "paper" ? "paper" : "text").focus();
}

watchForm(submit, (fault) => (fault && !(fault instanceof Told) ? console.error(fault) : showProblem(fault?.message, fault)));
byId("stop").addEventListener("click", stopWaiting);
addEventListener("hashchange", open);
open();
watchHealth();
showMemory();
offerLibraries(changeLibrary).then(beginEmpty);
