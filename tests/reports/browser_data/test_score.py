"""The score's board says at every level what the claims say there, and holds every dot with what lies behind it."""

import base64
import json

import numpy as np
import pandas as pd
import pytest

from flipcore.reports.browser_data.board import value_at
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from flipcore.reports.browser_data.score import board, level_of_each
from flipcore.reports.score import score_report
from tests.reports.test_score import readouts


@pytest.fixture(scope="module")
def report():
    frame = pd.concat([readouts("combined"), readouts("combined", seed=1, extractor="judge")])
    return score_report(frame, reference="regex", reported=[{"model": "m", "readout": "regex", "value": 0.91}])


def pictures_of(lines, kind):
    return [picture for row in lines["rows"] for picture in row["pictures"] if picture["kind"] == kind]


def intervals_of(lines):
    """The nested intervals of the one model, unpacked."""
    (picture,) = pictures_of(lines, "nested")
    intervals = {}
    for name, interval in picture["intervals"].items():
        intervals[name] = {side: np.frombuffer(base64.b64decode(interval[side]), "<f8") for side in ("low", "high")}
    return intervals


def dots_of(lines):
    return [dot for picture in pictures_of(lines, "dots") for dot in picture["dots"]]


def test_a_level_looks_up_the_claim_and_the_limits_of_that_level(report):
    lines = json.loads(json.dumps(board(report, 0.9).data(), allow_nan=False))
    (control,), (headline,), one = lines["controls"], lines["headlines"], report.models[0]
    assert control["start"] == 0.9
    intervals = intervals_of(lines)
    assert list(intervals) == ["reruns", "questions", "wordings", "elsewhere"]
    for i, level in enumerate(control["values"]):
        here = one.at_level(level)
        assert value_at(headline["sentence"], i) == here.claim.text
        assert value_at(headline["detail"], i) == here.claim.detail
        assert sentences_at(lines, {"level": level}) == [f"{here.claim.text} ({control['labels'][i]})"]
        for name, interval in intervals.items():
            estimate = here.bar.estimate(name)
            assert (interval["low"][i], interval["high"][i]) == (estimate.low, estimate.high)
    assert len(headline["sentence"]) > 10


def test_every_wording_reader_the_own_prompt_and_what_was_published_is_a_dot(report):
    dots = dots_of(board(report, 0.95).data())
    kinds = [dot["kind"] for dot in dots]
    assert kinds == ["published"] + ["wording"] * 5 + ["own"] + ["reader"] * 2
    by_title = {dot["title"]: dot for dot in dots}
    assert by_title["v1"]["opens"] == {"model": "m", "way": "combined|v1"} and by_title["v1"]["id"] == "combined|v1"
    assert by_title["Published"]["value"] == 0.91 and by_title["Published"]["opens"] is None
    assert by_title["Own prompt"]["opens"] == {"model": "m", "way": "combined|base"}


def test_limits_that_hold_together_are_wider(report):
    alone, three = (intervals_of(board(report, 0.95, n).data())["wordings"] for n in (1, 3))
    at = LEVELS.index(0.95)
    assert three["low"][at] < alone["low"][at] and level_of_each(0.95, 1) == pytest.approx(0.95)
    assert report.models[0].at_level(level_of_each(0.95, 3)).bar.by_wordings.low == three["low"][at]


def test_the_axis_holds_everything_and_one_wording_draws_no_wider_bar():
    lines = board(score_report(readouts("option_order")), 0.95).data()
    assert lines["scale"] in ([0.0, 1.0], [0.5, 1.0])
    assert list(intervals_of(lines)) == ["reruns", "questions"] and not dots_of(lines)
    assert [style for _, style in lines["legend"]] == ["reruns", "questions"]
