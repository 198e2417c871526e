"""What is known of items beyond their answers: guessing, templates, pairs."""

import pandas as pd
import pytest

from flipcore.core.study import OTHER_CONTROL, RANDOM_CONTROL
from flipcore.stats.memory.gap_decision import RANDOM, Sides, gap_decision
from flipcore.stats.memory.members import Members, family_of, members
from flipcore.stats.memory.rewritten import Rewritten


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


def test_one_shared_wording_does_not_switch_the_protection_off():
    """It did: any template on both sides of a random split made 40 families of eight count as single items ("Memory" in .16-.23)."""
    family = {f"{side}{i}": f"{side}-{i // 8}" for side in "bc" for i in range(80)} | {"b0": "both", "c0": "both"}
    first, second = ([f"{side}{i}" for i in range(80)] for side in "bc")
    assert Members(RANDOM_CONTROL, {}, family).is_templated(first, second)
    sides = Sides(*(Rewritten.make(ids, [1.0] * 80, [1.0] * 79 + [0.0]) for ids in (first, second)), family=family)
    decided = gap_decision(sides, RANDOM, m=99)
    assert decided.families and decided.units == (11, 11)


def test_a_split_by_item_exchanges_items_and_one_sided_families_as_a_whole():
    family = {f"{side}{i}": f"t{i // 4}" for side in "bc" for i in range(40)} | {f"b{i}": "alone" for i in range(4)}
    sides = Sides(
        *(Rewritten.make([f"{s}{i}" for i in range(40)], [1.0] * 40, [1.0] * 39 + [0.0]) for s in "bc"), family=family
    )
    decided = gap_decision(sides, RANDOM, m=99)
    assert decided.units == (37, 37)  # four items of one family on either side count once
