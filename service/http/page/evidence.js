// A paper and its sentence: the card, its badges, and the sentence where it stands in the abstract.

import { copyOf, count, element, holding, number, percent } from "./dom.js";
import { designOf } from "./papers.js";
import { documentOf } from "./service.js";

// The first match of a type counts; PubMed has some eighty types, and most of them tell a reader of evidence nothing.
const BADGES = [
  [/^retraction (of|notice)/i, "Retraction notice"],
  [/^meta-analysis/i, "Meta-analysis"],
  [/^systematic review/i, "Systematic review"],
  [/^(scoping )?review/i, "Review"],
  [/protocol/i, "Protocol"],
  [/^randomi[sz]ed controlled trial/i, "Randomised trial"],
  [/trial/i, "Trial"],
  [/^observational study/i, "Observational study"],
  [/guideline/i, "Guideline"],
  [/^case reports?/i, "Case report"],
  [/^(editorial|comment|letter)/i, "Opinion"],
];
const BROADER = { "Randomised trial": "Trial", "Systematic review": "Review" };

// A side may be filled by relevance alone; where the judge reads the sentence otherwise, the card says so at once.
export const READS_AS = { contradict: "contradicts", neutral: "neutral", support: "supports" };

/** Evidence for or against `what`, as a list item; `says` is a badge to go before the others. */
export function card(evidence, says = "", what = "the claim") {
  const { shown, at } = paper(evidence, evidence.rank);
  // For whoever adds to the card later (wrong.js).
  shown.evidence = evidence;
  const doubts = [...(says ? [says] : []), ...doubtsOf(evidence)];
  fillBadges(at(".badges"), [...strengthOf(badgesOf(evidence), evidence), ...doubts.map((label) => [label, "doubt"])]);
  if (evidence.sentence) {
    const marks = { negations: evidence.negations };
    at(".quotes").append(quoted(evidence, evidence.sentence, marks));
    if (evidence.other) at(".quotes").append(quoted(evidence, evidence.other, {}, "the other way round"));
  }
  if (isOfPaper(evidence)) fillWhole(shown, evidence, what);
  else fillApart(shown, evidence);
  return shown;
}

/** Whether the judge's verdict is on the whole paper: then its probability is the score, and the only number of the card. */
const isOfPaper = ({ verdict }) => verdict?.of === "document";

/** A verdict on the paper: how likely it takes its stance, which is what ranked it. */
function fillWhole(shown, { stance, score, verdict, why, scored_by }, what) {
  const at = (selector) => shown.querySelector(selector);
  fillVerdict(shown, verdict);
  // A figure as low as 14 % reads like a finding: of a paper on neither side the badges say in words what it means.
  if (verdict.label === "neutral") at(".likely").remove();
  else at(".likely").textContent = `${percent(score)} likely that this paper ${READS_AS[stance]} ${what}`;
  // The service's own words begin with the same.
  at(".why").textContent = why.split("; ").slice(1).join("; ");
  if (!at(".why").textContent) at(".why").remove();
  at(".score").textContent = `Judged by ${scored_by}`;
}

/** The score that ranked the paper; a verdict on the sentence alone, if there is one, among the rest. */
function fillApart(shown, { score, verdict, why, scored_by }) {
  const at = (selector) => shown.querySelector(selector);
  if (verdict) fillVerdict(shown, verdict);
  else at(".verdict").remove();
  at(".why").textContent = why;
  at(".likely").textContent = `Score ${score.toFixed(3)}`;
  at(".likely").title = "Scores of different models are not comparable.";
  at(".score").textContent = `Scored by ${scored_by}`;
}

/** A paper that an answer cites, under its number, with each sentence that bears the answer out. */
export function source(cited, citations) {
  const { shown, at } = paper(cited, cited.number);
  fillBadges(at(".badges"), strengthOf(badgesOf(cited), cited));
  for (const { sentence, note } of citations) at(".quotes").append(quoted(cited, sentence, {}, note));
  for (const part of [".likely", ".numbers"]) at(part).remove();
  return shown;
}

/** A card with what every paper has: its number, title and where it appeared. */
function paper({ pmid, doi, title, authors, year, journal }, place) {
  const shown = copyOf("card-template").firstElementChild;
  const at = (selector) => shown.querySelector(selector);
  at(".rank").textContent = place;
  at("h3").textContent = title || "(no title)";
  at(".facts").append(factsOf({ authors, year, journal }), ...idsOf({ pmid, doi }));
  return { shown, at };
}

/** First author, year and journal, each followed by a dot in the middle. */
export const factsOf = ({ authors, year, journal }) =>
  [authorOf(authors), year, journal].filter(Boolean).map((fact) => `${fact}\u00a0· `).join("");

/** The family name of the first of "Family, Given" names, or both where there are two. */
function authorOf(authors = []) {
  const names = authors.map((name) => name.split(",")[0]);
  return names.length > 2 ? `${names[0]} et al.` : names.join(" and ");
}

/** The document's id, and its DOI where that is another. The page itself never asks anything there. */
function idsOf({ pmid, doi }) {
  const id = pmidOf(pmid, doi);
  if (!doi || id.textContent.endsWith(doi)) return [id];
  return [id, " · ", linkOf(`doi:${doi}`, addressOf(doi), "Opens at the publisher's")];
}

/** The document's id; a link to PubMed where it is one of PubMed's, or by its DOI. */
export function pmidOf(pmid, doi = "") {
  if (/^[0-9]{1,9}$/.test(pmid)) return linkOf(`PMID ${pmid}`, `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`, "Opens at PubMed");
  return doi && pmid === doi ? linkOf(`doi:${doi}`, addressOf(doi), "Opens at the publisher's") : element("span", pmid, "id");
}

const addressOf = (doi) => `https://doi.org/${encodeURIComponent(doi).replaceAll("%2F", "/")}`;

function linkOf(text, address, title) {
  const link = element("a", text, "id");
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.title = title;
  return link;
}

/** Label and class of each badge: what a reader should know of the paper before its sentence. */
export function badgesOf({ types, retracted = false }) {
  const labels = new Set();
  for (const type of types) {
    if (/^retracted/i.test(type)) continue;
    const found = BADGES.find(([pattern]) => pattern.test(type));
    if (found) labels.add(found[1]);
  }
  for (const label of [...labels]) labels.delete(BROADER[label]);
  return [...(retracted ? [["Retracted", "retracted"]] : []), ...[...labels].map((label) => [label, ""])];
}

/** The strongest designs with their mark, those too that only the paper's words name; a trial that others report too; and studies of animals. */
function strengthOf(badges, { design, subjects, trial }) {
  const strongest = design?.strong ? ["Meta-analysis", designOf(design)] : [];
  const named = badges.some(([label]) => strongest.includes(label));
  const told = strongest.length && !named ? [...badges, [designOf(design), ""]] : badges;
  const marked = told.map(([label, kind]) => [label, strongest.includes(label) ? "strong" : kind]);
  if (trial) marked.push([`Reports ${trial}`, ""]);
  return subjects === "animals" ? [...marked, ["Animals or cells", ""]] : marked;
}

// What a qualifier does to the sentence, where its name does not say so.
const LIMITS = { hedge: "hedged" };

/** What makes the sentence, or the paper, say less than it seems to. */
function doubtsOf(evidence) {
  const { stance, verdict, qualifiers, standing } = evidence;
  const kinds = [...new Set(qualifiers.map(({ kind }) => LIMITS[kind] ?? kind))];
  const partial = kinds.length && standing !== "plain" ? [`Partial: ${kinds.join(", ")}`] : standing === "partial" ? ["In part"] : [];
  if (!verdict || verdict.label === stance) return partial;
  return [...partial, isOfPaper(evidence) ? `Uncertain: ${whyUncertain(evidence)}` : `Judged: ${READS_AS[verdict.label]}`];
}

/** Why a paper takes no side: the reason that the decision gives or, if it gives none, what its probabilities say. */
function whyUncertain({ verdict }) {
  if (verdict.reason) return verdict.reason;
  return verdict.neutral > 0.5 ? "it more likely says nothing" : "too close to call";
}

/** Puts badges into their list, which goes where there are none. */
export function fillBadges(list, badges) {
  list.append(...badges.map(([label, kind]) => element("li", label, kind)));
  if (!badges.length) list.remove();
}

const sharesOf = ({ contradict, neutral, support }) => [["c", contradict], ["n", neutral], ["s", support]];

/** The judge's three probabilities, as a bar and in figures. */
export function fillVerdict(shown, verdict) {
  fillBar(shown, verdict);
  for (const [key, value] of sharesOf(verdict)) shown.querySelector(`.key .${key} dd`).textContent = percent(value);
}

function fillBar(shown, verdict) {
  for (const [key, value] of sharesOf(verdict)) shown.querySelector(`.split .${key}`).style.flexGrow = value;
}

// ---- The sentence ----------------------------------------------------------------------------------------------

/** What a sentence of a paper is known by: abstract and full text count their sentences apart. */
export const keyOf = ({ index, location }) => `${location ? "full text " : ""}${index}`;

/** The sentence as a quotation, with where it stands below it and its abstract folded away. */
function quoted({ pmid, title }, sentence, marks = {}, note = "") {
  const place = sentence.location ? `${sentence.location.text} of the full text` : `Sentence ${number(sentence.index + 1)} of the abstract`;
  const figure = holding("figure", "", holding("blockquote", "", "“", ...marked(sentence, marks), "”"));
  figure.firstChild.dir = "auto";
  figure.dataset.sentence = keyOf(sentence);
  figure.append(holding("figcaption", "", note ? `${place} · ${note}` : place), inContext(pmid, title, sentence, marks));
  return figure;
}

/** The sentence cut wherever something to be marked begins or ends (they may overlap), each piece marked for what it is. */
export function marked(sentence, { negations = [] } = {}) {
  // The service counts characters; JavaScript's own indices count UTF-16 units, which differ beyond the first 65,536.
  const characters = Array.from(sentence.text);
  const within = (offset) => Math.min(Math.max(offset - sentence.start, 0), characters.length);
  const cues = negations.map((one) => [within(one.start), within(one.end)]);
  const scopes = negations.map((one) => [within(one.scope_start), within(one.scope_end)]);
  const cuts = [...new Set([0, characters.length, ...cues.flat(), ...scopes.flat()])].sort((a, b) => a - b);
  const holds = (spans, start, end) => spans.some(([from, to]) => from <= start && end <= to);
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index];
    const text = characters.slice(start, end).join("");
    const scope = holds(scopes, start, end) ? "scope" : "";
    if (holds(cues, start, end)) return element("mark", text, scope);
    return scope ? element("span", text, scope) : text;
  });
}

// ---- In context ------------------------------------------------------------------------------------------------

/** A box for what stands around a sentence, folded away; `fill(box)` is called whenever it is opened. */
export function folded(label, fill, words = "In context") {
  const box = element("div", "", "context");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  // A box that scrolls must be reached by the keyboard.
  box.tabIndex = 0;
  const details = holding("details", "folded", element("summary", words), box);
  details.addEventListener("toggle", () => {
    if (details.open) fill(box);
  });
  return details;
}

/** The abstract or section; fetched when it is first opened, with the sentence marked and scrolled to. */
const inContext = (pmid, title, sentence, marks) =>
  folded(`${sentence.location ? sentence.location.section || "Full text" : "Abstract"} of ${title || pmid}`, (box) => fillContext(box, pmid, sentence, marks));

/** The sentence where it stands, told to those too who do not see that it is marked. */
export const here = (...pieces) => holding("span", "here", element("span", "Here: ", "unseen"), ...pieces);

async function fillContext(box, pmid, sentence, marks) {
  if (box.querySelector(".here")) return scrollToSentence(box);
  box.replaceChildren(element("p", "Opening the abstract…", "wait"));
  box.setAttribute("aria-busy", "true");
  try {
    const around = sentence.location ? sectionAround : abstractAround;
    box.replaceChildren(...around(await documentOf(pmid), sentence, marks));
    scrollToSentence(box);
  } catch (error) {
    const gone = error.status === 404;
    box.replaceChildren(element("p", gone ? "The index no longer holds this abstract." : `The abstract could not be opened. ${error.message}`, "wait"));
  } finally {
    box.removeAttribute("aria-busy");
  }
  return undefined;
}

/** Title and abstract, the sentence marked in it. */
function abstractAround({ title, abstract }, sentence, marks) {
  const characters = Array.from(abstract);
  const text = (start, end) => characters.slice(start, end).join("");
  const heading = element("p", title || "(no title)", "entitled");
  const whole = element("p");
  heading.dir = whole.dir = "auto";
  if (text(sentence.start, sentence.end) !== sentence.text) {
    whole.append(text(0));
    return [heading, whole, element("p", "The index has changed since: this abstract no longer contains the sentence.", "wait")];
  }
  whole.append(text(0, sentence.start), here(...marked(sentence, marks)), text(sentence.end));
  return [heading, whole];
}

/** The section of a full text, or its table row by row, the sentence marked in it. */
function sectionAround({ title, full_text }, sentence, marks) {
  const { location } = sentence;
  const same = (at) => at.kind === location.kind && at.section === location.section;
  const heading = element("p", [title, location.section].filter(Boolean).join(" · "), "entitled");
  heading.dir = "auto";
  const blocks = (full_text?.blocks ?? []).filter((block) => same(block.location));
  const context = blocks.find((block) => block.context)?.context;
  const shown = blocks.map((block) => {
    const characters = Array.from(block.text);
    const text = (start, end) => characters.slice(start, end).join("");
    const isHere = block.location.number === location.number && text(sentence.start, sentence.end) === sentence.text;
    const pieces = isHere ? [text(0, sentence.start), here(...marked(sentence, marks)), text(sentence.end)] : [block.text];
    return holding("p", "", ...pieces);
  });
  const gone = shown.some((one) => one.querySelector(".here")) ? [] : [element("p", "The index has changed since: this text no longer contains the sentence.", "wait")];
  return [heading, ...(context ? [element("p", context, "reason")] : []), ...shown, ...gone];
}

/** Moves the box alone: scrollIntoView would move the page too. */
export function scrollToSentence(box) {
  const sentence = box.querySelector(".here");
  if (!sentence) return;
  const above = sentence.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += above - Math.max(0, (box.clientHeight - sentence.offsetHeight) / 2);
}

/** Opens a sentence of a card in its context, brings it into view and puts the keyboard there. */
export function openInContext(shown, sentence) {
  const figure = [...shown.querySelectorAll("figure")].find((one) => one.dataset.sentence === keyOf(sentence));
  const details = figure?.querySelector("details");
  if (!details) return;
  details.open = true;
  details.querySelector("summary").focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // The box has its height before the abstract is there, so that the page need not move twice.
  figure.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  shown.classList.remove("shown");
  requestAnimationFrame(() => shown.classList.add("shown"));
}

// ---- Where it comes from ---------------------------------------------------------------------------------------

/** Terms and texts as a list of two columns. */
export function fillTerms(list, lines) {
  for (const [term, text] of lines) list.append(holding("div", "", element("dt", term), element("dd", text)));
}

/** What every figure comes from, and what a language model was asked for it. */
export function originOf({ provenance, usage }) {
  const models = Object.entries(provenance.models).map(([role, name]) => [`Model: ${role}`, name]);
  return [
    ["Configuration", provenance.config],
    ["Profile", provenance.profile],
    ...(models.length ? models : [["Models", "none"]]),
    ["Index", `${provenance.index}, ${count(provenance.documents, "document")}`],
    ...askedOf(usage),
  ];
}

/** The requests to language models, if there were any. */
export function askedOf(usage) {
  if (!usage?.requests) return [];
  const { requests, prompt_tokens, completion_tokens, cost, shortened } = usage;
  const dollars = cost === null ? "" : `, $${cost.toFixed(4)}`;
  return [["Language model", `${count(requests, "request")}: ${number(prompt_tokens)} tokens read, ${number(completion_tokens)} written${dollars}${shortened ? "; no room for the passages of some full texts" : ""}`]];
}
