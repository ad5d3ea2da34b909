// Both sides of a claim.

import { weighedOf, isEmpty, textOf } from "./verdict.js";
import { watchChoices } from "./choosing.js";
import { fillColumns } from "./columns.js";
import { announce, button, copyOf, element, holding, number } from "./dom.js";
import { fillTerms, originOf } from "./evidence.js";
import { fillFollowUps } from "./next.js";
import { papersOf } from "./papers.js";
import { timelineOf } from "./timeline.js";

// As many papers as are found for a claim may be read.
const MOST_READ = 20;

/** The answer to a claim, ready to be put on the page; `again` asks it anew with another `read`. */
export function grounding(answer, { read }, again) {
  const shown = copyOf("grounding-template");
  const at = (selector) => shown.querySelector(selector);
  const papers = papersOf(answer);
  at(".asked").textContent = answer.claim.text;
  at(".sum").textContent = answer.summary;
  // Found now: once it is on the page nothing is left in what the template held.
  const columns = fillColumns(at, answer);
  at(".glance").append(...[weighedOf(answer, readersOf(papers)), isEmpty(answer) ? null : timelineOf(answer, columns.open), differencesOf(answer)].filter(Boolean));
  at(".tray").append(...readMore(answer, papers, read, again));
  watchChoices(at(".tools"), papers, columns.choose);
  fillLegend(at(".legend"), papers);
  fillFollowUps(at(".follow-ups"), answer);
  at(".ground tbody").append(...CHECKED.map((line) => countsRow(line, answer.checked)));
  fillTerms(at(".origin"), originOf(answer));
  announce(`${textOf(answer)} ${answer.weighed.certain}`.trim());
  return shown;
}

/** What differs between the first papers of either side, in their own words, where a language model says so. */
function differencesOf({ contrasts = [] }) {
  const parts = contrasts.map(({ aspect, first, second }) => `${aspect} (“${first}” against “${second}”)`);
  return parts.length ? element("p", `The first papers of the two sides differ in ${parts.join("; ")}.`, "differs") : null;
}

/** Who read the papers, where they are read whole. */
function readersOf(papers) {
  const readers = new Set(papers.filter(({ verdict }) => verdict?.of === "document").map((one) => one.scored_by));
  return readers.size ? [`Read by ${[...readers].join("; by ")}.`] : [];
}

/** A button, alone in a list, that has more papers read; none where papers are not read whole or there are no more. */
function readMore({ checked }, papers, asked, again) {
  const { read, documents } = checked;
  const next = Math.min(MOST_READ, documents, Math.max(10, 2 * read));
  const whole = papers.some(({ verdict }) => verdict?.of === "document");
  return again && whole && read < next && read >= (asked ?? 0) ? [button("Read more papers", "quiet read-more", () => again({ read: next }))] : [];
}

/** Explains the marks, where there are any. */
function fillLegend(legend, evidence) {
  legend.hidden = !evidence.some((one) => one.sentence && one.negations.length);
}

const CHECKED = [
  ["documents", "Documents found"],
  ["read", "Documents read"],
  ["sentences", "Sentences read"],
];

function countsRow([key, name], checked) {
  const row = document.createElement("tr");
  const head = element("th", name);
  head.scope = "row";
  row.append(head, element("td", number(checked[key])));
  return row;
}

// ---- While it is made ------------------------------------------------------------------------------------------

const READ = { contradict: "Contradicts", support: "Supports", neutral: "Takes no side" };

/** Shows the stage of the stream in a place, and below it each paper as it is read. */
export function stagesIn(place) {
  const line = element("li");
  const list = holding("ol", "stages", line);
  const read = element("ol", "", "stages read");
  place.replaceChildren(list, read);
  return (name, data) => {
    if (name !== "stage") return;
    if (data.pmid) read.append(element("li", `${READ[data.stance]}: ${data.title || "(no title)"}`, data.stance));
    line.textContent = data.detail;
    line.className = data.name === "weigh" ? "done" : "";
    announce(data.detail);
  };
}

/** The same as plain text, to be pasted. */
export function groundingText(answer) {
  const line = ({ sentence, title, year, journal, pmid }) => `- ${sentence ? `“${sentence.text}” ` : ""}${title || "(no title)"} (${[journal, year, pmid].filter(Boolean).join(", ")})`;
  const part = (heading, evidence) => [`${heading}: ${evidence.length || "none found"}`, ...evidence.map(line)].join("\n");
  const found = [...answer.contradicting, ...answer.supporting];
  const side = (place) => part(place === "contradict" ? "Contradicts" : "Supports", found.filter((one) => one.stance === place && !one.retracted));
  const retracted = found.filter((one) => one.retracted);
  const parts = [answer.claim.text, [textOf(answer), answer.weighed.certain, answer.weighed.detail].filter(Boolean).join(" "), answer.summary, side("contradict"), side("support"), ...(retracted.length ? [part("Retracted, not counted", retracted)] : [])];
  return `${parts.join("\n\n")}\n`;
}
