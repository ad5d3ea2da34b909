// The papers of an answer to a claim, each once, and where each belongs.

export const COLUMNS = ["contradict", "uncertain", "support", "silent"];
/** With what is not counted. */
export const SIDES = [...COLUMNS, "retracted"];

/** What each side is called in a sentence about papers, one or many. */
export const SAYS = {
  contradict: ["contradicts", "contradict"],
  uncertain: ["uncertain or mixed", "uncertain or mixed"],
  support: ["supports", "support"],
  silent: ["says nothing about it", "say nothing about it"],
};

/** The words of what was typed that no paper has: a sentence, or "". */
export function missingFrom(input) {
  const words = (input?.missing ?? []).map((one) => `“${one}”`);
  return words.length && `Nothing in this index mentions ${[words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" or ")}.`;
}

/** Every paper that was read, those that are listed first. */
export const papersOf = ({ contradicting, supporting, uncertain, more, silent }) => [...contradicting, ...supporting, ...uncertain, ...more, ...silent];

/** The column that a paper stands in; a retracted paper takes no side. */
export const columnOf = ({ side, retracted }) => (retracted ? "retracted" : side);

/** A design as the service names it, as a label: “a cohort study” is “Cohort study”. */
export function designOf({ name, text }) {
  const label = text.replace(/^an? /, "");
  return name === "other" ? `Other ${label}` : label.charAt(0).toUpperCase() + label.slice(1);
}
