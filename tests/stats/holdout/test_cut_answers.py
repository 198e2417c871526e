"""Cut answers and difficulty: up to 5 % the test stands; above it limits and p hold whatever those answers were."""

import pytest

from flipcore.claims.holdout import inflation_claim
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.verdict import BEYOND, DIFFERENT, WITHIN

SHOWN = (BEYOND, DIFFERENT, WITHIN)


def condition(n_cut=0, right=(60, 40), n=80):
    """`right` of `n` entries a side are right; the last `n_cut` retro answers were cut off (and are wrong)."""
    sides = [{f"{name}{i}": float(i < k) for i in range(n)} for name, k in zip(("t", "r"), right, strict=True)]
    cut = frozenset(f"r{i}" for i in range(n - n_cut, n))
    return Condition("m", "regex", "plain", "", *sides, {}, cut)


def test_few_cut_answers_change_nothing():
    assert condition(8).test(0.1) == condition(0).test(0.1) and condition(8).cut_share == pytest.approx(0.05)


def test_a_difference_that_cut_answers_alone_could_make_is_not_shown():
    clear, cut = condition(0), condition(20)
    assert clear.test(0.1).state in SHOWN and inflation_claim([clear]).is_made
    test = cut.test(0.1)
    assert test.state not in SHOWN and test.p > 0.05 and test.bound[0] < clear.test(0.1).bound[0]
    claim = inflation_claim([cut])
    assert not claim.is_made and "20 answers were cut off (12 %); the limits hold whatever they were." in claim.detail


def test_a_difference_that_holds_whatever_they_were_stays():
    cut = condition(9, right=(78, 20))
    assert cut.cut_share > 0.05 and cut.test(0.1).state in SHOWN and inflation_claim([cut]).is_made
    estimate = cut.inflation()
    assert estimate.value == condition(0, right=(78, 20)).inflation().value and estimate.method == "worst cases of cut answers"


def test_equivalence_must_hold_whatever_they_were():
    same = condition(0, right=(700, 700), n=1000)
    assert same.test(0.05).equivalent and not condition(150, right=(700, 700), n=1000).test(0.05).equivalent
