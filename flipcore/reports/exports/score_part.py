"""The report's parts on the scores and on several models: the sentence of each, the boards that still move, and the tables."""

from typing import Any

from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports import ranking
from flipcore.reports.browser_data import ranking as ranking_board
from flipcore.reports.browser_data.score import board
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.markup import Markup, board_place, claimed, paragraph, section
from flipcore.reports.score import LEVEL, next_rows, people_rows, reader_rows, score_rows, share_rows, wording_rows
from flipcore.reports.whole_study import WholeStudy

RANKING, BOARD = "ranking", "scores"


def ranking_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a single model."""
    report = c.ranking
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        board_place("ranking_board", RANKING),
        *(data_table(one) for one in ranking_tables(c)),
    ]
    data = ranking_board.board(report, ranking.LEVEL)
    return section("Which model is better?", RANKING, *parts), {RANKING: {"part": "ranking_board", "data": data}}


def ranking_tables(c: WholeStudy) -> list[Table]:
    """A row a pair of models, and a row a way of asking and reading."""
    report = c.ranking
    if report is None:
        return []
    of = f"{role_name(report.role)} items, {c.provenance}."
    pairs, ways = ranking.pair_rows(report.pairs), ranking.way_rows(report.contest)
    return [
        Table("pairs", "Pairs of models", pairs, f"Every pair of models on the same {of}"),
        Table("ways", "Ways of asking and reading", ways, f"Accuracy and rank under every way; {of}"),
    ]


def score_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing where nothing was judged right or wrong."""
    report = c.score
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        *(paragraph(one) for one in c.judges.sentences),
        board_place("score_board", BOARD),
        *(data_table(one) for one in score_tables(c)),
    ]
    return section("How much of the score to trust?", BOARD, *parts), {
        BOARD: {"part": "score_board", "data": board(report, LEVEL)}
    }


def opening_score(c: WholeStudy) -> list[Markup]:
    """The sentences of the models whose wordings were measured; the accuracy of any other says "questions only"."""
    return [paragraph(one.text, cls="headline") for one in (c.score.whole_claims if c.score else ())]


def score_tables(c: WholeStudy) -> list[Table]:
    """Of each model its intervals, whose the variance is, what the next call buys, its wordings and readers."""
    kinds = {
        "intervals": ("Score", score_rows),
        "shares": ("Whose the uncertainty is", share_rows),
        "next": ("Where the next call goes", next_rows),
        "wordings": ("Each wording", wording_rows),
        "readers": ("Each reader", reader_rows),
        "people": ("Each reader against people", people_rows),
    }
    several = c.score is not None and len(c.score.models) > 1
    out = []
    for number, one in enumerate(c.score.models if c.score else (), start=1):
        for kind, (title, rows_of) in kinds.items():
            if (rows := rows_of(one)) and not (kind == "readers" and len(rows) < 2):
                name = f"score-{kind}-{number}" if several else f"score-{kind}"
                of = f"{one.model}, read by {title_of(one.reader).lower()}; {c.provenance}."
                out.append(Table(name, f"{title}: {one.model}" if several else title, rows, f"{title} of {of}"))
    if c.score and c.score.by_people.pairs:
        title = "Pairs of models by people"
        out.append(Table("score-pairs-people", title, c.score.by_people.table_rows(), f"{title}; {c.provenance}."))
    return out
