"""What could not be read: failed, missing, cut off or refused, in this order."""

from flipcore.core.contracts import Ask
from flipcore.core.records import ABSENT, CUT, UNREADABLE
from flipcore.extractors.readings import failure, no_answer, text_request, unfinished
from tests.extractors.asking import FAILED, choice, said, shown


def test_a_failed_or_missing_completion_is_absent_with_its_reason():
    assert failure([FAILED]).status == ABSENT and failure([FAILED]).reason == "The server is down."
    assert failure([said("B")], n_wanted=2).reason == "The completion has not come back yet."
    assert failure([said("B")]) is None


def test_an_answer_that_a_limit_ended_is_cut_and_a_continuation_is_not():
    long = said("and so on", finish_reason="length")
    assert unfinished(long).status == CUT and unfinished(long, length_counts=False) is None
    assert no_answer([long]).status == CUT and no_answer([said("B", finish_reason="stop")]) is None


def test_a_refusal_is_an_answer_that_cannot_be_read():
    assert unfinished(said("", finish_reason="refusal")).status == UNREADABLE


def test_all_who_read_text_share_one_request():
    request = text_request(shown(choice()), Ask(temperature=0.5, max_tokens=7, stop=("\n",)))
    assert (request.kind, request.temperature, request.max_tokens, request.stop) == ("generate", 0.5, 7, ("\n",))
