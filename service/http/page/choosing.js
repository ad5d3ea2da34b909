// Filters and sorting: which of the papers read are on the page, and in which order.

import { byId, count, element } from "./dom.js";
import { designOf } from "./papers.js";

const SUBJECTS = { humans: "Humans", animals: "Animals or cells", unknown: "Not stated" };

const ORDERS = {
  likely: () => 0,
  newest: (one, other) => (other.year ?? 0) - (one.year ?? 0),
  oldest: (one, other) => (one.year ?? 9999) - (other.year ?? 9999),
  design: (one, other) => other.design.weight - one.design.weight,
};

/** Sets up the choices for these papers; `apply(keep, compare)` is called at each change. Gone where there is nothing to choose. */
export function watchChoices(tools, papers, apply) {
  if (papers.length < 2) return tools.remove();
  const at = (id) => tools.querySelector(`#${id}`);
  const years = [...new Set(papers.map((one) => one.year).filter(Boolean))].sort();
  fill(at("since"), years.map((year) => [year, String(year)]));
  fill(at("until"), years.map((year) => [year, String(year)]));
  const strongest = papers.map((one) => one.design).sort((one, other) => other.weight - one.weight);
  fill(at("design"), [...new Map(strongest.map((one) => [one.name, designOf(one)]))]);
  const known = papers.some((one) => one.subjects !== "unknown");
  fill(at("subjects"), known ? named(papers.map((one) => one.subjects), SUBJECTS) : []);
  fill(at("journal"), [...new Set(papers.map((one) => one.journal).filter(Boolean))].sort().map((name) => [name, name]));
  const change = () => {
    const keep = kept((id) => at(id).value);
    const left = papers.filter(keep).length;
    at("chosen-count").textContent = left === papers.length ? "" : `${count(left, "paper")} of ${papers.length} shown`;
    apply(keep, ORDERS[at("order").value]);
  };
  tools.addEventListener("change", change);
  at("reset").addEventListener("click", () => {
    for (const one of tools.querySelectorAll("select")) one.value = one.options[0].value;
    change();
    tools.querySelector("summary").focus();
  });
  return undefined;
}

/** Names that occur, in the order of what they are called. */
const named = (found, names) => Object.entries(names).filter(([name]) => found.includes(name));

/** A choice with less than two to choose from is left out. */
function fill(select, options) {
  if (options.length < 2) return select.closest(".choice").remove();
  for (const [value, words] of options) select.append(Object.assign(element("option", words), { value }));
  return undefined;
}

function kept(valueOf) {
  const value = (id) => (byId(id) ? valueOf(id) : "");
  const [since, until, design, subjects, journal] = ["since", "until", "design", "subjects", "journal"].map(value);
  return (one) =>
    (!since || (one.year ?? 0) >= Number(since)) && (!until || (one.year ?? 9999) <= Number(until)) &&
    (!design || one.design.name === design) && (!subjects || one.subjects === subjects) && (!journal || one.journal === journal);
}
