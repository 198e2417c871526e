"""Claims about several models whose outputs people labelled: which scores higher with the labels in the scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.score.corrected import Corrected
from flipcore.stats.score.corrected_difference import (
    CorrectedDifference,
    corrected_difference,
    over_pairs,
)

HIGHER_BY_PEOPLE = Assertion(
    "scores higher by people",
    "one of two models scores higher on such questions by what people read, or its rank is in its "
    "interval",
    0.05,
    2,
    "all pairs of models whose outputs people labelled, Holm",
    (
        "equal models, the reader misreads one",
        "equal models, nearly always right",
        "equal models, questions in families",
        "three equal models, two of them misread",
    ),
)
ASSERTIONS: tuple[Assertion, ...] = (HIGHER_BY_PEOPLE,)
HIGHER, UNDECIDED, FEW = "higher", "undecided", "few labels"


@dataclass(frozen=True, eq=False)
class Labelled:
    """A model's score with people's labels in it; `units` (outputs,) name the questions, alike for all models."""

    model: str
    score: Corrected
    units: np.ndarray


@dataclass(frozen=True, eq=False)
class PairByPeople:
    """Two models, the one with the higher corrected score first. `joint` has the limits that agree with `p`, which is over all pairs; `raw`
    is how far the extractor alone puts the first ahead."""

    first: str
    second: str
    difference: CorrectedDifference
    joint: Estimate
    p: float
    raw: float
    claim: Claim


def pairs_by_people(
    models: Sequence[Labelled], level: float = 0.95, why_not: str = ""
) -> list[PairByPeople]:
    """Every pair of models, the best first; `why_not` withholds what is asserted."""
    ordered = sorted(models, key=lambda one: -np.nan_to_num(one.score.estimate.value, nan=-1.0))
    both = list(combinations(ordered, 2))
    gaps = [corrected_difference(one.score, one.units, two.score, two.units) for one, two in both]
    out = []
    for (one, two), difference, p in zip(both, gaps, over_pairs(gaps), strict=True):
        share = difference.p / p if 0 < p < 1 else 1 / len(both)
        joint = difference.estimate(1 - (1 - level) * share)
        raw = one.score.raw.value - two.score.raw.value
        claim = _claim(one, two, joint, p, raw, level).not_claimed(why_not)
        out.append(PairByPeople(one.model, two.model, difference, joint, p, raw, claim))
    return out


def _claim(
    one: Labelled, two: Labelled, joint: Estimate, p: float, raw: float, level: float
) -> Claim:
    if math.isnan(p):
        few = [labels for model in (one, two) if (labels := _more(model))] or [
            "too few families of questions"
        ]
        return description(
            f"By people, {one.model} and {two.model} are not compared yet: {'; '.join(few)}.", FEW
        )
    is_shown = p <= 1 - level + 1e-12
    numbers = (
        f"{joint.text_points()}, {p_text(p)} (extractor alone: "
        f"{number_text(100 * raw, 1, sign=True)} points)."
    )
    what = (
        f"{one.model} scores higher than {two.model}"
        if is_shown
        else f"undecided whether {one.model} and {two.model} differ"
    )
    outcome = HIGHER if is_shown else UNDECIDED
    return Claim(
        HIGHER_BY_PEOPLE,
        outcome,
        f"By people, {what}: {numbers}",
        is_shown,
        "",
        "",
        {"difference": joint, "p": p},
    )


def _more(one: Labelled) -> str:
    """What a model lacks for normal limits; "" where it has them."""
    score = one.score
    if score.has_normal_limits:
        return ""
    if score.n_labels < MIN_N or not score.n_more:
        return f"{score.n_labels:,} labels of {one.model} and {score.n_disagreements} misread"
    return f"label about {score.n_more:,} more of {one.model}"


def ranks_by_people(
    pairs: Sequence[PairByPeople], level: float = 0.95, why_not: str = ""
) -> Claim | None:
    """Each model's rank by the leads of all pairs; None below three models, or where a pair has no p."""
    names = list(dict.fromkeys(name for one in pairs for name in (one.first, one.second)))
    if len(names) < 3 or any(math.isnan(one.p) for one in pairs):
        return None
    p = np.ones((len(names), len(names)))
    for one in pairs:
        if one.claim.asserted:
            p[names.index(one.first), names.index(one.second)] = 0.0
    best, worst = (one.tolist() for one in rank_limits(p, 1 - level))
    ranks = [
        f"{one} {a}" if a == b else f"{one} {a} to {b}"
        for one, a, b in zip(names, best, worst, strict=True)
    ]
    is_open = not any(one.claim.asserted for one in pairs)
    sentence = (
        "By people, no model is shown to rank above another."
        if is_open
        else f"Ranks by people: {', '.join(ranks)}."
    )
    numbers = {
        "best": dict(zip(names, best, strict=True)),
        "worst": dict(zip(names, worst, strict=True)),
    }
    outcome = UNDECIDED if is_open else "ranked"
    return Claim(HIGHER_BY_PEOPLE, outcome, sentence, not is_open, "", "", numbers).not_claimed(
        why_not
    )
