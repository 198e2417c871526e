import itertools
import math

import numpy as np
import pandas as pd
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import item_rates
from flipcore.stats.flips.exclusion_bounds import extreme_exclusions, moved_by_each


def readouts(answers, extractor="regex"):
    """`answers[item]` are the answers to the base and its rewordings."""
    return pd.DataFrame(
        [
            {
                "model": "m",
                "item_id": item,
                "axis": "paraphrase",
                "variant": "base" if i == 0 else f"reworded-{i}",
                "sample": 0,
                "extractor": extractor,
                "status": "ok",
                "answer": answer,
            }
            for item, row in answers.items()
            for i, answer in enumerate(row)
        ]
    )


def means(frame, gone, extractor="first", reference="regex"):
    rows = frame[[key not in gone for key in zip(frame["item_id"], frame["variant"], strict=True)]]
    values = item_rates(coded_answers(rows), "paraphrase", extractor, reference).values[:, :3]
    return np.nanmean(values, axis=0) if (~np.isnan(values[:, 0])).any() else np.full(3, math.nan)


def test_striking_the_only_flip_moves_the_rate_by_hand():
    # one rewording each: T_i = 1, 0, 0 and T = 1/3. Without the flipping one its item is undefined: T = 0, moved by 1/3.
    # Without another: T = 1/2, moved by 1/6.
    frame = readouts({"a": "xy", "b": "xx", "c": "zz"})
    places = {(item, "reworded-1"): f"pair-{item}" for item in "abc"}
    assert moved_by_each(frame, places) == {
        "pair-a": pytest.approx(1 / 3),
        "pair-b": pytest.approx(1 / 6),
        "pair-c": pytest.approx(1 / 6),
    }


def test_one_of_two_rewordings_leaves_the_item_defined():
    # a: x y y has 2 of 3 pairs flipped; without reworded-1 it is x y: T_a = 1. With b at 0: T goes from 1/3 to 1/2.
    frame = readouts({"a": "xyy", "b": "xx"})
    moved = moved_by_each(frame, {("a", "reworded-1"): "one", ("a", "reworded-2"): "two"})
    assert moved == {"one": pytest.approx(1 / 6), "two": pytest.approx(1 / 6)}


@pytest.mark.parametrize("answers", [{"a": "xy"}, {"a": ["x", None]}, {"a": [None, "x"], "b": ["x", None]}])
def test_without_a_rate_before_or_after_nothing_moves(answers):
    pair_ids = {("a", "reworded-1"): "pair"}
    frame = readouts(answers)
    frame.loc[frame["answer"].isna(), "status"] = "unreadable"
    assert moved_by_each(frame, pair_ids) == {"pair": 0.0}


def test_a_pair_that_was_not_asked_moves_nothing():
    assert moved_by_each(readouts({"a": "xy", "b": "xx"}), {("z", "reworded-1"): "gone"}) == {"gone": 0.0}


def test_the_two_extremes_by_hand():
    """Item a always flips, and b never: without a's paraphrase T is 0, without b's it is 1."""
    frame = pd.concat([readouts({"a": "xy", "b": "xx"}, extractor) for extractor in ("regex", "first")])
    places = [("a", "reworded-1"), ("b", "reworded-1")]
    assert extreme_exclusions(frame, places, 1, "first", "regex")["T"] == ({places[0]}, {places[1]})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_extreme_strikes_are_those_of_trying_them_all(seed):
    rng = generator(seed, "struck")
    answers = {f"i{k}": "".join(rng.choice(list("xyz"), 1 + int(rng.integers(1, 4)))) for k in range(4)}
    other = {item: "".join(rng.choice(list("xyz"), len(row))) for item, row in answers.items()}
    frame = pd.concat([readouts(answers), readouts(other, "first")], ignore_index=True)
    places = [(item, f"reworded-{i}") for item, row in answers.items() for i in range(1, len(row))][:7]
    for n_bad in range(min(3, len(places)) + 1):
        tried = [means(frame, set(gone)) for gone in itertools.combinations(places, n_bad)]
        found = extreme_exclusions(frame, places, n_bad, "first", "regex")
        for column, name in enumerate(("T", "G", "A")):
            low, high = (means(frame, gone)[column] for gone in found[name])
            assert all(len(gone) == n_bad for gone in found[name])
            assert low == pytest.approx(min(row[column] for row in tried if not math.isnan(row[column])))
            assert high == pytest.approx(max(row[column] for row in tried if not math.isnan(row[column])))


def test_more_strikes_than_rewordings_are_refused():
    with pytest.raises(BadInput, match="2 paraphrases cannot be struck out of 1"):
        extreme_exclusions(readouts({"a": "xy"}), [("a", "reworded-1")], 2, "regex", "regex")


def test_an_item_with_very_many_unreviewed_rewordings_is_refused_in_words():
    frame = readouts({"a": "xyxyxyx"})
    with pytest.raises(BadInput, match="6 paraphrases without a verdict"):
        extreme_exclusions(frame, [("a", f"reworded-{i}") for i in range(1, 7)], 1, "regex", "regex")
