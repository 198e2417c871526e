"""The shipped items: their shape, their one right answer, their balance, and every step of every solution."""

import json
import re
from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest

from tests.conftest import ROOT
from tests.data.arithmetic import numbers, value

ITEMS = ROOT / "data" / "items"
COMMON = {"key", "kind", "category", "question", "published", "source"}
STEP = re.compile(r"<<([^=<>]+)=([^=<>]+)>>([\d.]*)")


def rows(name):
    lines = (ITEMS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CHOICE, PROBLEMS, PASSAGES = rows("choice"), rows("problems"), rows("passages")


def by_key(items):
    return [pytest.param(item, id=item["key"]) for item in items]


@pytest.mark.parametrize(
    ("items", "n_items", "kind", "own", "optional"),
    [
        (CHOICE, 72, "choice", {"options", "target", "note"}, set()),
        (PROBLEMS, 72, "number", {"target", "solution"}, {"context"}),
        (PASSAGES, 24, "completion", {"meta"}, set()),
    ],
    ids=["choice", "problems", "passages"],
)
def test_every_line_has_the_fields_of_its_kind(items, n_items, kind, own, optional):
    assert len(items) == n_items
    for item in items:
        assert set(item) - optional == COMMON | own, item["key"]
        assert item["kind"] == kind and item["source"] == "flipscope"
        assert date.fromisoformat(item["published"]) == date(2026, 11, 21)


def test_keys_and_questions_are_unique():
    for field in ("key", "question"):
        counts = Counter(item[field] for item in CHOICE + PROBLEMS + PASSAGES)
        assert [text for text, n in counts.items() if n > 1] == []


def test_texts_are_plain_ascii_on_one_line_without_stray_blanks():
    for item in CHOICE + PROBLEMS + PASSAGES:
        for text in (item["question"], *item.get("options", ())):
            assert text.isascii() and text == " ".join(text.split()), item["key"]


def test_option_counts_are_spread_from_four_to_ten():
    n_options = Counter(len(item["options"]) for item in CHOICE)
    assert n_options == {4: 24, 5: 8, 6: 8, 7: 8, 8: 8, 10: 16}


def test_options_are_distinct_and_the_target_is_one_of_them():
    for item in CHOICE:
        folded = [option.casefold().rstrip(".") for option in item["options"]]
        assert len(set(folded)) == len(folded), item["key"]
        assert item["target"] in {str(index) for index in range(len(folded))}, item["key"]


def test_no_option_speaks_of_other_options_or_of_positions():
    cue = re.compile(r"\b(above|below|these answers|option|both of|none of the|all of the)\b", re.I)
    assert [item["key"] for item in CHOICE for option in item["options"] if cue.search(option)] == []


def test_right_positions_are_balanced_within_every_option_count():
    counts = Counter((len(item["options"]), int(item["target"])) for item in CHOICE)
    for n_options in {n for n, _ in counts}:
        at = [counts[n_options, position] for position in range(n_options)]
        assert max(at) - min(at) <= 1, (n_options, at)


def test_the_right_option_is_alone_the_longest_no_more_often_than_by_chance():
    # Chance: 24/4 + 8/5 + 8/6 + 8/7 + 8/8 + 16/10 = 12.7 of 72 items, ties aside; sd about 3.2.
    longest = 0
    for item in CHOICE:
        lengths = [len(option) for option in item["options"]]
        right = lengths[int(item["target"])]
        longest += lengths.count(right) == 1 and right == max(lengths)
    assert longest <= 15


@pytest.mark.parametrize("item", by_key(PROBLEMS))
def test_every_step_is_exact_and_the_last_is_the_gold(item):
    *lines, final = item["solution"].splitlines()
    steps = []
    for line in lines:
        (match,) = STEP.findall(line)
        expression, result, repeated = match
        assert value(expression) == Fraction(result), line
        assert Fraction(repeated.rstrip(".")) == Fraction(result), line
        steps.append(Fraction(result))
    assert 2 <= len(steps) <= 6
    assert final.startswith("#### ") and Fraction(final[5:]) == steps[-1] == Fraction(item["target"])
    assert item["target"] == str(Fraction(item["target"])), "the target is not in canonical form"


@pytest.mark.parametrize("item", by_key(PROBLEMS))
def test_every_intermediate_result_is_used_later(item):
    steps = STEP.findall(item["solution"])
    for index, (_, result, _) in enumerate(steps[:-1]):
        later = {number for expression, _, _ in steps[index + 1 :] for number in numbers(expression)}
        assert Fraction(result) in later, result


@pytest.mark.parametrize("item", by_key(PROBLEMS))
def test_every_number_of_the_question_is_in_the_chain_or_listed_as_context(item):
    chain = {number for expression, _, _ in STEP.findall(item["solution"]) for number in numbers(expression)}
    context = {Fraction(number) for number in item.get("context", ())}
    asked = set(numbers(item["question"]))
    assert asked <= chain | context
    assert context <= asked and not context & chain, "context lists numbers that the chain does not use"


def test_passages_have_80_to_160_words_and_a_summary_of_one_sentence():
    for item in PASSAGES:
        assert 80 <= len(item["question"].split()) <= 160, item["key"]
        assert re.fullmatch(r"[A-Z][^.!?]+\.", item["meta"]["summary"]), item["key"]
    assert len({item["category"] for item in PASSAGES}) == 5


def test_keys_count_up_within_a_file():
    for items in (PROBLEMS, PASSAGES):
        assert all(one["key"] < other["key"] for one, other in pairwise(items))
