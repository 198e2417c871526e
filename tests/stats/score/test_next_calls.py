"""Designs of the next calls, by hand: half-widths, the best split of a budget, and what it may cost in the worst case."""

import math

import pytest
from scipy.stats import chi2, t

from flipcore.core.errors import BadInput
from flipcore.stats.score.cells import score_cells
from flipcore.stats.score.error_bar import Components, error_bar
from flipcore.stats.score.next_calls import (
    MAX_RUNS,
    MAX_WORDINGS,
    Design,
    assumed_components,
    best_design,
    careful_components,
    designs_after,
    gains,
    half_width,
    has_few_prompts,
    upper_components,
)
from tests.stats.score.tables import rows_of

PARTS = Components(0.1, 0.02, 0.03, 0.04)


def test_the_half_width_is_satterthwaites_t_of_both_mean_squares():
    question, wording, residual = 0.1 / 20, 0.02 / 5, 0.03 / 100 + 0.04 / 200
    variance = question + wording + residual
    df = variance**2 / ((question + residual) ** 2 / 19 + (wording + residual) ** 2 / 4)
    for level in (0.95, 0.8):
        assert half_width(PARTS, 20, 5, 2, level) == pytest.approx(t.ppf(0.5 + level / 2, df) * math.sqrt(variance))
    assert half_width(PARTS, 20, 5, 2) == half_width(PARTS, 20, 5, 2, 0.95)


def test_without_a_part_of_wordings_only_questions_have_degrees_of_freedom():
    alike = Components(0.1, 0.0, 0.0, 0.0)
    assert half_width(alike, 20, 5, 1) == pytest.approx(t.ppf(0.975, 19) * math.sqrt(0.1 / 20))
    assert half_width(alike, 1, 5, 1) == pytest.approx(t.ppf(0.975, 1) * math.sqrt(0.1))
    assert half_width(Components(0.0, 0.0, 0.0, 0.0), 20, 5, 1) == 0
    assert half_width(Components(0.0, 0.1, 0.0, 0.0), 20, 1, 1) == pytest.approx(t.ppf(0.975, 1) * math.sqrt(0.1))


def test_further_calls_are_spent_on_wordings_questions_or_reruns():
    designs = designs_after(PARTS, 20, 5, 2)
    sizes = {name: (design.n_questions, design.n_wordings, design.n_runs) for name, design in designs.items()}
    assert sizes == {"wordings": (20, 7.5, 2), "questions": (30, 5, 2), "reruns": (20, 5, 3)}
    assert all(design.n_calls == 300 for design in designs.values()) and designs == designs_after(PARTS, 20, 5, 2, 100, 0.95)
    assert designs["questions"].half_width == half_width(PARTS, 30, 5, 2)
    assert designs_after(PARTS, 20, 5, 2, 40, 0.8)["reruns"] == Design(20, 5, 2.4, half_width(PARTS, 20, 5, 2.4, 0.8))


@pytest.mark.parametrize(
    ("parts", "n_calls", "most", "size"),
    [
        (Components(0.1, 0.0, 0.0, 0.0), 64, 1_319, (21, 3, 1)),  # wordings change nothing
        (Components(0.1, 0.0, 0.0, 0.0), 64, 10, (10, 3, 1)),  # of equal widths the fewest calls
        (Components(0.0, 0.1, 0.0, 0.0), 64, 1_319, (2, 32, 1)),
        (Components(0.0, 0.1, 0.0, 0.0), 1_000, 2, (2, MAX_WORDINGS, 1)),
        (Components(0.0, 0.0, 0.0, 0.1), 6, 10, (2, 3, 1)),
        (Components(0.1, 0.0, 0.0, 0.5), 10_000, 2, (2, MAX_WORDINGS, MAX_RUNS)),
    ],
)
def test_the_best_design_is_the_narrowest_of_all(parts, n_calls, most, size):
    best = best_design(parts, n_calls, most)
    assert (best.n_questions, best.n_wordings, best.n_runs) == size
    assert best.half_width == half_width(parts, *size)
    narrow = best_design(parts, n_calls, most, level=0.8)
    assert narrow.half_width == half_width(parts, narrow.n_questions, narrow.n_wordings, narrow.n_runs, 0.8)


def test_below_three_wordings_of_two_questions_there_is_no_design():
    with pytest.raises(BadInput, match="5 calls are fewer than 3 wordings of two questions; allow at least 6"):
        best_design(PARTS, 5, 10)
    with pytest.raises(BadInput, match="1,000 calls"):
        best_design(PARTS, 1_000, 1)


@pytest.mark.parametrize(("n_calls", "n_wordings"), [(63, 3), (64, 4), (124, 4), (125, 5)])
def test_a_design_is_not_much_wider_than_an_equal_split_in_the_worst_case(n_calls, n_wordings):
    """Should wordings be all that matters, an equal split of a cube of calls asks in as many as its root."""
    careless, worst = Components(0.1, 0.0, 0.0, 0.0), Components(0.0, 1.0, 0.0, 0.0)
    assert best_design(careless, n_calls, 1_319).n_wordings == 3
    assert best_design(careless, n_calls, 1_319, worst=worst).n_wordings == n_wordings
    assert best_design(careless, n_calls, 1_319, worst=careless).n_wordings == 3


def test_where_no_design_is_near_the_equal_split_the_narrowest_stays():
    careless, worst = Components(0.1, 0.0, 0.0, 0.0), Components(1.0, 0.0, 0.0, 0.0)
    assert best_design(careless, 1_000, 3, worst=worst) == best_design(careless, 1_000, 3)


def test_few_prompts_are_taken_at_their_upper_limit():
    five, six = (error_bar(score_cells(rows_of(n=30, m=m))) for m in (5, 6))
    assert has_few_prompts(five) and not has_few_prompts(six)
    assert careful_components(six) == six.components
    square, df = five.squares.with_df("wordings")
    upper = (square * df / chi2.ppf(0.05, df) - five.squares.residual) / 30
    careful = careful_components(five)
    assert careful.wordings == pytest.approx(upper) and careful.questions == five.components.questions
    assert careful.wordings > five.components.wordings
    worst = (square * df / chi2.ppf(0.001, df) - five.squares.residual) / 30
    assert upper_components(five).wordings == pytest.approx(worst)
    assert gains(five) == designs_after(careful, 30, 5, five.cells.mean_runs)
    assert gains(five, 50)["questions"].n_questions == pytest.approx(30 + 50 / (5 * five.cells.mean_runs))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0.9, 0.19, 0.0, 0.0), "At a score of 0.90 no more than 0.18 of answers can change with the wording."),
        ((0.8, 0.1, 0.08, 0.11), "Two runs and the spread of wordings alone make 0.10 of answers change"),
    ],
)
def test_assumptions_that_cannot_be_are_refused(numbers, words):
    with pytest.raises(BadInput, match=words):
        assumed_components(*numbers)


def test_assumptions_at_the_edge_of_what_can_be_have_parts_of_0():
    parts = assumed_components(0.5, 0.5, 0.25, 0.0)
    assert (parts.questions, parts.wordings, parts.interaction, parts.reruns) == (0, 0, 0.125, 0.125)
    assert assumed_components(0.5, 0.25, 0.25, 0.0).interaction == 0
    one = assumed_components(0.8, 0.15, 0.08, 0.05)
    assert (one.questions, one.wordings, one.interaction, one.reruns) == pytest.approx((0.085, 0.0025, 0.0325, 0.04))


@pytest.mark.parametrize(("n_families", "is_few"), [(5, True), (6, False)])
def test_few_clusters_take_the_part_of_questions_at_its_upper_limit(n_families, is_few):
    rows = rows_of(n=30, m=6)
    bar = error_bar(score_cells(rows.assign(family=rows["item_id"].str[1:].astype(int) % n_families)))
    assert bar.n_effective == pytest.approx(n_families)
    square, _ = bar.squares.with_df("questions")
    upper = (square * (n_families - 1) / chi2.ppf(0.05, n_families - 1) - bar.squares.residual) / 6
    wanted = max(upper, bar.components.questions) if is_few else bar.components.questions
    careful = careful_components(bar)
    assert careful.questions == pytest.approx(wanted) and careful.wordings == bar.components.wordings
    assert (careful.questions > bar.components.questions) == is_few
