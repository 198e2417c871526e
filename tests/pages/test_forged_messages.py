"""Messages that no script of ours sends reach no page."""

import math
from types import SimpleNamespace

import pytest
import streamlit as st

from flipcore.core import browser_messages
from flipcore.reports.browser_data.board import Board, Control, Headline
from pages.components import boards
from pages.flips import explorer

HUGE = 10**400
MOVE = {"control": "level", "from": 0.95, "to": 0.9, "lowest": 0.9, "highest": 0.95, "level": 0.9}
DECISION = {"sentences": ["It flips."], "level": 0.95, "rule": "parts", "cutoff": None}
BOARD = Board(
    "levels",
    [],
    [Headline(sentence=[[0, "Undecided at any level."], [1, "It flips."]])],
    [Control("level", "", 0.95, [0.99, 0.95], ["99%", "95%"])],
    [{"name": "rule", "options": [["parts", "Parts"]], "chosen": "parts"}],
).data()
FORGED = {
    "moved": [
        1,
        "lowest",
        ["lowest"],
        {"lowest": 1},
        {**MOVE, "control": None},
        {**MOVE, "level": math.nan},
        {**MOVE, "to": math.inf},
        {**MOVE, "from": "0.95"},
        {**MOVE, "highest": HUGE},
        {**MOVE, "level": [0.9]},
        {**MOVE, "rule": "x" * 100_000},
    ],
    "decision": [
        True,
        "sentences",
        {"level": 0.9},
        {"sentences": []},
        {"sentences": "It flips."},
        {"sentences": [None]},
        {"sentences": [" "]},
        {"sentences": ["x" * 100_000]},
        {"sentences": ["x"] * 100_000},
        {**DECISION, "level": math.nan},
        {**DECISION, "level": {"a": 1}},
    ],
    "opened": [7, ["a"], {"model": ["m"]}, {"model": math.nan}, "x" * 100_000],
}
MAP = {
    "is_cell": {"version": "v", "column": "identity", "position": 0, "panel": 0},
    "is_brush": {"version": "v", "ranges": [[0, 2]]},
    "is_column": {"axis": "option_order"},
}


@pytest.fixture
def sent(monkeypatch):
    """What the browser sends, as `boards.draw` returns it."""

    def draw(**messages):
        result = SimpleNamespace(**dict.fromkeys(FORGED) | messages)
        monkeypatch.setattr(boards, "_board", lambda **_: result)
        return dict(zip(FORGED, boards.draw(BOARD, key="k"), strict=True))

    return draw


def test_what_a_board_sends_is_handed_on(sent):
    messages = {"moved": MOVE, "decision": DECISION, "opened": {"model": "m", "way": "a|b"}}
    assert sent(**messages) == messages
    followed = {"control": "followed", "level": 0.9, "margin": None}
    assert sent(moved=followed, opened="a|b") == {"moved": followed, "decision": None, "opened": "a|b"}


def test_a_forged_sentence_of_the_page_is_replaced_by_what_the_board_says_there(sent):
    forged = DECISION | {"sentences": ["Everything is proven.", "It flips."]}
    assert sent(decision=forged)["decision"]["sentences"] == ["It flips."]
    assert sent(decision=forged | {"level": 0.99})["decision"]["sentences"] == ["Undecided at any level."]
    for changed in ({"rule": "proven"}, {"level": "0.95"}, {"level": True, "rule": None}):
        assert sent(decision=forged | changed)["decision"] is None, changed


@pytest.mark.parametrize("kind", FORGED)
def test_a_message_of_another_shape_is_none(sent, kind):
    for message in FORGED[kind]:
        assert sent(**{kind: message})[kind] is None, message


@pytest.mark.parametrize("shape", MAP)
def test_a_map_takes_no_message_that_lacks_a_part_or_has_another_kind(shape):
    fits, message = getattr(browser_messages, shape), MAP[shape]
    assert fits(message)
    for name in message:
        assert not fits({key: value for key, value in message.items() if key != name})
        for forged in (None, math.nan, [1], {"a": 1}, HUGE, "x" * 100_000):
            assert not fits(message | {name: forged}), (name, forged)
    for forged in (None, 1, "v", ["v"]):
        assert not fits(forged)


def test_ten_thousand_brushes_over_the_whole_map_take_each_row_once(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    items = [f"i{number}" for number in range(50_000)]
    brush = {"version": "v", "ranges": [[-1e300, 1e300]] * 10_000}
    drawn = SimpleNamespace(version="v", items=items)
    explorer.store_selection(SimpleNamespace(study_id="s"), drawn, brush)
    assert st.session_state[explorer.SELECTION_KEY]["ids"] == items
