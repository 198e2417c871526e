"""Which model scores higher by people: the sentence follows p over all pairs, a closed gate withholds it, few labels say how many more."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims import corrected_ranks
from flipcore.claims.claim import Claim
from flipcore.claims.corrected_ranks import (
    FEW,
    HIGHER,
    HIGHER_BY_PEOPLE,
    UNDECIDED,
    Labelled,
    PairByPeople,
    _lacking_labels,
    _pair_claim,
    pairs_by_people,
    ranks_by_people,
)
from flipcore.core.randomness import generator
from flipcore.reports.score import RanksByPeople
from flipcore.stats.base.estimate import Estimate, p_text
from flipcore.stats.score.corrected import corrected


def models(rates, n_labels=200, error=0.15, n=300):
    rng, out = generator(2), []
    units = np.arange(n).astype(str)
    for name, rate in rates.items():
        right = rng.random(n) < rate
        people = np.full(n, np.nan)
        at = rng.permutation(n)[:n_labels]
        people[at] = right[at]
        out.append(Labelled(name, corrected(right != (rng.random(n) < error), people, units), units))
    return out


def test_the_best_of_three_is_said_to_score_higher_and_the_level_two_are_undecided():
    pairs = pairs_by_people(models({"b": 0.5, "a": 0.9, "c": 0.5}))
    assert [one.first for one in pairs] == ["a", "a", pairs[2].first] and pairs[0].claim.sentence.startswith(
        "By people, a scores"
    )
    assert [one.claim.outcome for one in pairs] == [HIGHER, HIGHER, UNDECIDED] and pairs[0].claim.is_made
    for one in pairs:
        assert (one.p <= 0.05) == (one.joint.low > 0) and "(extractor alone: " in one.claim.text
    ranks = ranks_by_people(pairs)
    assert ranks.is_made and ranks.sentence.startswith("Ranks by people: a 1,") and ranks.numbers["best"]["b"] == 2
    assert ranks_by_people(pairs[:1]) is None


def test_a_closed_gate_withholds_the_sentence():
    closed = [replace(model, why_not="the judge has not passed.") for model in models({"a": 0.9, "b": 0.5})]
    pairs = pairs_by_people(closed)
    assert pairs[0].claim.text == "Not claimed: the judge has not passed." and not pairs[0].claim.is_made


def test_one_withheld_score_withholds_only_the_pairs_with_it():
    labelled = models({"a": 0.9, "b": 0.5, "c": 0.5})
    labelled[2] = replace(labelled[2], why_not="c left many answers unread.")
    pairs = pairs_by_people(labelled)
    withheld = {frozenset((pair.first, pair.second)): pair.claim.withheld for pair in pairs}
    assert withheld[frozenset("ab")] == "" and pairs_by_people(labelled[:2])[0].claim.is_made
    assert withheld[frozenset("ac")] == withheld[frozenset("bc")] == "c left many answers unread."
    assert ranks_by_people(pairs).withheld == "c left many answers unread."


def test_few_labels_and_few_disagreements_compare_nothing_yet():
    (five,) = pairs_by_people(models({"a": 0.9, "b": 0.5}, n_labels=5))
    assert five.claim.outcome == FEW and "a has 5 labels, " in five.claim.text
    (few,) = pairs_by_people(models({"a": 0.9, "b": 0.5}, n_labels=100, error=0.04))
    assert few.claim.outcome == FEW and "label about" in few.claim.text and not few.claim.asserted


def test_three_models_with_few_labels_are_one_sentence_and_no_table():
    by_people = RanksByPeople(tuple(pairs_by_people(models({"a": 0.9, "b": 0.5, "c": 0.5}, n_labels=5))))
    assert [claim.text for claim in by_people.claims] == ["Too few people's labels to compare 3 pairs of models."]
    assert by_people.table_rows() == []


def test_a_pair_whose_p_is_1_has_bonferronis_share_of_alpha(monkeypatch):
    monkeypatch.setattr(corrected_ranks, "holm_p", lambda gaps: np.ones(len(gaps)))
    pairs = pairs_by_people(models({"a": 0.5, "b": 0.5, "c": 0.5}))
    for pair in pairs:
        wanted = pair.difference.estimate(1 - 0.05 / 3)
        assert (pair.joint.low, pair.joint.high) == (wanted.low, wanted.high) and pair.joint.has_interval
    assert len(pairs) == 3


@pytest.mark.parametrize(
    ("n_labels", "words"),
    [(9, "a has 9 labels, 0 of them misread"), (10, "label about 30 more of a"), (1, "a has 1 label, 0 of them misread")],
)
def test_a_model_with_few_labels_says_how_many_and_one_with_ten_how_many_more(n_labels, words):
    score = SimpleNamespace(has_normal_limits=False, n_labels=n_labels, n_more=30, n_disagreements=0)
    assert _lacking_labels(Labelled("a", score, np.arange(3))) == words


def test_a_model_that_needs_no_more_labels_says_how_many_are_misread():
    score = SimpleNamespace(has_normal_limits=False, n_labels=1_200, n_more=0, n_disagreements=1_100)
    assert _lacking_labels(Labelled("a", score, np.arange(3))) == "a has 1,200 labels, 1,100 of them misread"
    score.has_normal_limits = True
    assert _lacking_labels(Labelled("a", score, np.arange(3))) == ""


def a_pair(first, second, p, *, asserted, withheld=""):
    """Two models of which nothing but the claim on their pair is read."""
    claim = Claim(HIGHER_BY_PEOPLE, HIGHER if asserted else UNDECIDED, "A pair.", asserted=asserted, withheld=withheld)
    return PairByPeople(first, second, difference=None, joint=None, p=p, raw=0.0, claim=claim)


def test_ranks_by_people_are_those_of_the_claimed_leads():
    pairs = [
        a_pair("a", "b", 0.01, asserted=True),
        a_pair("a", "c", 0.01, asserted=True),
        a_pair("b", "c", 0.5, asserted=False),
    ]
    ranks = ranks_by_people(pairs)
    assert ranks.is_made and ranks.outcome == "ranked" and ranks.text == "Ranks by people: a 1, b 2 to 3, c 2 to 3."
    assert ranks.numbers == {"best": {"a": 1, "b": 2, "c": 2}, "worst": {"a": 1, "b": 3, "c": 3}}
    none = ranks_by_people([replace(pair, claim=pairs[2].claim) for pair in pairs])
    assert (none.outcome, none.is_made, none.text) == (UNDECIDED, False, "By people, no model is shown to rank above another.")
    assert ranks_by_people([*pairs[:2], replace(pairs[2], p=np.nan)]) is None and ranks_by_people(pairs[:1]) is None
    withheld = a_pair("b", "c", 0.5, asserted=False, withheld="The judge has not passed.")
    assert ranks_by_people([*pairs[:2], withheld]).text == "Not claimed: The judge has not passed."


@pytest.mark.parametrize(("p", "is_higher"), [(0.05, True), (0.051, False)])
def test_the_sentence_of_a_pair_has_its_interval_its_p_and_the_extractors_lead(p, is_higher):
    first, second = models({"a": 0.9, "b": 0.5})
    joint = Estimate(0.2, 0.1, 0.3, 0.95, "t", 200, None)
    claim = _pair_claim(first, second, joint, p, -0.051, 0.95)
    start = "a scores higher than b" if is_higher else "undecided whether a and b differ"
    shown = ".05" if is_higher else ".051"
    assert claim.text == f"By people, {start}: +20.0 points [+10.0, +30.0], {p_text(p)} (extractor alone: −5.1 points)."
    assert shown in claim.text.replace(".050", ".05") and claim.is_made == is_higher
    assert claim.outcome == (HIGHER if is_higher else UNDECIDED) and claim.numbers == {"difference": joint, "p": p}
    assert _pair_claim(first, second, joint, p, 0.0, 0.9).is_made
    clusters = _pair_claim(first, second, joint, np.nan, 0.0, 0.95)
    assert (
        clusters.outcome == FEW
        and clusters.text == "Too few people's labels to compare a and b: too few families of questions."
    )


def test_models_stand_by_their_score_and_one_without_a_score_comes_last():
    labelled = [*models({"none": 0.7}, n_labels=0), *models({"b": 0.5, "a": 0.9})]
    assert np.isnan(labelled[0].score.estimate.value)
    ordered = [(pair.first, pair.second) for pair in pairs_by_people(labelled)]
    assert ordered == [("a", "b"), ("a", "none"), ("b", "none")]


def test_each_claim_errs_in_one_of_twenty():
    assert {(assertion.error_rate, assertion.sides) for assertion in corrected_ranks.ASSERTIONS} == {(0.05, 2)}
