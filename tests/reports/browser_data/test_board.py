"""A declared board as the browser gets it."""

import json
import math

import pytest

from flipcore.reports.browser_data.board import Board, Chosen, Control, Headline, Row, level_control, packed, steps, value_at
from flipcore.reports.browser_data.levels import LEVELS


def test_steps_say_at_every_position_what_the_list_said():
    values = ["a", "a", "b", None, None, "a"]
    runs = steps(values)
    assert runs == [[0, "a"], [2, "b"], [3, None], [5, "a"]]
    assert [value_at(runs, i) for i in range(len(values))] == values


def test_data_are_json_without_defaults_and_what_is_missing_is_null():
    row = Row("Row", pictures=[{"kind": "margin", "value": math.nan, "bound": (0.0, math.inf)}], weight=0.0)
    data = json.loads(json.dumps(Board("margins", [row], [Headline(combined={"a": ("b", "c")})]).data(), allow_nan=False))
    picture = {"kind": "margin", "value": None, "bound": [0.0, None]}
    assert data == {
        "kind": "margins",
        "rows": [{"title": "Row", "pictures": [picture]}],
        "headlines": [{"combined": {"a": ["b", "c"]}}],
    }


def test_a_handle_without_a_number_says_so():
    data = Board("margins", [Row(control=Control("semantic", "", None, [None], ["no margin"]))], []).data()
    assert data["rows"][0]["control"]["start"] is None and data["rows"][0]["control"]["values"] == [None]


def test_parts_that_differ_by_choices_keep_their_keys():
    data = Board("threshold", Chosen(["policy"], {"drop": [Row("r")]}), []).data()
    assert data["rows"] == {"by": ["policy"], "parts": {"drop": [{"title": "r"}]}}


@pytest.mark.parametrize(("level", "start"), [(0.95, 0.95), (0.9951, 0.995), (0.1, 0.5), (1.0, 0.999)])
def test_a_level_starts_at_the_nearest_stop(level, start):
    control = level_control(LEVELS, level)
    assert control.start == start and control.labels[LEVELS.index(start)].endswith("%")
    assert len(control.labels) == len(control.values) == len(LEVELS)


def test_packed_numbers_keep_all_their_digits():
    import base64

    import numpy as np

    assert np.frombuffer(base64.b64decode(packed([0.075, math.nan])), "<f8")[0] == 0.075
