// What to begin with: examples that the service makes of its own index. Where it has none, nothing is offered.

import { weighedOf } from "./verdict.js";
import { button, byId, element, holding } from "./dom.js";
import { card } from "./evidence.js";
import { columnOf, papersOf } from "./papers.js";
import { examples as askExamples } from "./service.js";
import { timelineOf } from "./timeline.js";

const NONE = { claims: [], questions: [], paper: null, text: "", grounding: null };

const place = byId("example");

let found = NONE;

/** Asks the service for its examples and puts the first one, with its answer, into the first view. */
export async function loadExamples(ask) {
  found = (await askExamples()) ?? NONE;
  delete byId("examples").dataset.mode;
  if (!found.grounding) return;
  const whole = place.querySelector("#whole");
  whole.onclick = () => ask(found.grounding.claim.text);
  fillFirst(found.grounding, whole);
}

/** Puts the example, if there is one, on the page or takes it off: beside an answer it would only be in the way. */
export function showFirst(wanted, mode) {
  place.hidden = !place.dataset.for.split(" ").includes(mode);
  if (wanted && found.grounding) byId("intro").before(place);
  else place.remove();
}

/** The verdict on the example, and the first paper of each side. */
function fillFirst(answer, whole) {
  place.querySelector(".claimed").textContent = answer.claim.text;
  place.querySelector(".glance").replaceChildren(...[weighedOf(answer), timelineOf(answer, () => whole.click())].filter(Boolean));
  const papers = papersOf(answer);
  const best = [["contradict", "Contradicts"], ["support", "Supports"]].map(([side, name]) => [side, name, papers.find((one) => columnOf(one) === side)]).filter(([, , one]) => one);
  const sides = best.map(([side, name, one]) => holding("section", `side ${side}`, element("h3", name), holding("ol", "", card(one))));
  place.querySelector(".sides").dataset.columns = String(Math.max(1, sides.length));
  place.querySelector(".sides").replaceChildren(...sides);
}

/** The paper of the example; the hypothesis is in the button that fills it in. */
export const examplePaper = () => found.paper?.text ?? "";

/** What each mode offers: what is asked, and what the button says where that is too long. */
const OFFERED = {
  claim: () => found.claims.map((one) => [one]),
  question: () => found.questions.map((one) => [one]),
  paper: () => (found.paper ? [[found.paper.hypothesis]] : []),
  text: () => (found.text ? [[found.text, "A text made from this index"]] : []),
  find: () => [],
};

/** The buttons of a mode; `choose(asked)` is called when one is pressed. */
export function offerExamples(mode, choose) {
  const list = byId("examples");
  // Called at every letter that is typed.
  if (list.dataset.mode === mode && list.children.length > 1) return;
  list.dataset.mode = mode;
  const made = OFFERED[mode]().map(([asked, words]) => {
    const one = button(words ?? asked, "", () => choose(asked));
    one.dataset.example = asked;
    one.setAttribute("aria-pressed", "false");
    return one;
  });
  list.replaceChildren(list.firstElementChild, ...made);
  list.hidden = !made.length;
}
