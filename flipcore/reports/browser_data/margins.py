"""The four tests as rows whose margins can be moved."""

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
OUTCOMES = {
    verdict.BEYOND: Outcome("✗✗", becomes="different beyond the margin", rank=0),
    verdict.DIFFERENT: Outcome("✗", becomes="different", rank=0),
    verdict.WITHIN: Outcome("≈", becomes="different within the margin", rank=0),
    verdict.EQUIVALENT: Outcome("✓", becomes="equivalent", rank=0),
    verdict.UNDECIDED: Outcome("–", becomes="undecided", rank=0),
    WAITING: Outcome("…"),
    MISSING: Outcome("○"),
}
# From, to, divided by.
_GRIDS = {"difficulty": (1, 40, 100), "prediction": (51, 100, 100), "odd one out": (34, 100, 100)}


def margins_of(test: verdict.HoldoutTest) -> list[float | None]:
    """The margins that the handle can take; MMD² has no natural unit, so its scale follows what the
    data can show, and where no margin is set there is no handle."""
    if test.name in _GRIDS:
        first, last, by = _GRIDS[test.name]
        return [i / by for i in range(first, last + 1)]
    if test.margin is None:
        return [None]
    ends = [abs(end) for end in (*test.bound, test.detectable) if math.isfinite(end)]
    largest = max(ends, default=0.01)
    # One digit, so that the handle stops at numbers that people would write.
    step = float(f"{max(largest, 1e-6) / 20:.0e}")
    return [round(step * i, 12) for i in range(1, 41)]


def _with(margins: list[float | None], lock_margin: float | None) -> list[float | None]:
    """Margins of the handle and the stored one, so that the board never rounds a lock's."""
    numbers = [margin for margin in margins if margin is not None]
    if lock_margin is None or any(math.isclose(margin, lock_margin) for margin in numbers):
        return margins
    return [*sorted([*numbers, lock_margin])]


def _row(test: verdict.HoldoutTest, margin: float | None, about: str) -> Row:
    """The row of a test: its claim at every margin, its handle and its picture."""
    margin = test.margin if margin is None else margin
    margins = _with(margins_of(test.with_margin(margin)), margin)
    numbers = [number for number in margins if number is not None]
    outcomes, sentences, labels = [], [], []
    for number in margins:
        claim = outcome_claim(test.with_margin(number))
        outcomes.append(claim.outcome)
        # The row's title names the topic.
        sentences.append(claim.text.replace(f" on {TOPICS[test.name]}", "", 1))
        text = "no margin" if number is None else f"margin {units.margin_text(test.name, number)}"
        labels.append(text)
    title = units.TITLES[test.name]
    control = Control(
        test.name,
        "",
        None if margin is None else numbers[nearest(numbers, margin)],
        margins,
        labels,
        logged_as=f"margin of {test.name}",
        aria=f"Margin of {title.lower()}",
    )
    source = f"{test.source_state} ({', '.join(p_text(p) for p in test.p_source)})"
    # What a verdict rests on stands under Tests, and here on hover.
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
    """The estimate with its bound, and the ends of an axis with room for both and most margins."""
    low, high = test.bound
    # The bound of a share has no lower end: the interval has.
    low = test.estimate.low if test.name in units.ONE_SIDED else low
    two_sided, nothing = test.name == "difficulty", units.NO_DIFFERENCE[test.name]
    shown = (high, test.estimate.value, *margins[:1], nothing, low)
    ends = [end for end in shown if math.isfinite(end)]
    top = max(*(number * (0.55 if two_sided else 1.0) for number in margins[-1:]), *ends)
    axis = [min(-top, *ends) if two_sided else min(nothing, *ends), top]
    return {
        "kind": "margin",
        "name": f"{units.TITLES[test.name]}: {units.estimate_text(test)}",
        "value": test.estimate.value,
        "bound": [low, high],
        "two_sided": two_sided,
        "nothing": nothing,
        "scale": axis,
        "ticks": [(x, units.axis_text(test, x)) for x in (*axis, nothing)],
    }


def board(
    tests: Sequence[verdict.HoldoutTest],
    margins: Mapping[str, float | None],
    about: Mapping[str, str],
    missing: Mapping[str, str],
) -> Board:
    """Rows in the order of TESTS, those not run with `missing[name]`; and the overall sentence for
    every combination of outcomes that the margins can bring about."""
    by_name = {test.name: test for test in verdict.as_family(tests)}
    rows: list[Row] = []
    outcomes_of: dict[str, list[str]] = {}  # by test, at each margin
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
    for outcomes in product(
        *(dict.fromkeys(row_outcomes) for row_outcomes in outcomes_of.values())
    ):
        combination = []
        for name, outcome in zip(outcomes_of, outcomes, strict=True):
            # Any margin of an outcome gives the overall verdict that the outcome does.
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
    """The board while a test is still running: estimates and intervals of the others, and no
    verdict, because p-values are corrected over all tests."""
    full_board, n, rows = board(tests, margins, about, missing), len(tests), []
    for row in full_board.rows:
        if row.control:
            row = replace(row, sentences=[[0, _WAITS]], outcomes=[[0, WAITING]])
        rows.append(row)
    ready = (
        f"{n or 'None'} of {len(verdict.TESTS)} tests {'are' if n > 1 else 'is'} ready; the verdict"
        " waits for what is still running."
    )
    return replace(full_board, rows=rows, headlines=[Headline([[0, ready]])], is_waiting=True)
