"""T = G + A for whole studies: flipbench's own table, planted truths and partial runs."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from flipcore.claims.flips import ABOVE, BELOW, OPEN, source_outcome
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.contrast import parts_test
from flipcore.stats.flips.decomposition import COLUMNS, RULES, artifact_shares, decompositions, item_rates, paired_t_p
from flipcore.stats.flips.pooled import across_axes
from tests import naive
from tests.lab.claims import flips as worlds
from tests.lab.simulations.planted import PlantedTruth, planted_columns, planted_readouts

E, REF = "first_token", "stated"


def readouts(by_extractor, axis="option_order"):
    """by_extractor: {extractor: items of answers}; None is unreadable, "absent" is absent."""
    rows = [
        {
            "item_id": f"i{i}",
            "axis": axis,
            "variant": f"rotate-{v}" if v else "base",
            "sample": 0,
            "extractor": extractor,
            "status": "absent" if a == "absent" else "ok" if a is not None else "unreadable",
            "answer": None if a == "absent" else a,
        }
        for extractor, items in by_extractor.items()
        for i, item in enumerate(items)
        for v, a in enumerate(item)
    ]
    return pd.DataFrame(rows)


def decomposition(frame, reference=REF, extractor=E, **options):
    return decompositions(coded_answers(frame), reference, extractors=[extractor], **options)[0]


def outcome(found):
    return source_outcome(found.rule, *((part.low, part.high) for part in (found.A, found.G, found.A_minus_G)))


def readme(t, g, n=26):
    return readouts({E: [["0", "1"]] * t + [["0", "0"]] * (n - t), REF: [["0", "1"]] * g + [["0", "0"]] * (n - g)})


@pytest.mark.parametrize(
    ("t", "g", "printed"),
    [
        (15, 2, ("0.58", "0.08", "0.50 [0.31, 0.69]")),
        (13, 4, ("0.50", "0.15", "0.35 [0.15, 0.54]")),
        (12, 2, ("0.46", "0.08", "0.38 [0.19, 0.58]")),
        (9, 7, ("0.35", "0.27", "0.08 [0.00, 0.19]")),
    ],
)
def test_flipbenchs_four_rows_come_out_of_the_whole_path(t, g, printed):
    found = decomposition(readme(t, g), kind="percentile", n_boot=2000)
    assert (found.T.text().split()[0], found.G.text().split()[0]) == printed[:2]
    assert found.A.text() == f"{printed[2]} (about 91%)"  # a difference of 26 items; the percentile bootstrap is short there


def test_the_paired_p_is_students():
    found = decomposition(readme(15, 2), kind="percentile", n_boot=2000)
    a_minus_g = [1.0] * 13 + [-1.0] * 2 + [0.0] * 11  # T - 2G: flips under e alone, under both, under neither
    assert found.p_more == pytest.approx(ttest_1samp(a_minus_g, 0).pvalue)


PAIR = st.tuples(st.sampled_from(["0", "1", None]), st.sampled_from(["0", "1", None]))


@pytest.mark.slow
@given(
    st.lists(st.lists(PAIR, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from(["own_class", "always_flip", "drop"]),
)
def test_values_are_the_naive_ones(items, policy):
    e, ref = [[a for a, _ in item] for item in items], [[b for _, b in item] for item in items]
    found, wanted = decomposition(readouts({E: e, REF: ref}), policy=policy), naive.decompose(e, ref, policy)
    assert found.n_items == wanted.pop("n_items") and found.n_excluded == len(items) - found.n_items
    for name, value in wanted.items():
        assert getattr(found, name).value == pytest.approx(value, nan_ok=True)


def test_a_partial_run_is_compared_over_what_both_readouts_have():
    # item 0: the third variant is absent under e, so the flip that e* shows there does not count
    frame = readouts(
        {
            E: [["0", "0", "absent"], ["0", "1", "1"], ["0", "absent", "absent"]],
            REF: [["0", "0", "1"], ["0", "0", "0"], ["0", "0", "0"]],
        }
    )
    found = decomposition(frame)
    assert (found.G.value, found.n_items, found.n_left_out) == (0.0, 2, 1)
    assert found.T.value == pytest.approx((0 + 2 / 3) / 2)


def test_an_extractor_that_never_answers_is_excluded_not_stable():
    found = decomposition(readouts({E: [[None, None], ["0", "1"]], REF: [["0", "0"], ["0", "0"]]}))
    assert (found.n_items, found.n_excluded, found.n_left_out, found.T.value) == (1, 1, 1, 1.0)
    assert found.warnings[0].startswith("50.0% of the answers could not be read")


def test_artifact_may_be_negative():
    found = decomposition(readouts({E: [["0", "0"]] * 40, REF: [["0", "1"]] * 20 + [["0", "0"]] * 20}))
    assert found.A.value == -0.5 and found.share.text() == "–" and "nothing flips" in found.share.note


def test_the_reference_has_no_artifact_to_speak_of():
    found = decomposition(readme(15, 2), extractor=REF)
    assert found.is_reference and found.A.text() == "0.00"
    assert found.A.note == "The reference extractor: 0 by definition." and "n/a" in found.share.note


def test_too_few_items_have_no_verdict():
    found = decomposition(readme(3, 1, n=6), rule="paired")
    assert not found.A_minus_G.has_interval


def test_the_two_rules_by_hand():
    # A and G overlap, yet their paired difference is above 0
    a, g, difference = (0.2, 0.5), (0.1, 0.25), (0.02, 0.3)
    assert source_outcome("paired", a, g, difference) == ABOVE
    assert source_outcome("source_nonoverlap", a, g, difference) == OPEN
    assert source_outcome("source_nonoverlap", (0.3, 0.5), g, difference) == ABOVE
    with pytest.raises(BadInput, match="decision rule"):
        decomposition(readme(15, 2), rule="overlap")


@pytest.mark.parametrize(
    ("difference", "outcome"),
    [((0.0, 0.3), OPEN), ((0.01, 0.3), ABOVE), ((-0.3, 0.0), OPEN), ((-0.3, -0.01), BELOW), ((math.nan,) * 2, OPEN)],
)
def test_limits_that_touch_decide_nothing_by_either_rule(difference, outcome):
    assert source_outcome("paired", (0.2, 0.5), (0.1, 0.25), difference) == outcome
    low, high = difference
    assert source_outcome("source_nonoverlap", (low, high), (0.0, 0.0), (math.nan, math.nan)) == outcome


def with_samples(noise_e, noise_ref=0, n=60):
    """Two variants by two samples; e re-asked flips on the first `noise_e` items, e* on the first `noise_ref`."""
    rows = [
        {
            "item_id": f"i{i}",
            "axis": "option_order",
            "variant": v,
            "sample": s,
            "extractor": x,
            "status": "ok",
            "answer": str(s) if i < (noise_e if x == E else noise_ref) else "0",
        }
        for i in range(n)
        for v in ("base", "rotate-1")
        for s in (0, 1)
        for x in (E, REF)
    ]
    return pd.DataFrame(rows)


def test_with_samples_the_floor_is_taken_off_both_sides():
    # a noisy item of e: within a variant 0 v 1 flips (W = 1), between variants 2 of 4 sample pairs flip (B = 1/2)
    found = decomposition(with_samples(12))
    assert (found.T.value, found.W.value, found.W_ref.value) == (pytest.approx(0.1), pytest.approx(0.2), 0.0)
    assert (found.excess.value, found.G_excess.value) == (pytest.approx(-0.1), 0.0)
    assert found.A_excess.value == pytest.approx(found.A.value - 0.2)
    both = decomposition(with_samples(12, 6))
    # T = .1, G = .05, W = .2, W_ref = .1: A_excess = (.1 - .05) - (.2 - .1), G_excess = .05 - .1
    assert (both.A_excess.value, both.G_excess.value) == (pytest.approx(-0.05), pytest.approx(-0.05))


def test_the_floor_over_all_axes_names_the_source_of_axes_with_pairs():
    """The first axis has no pair and no rerun: the card said that the floor of the other was not measured."""
    without_pairs = readouts({E: [["0", "absent"]] * 12, REF: [["0", "absent"]] * 12}, axis="paraphrase")
    answers = coded_answers(pd.concat([without_pairs, with_samples(4, n=12)]))
    cells = decompositions(answers, REF, n_boot=200, extractors=[E], tests=False)
    assert cells[0].floor_source == "not measured" and math.isnan(cells[0].T.value)
    (pooled,) = across_axes(cells, n_boot=200)
    assert pooled.W.value > 0 and pooled.floor_source == cells[1].floor_source != "not measured"


def test_an_unmeasured_floor_is_missing():
    found = decomposition(readme(15, 2))
    assert math.isnan(found.W.value) and found.W.note == "Not measured: no variant was asked twice."


def test_the_sign_flip_test_sees_what_is_only_the_readouts():
    assert decomposition(readme(15, 2)).p_artifact == pytest.approx(2 * 2**-13, abs=5e-4)  # 13 of 13 differences are positive
    assert decomposition(readme(9, 9)).p_artifact == 1.0


def test_the_paired_t_is_scipys_and_survives_equal_differences():
    d = generator(0).normal(size=20)
    assert paired_t_p(np.append(d, np.nan)) == pytest.approx(ttest_1samp(d, 0).pvalue)
    assert paired_t_p(np.zeros(5)) == 1.0 and paired_t_p(np.ones(5)) == 2**-4 and math.isnan(paired_t_p(np.ones(1)))


def test_the_share_is_shown_where_the_flip_rate_is_clearly_above_zero():
    shown = decomposition(readme(15, 2)).share
    assert shown.value == pytest.approx(13 / 15) and shown.low < 13 / 15 < shown.high and shown.method == "bca"
    assert "too few items" in decomposition(readme(3, 1, n=6)).share.note
    frame = readouts({E: [["0", "1"]] + [["0", "0"]] * 11, REF: [["0", "0"]] * 12})
    assert "includes 0" in decomposition(frame, kind="percentile").share.note


def test_all_cells_come_from_one_draw_and_every_column_has_its_bounds():
    frame = planted_readouts(80, PlantedTruth(0.25, 0.1), generator(0))
    both = pd.concat([frame, frame.assign(axis="label_set")])
    found = decompositions(coded_answers(both), REF, kind="bca", n_boot=500)
    assert [(d.axis, d.extractor) for d in found] == [(a, x) for a in ("option_order", "label_set") for x in (E, REF)]
    assert found[0].T == found[2].T and found[0].share == found[2].share
    values = item_rates(coded_answers(frame), "option_order", E, REF).values
    for column, (low, high) in zip(values.T, COLUMNS.values(), strict=True):
        column = column[~np.isnan(column)]
        assert ((low <= column) & (column <= high)).all()


def test_names_that_do_not_occur_are_refused():
    with pytest.raises(BadInput, match="has no readout 'judge'; it has first_token, stated"):
        decomposition(readme(2, 1), reference="judge")
    assert decompositions(coded_answers(readme(2, 1, n=3).assign(axis="identity")), REF) == []


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES[1:])
def test_neither_rule_finds_an_artifact_where_it_equals_the_genuine_share(rule):
    # one-sided size at the nominal .025 for n = 60; an independent simulation has .030 at n = 50, so .04 is the line
    hits, n_sims = 0, 1000
    for simulation in range(n_sims):
        frame = planted_readouts(60, PlantedTruth(0.31, 0.155), generator(simulation, "size"))
        hits += outcome(decomposition(frame, rule=rule, n_boot=50)) == ABOVE
    assert binomtest(hits, n_sims, 0.04, alternative="greater").pvalue > 0.01


def test_the_planted_split_is_given_back():
    truth = PlantedTruth(0.30, 0.10)
    found = decomposition(planted_readouts(6000, truth, generator(9)), level=0.999, rule="paired")
    for name, value in zip(("T", "G", "A", "A_minus_G"), truth.values, strict=True):
        assert getattr(found, name).low <= value <= getattr(found, name).high
    assert outcome(found) == ABOVE and found.p_artifact < 0.001


# A/T: the ratio, its interval, and when there is none.


def test_the_share_is_a_ratio_of_sums_not_a_mean_of_ratios():
    # A = .5 + 0 + 0, T = .5 + .5 + 0: half of the flips are artifact
    found = artifact_shares([np.array([[0.5, 0.5], [0.0, 0.5], [0.0, 0.0]])], 0.95, 0, 500)[0]
    assert found.value == 0.5 and found.n == 3


def test_nothing_flips_nothing_is_shared():
    found = artifact_shares([np.zeros((20, 2))], 0.95, 0, 100)[0]
    assert found.text() == "–" and found.note == "n/a: nothing flips."
    assert artifact_shares([np.empty((0, 2))], 0.95, 0, 100)[0].text() == "–"


def test_undefined_items_leave_the_ratio():
    cell = np.array([[0.5, 1.0], [0.0, 1.0], [np.nan, np.nan]] * 10)
    found = artifact_shares([cell], 0.95, 0, 500)[0]
    assert found.value == pytest.approx(0.25) and found.n == 20


def test_a_share_that_is_always_one_has_no_interval():
    found = artifact_shares([np.array([[0.5, 0.5]] * 20)], 0.95, 0, 100)[0]
    assert found.value == 1.0 and not found.has_interval


@pytest.mark.slow
def test_the_interval_of_the_share_covers():
    truth, covered, n_sims = PlantedTruth(0.30, 0.10), 0, 600
    rng = generator(0, "share")
    for simulation in range(n_sims):
        columns = planted_columns(150, truth, rng)
        found = artifact_shares([columns[:, [2, 0]]], 0.95, simulation, 499)[0]
        covered += found.low <= truth.A / truth.T <= found.high
    assert binomtest(covered, n_sims, 0.93, alternative="less").pvalue > 0.01


# The three contrasts: above their floors or none, and never surer than what unread answers allow.


def cell(plus=0.4, minus=0.0, both=0.1, n=60, again=True):
    (one,) = worlds.in_words(worlds.parts(plus, minus, both, again=again)(generator(3), n))
    return one


def test_the_larger_part_alone_has_a_small_p():
    compared, reference, genuine = (
        parts_test(cell(*shares)).p.round(3).tolist() for shares in ((0.5, 0, 0.05), (0, 0.5, 0.05), (0.02, 0, 0.5))
    )
    assert compared[0] == reference[1] == genuine[2] == 0
    assert min(compared[1:]) > 0.5 and min(genuine[:2]) > 0.5 and reference[0] > 0.5


def test_without_reruns_nothing_is_asked_of_genuine_flips():
    test = parts_test(cell(0, 0, 0.5, again=False))
    assert not test.is_floor_known and np.isnan(test.p[2]) and not np.isnan(test.p[:2]).any()
    assert parts_test(cell(0, 0, 0.5)).is_floor_known


def test_what_reruns_flip_is_no_change():
    (one,) = worlds.in_words(worlds._noise(0.25, 0.0)(generator(1), 200))
    test = parts_test(one)
    assert one.A_plus.value > 0.15 and abs(one.A_plus_excess.value) < 0.05 and (test.p > 0.01).all()


def test_an_answer_that_never_came_weighs_against_every_contrast():
    draw = worlds._lost_where(0.4, 0.1, 1.0, failed=False)
    (one,) = worlds.in_words(draw(generator(3), 80))
    test = parts_test(one)
    assert (test.p[:2] >= test.p_read[:2]).all() and test.p[0] > test.p_read[0]


def test_a_decomposition_is_compared_and_shown_by_its_numbers_and_not_by_its_items():
    found = decomposition(readme(15, 2))
    other = replace(found, item_values=found.item_values + 1, families=np.arange(26), unread=replace(found.unread))
    assert other == found and replace(found, n_items=25) != found
    assert not {"item_values", "families", "unread"} & set(re.findall(r"(\w+)=", repr(found)))
