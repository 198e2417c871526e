"""Which model scores higher by people: the sentence follows p over all pairs, a closed gate withholds it, few labels say how many more."""

from dataclasses import replace

import numpy as np

from flipcore.claims import corrected_ranks
from flipcore.claims.corrected_ranks import FEW, HIGHER, UNDECIDED, Labelled, pairs_by_people, ranks_by_people
from flipcore.core.randomness import generator
from flipcore.reports.score import RanksByPeople
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
