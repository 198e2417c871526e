"""The board of the four holdout tests: a row per test, with a handle for its margin."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from flipcore.claims.holdout import TOPICS, outcome_claim, verdict_claim
from flipcore.reports.browser_data.board import (
    Board,
    Control,
    Headline,
    Outcome,
    Row,
    steps,
    value_at,
)
from flipcore.reports.browser_data.levels import nearest
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout import units, verdict

WAITING, MISSING = "waiting", "missing"
# One rank for all, so that the decision record keeps the order of the rows. Tests that wait or are
# missing have none and stay out of it.
OUTCOMES = {
    verdict.BEYOND: Outcome("✗✗", becomes="different beyond the margin", rank=0),
    verdict.DIFFERENT: Outcome("✗", becomes="different", rank=0),
    verdict.WITHIN: Outcome("≈", becomes="different within the margin", rank=0),
    verdict.EQUIVALENT: Outcome("✓", becomes="equivalent", rank=0),
    verdict.UNDECIDED: Outcome("–", becomes="undecided", rank=0),
    WAITING: Outcome("…"),
    MISSING: Outcome("○"),
}
# Test -> (first, last, divisor): its margins are first/divisor to last/divisor in whole steps.
_GRIDS = {"difficulty": (1, 40, 100), "prediction": (51, 100, 100), "odd one out": (34, 100, 100)}


def margins_of(test: verdict.HoldoutTest) -> list[float | None]:
    """Return the margins that a test's handle can take; [None] for MMD² without a margin. MMD² has
    no natural unit, so its margins follow the test's limits and detectable effect."""
    if test.name in _GRIDS:
        first, last, divisor = _GRIDS[test.name]
        return [i / divisor for i in range(first, last + 1)]
    if test.margin is None:
        return [None]
    ends = [abs(end) for end in (*test.bound, test.detectable) if math.isfinite(end)]
    largest = max(ends, default=0.01)
    # Steps of one digit make the handle stop at round numbers.
    step = float(f"{max(largest, 1e-6) / 20:.0e}")
    return [round(step * i, 12) for i in range(1, 41)]


def _with_margin(margins: list[float | None], margin: float | None) -> list[float | None]:
    """Return the handle's margins with `margin` among them: a locked margin is never rounded."""
    numbers = [number for number in margins if number is not None]
    if margin is None or any(math.isclose(number, margin) for number in numbers):
        return margins
    return [*sorted([*numbers, margin])]  # unpacked, because its type allows None


def _row(test: verdict.HoldoutTest, margin: float | None, about: str) -> Row:
    """Return the row of a test: its claim at every margin, its handle and its picture.

    `margin` is where the handle starts, None for the test's own. `about` is a line of the hint.
    """
    margin = test.margin if margin is None else margin
    margins = _with_margin(margins_of(test.with_margin(margin)), margin)
    numbers = [number for number in margins if number is not None]
    outcomes, sentences, labels = [], [], []
    for number in margins:
        claim = outcome_claim(test.with_margin(number))
        outcomes.append(claim.outcome)
        # The row's title names the topic already.
        sentences.append(claim.text.replace(f" on {TOPICS[test.name]}", "", 1))
        text = "no margin" if number is None else f"margin {units.margin_text(test.name, number)}"
        labels.append(text)
    title = units.TITLES[test.name]
    control = Control(
        test.name,
        title="",
        start=None if margin is None else numbers[nearest(numbers, margin)],
        values=margins,
        labels=labels,
        logged_as=f"margin of {test.name}",
        aria=f"Margin of {title.lower()}",
    )
    source = f"{test.source_state} ({', '.join(p_text(p) for p in test.p_source)})"
    # The basis of the verdict is printed in the Tests table and shown here on hover.
    hint = (
        f"Source's rule: {source}",
        f"against the margin: {units.bound_text(test)}",
        f"could detect {units.detectable_text(test)}",
        about,
    )
    return Row(
        title,
        id=test.name,
        hint="\n".join(hint),
        sentences=steps(sentences),
        outcomes=steps(outcomes),
        pictures=[_picture(test, numbers)],
        figure=units.estimate_text(test),
        control=control,
    )


def _picture(test: verdict.HoldoutTest, margins: Sequence[float]) -> dict:
    """Return the estimate with its bound, on an axis with room for both and most margins."""
    low, high = test.bound
    # A one-sided bound has no lower end, so the interval's is drawn.
    low = test.estimate.low if test.name in units.ONE_SIDED else low
    two_sided = test.name == "difficulty"
    no_difference = units.NO_DIFFERENCE[test.name]
    shown = (high, test.estimate.value, *margins[:1], no_difference, low)
    ends = [end for end in shown if math.isfinite(end)]
    if margins:
        # Margins of difficulty reach to 40 points; the axis has room for about half of that.
        ends.append(margins[-1] * (0.55 if two_sided else 1.0))
    top = max(ends)
    axis = [min(-top, *ends) if two_sided else min(no_difference, *ends), top]
    return {
        "kind": "margin",
        "name": f"{units.TITLES[test.name]}: {units.estimate_text(test)}",
        "value": test.estimate.value,
        "bound": [low, high],
        "two_sided": two_sided,
        "nothing": no_difference,
        "scale": axis,
        "ticks": [(x, units.axis_text(test, x)) for x in (*axis, no_difference)],
    }


def board(
    tests: Sequence[verdict.HoldoutTest],
    margins: Mapping[str, float | None],
    about: Mapping[str, str],
    missing: Mapping[str, str],
) -> Board:
    """Make the board: a row per test, and the verdict on all tests.

    Keys of the mappings are names of tests: `margins` has the margin of each, `about` a line on how
    the test was made, `missing` why it was not run. The verdict is made for every combination of
    outcomes that the margins allow.
    """
    by_name = {test.name: test for test in verdict.as_family(tests)}
    rows: list[Row] = []
    outcomes_of: dict[str, list[str]] = {}  # test -> its outcome at each margin
    for name in verdict.TESTS:
        if name in by_name:
            row = _row(by_name[name], margins.get(name), about.get(name, ""))
            n_margins = len(row.control.values) if row.control else 0
            outcomes_of[name] = [value_at(row.outcomes, i) for i in range(n_margins)]
        else:
            reason = missing.get(name, "It was not run.")
            row = Row(units.TITLES[name], name, sentences=[[0, reason]], outcomes=[[0, MISSING]])
        rows.append(row)
    combined = {}
    possible_outcomes = [dict.fromkeys(row_outcomes) for row_outcomes in outcomes_of.values()]
    for outcomes in product(*possible_outcomes):
        combination = []
        for name, outcome in zip(outcomes_of, outcomes, strict=True):
            # The verdict depends on outcomes alone, so any margin with this outcome serves.
            control = next(row.control for row in rows if row.id == name)
            margin = control.values[outcomes_of[name].index(outcome)] if control else None
            combination.append(by_name[name].with_margin(margin))
        claim = verdict_claim(verdict.HoldoutVerdict(tuple(combination)))
        combined["|".join(outcomes)] = (claim.text, claim.detail)
    return Board("margins", rows, [Headline(combined=combined)], outcomes=OUTCOMES)


_WAITS = "Its verdict waits for what is still running."


def waiting_board(
    tests: Sequence[verdict.HoldoutTest],
    margins: Mapping[str, float | None],
    about: Mapping[str, str],
    missing: Mapping[str, str],
) -> Board:
    """Make the board while a test is still running: estimates of the others, and no verdict.
    P-values are corrected over all tests, so they are not known yet."""
    full_board = board(tests, margins, about, missing)
    n = len(tests)
    rows = []
    for row in full_board.rows:
        if row.control:
            row = replace(row, sentences=[[0, _WAITS]], outcomes=[[0, WAITING]])
        rows.append(row)
    ready = (
        f"{n or 'None'} of {len(verdict.TESTS)} tests {'are' if n > 1 else 'is'} ready; the verdict"
        " waits for what is still running."
    )
    return replace(full_board, rows=rows, headlines=[Headline([[0, ready]])], is_waiting=True)
