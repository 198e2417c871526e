"""What is known of items beyond their answers: guessing, templates, pairs."""

import pandas as pd
import pytest

from flipcore.core.study import OTHER_CONTROL, RANDOM_CONTROL
from flipcore.stats.memory.members import Members, family_of, members


@pytest.mark.parametrize(
    ("question", "meta", "source", "family"),
    [
        ("3 cats", '{"family": "pets"}', "d/1", "pets"),
        ("3 cats", {"family": "pets"}, None, "pets"),
        ("3 cats", "", "d/1", "d/1"),
        ("3 cats and 2,5 dogs", None, None, "# cats and # dogs"),
    ],
)
def test_a_family_is_what_the_data_say_else_the_source_else_the_question_without_numbers(question, meta, source, family):
    assert family_of(question, meta, source) == family


def test_options_are_guessed_among_and_items_without_any_are_not():
    frame = pd.DataFrame(
        {"item_id": ["a", "b"], "question": ["x", "y"], "options": [["1", "2", "3", "4"], None], "meta": ["", ""]}
    )
    known = members(frame)
    assert known.guess == {"a": 0.25} and known.family == {"a": "x", "b": "y"} and not known.pairs.control_of
    assert members(frame.iloc[:0], RANDOM_CONTROL) == Members(RANDOM_CONTROL)


def test_items_of_few_templates_are_templated_unless_a_random_split_shares_them():
    family = {f"i{i}": f"t{i % 2}" for i in range(10)} | {f"c{i}": f"u{i % 2}" for i in range(10)}
    first, second = [f"i{i}" for i in range(10)], [f"c{i}" for i in range(10)]
    assert Members(OTHER_CONTROL, {}, family).is_templated(first, second)
    assert not Members(RANDOM_CONTROL, {}, family).is_templated(first[:6], first[6:])
    assert not Members(OTHER_CONTROL).is_templated(first, second), "every item is a family of its own"
