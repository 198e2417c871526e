"""The sentences of `check`: the verdict on a new run, its place, and why there is none."""

from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims.regression import (
    ASSERTIONS,
    CHECK_FAILS,
    CHECK_PASSES,
    CHECK_SHOWS_LOSS,
    Names,
    loss_claim,
    verdict_claim,
    why_not_judged,
)
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.score.regression import ERROR, FAIL, MEAN_ERROR, PASS, UNDECIDED, Bounds, Verdict

RUNS = "new against old"


def loss_of(p_large=0.5, p_loss=0.5, p_small=0.5, n=100, n_tasks=1, is_judged=True, is_clustered=False):
    return SimpleNamespace(
        n=n,
        n_fell=7,
        n_rose=3,
        p_small=p_small,
        p_large=p_large,
        p_loss=p_loss,
        is_shown=p_loss < ERROR,
        is_judged=is_judged,
        is_clustered=is_clustered,
        mean=SimpleNamespace(degrees=np.full(n_tasks, 5.0)),
    )


def bounds_of(outcome, worst="", best="", is_failing=(False,), has_all_tasks=True, **loss):
    """The same verdict three times, but where `worst` or `best` is another."""
    mean = loss_of(n_tasks=len(is_failing), **loss)
    verdicts = [Verdict(word or outcome, mean, (mean,) * len(is_failing), is_failing) for word in (outcome, worst, best)]
    return Bounds(*verdicts, has_all_tasks=has_all_tasks)


def names_of(n_tasks=1, missing_tasks=(), n_absent=0):
    return Names("old", "new", "5 points", tuple("abc"[:n_tasks]), missing_tasks, n_absent)


def test_a_check_errs_in_one_of_twenty_on_one_side():
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS} == {(0.05, 1)}


@pytest.mark.parametrize(("n_tasks", "mean"), [(1, ""), (2, " on the mean of 2 tasks")])
def test_a_pass_excludes_a_loss_of_the_margin(n_tasks, mean):
    claim = verdict_claim(bounds_of(PASS, is_failing=(False,) * n_tasks), names_of(n_tasks))
    assert claim.text == f"PASS: {RUNS}, a loss of 5 points or more is excluded{mean}."
    assert claim.is_made and claim.assertion is CHECK_PASSES and claim.outcome == PASS and claim.detail == ""


@pytest.mark.parametrize(
    ("is_failing", "p_mean", "place"),
    [
        ((True,), 0.5, ""),
        ((False, True, False), MEAN_ERROR, " on b"),
        ((True, False, True), MEAN_ERROR, " on 2 of 3 tasks"),
        ((True, False, True), MEAN_ERROR - 0.001, " on the mean of 3 tasks"),
        ((False, False), MEAN_ERROR - 0.001, " on the mean of 2 tasks"),
    ],
)
def test_a_fail_names_where_more_than_the_margin_is_lost(is_failing, p_mean, place):
    claim = verdict_claim(bounds_of(FAIL, is_failing=is_failing, p_large=p_mean), names_of(len(is_failing)))
    assert claim.text == f"FAIL: {RUNS}, a loss of more than 5 points is shown{place}."
    assert claim.is_made and claim.assertion is CHECK_FAILS and claim.outcome == FAIL
    assert claim.numbers["failing"] == [float(fails) for fails in is_failing]


@pytest.mark.parametrize(
    ("bounds", "names", "reason"),
    [
        ({}, {}, "a loss of 5 points is neither shown nor excluded"),
        (
            {"is_failing": (False,) * 2},
            {"n_tasks": 2},
            "a loss of 5 points is neither shown nor excluded on the mean of 2 tasks",
        ),
        ({}, {"missing_tasks": ("x",)}, "x is missing from the new run"),
        ({}, {"missing_tasks": ("x", "y")}, "x and 1 further task are missing from the new run"),
        ({}, {"missing_tasks": ("x", "y", "z")}, "x and 2 further tasks are missing from the new run"),
        ({"outcome": PASS, "worst": UNDECIDED}, {"n_absent": 1}, "1 item lacks a score in one run"),
        ({"outcome": FAIL, "best": UNDECIDED}, {"n_absent": 2}, "2 items lack scores in one run"),
        ({"is_judged": False, "n": 3}, {}, "3 shared items are too few to judge by"),
    ],
)
def test_an_undecided_check_says_why(bounds, names, reason):
    claim = verdict_claim(bounds_of(**{"outcome": UNDECIDED} | bounds), names_of(**names))
    assert claim.text == f"UNDECIDED: {RUNS}, {reason}." and not claim.is_made and claim.outcome == UNDECIDED


@pytest.mark.parametrize("outcome", [PASS, FAIL, UNDECIDED])
def test_clusters_are_a_caution_of_every_verdict(outcome):
    claim = verdict_claim(bounds_of(outcome, is_failing=(outcome == FAIL,), is_clustered=True), names_of())
    assert claim.detail == CLUSTERS_LIKE_SEEN


def test_a_verdict_keeps_the_numbers_it_rests_on():
    left_out, worst, best = (Verdict(UNDECIDED, loss_of(p_small=p, p_large=p + 0.5), (), ()) for p in (0.1, 0.2, 0.3))
    numbers = verdict_claim(Bounds(left_out, worst, best), names_of()).numbers
    assert numbers == {
        "n_fell": 7,
        "n_rose": 3,
        "p_small": 0.1,
        "p_large": 0.6,
        "p_small_at_worst": 0.2,
        "p_large_at_best": 0.8,
        "failing": [],
    }


@pytest.mark.parametrize(
    ("bounds", "sentence", "outcome"),
    [
        ({"outcome": UNDECIDED, "p_loss": 0.04}, "Some loss is shown.", "loss"),
        ({"outcome": PASS, "p_loss": 0.04}, "A loss is shown, within the margin.", "loss"),
        ({"outcome": UNDECIDED}, "No loss is shown.", "no loss shown"),
        ({"outcome": PASS}, "", "no loss shown"),
    ],
)
def test_a_loss_of_any_size_is_said_beside_the_verdict(bounds, sentence, outcome):
    claim = loss_claim(bounds_of(**bounds))
    assert (claim.text, claim.outcome, claim.assertion) == (sentence, outcome, CHECK_SHOWS_LOSS)
    assert claim.is_made == (outcome == "loss")
    assert claim.numbers == {"p_loss": bounds.get("p_loss", 0.5), "p_loss_at_best": bounds.get("p_loss", 0.5)}


@pytest.mark.parametrize(
    "bounds",
    [
        {"outcome": FAIL, "is_failing": (True,)},
        {"outcome": UNDECIDED, "is_judged": False},
        {"outcome": UNDECIDED, "has_all_tasks": False},
    ],
)
def test_no_loss_is_spoken_of_where_the_verdict_says_enough(bounds):
    claim = loss_claim(bounds_of(**bounds, p_loss=0.04))
    assert claim.text == "" and claim.assertion is None and not claim.is_made


@pytest.mark.parametrize(
    ("n", "degrees", "reason"),
    [
        (1, (5.0,), "1 shared item is too few to judge by"),
        (MIN_N - 1, (0.0,), f"{MIN_N - 1} shared items are too few to judge by"),
        (MIN_N, (5.0, 0.0), "a task has too few shared items to judge the mean by"),
        (1_000, (1.0,), "the 1,000 shared items come in too few clusters to judge by"),
    ],
)
def test_a_loss_that_cannot_be_judged_says_why(n, degrees, reason):
    assert why_not_judged(SimpleNamespace(n=n, mean=SimpleNamespace(degrees=np.array(degrees)))) == reason
