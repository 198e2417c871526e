"""Every sentence about memory: the verdicts of all detectors of one model as one family, and the line above them."""

from collections.abc import Sequence

from flipcore.claims import memory_gap, memory_score, memory_sets
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.claims.memory_gap import FAMILY_LEVEL, LOSES_MORE, MEMORY, NO_CLAIM, UNDECIDED
from flipcore.claims.memory_score import FRESH_IS_LOWER, HIGHER, SCORE_HIGHER
from flipcore.claims.memory_sets import BEYOND
from flipcore.claims.memory_truth import SEES, SHIFTS
from flipcore.stats.base.multiplicity import holm

ANY_DETECTOR = Assertion(
    "some detector sees memory",
    "of these items, at least those that the named detectors flag are not like their controls",
    FAMILY_LEVEL,
    1,
    memory_gap.FAMILY,
    ("clean page of six detectors", "eight clean models"),
)
ASSERTIONS = (*memory_gap.ASSERTIONS, *memory_score.ASSERTIONS, *memory_sets.ASSERTIONS, SEES, SHIFTS, ANY_DETECTOR)
POSITIVE = (MEMORY, LOSES_MORE, BEYOND)


def adjusted(gap_ps: Sequence[float], set_ps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Holm over all detectors at .05: a gap is tested one-sided at .025, so its p counts twice. NaN (no test) is no member."""
    family = holm([min(1.0, 2 * p) for p in gap_ps] + list(set_ps))
    return family[: len(gap_ps)], family[len(gap_ps) :]


def n_tests(ps: Sequence[float]) -> int:
    """Members of the family: detectors with a p."""
    return sum(p == p for p in ps)


def summary_claim(verdicts: Sequence[Claim], items: str, n_benchmark: int, n_control: int) -> Claim:
    """The line above a table of detectors; `items` is "problems". A published score above a fresh control's stands beside them: unequal
    difficulty does the same, so that it counts as no detector of memory."""
    sets = f"{n_benchmark:,} benchmark {items} ({n_control:,} controls)"
    beside = f" {FRESH_IS_LOWER}" if any(one.is_made and one.outcome == HIGHER for one in verdicts) else ""
    verdicts = [one for one in verdicts if one.assertion is not SCORE_HIGHER]
    if not verdicts:
        return description(f"No detector of memory was run on the {sets}.{beside}", NO_CLAIM)
    yes = [one for one in verdicts if one.is_made and one.outcome in POSITIVE]
    n_open = sum(bool(one.withheld) or one.outcome == UNDECIDED for one in verdicts)
    rest = f" {n_open} {'is' if n_open == 1 else 'are'} undecided or not claimed." if n_open else ""
    rest += beside
    if not yes:
        return Claim(ANY_DETECTOR, "none shown", f"No detector of {len(verdicts)} shows memory in the {sets}.{rest}", False)
    by_memory = sum(one.outcome == MEMORY for one in yes)
    verb = "sees memory in" if by_memory == len(yes) else "sees a difference in"
    many = verb if len(yes) == 1 else verb.replace("sees", "see")
    outcome = MEMORY if by_memory == len(yes) else BEYOND
    return Claim(ANY_DETECTOR, outcome, f"{len(yes)} of {len(verdicts)} detectors {many} the {sets}.{rest}", True)


def by_kind_text(by_kind: Sequence[tuple[str, Sequence[Claim]]]) -> str:
    """ "Problems: 3 of 6 detectors. Passages: 4 of 4." of (kind of items, verdicts) pairs."""
    kinds = [(name, [one for one in mine if one.assertion is not SCORE_HIGHER]) for name, mine in by_kind]
    counts = [(name, sum(one.is_made and one.outcome in POSITIVE for one in mine), len(mine)) for name, mine in kinds]
    return " ".join(f"{name.capitalize()}: {yes} of {n} detectors." for name, yes, n in counts)
