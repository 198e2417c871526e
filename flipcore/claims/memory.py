"""The verdicts of all memory detectors of one model as one family, and their summary.

`memory_gap` makes the sentence of a drop gap, `memory_score` that of a published score, and
`memory_sets` that of items beyond their controls.
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
# Outcomes that count as a finding, even if the control does not allow the word "memory".
POSITIVE = (MEMORY, LOSES_MORE, BEYOND)
AFTER_RL = "After reinforcement learning this is no evidence of absence."
WHY_AFTER_RL = (
    "The model's card says that it was trained by reinforcement learning, which hides from losses "
    "what was read before (arXiv:2510.09259, arXiv:2605.29888)."
)


def after_rl(claim: Claim) -> Claim:
    """Qualify a loss detector's verdict on a model trained by reinforcement learning."""
    # The caution concerns only a detector that found nothing.
    if claim.is_made or claim.withheld:
        return claim
    detail = " ".join(filter(None, (claim.detail, WHY_AFTER_RL)))
    return replace(claim, sentence=f"{claim.sentence} {AFTER_RL}", detail=detail)


def adjusted(gap_ps: Sequence[float], set_ps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Correct the p of gaps and sets by Holm over all detectors; NaN (no test) stays NaN."""
    # A gap is tested one-sided at .025 and a set at .05, so the p of a gap is doubled.
    # `min(1.0, nan)` is 1.0, which would count as a test.
    doubled = [p if math.isnan(p) else min(1.0, 2 * p) for p in gap_ps]
    family = holm([*doubled, *set_ps])
    return family[: len(gap_ps)], family[len(gap_ps) :]


def n_tests(ps: Sequence[float]) -> int:
    """Count the detectors of the family that have a p."""
    return sum(not math.isnan(p) for p in ps)


@dataclass(frozen=True)
class Witness:
    """A detector's claim about `items` ("problems"), by a kind of `evidence` ("losses")."""

    items: str
    evidence: str
    claim: Claim


def summary_claim(verdicts: Sequence[Witness], sets: Mapping[str, str], n_control: int) -> Claim:
    """Summarize all detectors in one claim, by the kinds of evidence that show memory.

    `sets` maps the name of the items ("problems") to their number in words ("80 problems").
    `n_control` counts control items.
    """
    # A published score above that of fresh questions does not count as a detector, because unequal
    # difficulty has the same effect. The sentence mentions it.
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
    # The summary asserts no more than the weakest verdict in it.
    is_memory = all(witness.claim.outcome == MEMORY for witness in seeing)
    # Detectors with one kind of evidence tend to agree, so each kind counts once.
    parts: list[str] = []
    details: list[str] = []
    for items, size_words in sets.items():
        witnesses = [witness for witness in seeing if witness.items == items]
        kinds = list(dict.fromkeys(witness.evidence for witness in witnesses))
        if kinds:
            parts.append(_n_kinds(len(kinds), size_words, is_first=not parts))
            details.append(f"{with_capital(size_words)}: {in_a_row(kinds)}.")
    finding = "These questions are unlike their controls"
    if is_memory:
        finding = "The model remembers these questions"
    detail = f"{' '.join(details)} {detail}"
    evidence = ", and ".join(parts)
    sentence = f"{finding}. {with_capital(evidence)}.{score_note}"
    outcome = MEMORY if is_memory else BEYOND
    return Claim(ANY_DETECTOR, outcome, sentence, asserted=True, detail=detail)


def _n_kinds(n: int, size_words: str, *, is_first: bool) -> str:
    """Return "three kinds of evidence agree on the 80 problems", or "three agree on the …".

    The words "kinds of evidence" are only in the first part of the sentence.
    """
    words = ("no", "one", "two", "three", "four", "five", "six")
    count = words[n] if n < len(words) else str(n)
    if is_first:
        count = f"{count} {'kinds' if n > 1 else 'kind'} of evidence"
    return f"{count} {'shows it' if n == 1 else 'agree'} on the {size_words}"
