"""The report's part on two sets: the four tests with margins that still move, and the inflation of every model."""

from typing import Any

from flipcore.claims.holdout import outcome_claim
from flipcore.extractors import title_of
from flipcore.reports.browser_data.margins import board
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.figures import figure, interval_rows
from flipcore.reports.exports.markup import Markup, board_place, claimed, paragraph, section, tag
from flipcore.reports.holdout import HoldoutReport
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.units import TITLES, bound_text, detectable_text, estimate_text, margin_text
from flipcore.stats.holdout.verdict import TESTS

BOARD = "margins"
MOVED = (
    "Move a margin: its sentence and the verdict follow. Margins are for setting before looking, so what is read after moving is "
    "exploratory."
)


def holdout_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a study without both sets."""
    tests, boards = _four_tests(c)
    parts = [*tests, *_inflation(c)]
    return (section("Is the holdout fair?", "holdout", *parts), boards) if parts else (None, {})


def opening_holdout(c: WholeStudy) -> list[Markup]:
    """What the four tests say together; nothing for a study without both sets."""
    claim = c.holdout.claim if c.holdout else None
    return [claimed(claim, cls="headline")] if claim else []


def _four_tests(c: WholeStudy) -> tuple[list[Markup], dict[str, Any]]:
    report = c.holdout
    if report is None:
        return [], {}
    data = board(list(report.tests.values()), report.view, report.about, report.missing)
    words = [
        claimed(report.claim),
        *(_sentence_of(report, name) for name in TESTS),
        board_place("margin_board", BOARD),
        paragraph(MOVED, cls="quiet screen-only"),
        data_table(tests_table(c)),
    ]
    return words, {BOARD: {"part": "margin_board", "data": data}}


def _sentence_of(report: HoldoutReport, name: str) -> Markup:
    """What a test says and how it was made, or why it was not run."""
    if name not in report.tests:
        return paragraph(f"{TITLES[name]}. {report.missing[name]}", cls="quiet")
    about = report.about[name].rstrip(".")
    small = tag("span", f"{about[:1].upper()}{about[1:]}.", cls="quiet")
    return paragraph(outcome_claim(report.tests[name]).text, " ", small, cls="claim")


def tests_table(c: WholeStudy) -> Table:
    """A row a test, also of those that were not run."""
    rows = [_test_row(c.holdout, name) for name in TESTS] if c.holdout else []
    return Table(
        "tests", "Four tests of the two sets", rows, f"Whether target and retro could have one source. {c.provenance}."
    )


def _test_row(report: HoldoutReport, name: str) -> dict[str, object]:
    one = report.tests.get(name)
    return {
        "test": TITLES[name],
        "verdict": one.state if one else "not run",
        "estimate": estimate_text(one) if one else None,
        "held against the margin": bound_text(one) if one else None,
        "margin": margin_text(name, report.view[name]),
        "p": p_text(one.p).removeprefix("p ").removeprefix("= ") if one else None,
        "could detect": detectable_text(one) if one else None,
        "source's rule": one.source_state if one else None,
        "n": one.estimate.n if one else None,
    }


def _inflation(c: WholeStudy) -> list[Markup]:
    """Accuracy on target and retro, read in the plainest way; nothing where no model answered both sets."""
    mine, claim = c.inflation.selection, c.inflation.claim
    if not mine:
        return []
    rows = [(one.model, one.inflation(), one.inflation().text_pp()) for one in mine]
    read = f"read by {title_of(mine[0].extractor).lower()}, {mine[0].layout}"
    caption = f"Accuracy on target less accuracy on retro, percentage points, {read}; 95 % intervals. {c.provenance}."
    return [
        tag("h3", "Inflation"),
        claimed(claim),
        paragraph("A difference is contamination only as far as the two sets could have come from one source.", cls="quiet"),
        figure(interval_rows(rows, "Inflation of each model", " pp"), caption),
        data_table(inflation_table(c)),
    ]


def inflation_table(c: WholeStudy) -> Table:
    """A row a model and way of reading."""
    rows = [_row(one) for one in c.inflation.every]
    return Table("inflation", "Inflation", rows, f"Accuracy on target and retro. {c.provenance}.")


def _row(one: Condition) -> dict[str, object]:
    target, retro = one.accuracies
    inflation = one.inflation()
    return {
        "model": one.model,
        "extractor": title_of(one.extractor),
        "asked as": one.layout,
        "target": round(target, 3),
        "retro": round(retro, 3),
        "inflation": inflation.text_pp(),
        "p": p_text(one.test(1.0).p).removeprefix("p ").removeprefix("= "),
        "interval": inflation.method.replace("_", " "),
        "n": inflation.n,
    }
