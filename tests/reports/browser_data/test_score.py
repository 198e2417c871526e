"""The score's board says at every level what the claims say there, and holds every dot with what lies behind it."""

import json

import pandas as pd
import pytest

from flipcore.reports.browser_data.score import board, together
from flipcore.reports.score import score_report
from tests.reports.test_score import readouts


@pytest.fixture(scope="module")
def report():
    frame = pd.concat([readouts("combined"), readouts("combined", seed=1, extractor="judge")])
    return score_report(frame, reader="regex", reported=[{"model": "m", "readout": "regex", "value": 0.91}])


def test_a_level_looks_up_the_claim_and_the_limits_of_that_level(report):
    lines = json.loads(json.dumps(board(report, 0.9), allow_nan=False))
    assert lines["levels"][lines["start"]] == 0.9
    (model,), one = lines["models"], report.models[0]
    for i, level in enumerate(lines["levels"]):
        here = one.at(level)
        assert model["sentences"]["sentences"][model["sentences"]["at"][i]] == here.claim.text
        assert model["details"]["sentences"][model["details"]["at"][i]] == here.claim.detail
        for bar in model["bars"]:
            estimate = here.bar.estimate(bar["name"])
            assert (bar["low"][i], bar["high"][i]) == (estimate.low, estimate.high)
    assert len(model["sentences"]["sentences"]) > 10


def test_every_wording_reader_the_own_prompt_and_what_was_published_is_a_dot(report):
    (model,) = board(report, 0.95)["models"]
    kinds = [dot["kind"] for dot in model["dots"]]
    assert kinds == ["wording"] * 5 + ["reader"] * 2 + ["own", "published"]
    by_title = {dot["title"]: dot for dot in model["dots"]}
    assert by_title["v1"]["behind"] == {"way": "combined|v1"} and by_title["Published"]["score"] == 0.91
    assert by_title["Own prompt"]["behind"] == {"way": "combined|base"}


def test_limits_that_hold_together_are_wider(report):
    alone, three = (board(report, 0.95, n)["models"][0]["bars"][2] for n in (1, 3))
    at = board(report, 0.95)["start"]
    assert three["low"][at] < alone["low"][at] and together(0.95, 1) == pytest.approx(0.95)
    assert report.models[0].at(together(0.95, 3)).bar.by_wordings.low == three["low"][at]


def test_the_axis_holds_everything_and_one_wording_draws_no_wider_bar():
    lines = board(score_report(readouts("option_order")), 0.95)
    assert lines["ends"] == [0.0, 1.0] or lines["ends"] == [0.5, 1.0]
    (model,) = lines["models"]
    drawn = {bar["name"]: bar["low"][0] is not None for bar in model["bars"]}
    assert drawn == {"reruns": True, "questions": True, "wordings": False, "elsewhere": False} and not model["dots"]
