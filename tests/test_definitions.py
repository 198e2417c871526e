"""Flip metrics of the product by the names of `cases.json`: by hand, against tests/naive.py, against outside packages, and where nothing
is defined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from flipcore.core.errors import BadInput
from flipcore.stats.flips.disagreement import POLICIES
from tests import definitions, naive

ANSWERS = st.lists(st.sampled_from(["A", "B", "C", None]), max_size=7)
POLICY = st.sampled_from(POLICIES)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) < 1e-12


@given(ANSWERS, POLICY)
def test_the_flip_rate_is_the_naive_one_and_its_closed_form(answers, policy):
    assert same(definitions.item_flip_rate(answers, policy), naive.item_flip_rate(answers, policy))
    assert same(definitions.item_flip_rate(answers, policy), definitions.item_flip_rate_closed(answers, policy))


@pytest.mark.slow
@given(st.lists(ANSWERS, min_size=1, max_size=6), POLICY)  # no study is without items
def test_consistency_is_one_minus_the_macro_rate(items, policy):
    assert same(definitions.consistency_rate(items, policy), 1 - naive.mean([naive.item_flip_rate(a, policy) for a in items]))


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["A", "B", None])), min_size=1, max_size=5), POLICY)
def test_the_decomposition_is_the_naive_one(rows, policy):
    e, ref = [[a for a, _ in rows]] * 2, [[b for _, b in rows]] * 2
    found, wanted = definitions.decompose(e, ref, policy), naive.decompose(e, ref, policy)
    assert all(same(found[key], wanted[key]) for key in wanted)


@pytest.mark.slow
@given(
    st.lists(st.tuples(ANSWERS, ANSWERS).map(lambda pair: list(zip(*pair, strict=False))), max_size=5),
    st.sampled_from(["own_class", "always_flip"]),
)
def test_total_is_genuine_plus_artifact_and_artifact_is_plus_less_minus(items, policy):
    found = definitions.decompose([[a for a, _ in item] for item in items], [[b for _, b in item] for item in items], policy)
    assert same(found["T"], found["G"] + found["A"])
    assert same(found["A"], found["A_plus"] - found["A_minus"])


@given(st.lists(st.lists(st.sampled_from(["A", "B", None]), max_size=4), max_size=4), POLICY)
def test_the_floor_is_the_naive_one_for_unequal_samples(samples, policy):
    found, wanted = definitions.null_floor(samples, policy), naive.null_floor(samples, policy)
    assert all(same(found[key], wanted[key]) for key in wanted)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("answers", [[], ["A"], [None], [None, None, None]])
def test_nothing_to_compare_is_undefined_never_stable(answers, policy):
    assert math.isnan(definitions.item_flip_rate(answers, policy))
    assert math.isnan(definitions.item_flip_rate_closed(answers, policy))
    assert definitions.flip_rate([answers], policy)["n_excluded"] == 1
    assert math.isnan(definitions.flip_rate([answers], policy)["T"])


def test_null_policies_lie_where_statistics_says():
    # [A, B, NULL, NULL]: 6 pairs. own_class: only NULL-NULL agrees, 5/6; drop: the one pair A-B flips, 1
    assert definitions.item_flip_rate(["A", "B", None, None], "own_class") == pytest.approx(5 / 6)
    assert definitions.item_flip_rate(["A", "B", None, None], "drop") == 1.0
    assert definitions.item_flip_rate(["A", "B", None, None], "always_flip") == 1.0


def test_micro_pools_pairs_so_items_with_more_variants_weigh_more():
    # 2 of 3 pairs and 0 of 1: pooled 2/4, mean of items (2/3 + 0)/2
    items = [["A", "A", "B"], ["C", "C"]]
    assert definitions.flip_rate(items, weight="micro")["T"] == 0.5
    assert definitions.flip_rate(items)["T"] == pytest.approx(1 / 3)
    with pytest.raises(BadInput, match="pooled pairs"):
        definitions.flip_rate(items, weight="median")


def test_the_v_statistic_is_low_by_a_factor_of_v():
    assert definitions.item_flip_rate_vstat(["A", "B"]) == 0.5
    assert math.isnan(definitions.item_flip_rate_vstat([]))


@pytest.mark.slow
@given(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=9))
def test_entropy_is_scipys(answers):
    counts = [answers.count(a) for a in set(answers)]
    assert definitions.item_entropy(answers) == pytest.approx(entropy(counts, base=2), abs=1e-12)
    assert definitions.item_entropy(answers, base=math.e) == pytest.approx(entropy(counts), abs=1e-12)


def test_entropy_counts_null_as_the_policy_does():
    answers = ["A", "A", None, None]
    assert definitions.item_entropy(answers) == 1.0
    assert definitions.item_entropy(answers, policy="drop") == 0.0
    assert definitions.item_entropy(answers, policy="always_flip") == 1.5  # 1/2 + 1/4 log2(4) twice
    assert math.isnan(definitions.item_entropy([None, None]))


def test_modal_agreement_keeps_null_in_the_denominator_and_out_of_the_mode():
    assert definitions.item_modal_agreement(["A", "A", "B", None]) == 0.5
    assert definitions.item_modal_agreement(["A", None, None]) == pytest.approx(1 / 3)
    assert math.isnan(definitions.item_modal_agreement([None]))


def readme_row(t, g, n=26):
    """N two-variant items of which t flip under e, and g of those under the reference too."""
    return [["A", "B"]] * t + [["A", "A"]] * (n - t), [["A", "B"]] * g + [["A", "A"]] * (n - g)


@pytest.mark.parametrize(
    ("t", "g", "printed", "artifact"),
    [
        (15, 2, (0.58, 0.08, 0.50), (0.31, 0.69)),
        (13, 4, (0.50, 0.15, 0.35), (0.15, 0.54)),
        (12, 2, (0.46, 0.08, 0.38), (0.19, 0.58)),
        (9, 7, (0.35, 0.27, 0.08), (0.00, 0.19)),
    ],
)
def test_the_four_rows_of_flipbench_are_reproduced_exactly(t, g, printed, artifact):
    e, ref = readme_row(t, g)
    found = definitions.decompose(e, ref)
    assert (round(found["T"], 2), round(found["G"], 2), round(found["A"], 2)) == printed
    ci = definitions.decompose_bootstrap(e, ref)["ci"]
    assert tuple(round(limit, 2) for limit in ci["A"]) == artifact


def test_the_sources_rule_asks_that_intervals_do_not_meet():
    assert definitions.decompose_bootstrap(*readme_row(15, 2))["source_nonoverlap"]
    assert not definitions.decompose_bootstrap(*readme_row(9, 7))["source_nonoverlap"]


def test_the_bootstrap_moves_everything_of_an_item_together():
    # with G = 0 everywhere T, A and A - G are one number, so their intervals are one interval
    e, ref = readme_row(15, 0)
    found = definitions.decompose_bootstrap(e, ref)
    assert found["ci"]["T"] == found["ci"]["A"] == found["paired_diff"]
    reps = naive.bootstrap_means([[1.0 if a != b else 0.0] for a, b in e], seed=0, n_boot=2000)
    assert found["ci"]["T"] == pytest.approx(list(np.percentile(reps, [2.5, 97.5])))


def test_no_common_item_leaves_a_decomposition_without_numbers():
    found = definitions.decompose([[None, None]], [["A", "A"]])
    assert found["n_items"] == 0 and all(math.isnan(found[key]) for key in ("T", "G", "A", "A_plus", "both"))
    boot = definitions.decompose_bootstrap([], [])
    assert np.isnan(boot["ci"]["A"]).all() and boot["source_nonoverlap"] is False


def test_readouts_that_are_not_aligned_are_refused():
    with pytest.raises(BadInput, match="present under both"):
        definitions.decompose([["A", "B"]], [["A"]])


def test_a_pure_perturbation_effect_has_no_floor_and_pure_noise_no_excess():
    assert definitions.null_floor([["A", "A"], ["B", "B"]]) == {"W": 0.0, "B": 1.0, "excess": 1.0}
    noise = definitions.null_floor([["A", "B"], ["A", "B"]])
    assert noise["W"] == 1.0 and noise["B"] == 0.5
    assert math.isnan(definitions.null_floor([["A"], ["B"]])["W"])
