"""Answers that weigh options against each other: the one that is plainly taken, otherwise none, and never a wrong letter."""

import pytest

from flipcore.core.records import Item, Prompt, Variant
from flipcore.extractors.written_answer import TEXT_MATCH, read_text


def letter(text, options=("oak", "tin", "ash", "elm")):
    item = Item.make(dataset="d", key="1", kind="choice", question="Which is it?", options=options)
    prompt = Prompt((("stem", "Which is it?"),))
    variant = Variant(item.item_id, "identity", "base", prompt, None, tuple(range(len(options))), tuple("ABCD"[: len(options)]))
    reading = read_text(item, variant, text)
    return None if reading.answer is None else variant.labels[int(reading.answer)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("I would pick B over C.", "B"),
        ("I'd choose B over C because it is lighter.", "B"),
        ("I prefer B to C.", "B"),
        ("I prefer C over B", "C"),
        ("B over C", "B"),
        ("B is more likely than C.", "B"),
        ("B rather than C", "B"),
        ("C looks good, but I'd go with B", "B"),
        ("Although C is tempting, the answer is B.", "B"),
        ("A) No. B) Yes. C) No. D) No.", "B"),
        ("**A)** False. **B)** True. **C)** False. **D)** False.", "B"),
        ("A: no\nB: yes\nC: no\nD: no", "B"),
        ("A) Incorrect. B) Correct. C) Incorrect. D) Incorrect.", "B"),
        ("A) Yes. B) No. C) No. D) No. So the answer is D.", "D"),
        ("A) ✗ B) ✓ C) ✗ D) ✗", "B"),
        ("A: ❌\nB: ✔️\nC: ❌\nD: ❌", "B"),
    ],
)
def test_the_option_that_is_plainly_taken_is_read(text, expected):
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "B seems more likely than C.",
        "C is tempting, but B.",
        "B is tempting, but C",
        "It is B unless C.",
        "It's B unless the question means C",
        "C is less likely than B",
        "C is worse than B",
        "I would pick B over C, but D is best.",
        "A) ✓ B) ✓ C) ✗ D) ✗",
        "A) Yes. B) Yes. C) No. D) No.",
        "A) False. B) False. C) False. D) False.",
    ],
)
def test_options_that_are_weighed_and_not_taken_are_no_answer(text):
    assert letter(text) is None


def test_yes_and_no_as_options_are_no_verdicts():
    assert letter("A) Yes", options=("Yes", "No")) == "A"
    assert letter("B) No", options=("Yes", "No")) == "B"


def words_of(text, target):
    item = Item.make(dataset="d", key="1", kind="text", question="Who wrote it?", target=target)
    variant = Variant(item.item_id, "identity", "base", Prompt((("stem", item.question),)), target)
    return TEXT_MATCH.read_text(item, variant, text).answer


@pytest.mark.parametrize(
    "text", ["Shakespeare, William", "It was Shakespeare, William.", "William Shakespeare", "Shakespeare William"]
)
@pytest.mark.parametrize("target", ["william shakespeare", "shakespeare william"])
def test_a_name_in_another_order_is_the_same_name(text, target):
    assert words_of(text, target) == target


@pytest.mark.parametrize(
    "text, target",
    [
        ("Shakespeare, John", "william shakespeare"),
        ("dog man bites", "man bites dog"),  # words without capitals are no name
        ("Paris, Texas", "paris"),
        ("Adams, John Quincy", "john adams"),
    ],
)
def test_other_words_are_another_answer(text, target):
    assert words_of(text, target) != target
