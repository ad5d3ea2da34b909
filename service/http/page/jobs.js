// What the service does to libraries, as it goes on: looked at every second or two, and only while it is shown.

import { announce, button, element, holding, number } from "./dom.js";
import { asked, call } from "./service.js";
import { save } from "./take.js";

const LOOK_AGAIN = 1500;
const STATES = { waiting: "Waiting", running: "Working", done: "Done", failed: "Failed", stopped: "Stopped" };
// What is told on the way and is no news once it is over; it is in the report.
const ON_THE_WAY = /^(Building|Encoding|Looking) /;
const GOES_ON = ["waiting", "running"];

let timer = 0;
// What was shown later takes the place of what still looks.
let turn = 0;

/** Whether a job still works, or will. */
export const goesOn = ({ state }) => GOES_ON.includes(state);

/** The jobs on the libraries that the reader may see, newest first; null where the service keeps no libraries. */
export const listJobs = () => call("jobs").then(({ jobs }) => jobs, (error) => (error.status === 409 ? null : Promise.reject(error)));

/** Looks no longer. */
export function stopWatching() {
  clearTimeout(timer);
  turn++;
}

/**
 * Keeps the jobs of a library in `place`, with what stops and resumes them where the reader `may`. `changed` is called when one has
 * got to another stage: then there may be more papers.
 */
export function watchJobs(place, jobs, library, may, changed) {
  stopWatching();
  const began = turn;
  const own = jobs.filter((one) => one.library === library);
  // Of those that are over only the last is news.
  const shown = own.filter((one, at) => goesOn(one) || at === 0);
  const focused = place.contains(document.activeElement);
  place.replaceChildren(...shown.map((job) => boxOf(job, may, again)));
  if (focused) place.querySelector("button")?.focus();
  if (shown.some(goesOn)) timer = setTimeout(look, LOOK_AGAIN);

  async function again() {
    watchJobs(place, await listJobs(), library, may, changed);
    changed();
  }

  async function look() {
    const found = document.hidden ? null : await listJobs().catch(() => null);
    if (turn !== began) return;
    const now = shown.map((job) => found?.find(({ id }) => id === job.id) ?? job);
    now.forEach((job, at) => fill(place.children[at], job));
    const other = now.some((job, at) => job.state !== shown[at].state || stageOf(job) !== stageOf(shown[at]));
    if (!other) {
      timer = setTimeout(look, LOOK_AGAIN);
      return;
    }
    const [{ state, stage }] = now;
    announce(`${STATES[state]}. ${stage}`);
    watchJobs(place, found, library, may, changed);
    changed();
  }
}

/** What a job does, without how far it is: “Fetching from PubMed: papers” is one stage. */
const stageOf = ({ stage }) => stage.split(":")[0];

function boxOf(job, may, again) {
  const box = holding("li", "job", element("p", "", "stage"), element("progress"), element("p", "", "trouble"), element("ul", "", "plain"));
  box.querySelector("progress").setAttribute("aria-label", "Progress");
  const act = (verb) => async () => {
    try {
      await call(`jobs/${job.id}/${verb}`, "POST");
      await again();
    } catch (error) {
      box.querySelector(".trouble").textContent = error.message;
    }
  };
  const acts = holding("div", "actions");
  if (may && goesOn(job)) acts.append(button("Stop", "quiet", act("stop")));
  if (may && ["stopped", "failed"].includes(job.state)) acts.append(button("Resume", "quiet", act("resume")));
  if (!goesOn(job) && job.said.length) acts.append(button("Download the report", "quiet", () => saveReport(job, box)));
  box.append(acts);
  fill(box, job);
  return box;
}

/** What a job does, and how far it is. */
export function doingOf({ state, stage, done, total }) {
  const far = total ? ` ${number(done)} of ${number(total)}` : "";
  return `${stage.trim() || STATES[state]}${far}…`;
}

function fill(box, job) {
  const { state, stage, done, total, said } = job;
  const part = (selector) => box.querySelector(selector);
  part(".stage").textContent = goesOn(job) ? doingOf(job) : state === "failed" ? "This failed." : STATES[state];
  part(".trouble").textContent = state === "failed" ? stage : "";
  part("progress").hidden = state !== "running";
  if (total) Object.assign(part("progress"), { max: total, value: done });
  else part("progress").removeAttribute("value");
  // What came in and what was left out; the whole of it is in the report.
  part("ul").replaceChildren(...said.filter((line) => !ON_THE_WAY.test(line)).slice(-6).map((line) => element("li", line)));
}

async function saveReport({ id, name }, box) {
  try {
    save(await (await asked(`v1/jobs/${id}/report`)).blob(), "text/plain", `${name}.txt`);
  } catch (error) {
    box.querySelector(".trouble").textContent = error.message;
  }
}
