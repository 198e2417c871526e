"""The report's parts on several models and on target against retro: the order of the models, and inflation."""

from __future__ import annotations

from typing import Any

from flipcore.boards.parts import part
from flipcore.boards.ranking import board
from flipcore.extractors import title_of
from flipcore.handouts.contents import Contents
from flipcore.handouts.data_tables import Table, data_table
from flipcore.handouts.figures import figure, interval_rows
from flipcore.handouts.markup import Markup, paragraph, section, tag
from flipcore.reports.holdout import inflation_of
from flipcore.reports.ranking import LEVEL, pair_rows, way_rows
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout.difficulty import Condition, conditions
from flipcore.store.queries import holdout

BOARD = "ranking"


def ranking_part(c: Contents) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a single model."""
    report = c.whole.ranking
    if report is None:
        return None, {}
    place = tag("div", Markup(part("ranking_board").html), data_part="ranking_board", data_board=BOARD, cls="board-place")
    parts = [
        *(paragraph(one.text, " ", tag("span", one.detail, cls="quiet"), cls="claim") for one in report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        place,
        *(data_table(one) for one in ranking_tables(c)),
    ]
    return section("Which model is better?", BOARD, *parts), {BOARD: {"part": "ranking_board", "data": board(report, LEVEL)}}


def ranking_tables(c: Contents) -> list[Table]:
    """A row a pair of models, and a row a way of asking and reading."""
    report = c.whole.ranking
    if report is None:
        return []
    of = f"{report.role.replace('_', ' ')} items, {c.provenance}."
    return [
        Table("pairs", "Pairs of models", pair_rows(report.pairs), f"Every pair of models on the same {of}"),
        Table("ways", "Ways of asking and reading", way_rows(report.contest), f"Accuracy and rank under every way; {of}"),
    ]


def inflation_part(c: Contents) -> Markup | None:
    """Accuracy on target and retro, read in the plainest way; nothing where no model answered both sets."""
    every = _conditions(c)
    if not every:
        return None
    mine, claim = inflation_of(every, c.closed_gates)
    rows = [(one.model, one.inflation(), one.inflation().text_pp()) for one in mine]
    read = f"read by {title_of(mine[0].extractor).lower()}, {mine[0].layout}"
    caption = f"Accuracy on target less accuracy on retro, percentage points, {read}; 95 % intervals. {c.provenance}."
    return section(
        "Is the holdout fair?",
        "inflation",
        paragraph(claim.text, " ", tag("span", claim.detail, cls="quiet"), cls="claim"),
        paragraph("A difference is contamination only as far as the two sets could have come from one source.", cls="quiet"),
        figure(interval_rows(rows, "Inflation of each model", " pp"), caption),
        data_table(inflation_table(c)),
    )


def inflation_table(c: Contents) -> Table:
    """A row a model and way of reading."""
    rows = [_row(one) for one in _conditions(c)]
    return Table("inflation", "Inflation", rows, f"Accuracy on target and retro. {c.provenance}.")


def _conditions(c: Contents) -> list[Condition]:
    return conditions(holdout.accuracies(c.store, c.study_id))


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
