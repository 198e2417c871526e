import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from flipcore.claims.gates import looks_claim, paraphrases_claim
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import gate_rules, retention
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.gate_rules import (
    ACCEPTANCE,
    ANY_LOOK,
    MANY_LOOKS,
    _opens,
    evidence,
    false_openings,
    holds_at_any_look,
    paraphrase_gate,
)
from flipcore.stats.base.intervals import wilson
from tests import source_statistics

# the position test and the re-ask test, both passed: what the tests of kappa need beside it
UNBIASED = gate_rules.position_bias([0, 1] * 60, [0, 1] * 60)


def asked_again(k, n=60):
    return Estimate(k / n, *wilson(k, n), 0.95, "wilson", n, None)


STEADY = asked_again(0)


def test_a_gate_without_further_words_has_the_usual_bound_and_no_chosen_pair():
    made = gate_rules.ParaphraseGate(Estimate(1.0, *wilson(60, 60), 0.95, "wilson", 60, None), 0)
    assert made == paraphrase_gate(60, 60) and (made.threshold, made.fewest, made.n_chosen) == (0.80, 50, 0)
    assert made.sentence().endswith("the lower bound reaches 80%: these paraphrases may be used.")


def test_the_paraphrase_gate_needs_50_pairs_and_a_lower_bound():
    assert not gate_rules.paraphrase_gate(49, 49).is_open  # lower bound .93, but 49 pairs
    assert gate_rules.paraphrase_gate(50, 50).is_open
    # 46 of 50: Wilson [.81, .97]; 45 of 50: [.79, .96]
    assert gate_rules.paraphrase_gate(46, 50).is_open and not gate_rules.paraphrase_gate(45, 50).is_open


@given(st.integers(1, 120), st.data())
def test_the_number_of_missing_pairs_is_the_first_that_opens(n, draw):
    k = draw.draw(st.integers(0, n))
    n_more = gate_rules.n_more_pairs(k, n)

    def low(m):
        return proportion_confint(k / n * m, m, method="wilson")[0] if m >= 50 else 0

    if n_more is None:
        assert low(n + gate_rules.MAX_MORE_PAIRS) < 0.80
        return
    assert low(n + n_more) >= 0.80 - 1e-9 and (n_more == 0 or low(n + n_more - 1) < 0.80)


def test_a_rate_of_80_percent_never_opens_the_gate():
    found = gate_rules.paraphrase_gate(80, 100)
    assert found.n_more is None and "Discard" in found.sentence()
    assert all("Too early to tell" in gate_rules.paraphrase_gate(k, n).sentence() for k, n in ((2, 3), (0, 1), (36, 45)))
    assert "Discard" in gate_rules.paraphrase_gate(0, 28).sentence()


def test_the_gate_says_what_would_open_it():
    found = gate_rules.paraphrase_gate(18, 20)
    assert found.n_more == 42 and "Review 42 more" in found.sentence()
    assert found.sentence().startswith("18 of 20 reviewed pairs were accepted, 90% [70, 97]")
    assert "at least 50 reviewed pairs and a lower bound of 80%" in found.sentence()
    assert gate_rules.paraphrase_gate(0, 0).sentence() == "No pair has been reviewed yet; 50 are needed."
    assert gate_rules.paraphrase_gate(0, 0).n_more == 50 and "may be used" in gate_rules.paraphrase_gate(60, 60).sentence()


def test_a_judge_passes_by_the_lower_bound_of_kappa():
    human = [0, 1] * 100
    good = [1 - label if index % 10 == 9 else label for index, label in enumerate(human)]
    poor = [1 - label if index % 4 == 3 else label for index, label in enumerate(human)]
    passed, failed = (gate_rules.judge_gate(human, one, UNBIASED, STEADY) for one in (good, poor))
    assert passed.agreement.estimate.value == pytest.approx(0.8) and passed.is_open and "passes" in passed.sentence()
    assert failed.agreement.estimate.value == pytest.approx(0.5) and not failed.is_open
    assert "must reach 0.60" in failed.sentence()


def test_a_judge_with_a_point_above_and_a_bound_below_does_not_pass():
    human = [0, 1] * 50
    judge = [1 - label if index % 6 == 5 else label for index, label in enumerate(human)]
    found = gate_rules.judge_gate(human, judge, UNBIASED, STEADY)
    assert found.agreement.estimate.value > 0.60 > found.agreement.estimate.low and not found.is_open


def test_an_unreadable_reading_counts_against_the_judge():
    human, blind = [0, 1] * 60, [0, 1] * 30 + [None] * 60
    found = gate_rules.judge_gate(human, blind)
    assert found.agreement.n_items == 120 and found.agreement.raw == 0.5


def test_a_judge_needs_100_labels():
    found = gate_rules.judge_gate([0, 1] * 40, [0, 1] * 40)
    assert not found.is_open and "20 more labels" in found.sentence()


def test_a_judge_without_labels_or_with_one_answer_has_no_kappa_and_does_not_pass():
    empty, same = gate_rules.judge_gate([], []), gate_rules.judge_gate(["a"] * 120, ["a"] * 120)
    assert not empty.is_open and "nobody has labelled" in empty.sentence() and "100 labels" in empty.sentence()
    assert not same.is_open and "one and the same answer to all 120 labels" in same.sentence()


def test_a_judge_that_favours_a_position_does_not_pass():
    bias = gate_rules.position_bias([0] * 10 + [1] * 90, [1] * 10 + [1] * 90)
    assert bias.p == pytest.approx(2 * 0.5**10) and "favours the first option" in bias.sentence()
    found = gate_rules.judge_gate([0, 1] * 60, [0, 1] * 60, bias, STEADY)
    assert not found.is_open and "favours a position" in found.sentence()


def test_a_judge_passes_only_with_its_position_test_and_its_re_ask_test():
    labels = [0, 1] * 60
    gate = gate_rules.judge_gate(labels, labels)
    assert not gate.is_open and "position test needs 30" in gate.sentence() and "re-ask test needs 30" in gate.sentence()
    assert "position" not in gate_rules.judge_gate(labels, labels, None, STEADY, has_options=False).sentence()
    assert gate_rules.judge_gate(labels, labels, None, STEADY, has_options=False).is_open  # numbers have no order
    assert not gate_rules.judge_gate(labels, labels, gate_rules.position_bias([0], [0]), STEADY).is_open
    unsteady = gate_rules.judge_gate(labels, labels, UNBIASED, asked_again(9))
    assert not unsteady.is_open and "15% [8, 26] of 60 prompts differently" in unsteady.sentence()
    assert gate_rules.judge_gate(labels, labels, UNBIASED, STEADY).is_open


def test_position_bias_counts_changes_and_unreadable_answers_flip():
    # (0, 2): earlier both times; (2, 0): later both times; (1, None): changed, of no direction
    found = gate_rules.position_bias([0, 2, 1, 1], [2, 0, None, 1])
    assert (found.n_first, found.n_last, found.flip_rate.value, found.p) == (1, 1, 0.75, 1.0)
    assert math.isnan(gate_rules.position_bias([], []).p) and "not been asked" in gate_rules.position_bias([], []).sentence()
    with pytest.raises(BadInput, match="got 1 and 0"):
        gate_rules.position_bias([1], [])


@pytest.mark.slow
def test_position_bias_has_its_nominal_size():
    rng, runs, hits = generator(0), 800, 0
    for _ in range(runs):
        hits += gate_rules.position_bias(rng.integers(0, 4, 60).tolist(), rng.integers(0, 4, 60).tolist()).p < 0.05
    assert binomtest(hits, runs, 0.05, alternative="greater").pvalue > 1e-3


def test_pairs_that_do_not_count_are_counted_in_words():
    one, two = (gate_rules.paraphrase_gate(9, 10, n_chosen=n).chosen_text for n in (1, 2))
    assert one.startswith(" 1 reviewed pair was chosen") and two.startswith(" 2 reviewed pairs were chosen")
    assert gate_rules.paraphrase_gate(9, 10).chosen_text == ""


def test_thirty_texts_judged_both_ways_are_enough_and_29_are_not():
    labels = ["right", "wrong"] * 60
    for n, is_open in ((29, False), (30, True)):
        position = gate_rules.position_bias(
            [0, 1] * 15 if n == 30 else [0, 1] * 14 + [0], [0, 1] * 15 if n == 30 else [0, 1] * 14 + [0]
        )
        gate = gate_rules.judge_gate(labels, labels, position, STEADY)
        assert position.flip_rate.n == n and gate.is_open is is_open, gate.sentence()


# A gate that is looked at after every pair: its false openings, counted exactly, and the evidence that holds at every look.


def test_false_openings_are_those_of_simulated_reviews():
    rng = np.random.default_rng(1)
    counts = (rng.random((4_000, 120)) < ACCEPTANCE).cumsum(axis=1)
    open_at = np.array([[k <= n and _opens(k, n) for k in range(121)] for n in range(121)])
    share = open_at[np.arange(1, 121), counts].any(axis=1).mean()
    assert abs(false_openings(_opens, ACCEPTANCE, 120) - share) < 3 * (share / 4_000) ** 0.5
    assert 0.13 < false_openings(_opens, ACCEPTANCE, MANY_LOOKS) < 0.15  # one look: at most .03


def test_evidence_is_a_fair_bet_at_the_threshold_and_grows_above_it():
    assert evidence(0, 0, 0.8) == pytest.approx(1)
    for k, n in ((3, 5), (40, 50), (0, 4)):
        assert 0.8 * evidence(k + 1, n + 1, 0.8) + 0.2 * evidence(k, n + 1, 0.8) == pytest.approx(evidence(k, n, 0.8))
    assert evidence(50, 50, 0.8) > 1 / ANY_LOOK > evidence(46, 50, 0.8)


def test_looking_after_every_pair_gets_there_falsely_no_more_often_than_promised():
    def holds(k, n):
        return holds_at_any_look(k, n, ACCEPTANCE)

    assert false_openings(holds, ACCEPTANCE, 300) <= ANY_LOOK


def test_an_open_gate_says_whether_it_may_have_been_reviewed_until_it_opened():
    barely, clearly, shut = (paraphrase_gate(k, n) for k, n in ((46, 50), (50, 50), (40, 50)))
    assert not looks_claim(barely).is_made and "14% of sources" in paraphrases_claim(barely).detail
    assert (
        looks_claim(clearly).is_made and paraphrases_claim(clearly).detail == "This holds however often the gate was looked at."
    )
    assert looks_claim(shut).text == "" and paraphrases_claim(shut).detail == ""


YES, NO = [True, True, True], [True, False, False]
MOST = [True, True, False]


def test_a_pair_is_kept_only_if_both_checks_pass():
    result = source_statistics.retention_pairs([YES, YES, NO, MOST], [YES, NO, YES, MOST])
    assert result == {"kept": 2, "total": 4, "rate": 0.5}


def test_unanimity_keeps_fewer_than_the_majority():
    assert source_statistics.retention_pairs([YES, MOST], [YES, YES], rule="unanimous")["kept"] == 1
    assert retention.passes([True, False], "majority") is False and retention.passes([], "unanimous") is False


def test_no_audit_has_no_retention():
    assert math.isnan(retention.retention(0, 0)["rate"]) and math.isnan(source_statistics.retention_pairs([], [])["rate"])
    assert math.isnan(retention.retention_estimate(0, 0).value)


def test_the_published_88_7_percent_of_400_cannot_be_reached():
    # 88.7% of 400 cannot be had: 354 is 88.5, 355 is 88.75
    assert not any(round(100 * kept / 400, 1) == 88.7 for kept in range(401))


def test_the_rule_travels_with_the_number():
    e = retention.retention_estimate(355, 400, "unanimous")
    assert (e.value, e.method, e.n) == (0.8875, "wilson", 400) and "unanimous" in e.note
    assert (e.low, e.high) == pytest.approx((0.8528, 0.9149), abs=1e-4)  # statsmodels proportion_confint(wilson)


def test_unequal_checks_and_unknown_rules_are_refused():
    with pytest.raises(BadInput, match="got 1 and 0"):
        source_statistics.retention_pairs([YES], [])
    with pytest.raises(BadInput, match="most"):
        retention.passes(YES, "most")


def test_a_source_that_can_never_open_its_gate_says_from_how_many_pairs_on_one_can():
    said = gate_rules.few_pairs_sentence(15)
    assert said == "With 15 pairs nothing can be claimed, however they are judged; from 50 on it can. Bring 35 more in."
    fewest = next(n for n in range(1, 200) if not gate_rules.few_pairs_sentence(n))
    assert gate_rules.paraphrase_gate(fewest, fewest).is_open
    assert not gate_rules.paraphrase_gate(fewest - 1, fewest - 1).is_open


@pytest.mark.parametrize(("n_accepted", "n", "interval"), [(9, 10, "90% [60, 98]"), (9, 9, "too few for an interval")])
def test_an_acceptance_has_an_interval_from_ten_pairs_on(n_accepted, n, interval):
    sentence = gate_rules.paraphrase_gate(n_accepted, n).sentence()
    assert sentence.startswith(f"{n_accepted} of {n} reviewed pairs were accepted, {interval};")


def test_a_closed_gate_says_its_own_sentence_or_what_its_caller_knows():
    shut = paraphrase_gate(40, 50)
    assert paraphrases_claim(shut).text == shut.sentence() and not paraphrases_claim(shut).is_made
    assert paraphrases_claim(shut, "Reviewed for another study.").text == "Reviewed for another study."


def test_a_judge_whose_lower_bound_is_at_the_threshold_passes():
    gate = gate_rules.judge_gate([0, 1] * 60, [0, 1] * 58 + [1, 0] * 2, UNBIASED, STEADY)
    low = gate.agreement.estimate.low
    assert replace(gate, threshold=low).is_open and not replace(gate, threshold=np.nextafter(low, 1)).is_open
    assert "must reach" not in replace(gate, threshold=low).sentence()
