"""The exact text of every layout."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.text.prompts import LABEL_SETS, LAYOUTS, labels_of, prompt

CHOICE = Item.make(dataset="t", key="1", kind="choice", question="Which is a metal?", options=("tin", "oak"), target="0")
NUMBER = Item.make(dataset="t", key="2", kind="number", question="What is 2 + 2?", target="4")
TEXT = Item.make(dataset="t", key="3", kind="completion", question="The harbour {wakes} before the town does.")


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("plain", "Question: Which is a metal?\nA. tin\nB. oak\nAnswer:"),
        ("paren", "Question: Which is a metal?\n(A) tin\n(B) oak\nAnswer:"),
        ("bracket", "Question: Which is a metal?\nA) tin\nB) oak\nAnswer:"),
        ("inline", "Question: Which is a metal?\nA. tin; B. oak\nAnswer:"),
        ("bare", "Which is a metal?\nA. tin\nB. oak\nThe answer is"),
    ],
)
def test_a_choice_is_laid_out_exactly(layout, text):
    assert prompt(CHOICE, layout=layout).text == text


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("plain", "Question: What is 2 + 2?\nAnswer:"),
        ("inline", "Question: What is 2 + 2?\nAnswer:"),
        ("bare", "What is 2 + 2?\nThe answer is"),
    ],
)
def test_a_problem_is_laid_out_exactly(layout, text):
    assert prompt(NUMBER, layout=layout).text == text


def test_the_helpful_prompt_asks_for_what_is_true_before_the_plain_question():
    for item in (CHOICE, NUMBER):
        helpful, plain = (prompt(item, layout=layout).text for layout in ("helpful", "plain"))
        assert helpful.endswith(f"\n\n{plain}") and "really is" in helpful


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_completion_is_its_raw_text_in_every_layout(layout):
    assert prompt(TEXT, layout=layout).text == TEXT.question


@pytest.mark.parametrize(
    ("layout", "text"),
    [("plain", "Question: Who was he?\nAnswer:"), ("bare", "Who was he?\nThe answer is"), ("instruct", None)],
)
def test_a_question_with_an_answer_in_free_words_is_laid_out_like_a_problem(layout, text):
    item = Item.make(dataset="t", key="4", kind="completion", question="Who was he?", solution="Ada")
    shown = prompt(item, layout=layout).text
    assert shown == text if text else shown.endswith('"Answer: " and the answer alone.')


def test_instructions_ask_for_a_last_line_that_can_be_read():
    assert 'end with a line "Answer: "' in prompt(CHOICE, layout="instruct").text
    assert prompt(NUMBER, layout="instruct").text.endswith("one number.")


def test_parts_are_named_and_join_to_the_prompt():
    made = prompt(CHOICE, order=(1, 0), labels=("x", "y"), system="Be brief.")
    assert [name for name, _ in made.parts] == ["stem", "options", "cue"]
    assert made.text == "Question: Which is a metal?\nx. oak\ny. tin\nAnswer:"
    assert made.system == "Be brief."


def test_braces_in_an_item_are_only_text():
    item = Item.make(dataset="t", key="1", kind="choice", question="{0} {}", options=("{x}", "%s"), target="0")
    assert prompt(item).text == "Question: {0} {}\nA. {x}\nB. %s\nAnswer:"


@pytest.mark.parametrize(("name", "n_options"), [("pqrs", 12), ("roman", 11), ("upper", 27)])
def test_a_label_set_shorter_than_the_options_is_refused(name, n_options):
    with pytest.raises(BadInput, match=f"has {n_options - 1} labels, but an item has {n_options} options"):
        labels_of(name, n_options)


def test_labels_of_a_set_differ():
    assert all(len(set(labels)) == len(labels) for labels in LABEL_SETS.values())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"layout": "fancy"}, "choose one of plain"),
        ({"order": (0, 0)}, "permutation of 0 to 1"),
        ({"order": (0,)}, "permutation"),
        ({"labels": ("A",)}, "one different label"),
        ({"labels": ("A", "A")}, "one different label"),
    ],
)
def test_what_cannot_be_laid_out_gets_a_sentence(change, why):
    with pytest.raises(BadInput, match=why):
        prompt(CHOICE, **change)


def test_an_unknown_label_set_lists_the_known_ones():
    with pytest.raises(BadInput, match="choose one of upper, lower"):
        labels_of("klingon", 4)
