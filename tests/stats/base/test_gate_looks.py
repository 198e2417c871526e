"""A gate that is looked at after every pair: its false openings, counted exactly, and the evidence that holds at every look."""

import numpy as np
import pytest

from flipcore.claims.gates import looks_claim, paraphrases_claim
from flipcore.stats.base.gate_looks import ANY_LOOK, evidence, false_openings, holds_at_any_look
from flipcore.stats.base.gate_rules import ACCEPTANCE, MANY_LOOKS, _opens, paraphrase_gate


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
    assert not looks_claim(barely).is_made and "14 % of sources" in paraphrases_claim(barely).detail
    assert (
        looks_claim(clearly).is_made and paraphrases_claim(clearly).detail == "This holds however often the gate was looked at."
    )
    assert looks_claim(shut).text == "" and paraphrases_claim(shut).detail == ""
