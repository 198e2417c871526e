"""A user's own regular expression: what it reads, and that it neither freezes the process nor passes as a bad one."""

import re
import time

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import CUT, OK, UNREADABLE
from flipcore.extractors import extractor_of
from flipcore.extractors.pattern import TIME_LIMIT_S
from tests.extractors.asking import choice, number, said, shown


def read(text, item=None, **params):
    item = item or choice()
    return extractor_of("pattern", params).read(item, shown(item), [said(text)])


@pytest.mark.parametrize(
    ("text", "params", "answer"),
    [
        ("The answer is B. No: the answer is C.", {}, "2"),
        ("The answer is B. No: the answer is C.", {"which": "first"}, "1"),
        ("FINAL>> C", {"expression": r"FINAL>>\s*(\w)"}, "2"),
        ("FINAL>> tin", {"expression": r"FINAL>>\s*(\w+)"}, "2"),
        ("FINAL>> C", {"expression": r"FINAL>>\s*(?P<said>\w)", "group": "said"}, "2"),
        ("C", {"expression": "[A-D]", "group": "0"}, "2"),
        ("c", {"expression": "[A-D]", "group": "0", "flags": []}, None),
        ("final\nC", {"expression": "^C$", "group": "0", "flags": ["multi-line"]}, "2"),
        ("Z", {"expression": "[A-Z]", "group": "0"}, None),
        ("nothing", {"expression": "(x)"}, None),
    ],
)
def test_a_group_of_the_first_or_last_match_is_the_answer(text, params, answer):
    found = read(text, **params)
    assert (found.status, found.answer) == (OK if answer else UNREADABLE, answer)
    if answer:
        assert text[slice(*found.span)].strip()


def test_numbers_are_canonical():
    found = read("total = 1,450.00 eggs", number(), expression=r"total\s*=\s*([\d,.]+)")
    assert (found.status, found.answer) == (OK, "1450")


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)+$", "(.*a){20}$"])
def test_a_pattern_that_never_ends_is_stopped_and_says_so(expression):
    start = time.perf_counter()
    found = read("a" * 5000 + "!", expression=expression, group="1")
    assert found.status == UNREADABLE and "was stopped" in found.reason
    assert time.perf_counter() - start < 40 * TIME_LIMIT_S  # generous: the machine may be busy; unbounded it takes years


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"expression": "(unclosed"}, "is no regular expression"),
        ({"expression": ""}, "1 to 500"),
        ({"expression": "a" * 501}, "1 to 500"),
        ({"expression": "a", "group": "1"}, "has no group '1'; it has 0 to 0"),
        # as it was typed, not as Python would write it
        ({"expression": r"answer: (\d+", "group": "1"}, r"The pattern answer: (\d+ is no regular"),
        ({"expression": r"a\d"}, r"The pattern a\d has no group '1'"),
        ({"expression": "(a)", "group": "name"}, "has no group 'name'"),
        ({"which": "second"}, "first, last"),
        ({"flags": ["loud"]}, "ignore case"),
        ({"expression": "(((((a{1000}){1000}){1000}){1000}){1000})"}, "counted repeats"),
        ({"expression": "a{1000000000}"}, "counted repeats"),
        ({"expression": "(" * 400}, "is no regular expression"),
        ({"expression": 7}, "it must be text in quotes"),
    ],
)
def test_a_bad_pattern_is_a_sentence_when_it_is_declared(params, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        extractor_of("pattern", params)


def test_it_reads_nothing_from_an_answer_that_was_cut_off():
    item = choice()
    found = extractor_of("pattern").read(item, shown(item), [said("The answer is C", finish_reason="length")])
    assert (found.status, found.answer) == (CUT, None)


def test_a_letter_that_begins_a_word_is_no_label_to_the_pattern_that_stands_there_first():
    assert read("This answer is based on what I know: tin.").status == UNREADABLE
    assert read("The answer is **C**.").answer == "2"
