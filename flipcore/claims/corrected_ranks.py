"""Claims about which model scores higher, for scores that people's labels correct."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description, is_shown
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.score.corrected import (
    Corrected,
    CorrectedDifference,
    corrected_difference,
    holm_p,
)
from flipcore.text.counts import count_of

HIGHER_BY_PEOPLE = Assertion(
    "scores higher by people",
    (
        "one of two models scores higher on such questions by what people read, or its rank is in "
        "its interval"
    ),
    error_rate=0.05,
    sides=2,
    family="all pairs of models whose outputs people labelled, Holm",
    worlds=(
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
    """A model's score, corrected by people's labels.

    `units` (outputs,) are names of questions. A `why_not` that is not "" withholds what is claimed
    of the score.
    """

    model: str
    score: Corrected
    units: np.ndarray
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class PairByPeople:
    """Two models, the one with the higher corrected score first.

    `p` is corrected over all pairs, and the limits of `joint` agree with it. `raw` is the lead of
    the first by the extractor alone, as a share.
    """

    first: str
    second: str
    difference: CorrectedDifference
    joint: Estimate
    p: float
    raw: float
    claim: Claim


def pairs_by_people(models: Sequence[Labelled], level: float = 0.95) -> list[PairByPeople]:
    """Compare every pair of models, best models first. If the claim on a model's score is withheld,
    so are the claims on its pairs."""
    # -1 for NaN, so that a model without a score comes last.
    ordered = sorted(models, key=lambda model: -np.nan_to_num(model.score.estimate.value, nan=-1.0))
    model_pairs = list(combinations(ordered, 2))
    gaps = [
        corrected_difference(first.score, first.units, second.score, second.units)
        for first, second in model_pairs
    ]
    pairs = []
    for (first, second), difference, p in zip(model_pairs, gaps, holm_p(gaps), strict=True):
        # This share of alpha gives an interval that excludes 0 exactly if Holm's p is small enough.
        # A p of 0 or 1 gives no ratio, so such a pair gets Bonferroni's share.
        share = difference.p / p if 0 < p < 1 else 1 / len(model_pairs)
        joint = difference.estimate(1 - (1 - level) * share)
        raw = first.score.raw.value - second.score.raw.value
        claim = _pair_claim(first, second, joint, p, raw, level)
        claim = claim.not_claimed(first.why_not or second.why_not)
        pairs.append(
            PairByPeople(
                first.model,
                second.model,
                difference=difference,
                joint=joint,
                p=p,
                raw=raw,
                claim=claim,
            )
        )
    return pairs


def _pair_claim(
    first: Labelled, second: Labelled, joint: Estimate, p: float, raw: float, level: float
) -> Claim:
    """Return the claim of one pair; a description if `p` is NaN for lack of labels."""
    if math.isnan(p):
        lacking = list(filter(None, (_lacking_labels(first), _lacking_labels(second))))
        # If both models have enough labels, the reason is too few clusters of questions.
        lacking_words = "; ".join(lacking) or "too few families of questions"
        return description(
            f"Too few people's labels to compare {first.model} and {second.model}: "
            f"{lacking_words}.",
            FEW,
        )
    is_asserted = is_shown(p, level)
    figures = (
        f"{joint.text_points()}, {p_text(p)} (extractor alone: "
        f"{number_text(100 * raw, 1, sign=True)} points)."
    )
    if is_asserted:
        finding = f"{first.model} scores higher than {second.model}"
    else:
        finding = f"undecided whether {first.model} and {second.model} differ"
    outcome = HIGHER if is_asserted else UNDECIDED
    return Claim(
        HIGHER_BY_PEOPLE,
        outcome,
        f"By people, {finding}: {figures}",
        asserted=is_asserted,
        numbers={"difference": joint, "p": p},
    )


def _lacking_labels(labelled: Labelled) -> str:
    """Say which labels a model lacks for an interval; "" if it has enough."""
    score = labelled.score
    if score.has_normal_limits:
        return ""
    if score.n_labels < MIN_N or not score.n_more:
        labels = count_of(score.n_labels, "label")
        return f"{labelled.model} has {labels}, {score.n_disagreements:,} of them misread"
    return f"label about {score.n_more:,} more of {labelled.model}"


def ranks_by_people(pairs: Sequence[PairByPeople], level: float = 0.95) -> Claim | None:
    """Rank the models by the leads of all pairs; None below three models, or if a pair has no p.
    If the claim on a pair is withheld, so is this one."""
    names = list(dict.fromkeys(chain.from_iterable((pair.first, pair.second) for pair in pairs)))
    # For two models the pair's own sentence is enough.
    if len(names) < 3 or any(math.isnan(pair.p) for pair in pairs):
        return None
    # Ranks follow from the claimed leads, so no rank contradicts the sentence of a pair. A claimed
    # lead gets a p of 0 and all others 1, to reuse the rule of the Ranking page.
    p = np.ones((len(names), len(names)))
    for pair in pairs:
        if pair.claim.asserted:
            p[names.index(pair.first), names.index(pair.second)] = 0.0
    best, worst = (limits.tolist() for limits in rank_limits(p, 1 - level))
    ranks = [
        f"{name} {first_rank}" if first_rank == last_rank else f"{name} {first_rank} to {last_rank}"
        for name, first_rank, last_rank in zip(names, best, worst, strict=True)
    ]
    is_open = not any(pair.claim.asserted for pair in pairs)
    if is_open:
        sentence = "By people, no model is shown to rank above another."
    else:
        sentence = f"Ranks by people: {', '.join(ranks)}."
    numbers = {
        "best": dict(zip(names, best, strict=True)),
        "worst": dict(zip(names, worst, strict=True)),
    }
    outcome = UNDECIDED if is_open else "ranked"
    claim = Claim(HIGHER_BY_PEOPLE, outcome, sentence, asserted=not is_open, numbers=numbers)
    return claim.not_claimed(
        next((pair.claim.withheld for pair in pairs if pair.claim.withheld), "")
    )
