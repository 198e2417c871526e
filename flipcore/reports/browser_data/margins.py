"""The four tests as rows whose margins can be moved: every state and sentence is computed here, the
browser looks them up."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

from flipcore.claims.holdout import outcome_claim, verdict_claim
from flipcore.core.records import digest
from flipcore.reports.browser_data.levels import nearest
from flipcore.reports.rows import plain
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout import units, verdict

SIGNS = {
    verdict.BEYOND: "✗✗",
    verdict.DIFFERENT: "✗",
    verdict.WITHIN: "≈",
    verdict.EQUIVALENT: "✓",
    verdict.UNDECIDED: "–",
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
    """The handle's margins with the stored one among them, so that the board never rounds a lock's
    margin."""
    numbers = [margin for margin in margins if margin is not None]
    if lock_margin is None or any(math.isclose(margin, lock_margin) for margin in numbers):
        return margins
    return [*sorted([*numbers, lock_margin])]


def _row(test: verdict.HoldoutTest, margin: float | None, about: str) -> dict:
    margin = test.margin if margin is None else margin
    margins = _with(margins_of(test.against_margin(margin)), margin)
    numbers = [number for number in margins if number is not None]
    low, high = test.bound
    # The bound of a share has no lower end: the interval has.
    low = test.estimate.low if test.name in units.ONE_SIDED else low
    two_sided = test.name == "difficulty"
    shown = (high, test.estimate.value, *numbers[:1], units.NOTHING[test.name], low)
    ends = [end for end in shown if math.isfinite(end)]
    top = max(*(number * (0.55 if two_sided else 1.0) for number in numbers[-1:]), *ends)
    axis = [min(-top, *ends) if two_sided else min(units.NOTHING[test.name], *ends), top]
    states, sentences, labels = [], [], []
    zones: list[list[float] | None] = []
    for number in margins:
        claim = outcome_claim(test.against_margin(number))
        states.append(claim.outcome)
        sentences.append(claim.text)
        if number is None:
            labels.append("no margin")
            zones.append(None)
        else:
            labels.append(f"margin {units.margin_text(test.name, number)}")
            zones.append([-number if two_sided else axis[0], number])
    return {
        "name": test.name,
        "title": units.TITLES[test.name],
        "margins": margins,
        "states": states,
        "signs": [SIGNS[state] for state in states],
        "sentences": sentences,
        "labels": labels,
        "zones": zones,
        "start": 0 if margin is None else nearest(numbers, margin),
        "value": plain(test.estimate.value),
        "bound": [plain(low), plain(high)],
        "two_sided": two_sided,
        "nothing": units.NOTHING[test.name],
        "axis": axis,
        "ends": [units.axis_text(test, x) for x in (*axis, units.NOTHING[test.name])],
        "unit": units.unit(test.name),
        "source": f"{test.source_state} ({', '.join(p_text(p) for p in test.p_source)})",
        "estimate": units.estimate_text(test),
        "detectable": units.detectable_text(test),
        "held": units.bound_text(test),
        "about": about,
    }


def board(
    tests: Sequence[verdict.HoldoutTest],
    margins: Mapping[str, float | None],
    about: Mapping[str, str],
    missing: Mapping[str, str],
) -> dict:
    """Rows in the order of TESTS, those not run with `missing[name]`; and the overall sentence for
    every combination of states that the margins can bring about, keyed by the states joined with
    "|"."""
    by_name = {test.name: test for test in verdict.as_family(tests)}
    rows: list[dict] = []
    run: list[dict] = []
    for name in verdict.TESTS:
        if name in by_name:
            row = _row(by_name[name], margins.get(name), about.get(name, ""))
            run.append(row)
        else:
            reason = missing.get(name, "It was not run.")
            row = {"name": name, "title": units.TITLES[name], "missing": reason}
        rows.append(row)
    overall = {}
    for states in product(*(list(dict.fromkeys(row["states"])) for row in run)):
        combination = []
        for row, state in zip(run, states, strict=True):
            # Any margin of a state gives the overall verdict that the state does.
            margin = row["margins"][row["states"].index(state)]
            combination.append(by_name[row["name"]].against_margin(margin))
        claim = verdict_claim(verdict.HoldoutVerdict(tuple(combination)))
        overall["|".join(states)] = {
            "state": claim.outcome,
            "sentence": claim.text,
            "detail": claim.detail,
        }
    return {"rows": rows, "overall": overall, "id": digest(rows)}


WAITING = "waiting"
_WAITS = "Its verdict waits for what is still running."


def waiting_board(
    tests: Sequence[verdict.HoldoutTest],
    margins: Mapping[str, float | None],
    about: Mapping[str, str],
    missing: Mapping[str, str],
) -> dict:
    """The board while a test is still running: estimates and intervals of the others, and no
    verdict, because p-values are corrected over all tests."""
    rows, n = board(tests, margins, about, missing)["rows"], len(tests)
    words = {"states": WAITING, "signs": "…", "sentences": _WAITS}
    for row in rows:
        if "missing" not in row:
            row.update({name: [word] * len(row["margins"]) for name, word in words.items()})
    ready = (
        f"{n or 'None'} of {len(verdict.TESTS)} tests {'are' if n > 1 else 'is'} ready; the verdict"
        " waits for what is still running."
    )
    overall = {"|".join([WAITING] * n): {"state": WAITING, "sentence": ready, "detail": ""}}
    return {"rows": rows, "overall": overall, "id": digest(rows), "waiting": True}
