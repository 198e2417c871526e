"""All unread answers against the decision, and all of them for it, on a table of twelve items counted by hand.

    item      1  2  3  4  5  6  7  8  9 10 11 12
    A         1  1  1  1  1  1  1  1  u  0  0  1     9 right
    B         1  1  1  1  1  u  0  0  1  1  c  0     7 right
    A - B     0  0  0  0  0  1  1  1 -1 -1  0  1     sum 2, unread (u) and cut off (c) counted as wrong
    lowest    0  0  0  0  0  0  1  1 -1 -1 -1  1     sum 0, A's wrong and B's right
    highest   0  0  0  0  0  1  1  1  0 -1  0  1     sum 3, A's right and B's wrong

C answers as B, but has items 6 and 12 right and nothing unread: A leads it by 0, or by 1 with item 9 right.
"""

import pandas as pd
import pytest

from flipcore.claims.choices import survives_claim
from flipcore.claims.decisions import Decision
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.joined import first_rank_curve
from flipcore.stats.choices.readouts import ItemFacts, answers_of, material_of

SCORES = {"A": "11111111u001", "B": "11111u0011c0", "C": "111111001101"}
STATUS = {"u": "unreadable", "c": "cut"}


def curve_of(*models, facts=None):
    facts, rows = facts or ItemFacts(), []
    for model, scores in SCORES.items():
        for number, score in enumerate(scores, start=1):
            status = STATUS.get(score, "ok")
            rows.append((model, f"q{number}", "identity", "base", "regex", 0, status, score == "1", f"q{number}"))
    columns = "model item_id axis variant extractor sample status is_correct family".split()
    answers = answers_of(pd.DataFrame(rows, columns=columns), "regex", facts)
    material = material_of(answers.of_models(*models), facts)
    return (first_rank_curve if len(models) > 2 else count)(material)


def test_a_lead_has_one_range_however_unread_answers_count():
    curve = curve_of("A", "B")
    assert [curve.setting(place) for place in range(4)] == [
        {"unread": unread, "cut": cut} for unread in ("wrong", "left-out") for cut in ("wrong", "left-out")
    ]
    assert curve.estimate == pytest.approx([2 / 12, 2 / 11, 2 / 10, 2 / 9])
    assert curve.lowest == pytest.approx([0] * 4) and curve.highest == pytest.approx([3 / 12] * 4)


def test_a_score_reaches_from_all_unread_wrong_to_all_right():
    curve = curve_of("A")
    assert curve.estimate == pytest.approx([9 / 12, 9 / 11])
    assert curve.lowest == pytest.approx([9 / 12] * 2) and curve.highest == pytest.approx([10 / 12] * 2)


def test_items_that_a_choice_leaves_out_are_in_no_range():
    """Without item 9, whose key is wrong: sum 3 as declared, 1 to 3."""
    curve = curve_of("A", "B", facts=ItemFacts(wrong_key={"q9"}))
    row = curve.find({"key": "wrong-out"})
    assert [values[row] for values in (curve.estimate, curve.lowest, curve.highest)] == pytest.approx([3 / 11, 1 / 11, 3 / 11])
    row = curve.find({"key": "wrong-out", "unread": "left-out"})
    assert (curve.lowest[row], curve.highest[row]) == pytest.approx((1 / 11, 3 / 11))
    # The curve of the ways that ask the same question has the ranges of these alone.
    assert len(curve.equally_defensible.lowest) == len(curve.equally_defensible)


def test_a_first_rank_has_the_least_of_the_leads_at_each_end():
    curve = curve_of("A", "B", "C")
    assert curve.estimate[0] == pytest.approx(0)
    assert (curve.lowest[0], curve.highest[0]) == pytest.approx((0, 1 / 12))
    low, high = curve.ends
    assert (low.estimate[0], high.estimate[0]) == pytest.approx((0, 1 / 12))


def test_nothing_unread_has_no_range():
    curve = curve_of("C")
    assert curve.ends is None
    assert curve.lowest.tolist() == curve.highest.tolist() == curve.estimate.tolist()


def level_curve(n_unread, n=400):
    """Each model alone is right on a quarter of the questions. B is wrong on some more, and A's answers to these are unread."""
    rows = []
    for model, wrong in (("A", 0), ("B", 1)):
        for number in range(n + n_unread):
            is_last = number >= n
            status = "unreadable" if is_last and model == "A" else "ok"
            is_right = not is_last and number % 4 != wrong
            rows.append((model, f"q{number}", "identity", "base", "regex", 0, status, is_right, f"q{number}"))
    columns = "model item_id axis variant extractor sample status is_correct family".split()
    answers = answers_of(pd.DataFrame(rows, columns=columns), "regex", ItemFacts())
    return count(material_of(answers.of_models("A", "B"), ItemFacts()))


def level_claim(n_unread, margin=0.01):
    return survives_claim(level_curve(n_unread), Decision("A", "B", margin))


def test_level_ways_are_level_whatever_the_unread_answers_are():
    claim = level_claim(4)
    assert claim.outcome == "level" and claim.sentence == (
        "A and B are not told apart in any of 2 ways of counting, whatever the unread answers are: "
        "their intervals hold 0 and 1.0 points."
    )
    assert level_claim(4, margin=0).outcome != "level"


def test_ways_are_not_level_where_unread_answers_could_decide():
    """The intervals hold 0 and one point; with all 60 unread answers right, A is ahead by more than chance."""
    curve = level_curve(60)
    low, high = curve.limits(0.95)
    assert (low < 0).all() and (high > 0.01).all()
    assert curve.ends[1].limits(0.95)[0] > 0.01
    assert level_claim(60).outcome != "level" and "whatever" not in level_claim(60).sentence
