"""10,000 resamples of T, G and A for 12,000 items, 4 axes and 4 readouts, against the loops that one would write first; and the limits
of all of them at every level that the threshold board offers, against an Estimate each.

All in one process and one run; only equality is asserted, the ratios are printed.
"""

import time

import numpy as np
import pytest
from scipy import stats

from flipcore.core.randomness import generator
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.stats.base.intervals import SIGNED, UNIT
from flipcore.stats.base.joint_means import JointMeans
from tests.lab.simulations.planted import deviations, pair_rates

N_ITEMS, N_AXES, N_READOUTS, N_BOOT = 12_000, 4, 4, 10_000
N_LOOP, N_SCIPY = 200, 100  # the slow ways run this often and are scaled up


@pytest.fixture(scope="module")
def columns():
    """(items, 48) item rates of T, G, A by axis and readout, the first readout being the reference of the others. A tenth of
    the items lack the last axis."""
    rng = generator(0, "benchmark")
    table = []
    for _ in range(N_AXES):
        reference = deviations(N_ITEMS, 4, 0.1, rng)
        g = pair_rates(reference)
        for readout in range(N_READOUTS):
            t = pair_rates(reference ^ deviations(N_ITEMS, 4, 0.25, rng)) if readout else g
            table += [t, g, t - g]
    table = np.column_stack(table)
    table[: N_ITEMS // 10, -3 * N_READOUTS :] = np.nan
    return table


def looped(columns, n_boot, seed):
    """One draw of items a replicate, every column at once: numpy's own best, replicate by replicate."""
    rng = np.random.default_rng(seed)
    n = len(columns)
    return np.array([np.nanmean(columns[rng.integers(0, n, size=n)], axis=0) for _ in range(n_boot)])


def looped_without_gaps(columns, n_boot, seed):
    """The same without the care for missing items: as fast as a loop can be."""
    rng = np.random.default_rng(seed)
    n = len(columns)
    return np.array([columns[rng.integers(0, n, size=n)].mean(axis=0) for _ in range(n_boot)])


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


@pytest.mark.soak
def test_the_joint_bootstrap_agrees_with_the_loop_and_takes_a_fraction_of_its_time(columns, capsys):
    joint = JointMeans(columns, 1, N_BOOT)
    limits, ours = timed(lambda: joint.limits("percentile", [0.95]))
    loop_reps, loop = timed(lambda: looped(columns, N_LOOP, 1))
    complete = np.nan_to_num(columns)
    quick_reps, quick = timed(lambda: looped_without_gaps(complete, N_LOOP, 1))
    reps, ours_complete = timed(lambda: JointMeans(complete, 1, N_BOOT).replicates)
    moving = complete.std(axis=0) > 0
    # the loop's spread of N_LOOP replicates has a relative standard error of 1/sqrt(2 N_LOOP) = .05
    assert reps[:, moving].std(axis=0) == pytest.approx(quick_reps[:, moving].std(axis=0), rel=0.25)
    assert joint.replicates[:, moving].std(axis=0) == pytest.approx(loop_reps[:, moving].std(axis=0), rel=0.25)
    assert reps[:, moving].std(axis=0) * np.sqrt(N_ITEMS) == pytest.approx(complete[:, moving].std(axis=0), rel=0.03)
    found, scipy_one = timed(
        lambda: stats.bootstrap(
            (complete[:, 0],), np.mean, n_resamples=N_SCIPY, method="percentile", batch=50, rng=np.random.default_rng(1)
        )
    )
    assert found.confidence_interval.low == pytest.approx(limits[0, 0, 0], abs=3 * joint.se[0])
    scaled = {
        "loop, items missing": (loop * N_BOOT / N_LOOP, ours),
        "loop, none missing": (quick * N_BOOT / N_LOOP, ours_complete),
        "scipy, column by column": (scipy_one * N_BOOT / N_SCIPY * columns.shape[1], ours),
    }
    with capsys.disabled():
        print(
            f"\n{columns.shape[1]} columns, {N_ITEMS:,} items, {N_BOOT:,} resamples: percentile limits in {ours:.2f} s, "
            f"replicates without gaps in {ours_complete:.2f} s"
        )
        for what, (slow, fast) in scaled.items():
            print(f"  {what:24} {slow:7.1f} s (scaled up)  {slow / fast:6.1f} times as long")


@pytest.mark.soak
def test_limits_at_every_level_of_the_board_take_a_fraction_of_an_estimate_each(columns, capsys):
    joint, bounds = JointMeans(columns[:1_999], 1, 199), [UNIT, UNIT, SIGNED] * (columns.shape[1] // 3)
    of, arrays = timed(lambda: joint.intervals("default", LEVELS, bounds))
    table, objects = timed(lambda: [joint.estimates("default", [level], bounds) for level in LEVELS])
    assert of.low.tolist() == [[one.low for (one,) in at_level] for at_level in table]
    with capsys.disabled():
        print(
            f"\n{columns.shape[1]} columns at {len(LEVELS)} levels: as arrays in {arrays:.3f} s, "
            f"as Estimates, level by level, {objects / arrays:.0f} times as long"
        )
