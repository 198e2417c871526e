"""Turns of an agent from what was stored, and where two trials of one task part."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.reports.trajectories import Turn, trials, turns_of


def call(name: str, **arguments) -> dict:
    return {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def reply(*turns: dict) -> str:
    return json.dumps({"messages": list(turns)})


ASKS = {"role": "user", "content": "Cancel my flight."}
LOOKS = {"role": "assistant", "content": None, "tool_calls": [call("get_user", user_id="ada", all=True)]}
TOLD = {"role": "tool", "content": "{}", "name": "get_user"}
CANCELS = {"role": "assistant", "content": "Done.", "tool_calls": [call("cancel", id="X1")]}
REFUSES = {"role": "assistant", "content": "I may not do that."}


def test_turns_are_read_in_both_forms_and_arguments_in_one_order():
    inspects = {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}],
                "tool_calls": [{"id": "1", "function": "get_user", "arguments": {"user_id": "ada", "all": True}}]}  # fmt: skip
    (_, first), (_, second) = turns_of(reply(ASKS, LOOKS)), turns_of(reply(ASKS, inspects))
    assert first.calls == second.calls == ('get_user(all=true, user_id="ada")',)
    assert (first.text, second.text) == ("", "Let me see.") and first.title == 'assistant: get_user(all=true, user_id="ada")'


def test_what_holds_no_messages_has_no_turns():
    assert [turns_of(text) for text in ("", "plain", "{broken", "{}", '{"messages": 3}', '{"messages": [1]}')] == [()] * 6


@pytest.mark.slow
def test_no_depth_and_no_length_of_a_reply_ends_the_page():
    assert turns_of('{"messages": ' + "[" * 100_000 + "]" * 100_000 + "}") == ()

    def script(text: str):
        from types import SimpleNamespace

        from pages.common.inspector import draw_trials

        draw_trials(((None, [SimpleNamespace(raw_reply=text)]),) * 2)

    long = [{"role": "user", "content": "x" * 1_000_000}, *[REFUSES] * 500]
    app = AppTest.from_function(script, args=(reply(*long),)).run()
    assert not app.exception and len(app.expander) == 80 and max(len(one.value) for one in app.code) < 10_000
    assert any("421 further turns in the raw reply" in one.value for one in app.caption)


def test_two_trials_part_at_the_first_call_that_differs():
    first, second = turns_of(reply(ASKS, LOOKS, TOLD, CANCELS)), turns_of(reply(ASKS, LOOKS, TOLD, REFUSES))
    both = trials(first, second)
    assert (both.n_alike, both.first_at, both.second_at) == (1, 3, None)
    assert both.sentence == '1 call is alike, then cancel(id="X1") against no further call.'
    other = trials(turns_of(reply(ASKS, CANCELS)), first)
    assert other.sentence.startswith('They differ from the first call on: cancel(id="X1") against get_user(')
    assert (other.first_at, other.second_at) == (1, 1)
    assert trials(turns_of(reply(ASKS, REFUSES)), first).sentence.startswith(
        "They differ from the first call on: no call against get"
    )
    assert "What differs is what was said" in trials(second, (*second[:-1], Turn("assistant", "No."))).sentence


@pytest.mark.slow
def test_the_page_opens_the_turn_at_which_trials_part_and_folds_the_others():
    def script(first: str, second: str):
        from types import SimpleNamespace

        from pages.common.inspector import draw_trials

        side = lambda text: (None, [SimpleNamespace(raw_reply=text)])  # noqa: E731
        draw_trials((side(first), side(second)))

    pair = reply(ASKS, LOOKS, TOLD, CANCELS), reply(ASKS, LOOKS, TOLD, REFUSES)
    app = AppTest.from_function(script, args=pair).run()
    assert not app.exception
    labels = {one.label: one.proto.expanded for one in app.expander}
    assert labels["3 turns before"] is False
    assert [is_open for label, is_open in labels.items() if label.startswith("4 ·") and "cancel" in label] == [True]
    assert any("against no further call" in one.value for one in app.caption)
    short = AppTest.from_function(script, args=("", "plain")).run()
    assert not short.exception and not short.markdown
