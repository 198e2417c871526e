"""The kernel on coded arrays of many items at once: each item as if it stood alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flipcore.core.errors import BadInput
from flipcore.stats.flips import disagreement as d
from tests import naive

POLICY = st.sampled_from(d.POLICIES)
CODES = arrays(np.int32, st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(1, 3)), elements=st.integers(-2, 2))


def samples_of(item):
    """One item's codes as lists of answers, absent ones gone."""
    return [[None if code == d.NULL else int(code) for code in variant if code != d.ABSENT] for variant in item]


@pytest.mark.slow
@given(CODES, POLICY)
def test_every_item_of_an_array_has_its_naive_floor(codes, policy):
    between, within = d.between(codes, policy).rate, d.within(codes, policy)
    for item, b, w in zip(codes, between, within, strict=True):
        wanted = naive.null_floor(samples_of(item), policy)
        assert b == pytest.approx(wanted["B"], nan_ok=True) and w == pytest.approx(wanted["W"], nan_ok=True)


@pytest.mark.slow
@given(CODES, st.randoms(use_true_random=False))
def test_the_order_of_variants_and_of_samples_does_not_matter(codes, random):
    shuffled = codes[:, random.sample(range(codes.shape[1]), codes.shape[1])]
    shuffled = shuffled[:, :, random.sample(range(codes.shape[2]), codes.shape[2])]
    assert d.between(shuffled).rate == pytest.approx(d.between(codes).rate, nan_ok=True)
    assert d.within(shuffled) == pytest.approx(d.within(codes), nan_ok=True)


@given(CODES)
def test_a_pessimist_never_sees_fewer_flips(codes):
    mild, hard = d.between(codes, "own_class").rate, d.between(codes, "always_flip").rate
    assert (np.isnan(mild) == np.isnan(hard)).all() and (hard >= mild - 1e-12)[~np.isnan(mild)].all()


def test_an_absent_readout_is_no_flip_and_no_agreement():
    codes = np.array([[[0], [0], [d.ABSENT]], [[0], [1], [d.ABSENT]], [[0], [d.ABSENT], [d.ABSENT]]])
    assert d.between(codes).rate.tolist()[:2] == [0.0, 1.0]
    assert math.isnan(d.between(codes).rate[2])


@pytest.mark.slow
@given(arrays(np.int32, (3, 4, 1), elements=st.integers(-1, 2)))
def test_the_bounds_are_those_of_every_way_to_fill_the_gaps(codes):
    low, high = d.null_bounds(codes)
    for i, item in enumerate(codes):
        answers = [s[0] for s in samples_of(item)]
        assert (low[i], high[i]) == pytest.approx(naive.null_bounds(answers, range(7)))


def test_bounds_hold_the_rate_of_every_policy_that_keeps_all_pairs():
    codes = np.array([[[0], [0], [d.NULL], [d.NULL]], [[0], [1], [d.NULL], [d.ABSENT]]])
    low, high = d.null_bounds(codes)
    for policy in ("own_class", "always_flip"):
        rate = d.between(codes, policy).rate
        assert ((low <= rate) & (rate <= high)).all()
    assert low.tolist() == [0.0, pytest.approx(2 / 3)] and high.tolist() == [pytest.approx(5 / 6), 1.0]


def test_bounds_of_one_readout_are_missing_and_of_several_samples_refused():
    assert np.isnan(d.null_bounds(np.array([[[d.NULL], [d.ABSENT]]]))).all()
    with pytest.raises(BadInput, match="one sample per variant; got 2"):
        d.null_bounds(np.zeros((1, 2, 2), dtype=int))


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(BadInput, match="own_class, always_flip, drop"):
        d.between(np.zeros((1, 2, 1), dtype=int), "ignore")


def test_the_split_under_drop_uses_pairs_that_both_readouts_have():
    # e: A B NULL, e*: A A B. Readable under both: the pair (1, 2) only, which flips under e alone
    codes, reference = np.array([[[0], [1], [d.NULL]]]), np.array([[[0], [0], [1]]])
    split = d.pair_split(codes, reference, "drop")
    assert (split.plus[0], split.minus[0], split.both[0]) == (1.0, 0.0, 0.0)
    turned = d.pair_split(reference, codes, "drop")
    assert (turned.plus[0], turned.minus[0], turned.both[0]) == (0.0, 1.0, 0.0)


def test_what_is_absent_under_one_readout_is_absent_under_both():
    codes, reference = d.mask_absent(np.array([[0, d.ABSENT, 1]]), np.array([[0, 1, d.NULL]]))
    assert codes.tolist() == [[0, d.ABSENT, 1]] and reference.tolist() == [[0, d.ABSENT, d.NULL]]


@pytest.mark.parametrize("policy", d.POLICIES)
def test_one_sample_a_variant_is_counted_as_several_are(policy):
    rng = np.random.default_rng(0)
    own, other = (rng.integers(d.ABSENT, 4, (500, 5, 1)) for _ in range(2))
    # a second sample that is not there
    again = [np.concatenate([one, np.full_like(one, d.ABSENT)], axis=2) for one in (own, other)]
    pairs = (
        (d.between(own, policy), d.between(again[0], policy)),
        (d.pair_split(own, other, policy), d.pair_split(*again, policy)),
    )
    for first, second in pairs:
        for name in vars(first):
            assert np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True), name
