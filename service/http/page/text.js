// A checked text: its sentences marked by verdict, and a table of its claims.

import { announce, button, copyOf, count, element, holding, number } from "./dom.js";
import { card, factsOf, fillTerms, originOf, pmidOf } from "./evidence.js";

// Each verdict with a sign of its own, and the class that colours it.
const SIGNS = { contradicted: "✗", mixed: "±", supported: "✓", uncertain: "?", "nothing found": "○" };
const classOf = (verdict) => (verdict === "uncertain" ? "uncertain-verdict" : verdict.replace(" ", "-"));

// What became of a citation: its sign, and the words for one and for several.
const CITED = {
  "bears it out": ["✓", "says so", "say so"],
  "contradicts it": ["✗", "says the opposite", "say the opposite"],
  "does not say it": ["?", "does not say it", "do not say it"],
  "not judged": ["", "not judged", "not judged"],
  "not in the index": ["", "not in the index", "not in the index"],
  "several fit": ["", "fits several papers", "fit several papers"],
};

const REASONS = {
  heading: "a heading",
  question: "a question",
  short: "too short to be a claim",
  long: "longer than a claim may be",
  citation: "a citation alone",
  references: "an entry of the list of references",
  text: "about the text itself",
  aim: "an aim, not a finding",
  method: "how something was done",
  research: "about the state of research",
  advice: "advice or an instruction",
  opinion: "an opinion or own experience",
  pronoun: "it begins with a word that stands for something named before; name it to have it checked",
  fragment: "not a whole sentence",
};

/** A checked text, ready to be put on the page. */
export function checkedText(answer) {
  const shown = copyOf("text-template");
  const at = (selector) => shown.querySelector(selector);
  // The service counts characters, JavaScript UTF-16 units.
  const characters = Array.from(answer.text);
  const cut = (start, end) => characters.slice(start, end).join("");
  const claims = answer.sentences.filter((one) => one.result);
  const others = answer.sentences.filter((one) => !one.result && one.reason !== "heading");
  at(".sum").textContent = answer.summary;
  at(".verdicts").append(...Object.entries(answer.counts).filter(([verdict, many]) => many && SIGNS[verdict]).map(([verdict, many]) => holding("li", "", stamp(verdict), ` ${number(many)}`)));
  at(".verdicts").append(...badgesOf(claims.flatMap((one) => one.result.cited)).map((badge, place) => holding("li", "", place ? "" : "Citations: ", badge)));
  const rows = claims.map((one, place) => rowsOf(one, place + 1, cut));
  at(".checked").append(...blocksOf(answer, claims, rows, cut));
  at("#claims span").textContent = count(claims.length, "claim");
  at(".claims tbody").append(...rows.flat());
  if (!claims.length) at(".part").remove();
  at(".others summary").textContent = `${count(others.length, "sentence")} not checked, and why`;
  at(".others ul").append(...others.map((one) => holding("li", "", element("span", cut(one.start, one.end), "words"), element("span", REASONS[one.reason] ?? one.reason, "reason"))));
  at(".others").hidden = !others.length;
  fillTerms(at(".origin"), originOf(answer));
  announce(answer.summary);
  return shown;
}

const stamp = (verdict) => element("span", `${SIGNS[verdict]} ${verdict}`, `stamp ${classOf(verdict)}`);

/** A badge for each thing that became of these citations; with how many there are, if more than one. */
function badgesOf(cited) {
  return Object.entries(CITED).map(([status, [sign, one, many]]) => {
    const number = cited.filter((each) => each.status === status).length;
    return number && element("span", [sign, number > 1 ? `${number} ${many}` : one].filter(Boolean).join(" "), `cited ${status.replaceAll(" ", "-")}`);
  }).filter(Boolean);
}

// ---- The text --------------------------------------------------------------------------------------------------

/** The text block by block, its claims marked; a mark leads to its claim's row of the table. */
function blocksOf({ blocks, sentences }, claims, rows, cut) {
  const places = new Map(claims.map((one, place) => [one.index, place]));
  return blocks.map((block, which) => {
    const shown = element(block.kind === "heading" ? "h3" : "p", "", block.kind);
    let at = block.start;
    for (const one of sentences.filter(({ block: within }) => within === which)) {
      shown.append(cut(at, one.start));
      const words = cut(one.start, one.end);
      if (one.result) shown.append(element("span", words, `said ${classOf(one.verdict)}`), markOf(one, places.get(one.index), rows));
      else shown.append(words);
      at = one.end;
    }
    shown.append(cut(at, block.end));
    return shown;
  });
}

function markOf({ verdict, result }, place, rows) {
  const mark = button(`${place + 1}\u00a0${SIGNS[verdict]}`, `cite ${classOf(verdict)}`, () => goTo(rows[place][0]));
  mark.setAttribute("aria-label", `Claim ${place + 1}: ${verdict}`);
  const badges = badgesOf(result.cited);
  for (const badge of badges) badge.prepend(element("span", "Its citation ", "unseen"));
  // No line begins with a mark.
  return holding("span", "", holding("span", "cites", "\u2060\u00a0", mark), ...badges.flatMap((badge) => [" ", badge]));
}

function goTo(row) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

// ---- The table -------------------------------------------------------------------------------------------------

/** A claim's row, and where papers were found, the row below it with all of them. */
function rowsOf(sentence, place, cut) {
  const { result, verdict, claim } = sentence;
  const words = cut(sentence.start, sentence.end);
  const row = element("tr");
  row.tabIndex = -1;
  const head = holding("th", "", element("span", String(place), "number"), element("span", words, "words"));
  head.scope = "row";
  head.firstChild.nextSibling.dir = "auto";
  head.setAttribute("role", "rowheader");
  // That citations were taken off is seen without being told.
  if (!words.replace(/\s+/g, " ").startsWith(claim.slice(0, 20))) head.append(element("span", `Checked as: ${claim}`, "reason"));
  const unlisted = sentence.unresolved.map((one) => element("span", `[${one}] is in no list of references.`, "reason"));
  const says = holding("td", "headline", stamp(verdict), element("span", result.why, "reason"), ...result.cited.map(citedLine), ...unlisted);
  row.append(head, labelled(says, "Verdict"), bestOf(result.against, "contradict", "Best paper against"), bestOf(result.in_favour, "support", "Best paper for"));
  row.setAttribute("role", "row");
  const found = result.against.length + result.in_favour.length + result.uncertain.length;
  if (!found) return [row];
  row.className = "above";
  return [row, allOf(result, found, place)];
}

function labelled(cell, label) {
  cell.dataset.label = label;
  cell.setAttribute("role", "cell");
  return cell;
}

/** The first paper of a side, with its sentence. */
function bestOf([best], side, label) {
  if (!best) {
    const none = holding("td", "best none-there", element("span", "–", ""));
    none.firstChild.setAttribute("aria-label", "none found");
    none.firstChild.setAttribute("role", "img");
    return labelled(none, label);
  }
  const cell = element("td", "", `best ${side}`);
  if (best.sentence) cell.append(element("blockquote", `“${best.sentence.text}”`));
  const facts = holding("p", "facts", `${best.title || "(no title)"} · ${factsOf(best)}`, pmidOf(best.pmid, best.doi));
  facts.dir = "auto";
  if (best.standing === "partial") facts.append(" · ", element("strong", "in part"));
  cell.append(facts);
  return labelled(cell, label);
}

/** A citation: what became of it, the paper, and the sentence that shows it. */
function citedLine(cited) {
  const { kind, id, pmid, title, status, retracted, sentence } = cited;
  const name = kind === "doi" ? `doi:${id}` : kind === "pmid" ? pmidOf(id) : id;
  const line = holding("div", "reason citation", ...badgesOf([cited]), " Cites ", name);
  line.dir = "auto";
  if (pmid && kind !== "pmid") line.append(" · ", pmidOf(pmid));
  if (title && kind !== "title") line.append(` · ${title}`);
  if (retracted) line.append(" ", element("strong", "Retracted"));
  if (sentence && CITED[status][0]) line.append(element("q", sentence.text));
  if (sentence?.location) line.append(` (${sentence.location.text})`);
  return line;
}

const SIDES = [["against", "Against", "contradict"], ["in_favour", "For", "support"], ["uncertain", "Uncertain", ""]];

/** Every paper found for a claim, as cards that are made when they are first wanted. */
function allOf(result, found, place) {
  const details = holding("details", "", element("summary", `All that was found for claim ${place}: ${count(found, "paper")}`));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    for (const [side, heading, tone] of SIDES) {
      if (!result[side].length) continue;
      const list = holding("ol", "", ...result[side].map((one, index) => card({ ...one, rank: index + 1 }, side === "uncertain" ? `May ${one.stance}` : "")));
      details.append(holding("section", `side ${tone}`, holding("h3", "", heading), list));
    }
  });
  const cell = holding("td", "", details);
  cell.colSpan = 4;
  cell.setAttribute("role", "cell");
  const row = holding("tr", "all", cell);
  row.setAttribute("role", "row");
  return row;
}

// ---- While it is made ------------------------------------------------------------------------------------------

// How many of the last verdicts stand below the bar.
const LAST = 4;

/** Shows how far the check is: a bar, and the verdicts of the last claims. */
export function claimsIn(place) {
  const told = element("p");
  const bar = element("progress");
  const done = element("ol", "", "done-claims");
  bar.setAttribute("aria-label", "Claims checked");
  bar.hidden = true;
  place.replaceChildren(told, bar, done);
  return (name, data) => {
    told.textContent = data.detail;
    announce(data.detail);
    bar.hidden = !data.claims;
    bar.max = data.claims || 1;
    bar.value = name === "claim" ? data.done : 0;
    if (name !== "claim") return;
    done.append(holding("li", "", stamp(data.verdict), ` ${data.claim}`));
    if (done.children.length > LAST) done.firstChild.remove();
  };
}

/** The same as plain text, to be pasted. */
export function wordsOf({ text, sentences, summary }) {
  const characters = Array.from(text);
  const told = ({ verdict, reason, result }) => {
    if (!result) return `not checked (${REASONS[reason] ?? reason})`;
    return [verdict, ...badgesOf(result.cited).map((badge) => `citation: ${badge.textContent}`)].join("; ");
  };
  const line = (one) => `${SIGNS[one.verdict] ?? "–"} ${told(one)}: ${characters.slice(one.start, one.end).join("").replace(/\s+/g, " ")}`;
  return `${summary}\n\n${sentences.filter((one) => one.reason !== "heading").map(line).join("\n")}\n`;
}
