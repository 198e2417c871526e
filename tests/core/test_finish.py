"""How a completion ended: one vocabulary, reasoning kept apart, and what may not be read."""

import pytest

from flipcore.core.finish import (
    FILTER,
    LENGTH,
    NOT_RECORDED,
    OPEN,
    REFUSAL,
    STOP,
    cut_reason,
    finish_reason,
    reasoning_apart,
    separate_reasoning,
)
from flipcore.core.records import ABSENT, CUT, OK, UNREADABLE, Completion, Reading, correctness


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("stop", STOP),
        ("end_turn", STOP),
        ("eos", STOP),
        ("stop_sequence", STOP),
        ("length", LENGTH),
        ("max_tokens", LENGTH),
        ("MAX_TOKENS", LENGTH),
        ("FinishReason.MAX_TOKENS", LENGTH),
        ("model_length", LENGTH),
        ("content_filter", FILTER),
        ("content-filter", FILTER),
        ("SAFETY", FILTER),
        ("refusal", REFUSAL),
        (None, NOT_RECORDED),
        ("", NOT_RECORDED),
        ("unknown", NOT_RECORDED),
        (float("nan"), NOT_RECORDED),
        ("tool_calls", "tool_calls"),
    ],
)
def test_servers_and_logs_say_the_same_end_in_many_words(said, name):
    assert finish_reason(said) == name


@pytest.mark.parametrize(
    ("text", "reasoning", "answer", "is_open"),
    [
        ("The answer is B.", "", "The answer is B.", False),
        ("a < b and [c]", "", "a < b and [c]", False),
        ("<think>A, or B?</think>\n\nB", "A, or B?", "B", False),
        ("<THINK>A?</THINK>B", "A?", "B", False),
        ("<think>\nSo A looks right. The answer is A", "So A looks right. The answer is A", "", True),
        ("So A?\n</think>\nThe answer is B.", "So A?", "The answer is B.", False),
        ("B\n<think>wait, the answer is C", "wait, the answer is C", "B\n", True),
        ("[THINK]A?[/THINK]C", "A?", "C", False),
        ("<think>A?</think>C<think>hm</think>", "A?\nhm", "C", False),
        ("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>D", "A?", "D", False),
        ("<|channel|>analysis<|message|>The answer is A", "The answer is A", "", True),
        ("<think></think>B", "", "B", False),
    ],
)
def test_reasoning_stands_apart_from_the_answer(text, reasoning, answer, is_open):
    assert reasoning_apart(text) == (reasoning, answer, is_open)


def test_a_completion_with_an_open_reasoning_block_says_so_and_keeps_what_stood_there():
    made = separate_reasoning(Completion("c", "ok", "<think>The answer is A", STOP, reasoning="sent apart"))
    assert (made.text, made.reasoning, made.finish_reason) == ("", "sent apart\nThe answer is A", OPEN)
    assert separate_reasoning(Completion("c", "ok", "<think>The answer is A", LENGTH)).finish_reason == LENGTH
    assert separate_reasoning(made) == made


def test_what_ended_early_is_said_as_a_sentence():
    assert cut_reason(Completion("c", "ok", "The answer is A", STOP)) == ""
    assert cut_reason(Completion("c", "ok", "The answer is A")) == ""  # nobody recorded it: not known to be cut
    cut = Completion("c", "ok", "The answer is A", LENGTH, n_tokens_out=256)
    assert "token limit after 256 tokens" in cut_reason(cut)
    assert cut_reason(cut, length_counts=False) == ""
    assert "filter" in cut_reason(Completion("c", "ok", "", FILTER), length_counts=False)
    assert "reasoning" in cut_reason(Completion("c", "ok", "", OPEN))
    assert "inside its reasoning" in cut_reason(Completion("c", "ok", "", LENGTH, reasoning="So A?"))


def test_a_cut_answer_is_wrong_and_an_absent_one_missing():
    assert correctness(Reading(CUT), "1") is False and correctness(Reading(CUT), None) is None
    assert correctness(Reading(UNREADABLE), "1") is False and correctness(Reading(ABSENT), "1") is None
    assert correctness(Reading(OK, "1"), "1") is True
