"""The ranking's board says at every level what the claims say there."""

import json

from flipcore.claims.ranking import best_claim, pair_claim
from flipcore.reports.browser_data.board import value_at
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from flipcore.reports.browser_data.ranking import board
from flipcore.reports.ranking import ranking_report, way_rows
from tests.stats.ranking.worlds import readouts

OWN, LOWER = ("identity", "base", "regex"), ("label_set", "lower", "regex")
RIGHT = {"B": {OWN: "1" * 14 + "0" * 26}, "A": {OWN: "1" * 26 + "0" * 14}, "C": {OWN: "1" * 8 + "0" * 32}}


def test_a_level_looks_up_the_claim_of_that_level():
    report = ranking_report(readouts({model: ways | {LOWER: ways[OWN][::-1]} for model, ways in RIGHT.items()}))
    made = json.loads(json.dumps(board(report, 0.95).data(), allow_nan=False))
    (control,), (headline,), models = made["controls"], made["headlines"], made["columns"][1:]
    assert models == ["A", "B", "C"] and control["start"] == 0.95
    order = [report.contest.models.index(model) for model in models]
    for i, level in enumerate(control["values"]):
        assert value_at(headline["sentence"], i) == best_claim(report.contest, level).text
        assert value_at(made["lines"][0], i) == pair_claim(report.contest, *order[:2], level).text
        assert sentences_at(made, {"level": level})[1] == value_at(made["lines"][0], i)
    assert len(headline["sentence"]) > 1
    at = control["values"].index(0.95)
    for way, row in zip(made["rows"], way_rows(report.contest), strict=True):
        for model, picture in zip(models, way["pictures"], strict=True):
            best, worst = value_at(picture["limits"], at)
            assert f"{picture['rank']} [{best}, {worst}]" == row[f"rank of {model}"]


def test_a_tick_stands_where_the_ranks_of_a_row_change_and_names_it():
    report = ranking_report(readouts({model: ways | {LOWER: ways[OWN][::-1]} for model, ways in RIGHT.items()}))
    made = board(report, 0.95)
    moved = {first for row in made.rows for picture in row.pictures for first, _ in picture["limits"] if first}
    assert {at for at, _ in made.changes} == moved and moved
    for at, text in made.changes:
        assert text.startswith(f"at {made.controls[0].labels[at]} ranks change: ")


def test_a_tick_counts_the_one_row_that_it_does_not_name():
    ways = [("label_set", f"labels-{i}", "regex") for i in range(3)]
    models = {model: right | dict.fromkeys(ways, right[OWN]) for model, right in RIGHT.items()}
    texts = [text for _, text in board(ranking_report(readouts(models)), 0.95).changes]
    assert any(text.endswith(" and 1 more row") for text in texts)
