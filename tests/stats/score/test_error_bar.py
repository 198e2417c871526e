"""The whole error bar: against definitions, against another library, and on a public crossed table."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.score.additivity import way_gaps
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import (
    PARTS,
    Components,
    MeanSquares,
    components,
    error_bar,
    limits_of_score,
    mean_squares,
    shares,
)
from flipcore.stats.score.next_calls import assumed_components, best_design, designs_after, gains, half_width, upper_components
from tests.lab.simulations.score_coverage import World, draw
from tests.stats.score.tables import rows_of


def test_mean_squares_are_those_of_an_analysis_of_variance():
    rows = rows_of()
    squares = mean_squares(score_cells(rows))
    means = rows.groupby(["item_id", "wording"], as_index=False)["score"].mean()
    table = anova_lm(ols("score ~ C(item_id) + C(wording)", means).fit())
    got = (squares.questions, squares.wordings, squares.residual)
    assert np.allclose(got, table["mean_sq"].to_numpy())
    assert (squares.df_questions, squares.df_wordings, squares.df_residual, squares.df_reruns) == (11, 4, 44, 120)
    assert squares.reruns == pytest.approx(rows.groupby(["item_id", "wording"])["score"].var().mean())


def test_components_come_back_from_a_large_table():
    rng = generator(3, "large")
    n, m, s = 1500, 60, 2
    cell = rng.normal(0, 0.5, (n, 1)) + rng.normal(0, 0.2, (1, m)) + rng.normal(0, 0.3, (n, m))
    runs = cell[:, :, None] + rng.normal(0, 0.4, (n, m, s))
    mean = runs.mean(axis=2)
    cells = ScoreCells(mean, np.full((n, m), s), ((runs - mean[:, :, None]) ** 2).sum(axis=2))
    parts = components(mean_squares(cells), n, m, s)
    found = (parts.questions, parts.wordings, parts.interaction, parts.reruns)
    assert np.allclose(found, (0.25, 0.04, 0.09, 0.16), rtol=0.25)
    assert parts.questions == pytest.approx(0.25, rel=0.08)
    assert not error_bar(cells).by_wordings.low < -1


@pytest.mark.parametrize(
    ("questions", "wordings", "residual", "reruns", "parts"),
    [
        # 5 questions, 4 wordings, 2 runs: (8 - 3)/4, (13 - 3)/5, 3 - 2/2, 2
        (8.0, 13.0, 3.0, 2.0, (1.25, 2.0, 2.0, 2.0)),
        (1.0, 2.0, 3.0, 8.0, (0.0, 0.0, 0.0, 8.0)),
        (8.0, 13.0, 3.0, math.nan, (1.25, 2.0, 3.0, 0.0)),
    ],
)
def test_a_part_that_is_smaller_than_the_noise_in_it_is_none(questions, wordings, residual, reruns, parts):
    squares = MeanSquares(questions, wordings, residual, reruns, 4, 3, 12, 20)
    found = components(squares, 5, 4, 2)
    assert (found.questions, found.wordings, found.interaction, found.reruns) == pytest.approx(parts, abs=1e-12)


def test_with_one_wording_its_part_belongs_to_the_questions():
    squares = MeanSquares(3.0, math.nan, math.nan, 2.0, 4, 0, 0, 20)
    assert components(squares, 5, 1, 2) == Components(2.0, 0.0, 0.0, 2.0)
    assert components(replace(squares, questions=0.5), 5, 1, 2) == Components(0.0, 0.0, 0.0, 2.0)


def test_with_one_question_a_family_it_is_students_t_and_with_one_wording_wordings_are_not_measured():
    rows = rows_of(m=1, s=1)
    bar = error_bar(score_cells(rows))
    x = rows["score"].to_numpy()
    t = clustered_mean(x, np.arange(x.size), bounds=None)
    assert bar.half_widths["questions"] == pytest.approx((t.high - t.low) / 2)
    assert t.se == pytest.approx(x.std(ddof=1) / math.sqrt(x.size))
    assert not bar.by_wordings.has_interval
    assert bar.by_wordings.note.startswith("The score counts one prompt only")
    assert not bar.estimate("reruns").has_interval
    assert shares(bar) == {}
    with pytest.raises(BadInput, match="Ask in 3 ways or more"):
        gains(bar)


def test_two_wordings_have_no_interval_over_wordings():
    bar = error_bar(score_cells(rows_of(m=2)))
    assert not bar.by_wordings.has_interval
    assert bar.by_questions.has_interval


def test_each_way_needs_a_column_of_gaps_and_none_is_left_out():
    with pytest.raises(ValueError, match="argument"):
        way_gaps(np.zeros((12, 2)), ["a"], np.arange(12))


def test_limits_stay_within_the_scale_and_reruns_are_no_sample_of_answers():
    assert limits_of_score(1.0, 0.0, 19.0, 20, 0.95)[1] == 1.0
    assert limits_of_score(1.0, 0.0, 19.0, 20, 0.95)[0] < 0.9
    assert limits_of_score(0.9, 1e-6, 900.0, math.inf, 0.95)[0] == pytest.approx(0.898, abs=2e-3)
    assert limits_of_score(0.9, 0.04, 9.0, 20, 0.95, (-math.inf, math.inf))[1] > 1.3


@pytest.mark.parametrize("end", [1.0, 5.0])
def test_a_mean_that_was_cut_to_an_end_of_the_scale_and_still_varies_has_limits_that_say_nothing(end):
    assert limits_of_score(end, 0.01, 9.0, math.inf, 0.95, (1.0, 5.0)) == (1.0, 5.0)
    near = limits_of_score(end + 0.001 * (3 - end), 0.01, 9.0, math.inf, 0.95, (1.0, 5.0))
    assert near[1] - near[0] > 3  # no jump: close to the end it is nearly the whole scale


@pytest.mark.parametrize("scale", [(0.0, 1.0), (1.0, 5.0)])
@pytest.mark.parametrize(
    ("share", "variance", "n", "n_effective"),
    [
        (0.3, 0.21 / 25, 100, 25),
        (0.3, 0.21 / 25, 10, 10),
        (0.3, 0.21 / 25, math.inf, 25),
        (0.0, 0.0, 20, 20),
        (1.0, 0.0, 20, 20),
    ],
)
def test_limits_of_a_score_are_where_it_is_t_standard_errors_away(share, variance, n, n_effective, scale):
    """Wilson's definition: at a limit p, (m - p)² is t² p (1 - p)/n."""
    start, width = scale[0], scale[1] - scale[0]
    limits = limits_of_score(start + width * share, width**2 * variance, 9.0, n, 0.95, scale)
    low, high = ((limit - start) / width for limit in limits)
    t = stats.t.ppf(0.975, 9)
    for limit in (low, high):
        assert (share - limit) ** 2 == pytest.approx(t**2 * limit * (1 - limit) / n_effective, abs=1e-12)
    assert 0 <= low <= share + 1e-9 and share - 1e-9 <= high <= 1 and high - low > 0.1


def test_limits_of_a_difference_are_students_t_cut_at_its_bounds():
    half = stats.t.ppf(0.975, 9) * 0.1
    signed = -1.0, 1.0
    assert limits_of_score(0.3, 0.01, 9.0, 20, 0.95, signed) == pytest.approx((0.3 - half, 0.3 + half))
    assert limits_of_score(0.9, 0.01, 9.0, 20, 0.95, signed) == pytest.approx((0.9 - half, 1.0))
    assert limits_of_score(-0.9, 0.01, 9.0, 20, 0.95, signed) == pytest.approx((-1.0, half - 0.9))


def test_no_limit_lies_beyond_the_scale_by_rounding():
    # (1 + z/2 + z/2)/(1 + z) is 1, and rounds to more for some numbers of answers
    limits = []
    for n in range(10, 100):
        limits += [limits_of_score(mean, 0.0, n - 1.0, n, 0.95) for mean in (0.0, 1.0)]
    assert min(map(min, limits)) == 0.0 and max(map(max, limits)) == 1.0


def test_grades_are_as_wide_on_any_scale_and_no_wider_than_they_vary():
    shares = 0.6 + 0.02 * np.random.default_rng(0).standard_normal((60, 4))
    bars = [
        error_bar(ScoreCells(low + (high - low) * shares, np.ones((60, 4), dtype=int), np.zeros((60, 4)), scale=(low, high)))
        for low, high in ((0, 1), (1, 5), (0, 100))
    ]
    for name in ("questions", "wordings", "elsewhere"):
        ends = [((one.low - low) / (high - low), (one.high - low) / (high - low)) for one, (low, high) in
                zip((bar.estimate(name) for bar in bars), ((0, 1), (1, 5), (0, 100)), strict=True)]  # fmt: skip
        assert ends[1] == pytest.approx(ends[0]) and ends[2] == pytest.approx(ends[0])
    one = bars[0].by_questions
    assert one.high - one.low < 0.03  # Wilson's limits on 240 answers right or wrong are .12 apart


def test_grades_at_the_top_have_limits_for_what_was_not_drawn():
    top = np.array([5.0] * 39 + [4.0])[:, None]
    one = error_bar(ScoreCells(top, np.ones((40, 1), dtype=int), np.zeros((40, 1)), scale=(1, 5))).by_questions
    assert one.high == pytest.approx(5, abs=0.01) and 4.5 < one.low < 4.9  # one more 1 would be a mean of 4.88
    alike = error_bar(ScoreCells(np.full((40, 1), 0.7), np.ones((40, 1), dtype=int), np.zeros((40, 1)))).by_questions
    assert alike.low < 0.7 < alike.high
    unknown = error_bar(ScoreCells(np.full((40, 1), 7.0), np.ones((40, 1), dtype=int), np.zeros((40, 1)))).by_questions
    assert not unknown.has_interval and unknown.note == "No interval: all scores are equal."


def test_one_answer_more_is_no_lead():
    """Of sixty answers each, one alone differed, and Wilson's limits of a difference that is nowhere below 0 left 0 out."""
    names = [str(i) for i in range(20)], ["a", "b", "c"]
    right = np.ones((20, 3))
    cells = [ScoreCells(one, np.ones((20, 3), dtype=int), np.zeros((20, 3)), *names) for one in (right, right.copy())]
    cells[1].mean[4, 1] = 0.0
    bar = error_bar(cells[0].minus(cells[1]))
    assert bar.value > 0 and bar.by_wordings.low < 0 and bar.by_questions.low < 0


def test_families_count_once():
    rows = rows_of(n=40)
    twice = pd.concat([rows, rows.assign(item_id=rows["item_id"] + "b")])
    families = twice.assign(family=twice["item_id"].str[:3])
    alone, together = error_bar(score_cells(rows)), error_bar(score_cells(families))
    assert together.half_widths["questions"] == pytest.approx(alone.half_widths["questions"], rel=1e-9)
    assert together.by_questions.n == 40
    assert error_bar(score_cells(twice)).half_widths["questions"] < 0.8 * alone.half_widths["questions"]


def test_shares_add_to_one_and_are_found_again():
    bar = error_bar(score_cells(rows_of(n=60)))
    parts = shares(bar, seed=1)
    assert list(parts) == list(PARTS)
    assert sum(one.value for one in parts.values()) == pytest.approx(1)
    assert all(one.low <= one.value <= one.high and one.seed == 1 for one in parts.values())
    assert shares(bar, seed=1) == parts
    once = shares(error_bar(score_cells(rows_of(n=60, s=1))))
    assert math.isnan(once["reruns"].value)
    assert sum(one.value for name, one in once.items() if name != "reruns") == pytest.approx(1)


@pytest.mark.stand_in("test_the_figures_of_a_small_table_by_hand")
def test_the_figures_of_a_public_table(shared_data):
    rows = pd.read_csv(shared_data / "crossed" / "ticket-multi-model-x-prompt.csv")
    rows = rows.rename(columns={"input_id": "item_id", "prompt_id": "wording", "correct": "score"})
    found = {}
    for model, part in rows.groupby("model"):
        bar = error_bar(score_cells(part))
        names = ("questions", "wordings", "elsewhere")
        found[model] = [round(bar.by_questions.value, 3), *(round(bar.half_widths[name], 3) for name in names)]
        found[model].append(round(bar.df["wordings"], 1))
    assert found == {"gemma3:4b": [0.829, 0.071, 0.113, 0.299, 17.6], "gemma4:e2b": [0.863, 0.057, 0.096, 0.26, 15.7]}


def test_the_figures_of_a_small_table_by_hand():
    mean = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]] * 3)
    squares = mean_squares(ScoreCells(mean, np.ones((12, 3), dtype=int), np.zeros((12, 3))))
    # questions 2/3, 1, 1/3, 0, three times each, about 1/2; wordings 1/2, 1/4, 3/4
    assert squares.questions == pytest.approx(3 * 3 * (1 / 36 + 1 / 4 + 1 / 36 + 1 / 4) / 11)
    assert squares.wordings == pytest.approx(12 * (0 + 1 / 16 + 1 / 16) / 2)
    total = 36 * 0.25
    assert squares.residual == pytest.approx((total - 11 * squares.questions - 2 * squares.wordings) / 22)
    bar = error_bar(ScoreCells(mean, np.ones((12, 3), dtype=int), np.zeros((12, 3))))
    variance = (squares.questions + squares.wordings - squares.residual) / 36
    df = variance**2 / ((squares.questions / 36) ** 2 / 11 + (squares.wordings / 36) ** 2 / 2)
    assert bar.df["wordings"] == pytest.approx(df)
    assert bar.half_widths["wordings"] == pytest.approx(stats.t.ppf(0.975, df) * math.sqrt(variance))
    assert bar.half_widths["elsewhere"] == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(4 / 3 * squares.wordings / 12))


# Rows of runs -> a complete table of cells.


def test_missing_cells_leave_out_a_wording_that_few_were_asked_in_and_then_questions():
    rows = rows_of(n=12)
    rows = rows[~((rows["wording"] == "w4") & (rows["item_id"] > "q03"))]
    rows = rows[~((rows["wording"] == "w1") & (rows["item_id"] == "q07"))]
    cells = score_cells(rows)
    assert cells.shape == (11, 4)
    assert (cells.n_dropped_questions, cells.dropped_wordings) == (1, ["w4"])
    with pytest.raises(BadInput, match="Ask the missing ones first"):
        error_bar(score_cells(rows.assign(score=math.nan)))


def test_the_difference_of_two_models_is_read_cell_by_cell():
    first, second = rows_of(n=30), rows_of(n=30, seed=1)
    second["score"] = np.where(np.arange(len(second)) % 4, first["score"], second["score"])
    less = score_cells(first).minus(score_cells(second))
    bar = error_bar(less)
    per_cell = [one.groupby(["item_id", "wording"])["score"].mean() for one in (first, second)]
    assert bar.by_questions.value == pytest.approx((per_cell[0] - per_cell[1]).mean())
    assert less.bounds == (-1, 1)
    swapped = error_bar(score_cells(second).minus(score_cells(first)))
    assert swapped.by_wordings.low == pytest.approx(-bar.by_wordings.high)


def test_unequal_reruns_keep_their_own_weight():
    rows = rows_of(n=20)
    rows = rows[(rows["sample"] == 0) | (rows["item_id"] < "q10")]
    bar = error_bar(score_cells(rows))
    assert bar.n_runs == pytest.approx(1.5)
    assert bar.squares.df_reruns == 10 * 5 * 2
    # the variance of a mean of cells: that of a run over the runs of each cell, over cells squared
    spread = rows.groupby(["item_id", "wording"])["score"].agg(["var", "count"])
    variance = spread["var"].mean() * (1 / spread["count"]).sum() / (20 * 5) ** 2
    assert bar.half_widths["reruns"] == pytest.approx(stats.t.ppf(0.975, 100) * math.sqrt(variance))


# Advice on the next call, against an equal split.


@pytest.mark.slow
@pytest.mark.parametrize("n_calls", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_advice_is_never_worse_than_an_equal_split(n_calls):
    worse, better, n_gain = [], 0, 0
    for seed in range(40):
        parts = components(mean_squares(score_cells(rows_of(n=60, m=6, s=3, seed=seed))), 60, 6, 3)
        best = best_design(parts, n_calls, 1319)
        each = int(np.cbrt(n_calls) + 1e-9)
        equal = half_width(parts, each, each, each)
        worse.append(best.half_width / equal)
        better += best.half_width < 0.95 * equal
        n_gain += 1
        assert best.n_calls <= n_calls
    assert max(worse) <= 1.05
    assert better >= 0.9 * n_gain


def test_wordings_that_happen_to_lie_close_do_not_advise_to_ask_in_few():
    """Four of them: the best split of 1,000 calls, by the estimate alone, asks 333 questions in three."""
    rng = np.random.default_rng(1)
    level = 3 + rng.normal(0, 0.1, (300, 1)) + rng.normal(0, 0.2, (300, 4))
    bar = error_bar(ScoreCells(level - level.mean(axis=0) + 3, np.ones((300, 4), dtype=int), np.zeros((300, 4))))
    assert best_design(bar.components, 1000, 1319).n_wordings == 3
    apart = error_bar(ScoreCells(level + [0.0115, -0.0115, 0.0115, -0.0115], np.ones((300, 4), dtype=int), np.zeros((300, 4))))
    careful, worst = best_design(apart.components, 1000, 1319, worst=upper_components(apart)), upper_components(apart)
    assert worst.wordings > 10 * apart.components.wordings > 0
    assert half_width(worst, careful.n_questions, careful.n_wordings, careful.n_runs) <= 1.05 * half_width(worst, 10, 10, 10)
    careless = best_design(apart.components, 1000, 1319)
    assert half_width(worst, careless.n_questions, careless.n_wordings, careless.n_runs) > 1.05 * half_width(worst, 10, 10, 10)


@pytest.mark.slow
def test_three_prompts_that_happen_to_agree_do_not_send_the_next_call_to_questions():
    """Prompts are six times the part of questions; by the estimate alone questions stand first in a fifth of studies."""
    world, n_first = World(300, 3, 1, 0.3), {"estimate": 0, "upper limit": 0}
    for seed in range(200):
        bar = error_bar(draw(world, np.random.default_rng(seed))[0])
        by_estimate = designs_after(bar.components, 300, 3, 1)
        for name, designs in (("estimate", by_estimate), ("upper limit", gains(bar))):
            n_first[name] += designs["questions"].half_width < designs["wordings"].half_width
    assert n_first["estimate"] > 0.15 * 200 and n_first["upper limit"] <= 0.05 * 200


def test_a_design_of_more_calls_has_a_narrower_bar():
    bar = error_bar(score_cells(rows_of(n=60, m=6)))
    now = half_width(bar.components, 60, 6, 3)
    assert now == pytest.approx(bar.half_widths["wordings"], rel=0.02)
    assert all(one.half_width < now for one in gains(bar).values())
    with pytest.raises(BadInput, match="allow at least 6"):
        best_design(bar.components, 5, 10)


def test_assumptions_make_components_that_give_them_back():
    parts = assumed_components(0.8, 0.15, 0.08, 0.05)
    assert sum(vars(parts).values()) == pytest.approx(0.8 * 0.2)  # of one answer
    assert 2 * (parts.wordings + parts.interaction + parts.reruns) == pytest.approx(0.15) and 2 * parts.reruns == pytest.approx(
        0.08
    )
    for numbers, why in (((0.95, 0.2, 0.1, 0.01), "no more than 0.10"), ((0.8, 0.1, 0.1, 0.05), "raise that share")):
        with pytest.raises(BadInput, match=why):
            assumed_components(*numbers)


def test_a_sum_smaller_than_its_parts_still_has_an_interval():
    rng = np.random.default_rng(0)
    noise = rng.normal(3, 1, (20, 3))
    level = noise - noise.mean(axis=1, keepdims=True) + 3 + np.array([0.0, 0.4, 0.9])  # all questions are equally hard
    bar = error_bar(ScoreCells(level, np.ones((20, 3), dtype=int), np.zeros((20, 3))))
    assert bar.df["wordings"] >= 2 and bar.by_wordings.has_interval


def test_a_way_that_does_more_than_its_changes_has_a_gap_and_the_others_none():
    rng = np.random.default_rng(0)
    gaps = rng.normal(0, 0.3, (60, 3)) + np.array([0.0, -0.2, 0.0])
    gaps[:5, 2] = math.nan
    names = np.arange(60).astype(str)
    found = way_gaps(gaps, ["a", "b", "c"], names)
    assert [one.excludes_zero() for one in found.values()] == [False, True, False]
    assert found["c"].value == pytest.approx(np.nanmean(gaps[:, 2])) and found["c"].n == 55
    half = stats.t.ppf(1 - 0.05 / 6, 59) * gaps[:, 1].std(ddof=1) / math.sqrt(60)
    assert found["b"].low == pytest.approx(found["b"].value - half, abs=0.01)
    assert way_gaps(np.full((60, 1), math.nan), ["a"], names) == {}


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_scores_that_are_all_equal_leave_nothing_to_split(score):
    """It ended with a warning of numpy about a slice of nothing."""
    cells = ScoreCells(np.full((12, 3), score), np.full((12, 3), 2), np.zeros((12, 3)))
    parts = shares(error_bar(cells))
    assert list(parts) == list(PARTS) and all(math.isnan(share.value) for share in parts.values())
    assert {share.note for share in parts.values()} == {"All scores are equal: there is no variance to split."}


@pytest.mark.parametrize(("n_asked", "kept"), [(6, ["w0", "w1"]), (5, ["w0"])])
def test_a_wording_that_half_of_the_questions_were_asked_in_is_kept(n_asked, kept):
    rows = rows_of(n=12, m=2)
    rows = rows[(rows["wording"] == "w0") | (rows["item_id"] < f"q{n_asked:02}")]
    cells = score_cells(rows)
    assert (list(cells.wordings), cells.n_dropped_questions) == (kept, 12 - n_asked if len(kept) == 2 else 0)


@pytest.mark.parametrize(
    ("squares", "parts"),
    [
        # 2 runs a cell: 8 - 3, 13 - 3, 3 - 2/2 and 2/2; parts below the noise are none, and noise is at most the residual.
        ((8.0, 13.0, 3.0, 2.0, 11, 2, 22, 36), (5, 10, 2, 1)),
        ((8.0, 13.0, 3.0, math.nan, 11, 2, 22, 0), (5, 10, 3, math.nan)),
        ((1.0, 2.0, 3.0, 8.0, 11, 2, 22, 36), (0, 0, 0, 3)),
    ],
)
def test_shares_are_what_is_left_of_mean_squares_without_their_noise(squares, parts):
    cells = ScoreCells(np.random.default_rng(1).random((12, 3)), np.full((12, 3), 2), np.full((12, 3), 0.1))
    found = shares(replace(error_bar(cells), squares=MeanSquares(*squares)))
    expected = [part / np.nansum(parts) for part in parts]
    assert [found[name].value for name in PARTS] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_limits_of_a_share_are_quantiles_of_the_ratio_of_mean_squares(level):
    """Prompts that score alike leave 1 - 1/F to questions, where F of 11 and 22 degrees of freedom is drawn about its estimate."""
    mean = np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]] * 6) / 4 + np.arange(12)[:, None] / 16
    cells = ScoreCells(mean, np.ones((12, 3), dtype=int), np.zeros((12, 3)))
    bar = replace(error_bar(cells), level=level)
    ratio = bar.squares.questions / bar.squares.residual
    share = shares(bar, seed=4)["questions"]
    assert bar.squares.wordings == pytest.approx(0, abs=1e-12) and share.value == pytest.approx(1 - 1 / ratio)
    below = [stats.f.cdf(1 / (1 - limit) / ratio, 22, 11) for limit in (share.low, share.high)]
    assert below == pytest.approx([0.5 - level / 2, 0.5 + level / 2], abs=0.007) and share.level == level
