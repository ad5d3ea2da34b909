// The papers of an answer to a claim, each once, and where each belongs.

export const COLUMNS = ["contradict", "uncertain", "support", "silent"];

/** What each place is called in a sentence about papers, one or many. */
export const SAYS = {
  contradict: ["contradicts", "contradict"],
  uncertain: ["uncertain or mixed", "uncertain or mixed"],
  support: ["supports", "support"],
  silent: ["says nothing about it", "say nothing about it"],
};

/** Every paper that was read, those that are listed first. */
export const papersOf = ({ contradicting, supporting, uncertain, more, silent }) => [...contradicting, ...supporting, ...uncertain, ...more, ...silent];

/** The column that a paper stands in; what nobody judged stands where its rank put it. */
export const columnOf = ({ place, stance }) => (place === "unjudged" ? stance : place);
