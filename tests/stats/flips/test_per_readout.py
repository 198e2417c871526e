"""Flip metrics of one readout, vectorised: equal to slow loops over lists."""

import math
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.disagreement import POLICIES
from flipcore.stats.flips.per_readout import (
    flip_summaries,
    flip_summary,
    item_entropies,
    item_modal_agreements,
    running_flip_rates,
)
from tests import naive

ITEMS = st.lists(st.lists(st.sampled_from(["0", "1", "2", None]), min_size=1, max_size=5), min_size=1, max_size=6)


def frame(items):
    return pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "axis": "order",
                "variant": f"r{v}" if v else "base",
                "sample": 0,
                "extractor": "e",
                "status": "unreadable" if a is None else "ok",
                "answer": a,
            }
            for i, item in enumerate(items)
            for v, a in enumerate(item)
        ]
    )


def summary(items, **options):
    return flip_summary(coded_answers(frame(items)), "order", "e", **options)


@pytest.mark.slow
@given(ITEMS, st.sampled_from(POLICIES))
def test_a_summary_is_the_naive_one(items, policy):
    found = summary(items, policy=policy)
    rates = [naive.item_flip_rate(item, policy) for item in items]
    defined = [rate for rate in rates if not math.isnan(rate)]
    pairs = [pair for item, rate in zip(items, rates, strict=True) if not math.isnan(rate) for pair in combinations(item, 2)]
    assert found.T.value == pytest.approx(naive.mean(rates), nan_ok=True)
    assert (found.n_items, found.n_excluded) == (len(defined), len(items) - len(defined))
    assert found.micro == pytest.approx(naive.share(pairs, policy), nan_ok=True)
    assert found.any_flip.value == pytest.approx(naive.mean([float(rate > 0) for rate in defined]), nan_ok=True)


@pytest.mark.slow
@given(ITEMS, st.sampled_from(POLICIES))
def test_item_entropies_and_modes_are_those_of_the_counts(items, policy):
    codes = coded_answers(frame(items)).cell("order", "e")
    assert item_entropies(codes, policy) == pytest.approx([entropy_of(item, policy) for item in items], nan_ok=True)
    modes = [max((item.count(a) for a in item if a is not None), default=math.nan) / len(item) for item in items]
    assert item_modal_agreements(codes) == pytest.approx(modes, nan_ok=True)


def entropy_of(item, policy):
    """scipy's, of the classes: unreadable answers are one class, one each, or none."""
    counts = [item.count(a) for a in set(item) - {None}]
    nulls = item.count(None)
    counts += {"own_class": [nulls] * (nulls > 0), "always_flip": [1] * nulls, "drop": []}[policy] if counts else []
    return entropy(counts, base=2) if counts else math.nan


def test_any_flip_warns_where_items_have_unequal_numbers_of_variants():
    assert summary([["0", "1"], ["0", "0"]]).note == ""
    assert summary([["0", "1"], ["0", "0", "0"]]).note.startswith("Items have 2 to 3 readouts")


def test_the_true_bounds_hold_the_rate():
    items = [["0", "0", None, None], ["0", "1", None, "1"]]
    found = summary(items)
    assert found.lowest <= found.T.value <= found.highest


def test_a_readout_that_never_answers_has_no_flip_rate():
    found = summary([[None, None], [None, None]])
    assert math.isnan(found.T.value) and math.isnan(found.entropy_bits) and found.n_excluded == 2
    assert found.any_flip.text() == "–" and (found.lowest, found.highest) == (0.0, 1.0)


def test_with_several_samples_the_bounds_are_missing():
    rows = frame([["0", "1"]])
    found = flip_summary(coded_answers(pd.concat([rows, rows.assign(sample=1)])), "order", "e")
    assert math.isnan(found.lowest) and found.T.value == 1.0


# Readouts by themselves, on a table of a few rows.


def coded(n_samples=2):
    """Twelve items; the variant always gets another answer, every sample of a variant the same one."""
    rows = [
        (f"i{i}", axis, variant, sample, "regex", "ok", answer)
        for i in range(12)
        for axis, variant, answer in (("order", "base", "0"), ("order", "turn", "1"))
        for sample in range(n_samples)
    ]
    return coded_answers(pd.DataFrame(rows, columns=["item_id", "axis", "variant", "sample", "extractor", "status", "answer"]))


def test_a_change_that_always_flips_is_beyond_asking_again():
    ((summary, p),) = flip_summaries(coded())
    assert (summary.T.value, summary.any_flip.value, summary.n_items) == (1, 1, 12)
    assert p <= 1 / 500 + 1e-12


def test_where_nothing_was_asked_twice_there_is_no_p():
    ((summary, p),) = flip_summaries(coded(n_samples=1))
    assert math.isnan(p) and (summary.lowest, summary.highest) == (1, 1)


def test_the_rate_as_items_arrive_ends_at_the_rate():
    path = running_flip_rates(coded(), "order")["regex"]
    assert len(path.t) == 12 and path.means[-1] == 1 and path.low[-1] > 0.2 and path.high[-1] == 1
