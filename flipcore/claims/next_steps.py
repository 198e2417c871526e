"""The next step for benchmark and holdout: the cheapest one that can still change the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.holdout.planning import StartingMargin, equivalence_plan
from flipcore.stats.holdout.units import margin_text
from flipcore.stats.holdout.verdict import (
    DISTINGUISHABLE,
    INDISTINGUISHABLE,
    UNDECIDED,
    HoldoutTest,
    HoldoutVerdict,
)
from flipcore.text.counts import count_of

MINUTES = 10  # for one sheet of ten triples, with its examples
PEOPLE = 10  # fewer annotators do not stand for people in general


@dataclass(frozen=True)
class SetFacts:
    """Facts about benchmark and holdout that are not results of tests.

    `is_dated`: every benchmark entry has a publication date. `has_answers`: a model that is older
    than the benchmark has answered both sets. `is_free`: the pocket model is older than the
    benchmark. `has_survey`: a survey exists.
    """

    is_dated: bool = True
    has_answers: bool = False
    is_free: bool = True
    has_survey: bool = False


def next_step(
    tests: Mapping[str, HoldoutTest],
    n_target: int,
    n_retro: int,
    start: StartingMargin | None = None,
    *,
    is_aside: bool = False,
    facts: SetFacts | None = None,
) -> Claim:
    """Return the next step as one sentence.

    `tests` maps names to tests that were made. `start` is a margin that the explored part of the
    benchmark suggests, None if there is none. `is_aside` is True if entries are set aside.
    """
    verdict = HoldoutVerdict(tuple(tests.values()))
    if min(n_target, n_retro) < MIN_N:
        return description(
            f"Next: add entries; each set needs at least {MIN_N}, and these have {n_target} and "
            f"{n_retro}.",
            "add",
        )
    if verdict.state == DISTINGUISHABLE:
        return description(
            "Next: read under Look inside what gives the sets away, edit the holdout entries, and "
            "test again.",
            "edit",
        )
    if verdict.state == INDISTINGUISHABLE:
        # Margins that were chosen on these entries must be confirmed on others.
        action = "set a share aside under View"
        if is_aside:
            action = "store these margins in Locked mode"
        sentence = f"Next: {action}, and confirm on entries that nobody has tested yet."
        return description(sentence, "confirm")
    return _open_test(tests, n_target + n_retro, start, facts or SetFacts())


def _open_test(
    tests: Mapping[str, HoldoutTest], n: int, start: StartingMargin | None, facts: SetFacts
) -> Claim:
    """Return the cheapest step for tests that are missing or undecided."""
    # In order of cost: a date, calls to a model, a margin, people's time, new entries.
    if "difficulty" not in tests and not facts.is_dated:
        sentence = (
            "Next: give each benchmark entry its publication date (column published); without it, "
            "no model is known to be older."
        )
        return description(sentence, "date")
    if "difficulty" not in tests and not facts.has_answers:
        free = ", free with the pocket model" if facts.is_free else ""
        sentence = (
            "Next: under Inflation, ask a model that was trained before the benchmark was "
            f"published; {count_of(n, 'call')}{free}."
        )
        return description(sentence, "difficulty", n_calls=n)
    semantic = tests.get("semantic")
    if semantic is not None and semantic.margin is None and start is not None:
        margin = margin_text("semantic", start.margin)
        return description(
            f"Next: set a margin for semantic similarity, for example {margin}: {start.meaning}.",
            "margin",
        )
    if "odd one out" not in tests:
        action = "send the survey's link under Survey" if facts.has_survey else "build a survey"
        sentence = (
            f"Next: {action}; {PEOPLE} people with one sheet each take about {PEOPLE * MINUTES} "
            "minutes in all."
        )
        return description(sentence, "survey")
    difficulty = tests.get("difficulty")
    if difficulty is not None and difficulty.state == UNDECIDED and difficulty.margin:
        plan = equivalence_plan(0.5, difficulty.margin)
        if plan.n is not None:
            return description(
                f"Next: write entries; difficulty needs about {plan.n:,} a set at that margin.",
                "write",
                n=plan.n,
            )
    return description(
        "Next: write more entries, or ask more people; the tests that are open lack data.", "write"
    )
