"""The report's part on several models: their order, and whether it holds."""

from typing import Any

from flipcore.core.records import role_name
from flipcore.reports.browser_data.ranking import board
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.markup import Markup, board_place, claimed, paragraph, section
from flipcore.reports.ranking import LEVEL, pair_rows, way_rows
from flipcore.reports.whole_study import WholeStudy

BOARD = "ranking"


def ranking_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a single model."""
    report = c.ranking
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        board_place("ranking_board", BOARD),
        *(data_table(one) for one in ranking_tables(c)),
    ]
    return section("Which model is better?", BOARD, *parts), {BOARD: {"part": "ranking_board", "data": board(report, LEVEL)}}


def ranking_tables(c: WholeStudy) -> list[Table]:
    """A row a pair of models, and a row a way of asking and reading."""
    report = c.ranking
    if report is None:
        return []
    of = f"{role_name(report.role)} items, {c.provenance}."
    return [
        Table("pairs", "Pairs of models", pair_rows(report.pairs), f"Every pair of models on the same {of}"),
        Table("ways", "Ways of asking and reading", way_rows(report.contest), f"Accuracy and rank under every way; {of}"),
    ]
