"""All detectors of one model in one claim: what they see, by how many kinds of evidence, and what is left open."""

import math

import pytest

from flipcore.claims.claim import Claim
from flipcore.claims.memory import AFTER_RL, ANY_DETECTOR, WHY_AFTER_RL, Witness, adjusted, after_rl, n_tests, summary_claim
from flipcore.claims.memory_gap import LOSES_MORE, MEMORY, NO_CLAIM, NONE_SHOWN, UNDECIDED
from flipcore.claims.memory_score import FRESH_IS_LOWER, HIGHER, SCORE_HIGHER
from flipcore.claims.memory_sets import BEYOND, SET_BEYOND
from flipcore.stats.base.multiplicity import holm

SETS = {"problems": "80 problems", "options": "40 options"}


def witness(outcome, items="problems", evidence="losses", *, asserted=True, withheld="", assertion=SET_BEYOND):
    return Witness(items, evidence, Claim(assertion, outcome, "Said.", asserted=asserted, withheld=withheld))


NONE = witness(NONE_SHOWN, asserted=False)
LOSSES, REWRITES = witness(MEMORY), witness(MEMORY, evidence="rewritten questions")
ON_OPTIONS = witness(MEMORY, items="options", evidence="order of options")


@pytest.mark.parametrize(
    ("verdicts", "text", "detail"),
    [
        (
            [LOSSES],
            "The model remembers these questions. One kind of evidence shows it on the 80 problems.",
            "80 problems: losses. 1 of 1 detectors see it. Compared with 1,200 control items.",
        ),
        (
            [LOSSES, LOSSES, NONE],  # two detectors of one kind of evidence
            "The model remembers these questions. One kind of evidence shows it on the 80 problems.",
            "80 problems: losses. 2 of 3 detectors see it. Compared with 1,200 control items.",
        ),
        (
            [REWRITES, ON_OPTIONS, LOSSES],
            "The model remembers these questions. Two kinds of evidence agree on the 80 problems, and one shows it on the 40 options.",
            "80 problems: rewritten questions and losses. 40 options: order of options. 3 of 3 detectors see it. Compared with 1,200 "
            "control items.",
        ),
        (
            [ON_OPTIONS, NONE],
            "The model remembers these questions. One kind of evidence shows it on the 40 options.",
            "40 options: order of options. 1 of 2 detectors see it. Compared with 1,200 control items.",
        ),
        (
            [LOSSES, witness(BEYOND, evidence="rewritten questions")],  # no more than the weakest verdict says
            "These questions are unlike their controls. Two kinds of evidence agree on the 80 problems.",
            "80 problems: losses and rewritten questions. 2 of 2 detectors see it. Compared with 1,200 control items.",
        ),
        (
            [witness(LOSES_MORE)],
            "These questions are unlike their controls. One kind of evidence shows it on the 80 problems.",
            "80 problems: losses. 1 of 1 detectors see it. Compared with 1,200 control items.",
        ),
    ],
)
def test_each_kind_of_evidence_counts_once(verdicts, text, detail):
    claim = summary_claim(verdicts, SETS, 1_200)
    assert (claim.text, claim.detail) == (text, detail)
    assert claim.is_made and claim.assertion is ANY_DETECTOR
    assert claim.outcome == (MEMORY if text.startswith("The model remembers") else BEYOND)


@pytest.mark.parametrize(
    ("verdicts", "counts"),
    [
        ([NONE], "0 of 1 detectors see it."),
        ([NONE, witness(UNDECIDED, asserted=False)], "0 of 2 detectors see it; 1 is undecided or not claimed."),
        (
            [witness(MEMORY, withheld="Templates."), witness(UNDECIDED, asserted=False)],
            "0 of 2 detectors see it; 2 are undecided or not claimed.",
        ),
        ([witness(MEMORY, asserted=False)], "0 of 1 detectors see it."),
        ([witness("within")], "0 of 1 detectors see it."),  # that a gap is small is asserted, and no memory
    ],
)
def test_where_no_detector_sees_memory_it_says_how_many_are_open(verdicts, counts):
    claim = summary_claim(verdicts, SETS, 60)
    assert claim.text == "No memory shown in the 80 problems and 40 options." and not claim.is_made
    assert claim.detail == f"{counts} Compared with 60 control items." and claim.outcome == "none shown"


@pytest.mark.parametrize(("withheld", "is_said"), [("", True), ("Another model.", False)])
def test_a_published_score_that_is_higher_is_said_and_is_no_detector(withheld, is_said):
    higher = witness(HIGHER, assertion=SCORE_HIGHER, withheld=withheld)
    note = f" {FRESH_IS_LOWER}" if is_said else ""
    alone = summary_claim([higher], SETS, 60)
    assert alone.text == f"No detector of memory was run on the 80 problems and 40 options.{note}" and alone.outcome == NO_CLAIM
    assert summary_claim([higher, NONE], SETS, 60).text == f"No memory shown in the 80 problems and 40 options.{note}"
    seen = summary_claim([higher, LOSSES], SETS, 60)
    assert seen.text.endswith(f"on the 80 problems.{note}") and seen.detail.startswith("80 problems: losses. 1 of 1 detectors")


def test_eight_kinds_of_evidence_are_a_number():
    many = [witness(MEMORY, evidence=f"evidence {k}") for k in range(8)]
    assert "8 kinds of evidence agree on the 80 problems." in summary_claim(many, SETS, 60).text
    assert "Six kinds of evidence" in summary_claim(many[:6], SETS, 60).text


def test_gaps_and_sets_are_corrected_together_and_the_p_of_a_gap_is_doubled():
    gaps, sets = adjusted([0.01, 0.6, math.nan], [0.01, 0.04])
    assert [*gaps, *sets] == pytest.approx(holm([0.02, 1.0, math.nan, 0.01, 0.04]), nan_ok=True)
    assert len(gaps) == 3 and sets == pytest.approx([0.04, 0.08]) and n_tests([*gaps, *sets]) == 4
    assert adjusted([], []) == ([], []) and n_tests([math.nan]) == 0


def test_after_reinforcement_learning_only_a_detector_that_found_nothing_is_qualified():
    none = after_rl(Claim(SET_BEYOND, NONE_SHOWN, "No memory shown.", detail="A mark."))
    assert none.text == f"No memory shown. {AFTER_RL}" and none.detail == f"A mark. {WHY_AFTER_RL}"
    assert after_rl(Claim(SET_BEYOND, NONE_SHOWN, "No memory shown.")).detail == WHY_AFTER_RL
    for claim in (LOSSES.claim, Claim(SET_BEYOND, NO_CLAIM, "No verdict.", withheld="Templates.")):
        assert after_rl(claim) is claim
