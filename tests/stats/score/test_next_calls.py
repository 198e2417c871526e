"""Advice on the next call, against an equal split."""

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.score.cells import score_cells
from flipcore.stats.score.error_bar import components, error_bar, mean_squares
from flipcore.stats.score.next_calls import best_design, gains, half_width
from tests.stats.score.tables import rows_of


@pytest.mark.parametrize("n_calls", [300, 3000])
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


def test_a_design_of_more_calls_has_a_narrower_bar():
    bar = error_bar(score_cells(rows_of(n=60)))
    now = half_width(bar.components, 60, 5, 3)
    assert now == pytest.approx(bar.half_widths["wordings"], rel=0.02)
    assert all(one.half_width < now for one in gains(bar).values())
    with pytest.raises(BadInput, match="allow at least 6"):
        best_design(bar.components, 5, 10)
