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


@pytest.mark.parametrize(
    "text",
    [
        "If not B then C.",
        "If it's not B, it's C.",
        "If it is not B, then it must be C.",
        "C if not B.",
        "C, if not B",
        "Unless B, the answer is C.",
        "Only if A is false is the answer B.",
        "B is the answer if C is false.",
        "B is correct only if the metal is pure.",
        "C would be right, had the wood been light.",
        "Option C would be correct if the wood were light.",
        "The answer would be B if the question asked about metals.",
        "If the question asks for metal, the answer is B; otherwise C.",
        "If you mean the tree, the answer is A. If you mean the metal, the answer is B.",
        "Suppose the answer is B. Then the metal floats. Contradiction.",
        "Let us check whether the answer is B.",
        "If not tin then ash.",
        "Had the question been about wood, the answer would be B.",
    ],
)
def test_an_option_under_a_condition_is_no_answer(text):
    assert letter(text) is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Suppose the answer is B. Then the metal floats, a contradiction. So the answer is C.", "C"),
        ("If B were true, it would float, so the answer is C.", "C"),
        ("If x is 5, then the answer is (B).", "B"),
        ("The answer is B. If it had been wood, the answer would be C.", "B"),
        ("Even if C floats, the answer is B.", "B"),
        ("B\n\nIf a metal is heavy, it sinks.", "B"),
        ("If I had to guess, I would say B.", "B"),
        ("I would pick B if I had to choose.", "B"),
        ("The answer is B, because if it were lighter, it would float.", "B"),
    ],
)
def test_a_condition_elsewhere_leaves_the_answer(text, expected):
    assert letter(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Many people think the answer is B.",
        "Most people say the answer is B. They are wrong.",
        "Some would choose B.",
        "I doubt the answer is B.",
        "I don't think the answer is B.",
        "I'm not sure the answer is B.",
        "It is unlikely that the answer is B.",
        "The wrong answer is B.",
        "The incorrect answer is B.",
        "The trap answer is B.",
        "The second best answer is B.",
        "The answer that most people give is B.",
        "The answer used to be B.",
        "The answer is the opposite of B.",
        "The answer is similar to B.",
        "The letter after B.",
        "Avoid B.",
        "B is a distractor.",
        "B is inferior to C.",
        "B is not as good as C.",
        "B is out. So is C.",
        "The answer is any of the above but B.",
        "I thought it was B.",
        "The answer cannot possibly be B.",
        "There is no way the answer is B.",
        "A beginner would say B.",
        "Wikipedia says the answer is B, but Wikipedia is wrong.",
        "Let's look at option B first.",
    ],
)
def test_what_others_say_or_what_is_doubted_is_no_answer(text):
    assert letter(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is oak or tin.",
        "Answer: B (or C)",
        "Answer: (A) oak (B) tin (C) ash (D) elm",
        "The answer is B but C is also correct.",
        "B is correct, and so is C.",
        "The answer is B as well as C.",
        "B as well as C.",
        "B is as good as C.",
        "B? C? I do not know.",
        "B\n\nC",
        "**B**\n\n**C**",
        "A beats C.",
    ],
)
def test_two_options_are_no_answer(text):
    assert letter(text) is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The answer is B. Wait, no, it's C.", "C"),
        ("B. Wait, actually C.", "C"),
        ("B... no, C.", "C"),
        ("One might think the answer is B, but it is actually C.", "C"),
        ("B is tempting. C is right.", "C"),
        ("B seems right but is wrong; C is correct.", "C"),
        ("A is wrong. No, B is wrong. The answer is D.", "D"),
        ("A) No. B) Yes. C) No. D) No.", "B"),
    ],
)
def test_the_last_of_two_is_read_where_the_first_is_taken_back(text, expected):
    assert letter(text) == expected


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
