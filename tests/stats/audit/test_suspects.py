"""Suspect keys: against a plain account of the rule, and planted in answers of models of known ability."""

from collections import Counter

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.audit.suspects import suspicions


def by_hand(answers, keys, subjects):
    """The same, item by item."""
    shares = []
    for given, right in zip(answers, keys, strict=True):
        counts = Counter(one for one in given if one not in right)
        shares.append(max(counts.values(), default=0) / len(given) if given else 0.0)
    against = [share > 0.8 for share in shares]
    scores = []
    for i, share in enumerate(shares):
        same = [against[j] for j in range(len(shares)) if j != i and subjects[j] == subjects[i]]
        scores.append(share + 2 * (sum(same) + 10 * sum(against) / len(against)) / (len(same) + 10))
    return scores


def planted(n=400, n_raters=12, wrong=0.05, seed=0):
    """Answers 0..3 of raters that know 60 to 95% of the items and otherwise guess, mostly one option of each item."""
    rng = generator(seed, "keys")
    truth, lure = rng.integers(0, 4, n), rng.integers(0, 4, n)
    hard = rng.normal(0, 1.2, n)
    able = np.linspace(0.6, 2.6, n_raters)
    knows = rng.random((n, n_raters)) < 1 / (1 + np.exp(-(able - hard[:, None])))
    guess = np.where(rng.random((n, n_raters)) < 0.5, lure[:, None], rng.integers(0, 4, (n, n_raters)))
    answers = np.where(knows, truth[:, None], guess)
    is_wrong = rng.random(n) < wrong
    keys = np.where(is_wrong, (truth + rng.integers(1, 4, n)) % 4, truth)
    return answers.tolist(), [[one] for one in keys.tolist()], [f"s{i % 8}" for i in range(n)], is_wrong


def test_the_score_is_the_share_on_one_other_answer_and_its_rate_in_the_subject():
    answers, keys, subjects, _ = planted(60, 5)
    answers[3], answers[4] = [], [1]
    assert [one.score for one in suspicions(answers, keys, subjects)] == pytest.approx(by_hand(answers, keys, subjects))
    assert suspicions([], [], []) == []


def test_an_item_says_which_answer_most_give_instead():
    (one,) = suspicions([["2", "2", "1", "0", "2"]], [["1"]], [""])
    assert (one.other_answer, one.share, one.key_share, one.n) == ("2", 0.6, 0.2, 5) and one.is_suspect
    (both,) = suspicions([["2", "2", "1"]], [["1", "2"]], [""])
    assert (both.other_answer, both.key_share) == (None, 1.0) and not both.is_suspect


def test_planted_wrong_keys_are_found_with_few_false_suspects():
    answers, keys, subjects, is_wrong = planted()
    flagged = np.array([one.is_suspect for one in suspicions(answers, keys, subjects)])
    assert (flagged & is_wrong).sum() / is_wrong.sum() >= 0.9
    assert (flagged & ~is_wrong).sum() <= 0.05 * (~is_wrong).sum()


def test_items_keys_and_subjects_come_in_equal_numbers():
    with pytest.raises(BadInput, match="1 items with answers came with 0 keys"):
        suspicions([["1"]], [], [""])
