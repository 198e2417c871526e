"""What the flip map is handed: rows by order, search and flips, in groups and bins; one panel where both extractors are one."""

import base64

import numpy as np
import pytest

from flipcore.reports.browser_data.flip_map import UNDEFINED, flip_table, in_groups, map_arrays, map_rows, permille_or_none
from flipcore.stats.flips import map_cells, surface
from tests.stats.flips.test_surface import asked, frame

QUESTIONS = {"i": "How many apples?", "j": "How many pears?", "k": "Which fruit?"}
ANSWERS = {"i": "AAAA", "j": "ABAB", "k": "AAAB"}


def unpacked(text: str) -> list[int]:
    return np.frombuffer(base64.b64decode(text), "<i2").tolist()


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
    order = map_rows(*cells, sort, search, QUESTIONS, flips_only=flips_only)
    assert "".join(cells[0].items[i] for i in order) == items


def test_panels_hold_the_rows_that_are_shown_in_their_order(cells):
    rows = in_groups(*cells, [1, 0], None, "study")
    one = map_arrays([("first", cells[0]), ("second", cells[1])], rows, QUESTIONS, {})
    assert one["ids"] == ["j", "i"] and one["labels"] == ["How many pears?", "How many apples?"] and len(one["panels"]) == 2
    assert [column["label"] for column in one["columns"]] == ["option order"] and not one["grouped"]
    level = one["panels"][0]["levels"][0]
    assert unpacked(level["values"]) == [round(1000 * cells[0].rate[1, 0]), 0] and level["unreadable"] == level["cut"] == ""


def test_groups_carry_their_own_means_and_the_rows_of_their_own(cells):
    rows = in_groups(*cells, [1, 2, 0], ["x", "y", "x"], "field")
    one = map_arrays([("first", cells[0])], rows, QUESTIONS, {})
    assert one["grouped"] and [(group["label"], group["start"], group["end"]) for group in one["groups"]] == [
        ("y", 0, 1),
        ("x", 1, 3),
    ]
    assert one["ids"] == ["j", "k", "i"]
    i, j, k = cells[0].rate[:, 0]
    assert [group["cells"][0][0] for group in one["panels"][0]["groups"]] == pytest.approx([j, (i + k) / 2], abs=1e-4)


def test_the_zoom_goes_from_single_items_to_a_screenful():
    n = 12_000
    rate = np.random.default_rng(0).random((n, 2))
    whole = surface.Cells([f"i{i}" for i in range(n)], ["identity", "option_order"], rate, np.zeros(rate.shape))
    one = map_arrays([("first", whole)], in_groups(whole, whole, list(range(n)), None, "study"), {}, {})
    assert one["sizes"] == [1, 5, 25, 125, 625]
    levels = one["panels"][0]["levels"]
    assert [len(unpacked(level["values"])) // 2 for level in levels] == [12_000, 2_400, 480, 96, 20]
    assert unpacked(levels[4]["values"])[:2] == pytest.approx((1000 * rate[:625].mean(axis=0)).tolist(), abs=1)
    low, mean, high = (unpacked(levels[4][name])[0] for name in ("low", "means", "high"))
    assert low < mean < high


def test_a_difference_is_told_in_points_with_its_sign_and_may_be_undefined(cells):
    other = surface.Cells(cells[0].items, cells[0].columns, np.array([[1.0], [np.nan], [1.0]]), cells[0].unreadable)
    apart = map_cells.difference(cells[0], other)
    one = map_arrays([("less", apart)], in_groups(*cells, [0, 1, 2], None, "study"), QUESTIONS, {}, signed=True)
    assert one["signed"] and unpacked(one["panels"][0]["levels"][0]["values"]) == [-1000, UNDEFINED, -500]
    assert one["panels"][0]["strip"][0][0] == -0.75 and one["panels"][0]["strip"][0][3] == "−75"


def test_what_is_nowhere_takes_no_room():
    assert permille_or_none(np.zeros((3, 2))) == "" and unpacked(permille_or_none(np.array([0, 0.5]))) == [0, 500]


def test_the_table_beside_the_map_has_the_items_in_sight_that_flip_most_first(cells):
    rows = flip_table(*cells, "ijk", QUESTIONS, ("one", "other"))
    assert [row["id"] for row in rows] == ["j", "k", "i"] and rows[0]["column"] == "option_order"
    assert (
        rows[0]["one, share"] == rows[0]["other, share"] == round(float(cells[0].rate[1, 0]), 2) and rows[2]["one, share"] == 0
    )
    assert [row["id"] for row in flip_table(*cells, "i", {}, ("one", "other"))] == ["i"]
