import pytest

from flipcore.annotation.paraphrases.ratings import agreement, agreement_warnings, blind, disagreements, ratings, retained
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, verdict_row
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs

PAIRS = made_pairs(40)


def said(reviewer, words, **rest):
    """Verdicts of a reviewer on the first pairs; "n" says that the meaning is lost, "h" that it is harder."""
    of = {"y": SAME, "n": OTHER, "h": SAME | {"difficulty": "no"}}
    return [verdict_row(pair, reviewer, of[word], **rest) for pair, word in zip(PAIRS, words, strict=False)]


def test_ratings_are_one_row_a_reviewer_with_gaps():
    reviewers, pairs, table = ratings(said("Bea", "yn") + said("Ada", "y"), "meaning")
    assert reviewers == ["Ada", "Bea"] and len(pairs) == 2 and table == [["yes", None], ["yes", "no"]]


def test_kept_means_all_that_was_asked():
    assert ratings(said("Ada", "ynh"), "kept")[2] == [["yes", "no", "no"]]
    assert ratings(said("Ada", "ynh"), "difficulty")[2] == [["yes", "yes", "no"]]


def test_agreement_by_hand():
    # agreement 3 of 4; Cohen: chance (2/4 * 3/4 + 2/4 * 1/4) = 1/2, kappa 1/2
    found = agreement(said("Ada", "yynn") + said("Bea", "yyyn"), "meaning")
    assert found.alpha.raw == pytest.approx(0.75) and found.pairwise[0][2].estimate.value == pytest.approx(0.5)
    assert found.alpha.n_items == found.fleiss.n_items == 4


def test_a_settled_pair_is_no_evidence_of_agreement():
    verdicts = said("Ada", "yn") + said("Bea", "nn") + said("Cem", "y", note="the same", rule_version=ADJUDICATION)
    assert len(blind(verdicts)) == 4
    assert {name for first, second, _ in agreement(verdicts, "kept").pairwise for name in (first, second)} == {"Ada", "Bea"}


def test_two_who_never_differ_and_one_answer_that_prevails_are_pointed_out():
    same = agreement(said("Ada", "yn" * 20) + said("Bea", "yn" * 20), "meaning")
    assert any("Ada and Bea" in text and "loaded twice" in text for text in agreement_warnings({"meaning": same}))
    prevailing = agreement(said("Ada", "y" * 38 + "nn") + said("Bea", "y" * 37 + "nyn"), "meaning")
    assert any("One answer prevails on meaning" in text for text in agreement_warnings({"meaning": prevailing}))


def test_disagreements_name_the_checks_and_the_open_ones_come_first():
    verdicts = said("Ada", "yyh") + said("Bea", "nyn") + said("Cem", "y", note="the same", rule_version=ADJUDICATION)
    found = disagreements(verdicts)
    # pair 2 is struck by both, for different reasons: no disagreement about keeping
    assert [one.pair_id for one in found] == [PAIRS[0]["pair_id"]]
    assert found[0].checks == ["meaning"] and found[0].settled["reviewer"] == "Cem"
    more = disagreements(verdicts + said("Dan", "yn"))
    assert [one.settled is None for one in more] == [True, False]


def test_retention_by_both_rules_on_both_sets_of_checks():
    # pair 0: y y n (majority keeps, not all), pair 1: y y y, pair 2: h h y (kept on the source's two checks only)
    verdicts = said("Ada", "yyh") + said("Bea", "yyh") + said("Cem", "nyy")
    every = ("meaning", "difficulty", "solution_path")
    assert [retained(verdicts, rule).value for rule in ("majority", "unanimous")] == [pytest.approx(1), pytest.approx(2 / 3)]
    assert [retained(verdicts, rule, every).value for rule in ("majority", "unanimous")] == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    ]
    assert retained(verdicts, "unanimous").n == 3 and "unanimous" in retained(verdicts, "unanimous").note
