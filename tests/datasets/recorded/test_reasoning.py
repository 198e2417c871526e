"""A recorded text that holds its reasoning is parted like any other, and an open block is no answer."""

from flipcore.core.records import Call, Request
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.datasets.recorded.log_rows import recorded_completion

CALL = Call("m", "r", Request("generate", "p"))


def recorded(text: str, reason: str):
    return recorded_completion(CALL.call_id, LogRecord("line 1", "t", "1", "q", "p", text=text, finish_reason=reason))


def test_a_log_keeps_reasoning_apart_and_says_how_the_answer_ended():
    whole = recorded("<think>A?</think>The answer is C.", "end_turn")
    assert (whole.text, whole.reasoning, whole.finish_reason) == ("The answer is C.", "A?", "stop")
    cut = recorded("<think>The answer is A", "max_tokens")
    assert (cut.text, cut.reasoning, cut.finish_reason) == ("", "The answer is A", "length")
    assert recorded("C", "").finish_reason == ""
