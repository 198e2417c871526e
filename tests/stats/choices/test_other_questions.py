"""Choices that ask about other questions: accepted paraphrases alone, and origins. On twelve items counted by hand.

item          1  2  3  4  5  6  7  8  9 10 11 12
own prompt    1  1  1  1  1  1  1  1  0  0  0  1     9 right
paraphrase    1  1  1  1  1  1  0  0  0  0  0  0     6 right; nobody has reviewed those of items 7 to 12
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore.reports.choices import _accepted_alone
from flipcore.stats.choices.choice import ORIGIN, ChoiceClass, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.flips import flip_curve, flip_material
from flipcore.stats.choices.material import coarsest_units
from flipcore.stats.choices.readouts import ItemFacts, answers_of, item_choices, items_left_out, material_of
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.disagreement import ABSENT
from tests.stats.choices.test_flips import FIRST, REGEX, coded

OWN, PARAPHRASE = "111111110001", "111111000000"
UNREVIEWED = frozenset((f"q{number}", "paraphrase", "p1") for number in range(7, 13))
COLUMNS = "model item_id axis variant extractor sample status is_correct answer family".split()


def frame():
    rows = []
    for axis, variant, scores in (("identity", "base", OWN), ("paraphrase", "p1", PARAPHRASE)):
        for number, score in enumerate(scores, start=1):
            rows.append(("A", f"q{number}", axis, variant, "regex", 0, "ok", score == "1", score, f"q{number}"))
    return pd.DataFrame(rows, columns=COLUMNS)


def material(gates=None):
    facts = ItemFacts(unreviewed=UNREVIEWED)
    return material_of(answers_of(frame(), "regex", facts).of_models("A"), facts, closed_gates=gates)


def test_a_score_without_unreviewed_paraphrases_is_counted_apart():
    made = material()
    curve = count(made, selected(made.choices, also=["paraphrases"]))
    assert curve.estimate[curve.find({})] == curve.estimate[curve.find({"paraphrases": "accepted"})] == pytest.approx(9 / 12)
    assert curve.estimate[curve.find({"prompt": "mean"})] == pytest.approx((9 + 6) / 24)
    # Items 1 to 6 have both prompts, the others their own alone, of which 3 are right.
    accepted = curve.find({"prompt": "mean", "paraphrases": "accepted"})
    assert curve.estimate[accepted] == pytest.approx((6 + 3) / 12) and curve.is_apart[accepted]
    assert [choice.name for choice in selected(made.choices)] == ["prompt"]


def test_where_paraphrases_may_not_be_claimed_there_is_nothing_to_choose():
    closed = material({"paraphrase": "too few are accepted"})
    assert "paraphrases" not in [choice.name for choice in closed.choices]


def test_flips_without_unreviewed_paraphrases():
    """Of each four items the first two, which flip under the extractor alone, were asked in words that nobody reviewed."""
    answers = coded(FIRST, REGEX, copies=6)
    is_out = np.isin(np.arange(24) % 4, (0, 1))
    codes = {cell: read.copy() for cell, read in answers.codes.items()}
    for read in codes.values():
        read[is_out, 1] = ABSENT
    facts = ItemFacts(unreviewed={(f"q{number}", "order", "p1") for number in np.flatnonzero(is_out)})
    made = flip_material(answers, "first", ["order"], ["regex"], facts, accepted=replace(answers, codes=codes))
    curve = flip_curve(made, selected(made.choices, also=["paraphrases"]))
    assert curve.estimate[curve.find({})] == pytest.approx((2 + 1 - 1) / 4)
    accepted = curve.find({"paraphrases": "accepted"})
    assert curve.estimate[accepted] == pytest.approx((1 - 1) / 2) and curve.n_items[accepted] == 12


def test_answers_to_unreviewed_paraphrases_are_missing_and_the_others_stay_where_they_were():
    readouts = frame().assign(axis="paraphrase")
    whole, accepted = (
        coded_answers(rows).codes["paraphrase", "regex"] for rows in (readouts, _accepted_alone(readouts, UNREVIEWED))
    )
    is_out = np.array([number >= 6 for number in range(12)])
    assert whole.shape == accepted.shape
    assert (accepted[is_out, 1] == ABSENT).all() and (accepted[~is_out] != ABSENT).all() and (accepted[:, 0] != ABSENT).all()


def test_questions_of_several_origins_can_be_left_out_by_origin():
    items = [f"q{number}" for number in range(12)]
    facts = ItemFacts(origins={item: "abc"[number % 3] for number, item in enumerate(items)})
    (origin,) = item_choices(items, facts)
    assert (origin.name, origin.kind) == ("origin", ChoiceClass.UNCERTAIN)
    assert [option.label for option in origin.options] == ["all", "without a", "without b", "without c"]
    assert np.flatnonzero(items_left_out(items, facts)["origin=b"]).tolist() == [1, 4, 7, 10]
    # Effects are over the origins, which are left out whole.
    lead = frame()
    facts = ItemFacts(origins={f"q{number}": "abc"[number % 3] for number in range(1, 13)})
    made = material_of(answers_of(lead, "regex", facts).of_models("A"), facts)
    only_origin = [choice for choice in made.choices if choice.name == ORIGIN]
    assert len(set(coarsest_units(made, only_origin))) == 3 and len(set(coarsest_units(made, []))) == 12


def test_origins_that_are_the_categories_are_not_offered_twice():
    items = [f"q{number}" for number in range(4)]
    groups = dict(zip(items, "aabb", strict=True))
    facts = ItemFacts(groups, category_groups={"a": ["a"], "b": ["b"]}, origins=groups)
    assert [choice.name for choice in item_choices(items, facts)] == ["categories"]
