"""No answer is read from a completion that was ended before the answer was given."""

import pytest

from flipcore.core.contracts import Ask
from flipcore.core.finish import FILTER, LENGTH, OPEN, REFUSAL, STOP, separate_reasoning
from flipcore.core.records import CUT, OK, UNREADABLE, Completion
from flipcore.extractors import EXTRACTORS, extractor_of
from tests.extractors.asking import choice, number, shown
from tests.extractors.test_contract import applicable

WRITTEN_ANSWER = [name for name, one in EXTRACTORS.items() if one.abilities == {"generate"} and one.asks == "answer"]
OF_CHOICE = [name for name in WRITTEN_ANSWER if "choice" in EXTRACTORS[name].applies_to]  # the others read programs


def ended(text: str, reason: str, **rest) -> Completion:
    return separate_reasoning(Completion("c", "ok", text, reason, **rest))


@pytest.mark.parametrize("name", WRITTEN_ANSWER)
@pytest.mark.parametrize("reason", [LENGTH, FILTER])
def test_an_answer_that_was_cut_off_is_not_read_however_clear_it_looks(name, reason):
    for item, variant in applicable(extractor_of(name)):
        text = "The answer is (C)." if item.kind == "choice" else "The answer is 18."
        reading = extractor_of(name).read(item, variant, [ended(text, reason)])
        assert (reading.status, reading.answer, reading.span) == (CUT, None, None) and reading.reason


@pytest.mark.parametrize("name", OF_CHOICE)
def test_an_open_reasoning_block_is_no_answer_and_a_closed_one_is_not_read(name):
    """A reasoning block cut at the limit was read as answer A and became genuine flips."""
    item, extractor = choice(), extractor_of(name)
    reading = extractor.read(item, shown(item), [ended("<think>\nAt first sight the answer is A", STOP)])
    assert (reading.status, reading.answer) == (CUT, None)
    closed = ended("<think>The answer is A. No, wait.</think>The answer is C.", STOP)
    judge = [Completion("j", "ok", "Final: C", STOP)] * name.startswith("judge")
    assert extractor.read(item, shown(item), [closed, *judge]).answer == (
        "c" if name in ("text_match", "math") else "2"
    )  # in words, not by position


def test_a_finished_answer_and_one_whose_end_nobody_recorded_are_read():
    item = choice()
    for reason in (STOP, "", "tool_calls"):
        assert extractor_of("regex").read(item, shown(item), [ended("The answer is C.", reason)]).status == OK


def test_a_refusal_is_an_answer_that_cannot_be_read():
    item = choice()
    reading = extractor_of("regex").read(item, shown(item), [ended("I will not choose A.", REFUSAL)])
    assert (reading.status, reading.reason) == (UNREADABLE, "refusal")


def test_no_judge_is_asked_about_an_answer_that_was_cut_off():
    item, judge = choice(), extractor_of("judge")
    assert len(judge.needs(item, shown(item), Ask(), [ended("The answer is C", LENGTH)])) == 1
    assert len(judge.needs(item, shown(item), Ask(), [ended("The answer is C", STOP)])) == 2


def test_a_judge_that_is_cut_off_cannot_be_read_and_the_answer_is_whole():
    item = number()
    said = [ended("The answer is 18.", STOP), Completion("j", "ok", "Final: 1", LENGTH)]
    reading = extractor_of("judge").read(item, shown(item), said)
    assert (reading.status, reading.answer) == (UNREADABLE, None) and "judge" in reading.reason


@pytest.mark.parametrize("name", [name for name, one in EXTRACTORS.items() if one.asks == "continuation"])
def test_a_continuation_of_fixed_length_is_meant_to_end_there(name):
    extractor = extractor_of(name)
    (item, variant), *_ = applicable(extractor)
    assert extractor.read(item, variant, [ended("left the quay at noon", LENGTH)]).status == OK
    assert extractor.read(item, variant, [ended("left the", FILTER)]).status == CUT
    assert extractor.read(item, variant, [ended("left the", OPEN)]).status == CUT


def test_first_tokens_and_scores_do_not_ask_how_a_completion_ended():
    item = choice()
    top = Completion("c", "ok", finish_reason=LENGTH, top_logprobs={" C": -0.1, " The": -3.0})
    assert extractor_of("first_token").read(item, shown(item), [top]).answer == "2"
    scored = [Completion("c", "ok", finish_reason=LENGTH, tokens=((" x", -1.0 - i % 2),)) for i in (1, 1, 0, 1)]
    assert extractor_of("cloze").read(item, shown(item), scored).answer == "2"


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I cannot answer this question.", True),
        ("As an AI language model, I am unable to provide a choice.", True),
        ("I don't know.", False),
        ("Sorry, hard to say.", False),
    ],
)
def test_a_refusal_in_words_is_said_to_be_one(text, is_refusal):
    reading = extractor_of("regex").read(choice(), shown(choice()), [ended(text, STOP)])
    assert reading.status == UNREADABLE and (reading.reason == "refusal") is is_refusal
    assert extractor_of("regex").read(choice(), shown(choice()), [ended(f"{text} The answer is C.", STOP)]).answer == "2"
