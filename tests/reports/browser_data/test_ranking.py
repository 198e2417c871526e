"""The ranking's board says at every level what the claims say there."""

import json

import numpy as np

from flipcore.claims.ranking import best_claim, pair_claim
from flipcore.reports.browser_data.ranking import board
from flipcore.reports.ranking import ranking_report, way_rows
from tests.stats.ranking.worlds import readouts

OWN, LOWER = ("identity", "base", "regex"), ("label_set", "lower", "regex")
RIGHT = {"B": {OWN: "1" * 14 + "0" * 26}, "A": {OWN: "1" * 26 + "0" * 14}, "C": {OWN: "1" * 8 + "0" * 32}}


def test_a_level_looks_up_the_claim_of_that_level():
    report = ranking_report(readouts({model: ways | {LOWER: ways[OWN][::-1]} for model, ways in RIGHT.items()}))
    made = json.loads(json.dumps(board(report, 0.95), allow_nan=False))
    assert made["models"] == ["A", "B", "C"] and made["levels"][made["start"]] == 0.95
    order = [report.contest.models.index(model) for model in made["models"]]
    for i, level in enumerate(made["levels"]):
        assert made["headline"]["sentences"][made["headline"]["at"][i]] == best_claim(report.contest, level).text
        assert made["pairs"][0]["sentences"][made["pairs"][0]["at"][i]] == pair_claim(report.contest, *order[:2], level).text
    assert len(made["headline"]["sentences"]) > 1
    shape = (len(made["levels"]), len(made["ways"]), 3)
    best, worst = (np.array(made[side]).reshape(shape)[made["start"]] for side in ("best", "worst"))
    for i, row in enumerate(way_rows(report.contest)):
        shown = [f"{made['ways'][i]['ranks'][m]} [{best[i, m]}, {worst[i, m]}]" for m in range(3)]
        assert shown == [row[f"rank of {model}"] for model in made["models"]]
