"""What is said of several models: the sentence of each outcome, and what withholds it."""

import numpy as np
import pytest

from flipcore.claims.ranking import BETTER, FEW, FIRST, NONE, SEPARATED, SOME, best_claim, contest, pair_claim, winners
from flipcore.stats.ranking.order import order
from flipcore.stats.ranking.ways import scores
from tests.stats.ranking.worlds import readouts

OWN, TOKEN, LOWER = ("identity", "base", "regex"), ("identity", "base", "first_token"), ("label_set", "lower", "regex")
STRONG, MIDDLE, WEAK = "1" * 190 + "0" * 10, "1" * 185 + "0" * 15, "1" * 60 + "0" * 140


def contest_of(right, closed=None, reference="regex"):
    return contest(order(scores(readouts(right))), reference, closed)


def alike(**letters):
    return contest_of({model: {OWN: one, TOKEN: one, LOWER: one} for model, one in letters.items()})


def test_a_model_that_is_better_than_every_other_is_named_with_the_gap_to_the_second():
    claim = best_claim(alike(A=STRONG, B=WEAK))
    assert claim.is_made and claim.assertion is BETTER and claim.outcome == FIRST
    assert claim.text.startswith("A is better than every other model: +65.0 pp [") and "over B, p < .001." in claim.text


def test_two_that_are_not_separated_share_the_first_place():
    claim = best_claim(alike(A=STRONG, B=MIDDLE, C=WEAK))
    assert claim.is_made and claim.outcome == SOME
    assert claim.text == "First is A or B, not separated at 95 %; the other 1 is behind."
    assert claim.numbers["best"] == {"A": 1, "B": 1, "C": 3} and claim.numbers["worst"] == {"A": 2, "B": 2, "C": 3}


def test_nothing_is_asserted_where_no_pair_is_separated_and_below_ten_items():
    claim = best_claim(alike(A=STRONG, B=MIDDLE))
    assert not claim.is_made and claim.outcome == NONE and "A leads B by +2.5 pp" in claim.text
    few = best_claim(alike(A="111111111", B="000000000"))
    assert not few.is_made and few.outcome == FEW and few.text.endswith("too few items for a claim (9).")
    assert not best_claim(alike(A=STRONG)).is_made


def test_a_pair_says_under_how_many_ways_it_leads_and_how_many_separate_it():
    one = contest_of({"A": {OWN: STRONG, TOKEN: WEAK, LOWER: STRONG}, "B": {OWN: MIDDLE, TOKEN: STRONG, LOWER: WEAK}})
    claim = pair_claim(one, 0, 1)
    assert claim.is_made and claim.assertion is SEPARATED
    assert claim.text == "A leads B under 2 of 3 ways of asking and reading; 1 separates them at 95 % for A, 1 for B."
    same = pair_claim(alike(A=STRONG, B=MIDDLE), 0, 1)
    assert not same.is_made and same.text == "A leads B under 3 of 3 ways of asking and reading; no way separates them at 95 %."


def test_the_winner_of_each_way_is_counted():
    one = contest_of({"A": {OWN: STRONG, TOKEN: WEAK, LOWER: STRONG}, "B": {OWN: MIDDLE, TOKEN: STRONG, LOWER: WEAK}})
    claim = winners(one)
    assert not claim.asserted and claim.text == "Of 3 ways of asking and reading, ranked first: A 2, B 1."
    assert claim.numbers["firsts"]["B"] == ["own prompt, first token"]


@pytest.mark.parametrize("closed", [{"regex": "The judge has not passed."}, {"label_set": "Not reviewed."}])
def test_a_closed_gate_takes_its_ways_out_of_both_families(closed):
    ways = {OWN: STRONG, TOKEN: STRONG, LOWER: STRONG}
    one = contest_of({"A": ways, "B": dict.fromkeys(ways, WEAK)}, closed)
    assert one.claimed.tolist() == ([False, True, False] if "regex" in closed else [True, True, False])
    best = best_claim(one)
    assert best.is_made is ("regex" not in closed)
    assert "regex" not in closed or best.text == "Not claimed: The judge has not passed."
    assert np.isnan(one.at_all[2]).all() and f"of {one.claimed.sum()} ways" in pair_claim(one, 0, 1).text


def test_with_every_gate_closed_no_pair_is_claimed():
    one = contest_of({"A": {OWN: STRONG}, "B": {OWN: WEAK}}, {"regex": "The judge has not passed."})
    assert pair_claim(one, 0, 1).text == "Not claimed: The judge has not passed."


def test_a_way_with_more_than_a_twentieth_cut_off_is_left_out():
    cut = "c" * 30 + WEAK[:170]
    one = contest_of({"A": {OWN: STRONG, TOKEN: STRONG}, "B": {OWN: cut, TOKEN: WEAK}})
    assert one.claimed.tolist() == [False, True]
    assert "cut off under 1 of 2 ways" in best_claim(one).text and not best_claim(one).is_made


def test_a_missing_reference_extractor_is_said():
    assert "reference extractor" in best_claim(contest_of({"A": {OWN: STRONG}, "B": {OWN: WEAK}}, reference="judge")).text
