"""What the flip map is handed: rows by order, search and flips; one panel where both extractors are the same."""

import base64

import numpy as np
import pytest

from flipcore.boards.flip_map import map_arrays, map_rows
from flipcore.stats.flips import surface
from tests.stats.flips.test_surface import asked, frame

QUESTIONS = {"i": "How many apples?", "j": "How many pears?", "k": "Which fruit?"}
ANSWERS = {"i": "AAAA", "j": "ABAB", "k": "AAAB"}


@pytest.fixture
def cells():
    rows = [row for item, answers in ANSWERS.items() for row in asked(item, answers)]
    whole = surface.surface(frame(rows), "regex")
    return whole, whole


@pytest.mark.parametrize(
    ("sort", "search", "flips_only", "items"),
    [("study", "", False, "ijk"), ("field", "", False, "jki"), ("study", "MANY", False, "ij"), ("study", "", True, "jk")],
)
def test_rows_are_ordered_searched_and_filtered(cells, sort, search, flips_only, items):
    order = map_rows(*cells, sort, search, flips_only, QUESTIONS)
    assert "".join(cells[0].items[i] for i in order) == items


def test_panels_hold_the_rows_that_are_shown_in_their_order(cells):
    rows, columns, panels = map_arrays(*cells, [1, 0], QUESTIONS, ("first", "second"), {})
    assert [row["label"] for row in rows] == ["How many pears?", "How many apples?"] and len(panels) == 2
    assert [column["label"] for column in columns] == ["option order"]
    values = np.frombuffer(base64.b64decode(panels[0]["values"]), "<i2")
    assert values.tolist() == [round(1000 * cells[0].rate[1, 0]), 0]


def test_one_extractor_compared_with_itself_is_one_panel(cells):
    assert len(map_arrays(*cells, [0], QUESTIONS, ("same", "same"), {})[2]) == 1
