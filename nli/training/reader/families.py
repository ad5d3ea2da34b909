"""Outcome families: sentences that call one outcome better, worse or unchanged, filled with drugs, genes, exposures or a pair.

Both labels use the same words in equal numbers, so that no word alone gives the label away.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT, Lesson, make_short

_DRUGS = (
    "metformin", "aspirin", "the vaccine", "exercise training", "a low-salt diet", "vitamin D", "the drug",
    "the new programme", "acupuncture", "the device", "stem cell therapy", "cognitive behavioural therapy", "fish oil",
    "the probiotic", "early surgery", "high-dose prednisone", "the herbal extract", "interleukin-6", "the mutation",
    "cigarette smoke", "green tea", "yoga", "the antibody", "radiotherapy", "lithium", "magnesium", "the nurse-led clinic",
    "zinc", "insulin", "the app", "losartan", "music", "oxygen", "garlic", "estradiol", "the inhibitor", "melatonin",
    "breastfeeding", "air pollution", "night work",
)  # fmt: skip
_FACTORS = {
    "drug": _DRUGS,
    "gene": (
        "PTEN", "TRPV1", "miR-21", "interleukin-10", "Nrf2", "SIRT1", "caveolin-1", "BRCA1", "HIF-1α", "TLR4", "STAT3", "p21",
        "the ubiquitin ligase Parkin", "KLF4", "AMPK", "galectin-3", "Notch1", "CD47", "FOXO3", "PPARγ", "miR-155", "cyclin D1",
        "the histone deacetylase HDAC3", "LKB1", "Sox2", "PKCδ", "TGF-β1", "connexin 43", "Bcl-xL", "the receptor CXCR4",
    ),
    "exposure": (
        "night work", "air pollution", "obesity", "a high C-reactive protein", "childhood neglect", "coffee", "smoking",
        "vitamin D deficiency", "blood group O", "type 2 diabetes", "living alone", "a raised troponin", "poor sleep", "marriage",
        "SARS-CoV-2 infection", "heavy drinking", "regular exercise", "red meat", "old age", "male sex", "low income", "anaemia",
        "asthma", "statin use", "high altitude", "previous infection", "mask wearing", "BCG vaccination",
    ),
    "pair": (
        "metformin", "glipizide", "surgery", "watchful waiting", "warfarin", "apixaban", "the new method", "the standard method",
        "ultrasound", "MRI", "computed tomography", "the rapid test", "PCR", "aspirin", "clopidogrel", "ketamine", "propofol",
        "drug A", "drug B", "group therapy", "individual therapy", "the daily schedule", "the weekly schedule", "the oral route",
        "infusion", "the open operation", "laparoscopy", "laser treatment", "the generic brand", "citalopram", "bupropion",
    ),
}  # fmt: skip
"""What fills {X}, and {Y} where two are compared, by the kind of factor that an outcome family names."""


def make_family_lessons(outcomes: Sequence[dict[str, Any]], count: int, rng: random.Random) -> Iterator[Lesson]:
    """A claim and a sentence about one outcome in different words; now and then with another factor or outcome (neutral)."""
    sides = ("better", "worse", "null")
    outcomes_by_factor: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        outcomes_by_factor.setdefault(outcome.get("factor", "drug"), []).append(outcome)

    def fill(phrase: str, first: str, second: str) -> str:
        text = phrase.replace("{X}", first).replace("{Y}", second)
        return f"{text[:1].upper()}{text[1:]}."

    for _ in range(count):
        outcome = rng.choice(outcomes)
        kind = outcome.get("factor", "drug")
        factor, rival, stranger = rng.sample(_FACTORS[kind], 3)
        mine = rng.choice(sides)
        claim_side = rng.choices(sides, (0.4, 0.4, 0.2))[0]
        first = rng.choice(outcome[claim_side])
        draw = rng.random()
        if draw < 0.13:
            other = rng.choice([one for one in outcomes_by_factor[kind] if one is not outcome])
            second, label = fill(rng.choice(other[mine]), factor, rival), NEUTRAL
        elif draw < 0.2:
            second, label = fill(rng.choice(outcome[mine]), stranger, rival), NEUTRAL
        else:
            if draw < 0.4:
                # About a third of the other draws agree by chance, so support and contradiction are equally frequent.
                mine = claim_side
            rest = [phrase for phrase in outcome[mine] if phrase != first]
            second, label = fill(rng.choice(rest), factor, rival), SUPPORT if mine == claim_side else CONTRADICT
        yield make_short(fill(first, factor, rival), second, "", label, "families")
