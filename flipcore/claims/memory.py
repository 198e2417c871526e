"""The verdicts of all detectors of one model as one family, and the line above them.

The sentence of a gap is made in `memory_gap`, of a recorded score in `memory_score`, of items
beyond their controls in `memory_sets`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flipcore.claims import memory_gap, memory_score, memory_sets
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.memory_gap import FAMILY_LEVEL, LOSES_MORE, MEMORY, NO_CLAIM, UNDECIDED
from flipcore.claims.memory_score import FRESH_IS_LOWER, HIGHER, SCORE_HIGHER
from flipcore.claims.memory_sets import BEYOND
from flipcore.claims.memory_truth import SEES, SHIFTS
from flipcore.stats.base.multiplicity import holm
from flipcore.text.counts import in_a_row, with_capital

ANY_DETECTOR = Assertion(
    "some detector sees memory",
    "of these items, at least those that the named detectors flag are not like their controls",
    error_rate=FAMILY_LEVEL,
    sides=1,
    family=memory_gap.FAMILY,
    worlds=("clean page of six detectors", "eight clean models"),
)
ASSERTIONS = (
    *memory_gap.ASSERTIONS,
    *memory_score.ASSERTIONS,
    *memory_sets.ASSERTIONS,
    SEES,
    SHIFTS,
    ANY_DETECTOR,
)
# The outcomes that count as seeing something, whether or not the control lets them say memory.
POSITIVE = (MEMORY, LOSES_MORE, BEYOND)


AFTER_RL = "After reinforcement learning this is no evidence of absence."
WHY_AFTER_RL = (
    "The model's card says that it was trained by reinforcement learning, which hides from losses "
    "what was read before (arXiv:2510.09259, arXiv:2605.29888)."
)


def after_rl(claim: Claim) -> Claim:
    """Qualify a loss detector's verdict on a model trained by reinforcement learning."""
    # Memory that is shown stays shown: the caution concerns a silence.
    if claim.is_made or claim.withheld:
        return claim
    detail = " ".join(filter(None, (claim.detail, WHY_AFTER_RL)))
    return replace(claim, sentence=f"{claim.sentence} {AFTER_RL}", detail=detail)


def adjusted(gap_ps: Sequence[float], set_ps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Correct the p of gaps and sets by Holm over all detectors; NaN (no test) is left out."""
    # A gap is tested one-sided at .025 and a set at .05, so that a gap's p counts twice.
    family = holm([min(1.0, 2 * p) for p in gap_ps] + list(set_ps))
    return family[: len(gap_ps)], family[len(gap_ps) :]


def n_tests(ps: Sequence[float]) -> int:
    """Count the members of the family: detectors with a p."""
    return sum(not math.isnan(p) for p in ps)


@dataclass(frozen=True)
class Witness:
    """A detector's claim about the `items` ("problems"), and the kind of `evidence` it reads.

    Evidence is "losses" or "rewriting", for example.
    """

    items: str
    evidence: str
    claim: Claim


def summary_claim(verdicts: Sequence[Witness], sets: Mapping[str, str], n_control: int) -> Claim:
    """Return the line above a table of detectors: the kinds of evidence that see memory.

    `sets` says how many benchmark items of each name there are ("80 problems").
    """
    # A published score above a fresh control's stands beside the detectors: unequal difficulty does
    # the same, so that it counts as no detector of memory.
    is_score_higher = any(
        witness.claim.is_made and witness.claim.outcome == HIGHER for witness in verdicts
    )
    score_note = f" {FRESH_IS_LOWER}" if is_score_higher else ""
    verdicts = [witness for witness in verdicts if witness.claim.assertion is not SCORE_HIGHER]
    all_items = " and ".join(sets.values())
    if not verdicts:
        return description(
            f"No detector of memory was run on the {all_items}.{score_note}", NO_CLAIM
        )
    seeing = [
        witness
        for witness in verdicts
        if witness.claim.is_made and witness.claim.outcome in POSITIVE
    ]
    n_open = sum(
        bool(witness.claim.withheld) or witness.claim.outcome == UNDECIDED for witness in verdicts
    )
    are = "is" if n_open == 1 else "are"
    open_words = f"; {n_open} {are} undecided or not claimed" if n_open else ""
    counts = f"{len(seeing)} of {len(verdicts)} detectors see it{open_words}"
    detail = f"{counts}. Compared with {n_control:,} control items."
    if not seeing:
        sentence = f"No memory shown in the {all_items}.{score_note}"
        return Claim(ANY_DETECTOR, "none shown", sentence, detail=detail)
    # The line says no more than the weakest of the verdicts that it sums up.
    is_memory = all(witness.claim.outcome == MEMORY for witness in seeing)
    # Detectors that read one kind of evidence tend to agree, so that a kind counts once.
    parts: list[str] = []
    details: list[str] = []
    for items, size in sets.items():
        kinds = list(
            dict.fromkeys(witness.evidence for witness in seeing if witness.items == items)
        )
        if kinds:
            parts.append(_n_kinds(len(kinds), size, is_first=not parts))
            details.append(f"{with_capital(size)}: {in_a_row(kinds)}.")
    finding = (
        "The model remembers these questions"
        if is_memory
        else "These questions are unlike their controls"
    )
    detail = f"{' '.join(details)} {detail}"
    evidence = ", and ".join(parts)
    sentence = f"{finding}. {with_capital(evidence)}.{score_note}"
    outcome = MEMORY if is_memory else BEYOND
    return Claim(ANY_DETECTOR, outcome, sentence, asserted=True, detail=detail)


def _n_kinds(n: int, size: str, *, is_first: bool) -> str:
    """Return "three kinds of evidence agree on the 80 problems"; after it "one shows it on …"."""
    words = ("no", "one", "two", "three", "four", "five", "six")
    count = words[n] if n < len(words) else str(n)
    kinds = f" kind{'s' * (n > 1)} of evidence" if is_first else ""
    return f"{count}{kinds} {'shows it' if n == 1 else 'agree'} on the {size}"
