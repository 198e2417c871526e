"""The verdicts of all detectors of one model as one family, and the line above them. The sentence of a gap is made in `memory_gap`, of a
recorded score in `memory_score`, of items beyond their controls in `memory_sets`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
ASSERTIONS = (
    *memory_gap.ASSERTIONS,
    *memory_score.ASSERTIONS,
    *memory_sets.ASSERTIONS,
    SEES,
    SHIFTS,
    ANY_DETECTOR,
)
POSITIVE = (MEMORY, LOSES_MORE, BEYOND)


AFTER_RL = "After reinforcement learning this is no evidence of absence."
WHY_AFTER_RL = (
    "The model's card says that it was trained by reinforcement learning, which hides from losses "
    "what was read before "
    "(arXiv:2510.09259, arXiv:2605.29888)."
)


def after_rl(claim: Claim) -> Claim:
    """The verdict of a detector that reads losses, on a model that is declared as trained by reinforcement learning."""
    if claim.is_made or claim.withheld:
        return claim
    detail = " ".join(filter(None, (claim.detail, WHY_AFTER_RL)))
    return replace(claim, sentence=f"{claim.sentence} {AFTER_RL}", detail=detail)


def adjusted(gap_ps: Sequence[float], set_ps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Holm over all detectors at .05: a gap is tested one-sided at .025, so its p counts twice. NaN (no test) is no member."""
    family = holm([min(1.0, 2 * p) for p in gap_ps] + list(set_ps))
    return family[: len(gap_ps)], family[len(gap_ps) :]


def n_tests(ps: Sequence[float]) -> int:
    """Members of the family: detectors with a p."""
    return sum(p == p for p in ps)


@dataclass(frozen=True)
class Witness:
    """What a detector says of the `items` ("problems"), and what kind of `evidence` it reads: "losses", "rewriting"."""

    items: str
    evidence: str
    claim: Claim


def summary_claim(verdicts: Sequence[Witness], sets: Mapping[str, str], n_control: int) -> Claim:
    """The line above a table of detectors: which kinds of evidence see memory in how many benchmark items, each kind once, whatever
    the number of detectors that read it. `sets` says how many benchmark items of each name ("80 problems"). A published score above
    a fresh control's stands beside them: unequal difficulty does the same, so that it counts as no detector of memory."""
    beside = (
        f" {FRESH_IS_LOWER}"
        if any(one.claim.is_made and one.claim.outcome == HIGHER for one in verdicts)
        else ""
    )
    verdicts = [one for one in verdicts if one.claim.assertion is not SCORE_HIGHER]
    of_all = " and ".join(sets.values())
    if not verdicts:
        return description(f"No detector of memory was run on the {of_all}.{beside}", NO_CLAIM)
    yes = [one for one in verdicts if one.claim.is_made and one.claim.outcome in POSITIVE]
    n_open = sum(bool(one.claim.withheld) or one.claim.outcome == UNDECIDED for one in verdicts)
    counts = f"{len(yes)} of {len(verdicts)} detectors" + (
        f", {n_open} undecided or not claimed" if n_open else ""
    )
    detail = f"{counts}; {n_control:,} controls.{_by_items(verdicts)}"
    if not yes:
        return Claim(
            ANY_DETECTOR, "none shown", f"No memory shown in the {of_all}.{beside}", False, detail
        )
    is_memory = all(one.claim.outcome == MEMORY for one in yes)
    parts = []
    for items, size in sets.items():
        kinds = list(dict.fromkeys(one.evidence for one in yes if one.items == items))
        if kinds:
            parts.append(f"{_n_kinds(len(kinds))} ({size}: {_in_a_row(kinds)})")
    what = (
        "The model remembers these questions"
        if is_memory
        else "These questions are unlike their controls"
    )
    evidence = "; ".join(parts)
    sentence = f"{what}. {evidence[:1].upper()}{evidence[1:]}.{beside}"
    return Claim(ANY_DETECTOR, MEMORY if is_memory else BEYOND, sentence, True, detail)


def _n_kinds(n: int) -> str:
    """Return "three kinds of evidence agree", "one kind of evidence says so"."""
    words = ("no", "one", "two", "three", "four", "five", "six")
    count = words[n] if n < len(words) else str(n)
    return f"{count} kind of evidence says so" if n == 1 else f"{count} kinds of evidence agree"


def _by_items(verdicts: Sequence[Witness]) -> str:
    """ " Problems: 3 of 6. Passages: 4 of 4."; empty where all are of one kind."""
    names = list(dict.fromkeys(one.items for one in verdicts))
    mine = {name: [one.claim for one in verdicts if one.items == name] for name in names}
    counts = {
        name: sum(one.is_made and one.outcome in POSITIVE for one in claims)
        for name, claims in mine.items()
    }
    return (
        "".join(
            f" {name[:1].upper()}{name[1:]}: {counts[name]} of {len(mine[name])}." for name in names
        )
        if len(names) > 1
        else ""
    )


def _in_a_row(words: Sequence[str]) -> str:
    """ "losses, rewriting and continuations"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
