"""What was checked of a citation, in words: that the sentence stands in the abstract, and what the judge makes of it."""

from __future__ import annotations

from retrieval.core.answers import Citation

_SAYS = {"support": "supports it", "contradict": "contradicts it", "neutral": "neither supports nor contradicts it"}


def describe_check(citation: Citation) -> str:
    """One sentence: where the words stand, and the judge's stance with its probability."""
    verdict, sentence = citation.verdict, citation.sentence
    label = verdict.label
    what = "the paper, read as a whole," if verdict.of == "document" else "the sentence, read with its neighbours,"
    probability: float = getattr(verdict, label)
    judged = f"{what} {_SAYS[label]} (probability {probability:.0%})"
    if citation.document.abstract[sentence.start : sentence.end] != sentence.text:
        return f"The sentence was not found in the abstract; {judged}."
    where = "The words quoted stand in the abstract" if citation.verbatim else "The sentence shown stands in the abstract"
    return f"{where}; by the judge {judged}."
