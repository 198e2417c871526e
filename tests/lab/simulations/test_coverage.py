"""Simulated coverage on the stated grid (T >= .08, n >= 150) is not below .93, and the tables say what they count."""

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from tests.lab.simulations.coverage import (
    KINDS,
    QUANTITIES,
    coverage_row,
    coverage_table,
    main,
    markdown,
    slider_row,
    watching_row,
)
from tests.lab.simulations.planted import PlantedTruth


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("truth", [PlantedTruth(0.31, 0.155), PlantedTruth(0.30, 0.10), PlantedTruth(0.16, 0.08)])
def test_every_interval_covers_on_the_stated_grid(truth):
    row = coverage_row(truth, 150, 2000, n_boot=499, seed=1)
    for kind in KINDS:
        for quantity, covered in zip(QUANTITIES, row.covered[kind], strict=True):
            assert binomtest(int(covered), row.n_sims, 0.93, alternative="less").pvalue > 0.001, (kind, quantity)


@pytest.mark.simulation
@pytest.mark.slow
def test_what_a_page_prints_covers_at_26_items_too():
    row = coverage_row(PlantedTruth(0.16, 0.08), 26, 2000, kinds=["default"], n_boot=499, seed=2)
    for covered in row.covered["default"]:
        assert binomtest(int(covered), row.n_sims, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.simulation
@pytest.mark.slow
def test_rules_decide_as_often_as_statistics_section_9_says():
    # A - G = .10, n = 150: seed non-overlap .708, paired bootstrap .835, paired t .827 (600 simulations)
    row = coverage_row(PlantedTruth(0.30, 0.10), 150, 2000, kinds=[], n_boot=499, seed=3)
    for count, stated in zip(row.decided.values(), (0.708, 0.835, 0.827), strict=True):
        counts = [[count, row.n_sims - count], [round(600 * stated), 600 - round(600 * stated)]]
        assert fisher_exact(counts).pvalue > 0.001
    null = coverage_row(PlantedTruth(0.31, 0.155), 50, 2000, kinds=[], n_boot=499, seed=4)
    assert binomtest(null.decided["paired (t)"], 2000, 0.03, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_a_broken_interval_would_be_caught():
    # studentised intervals at n = 12 and T = .08 cover far less than .93: the test above can fail
    row = coverage_row(PlantedTruth(0.08, 0.03), 12, 200, kinds=["studentized"], n_boot=199)
    assert binomtest(int(row.covered["studentized"][0]), 200, 0.93, alternative="less").pvalue < 0.001


@pytest.mark.slow
def test_misses_on_both_sides_are_counted():
    row = coverage_row(PlantedTruth(0.30, 0.10), 150, 1000, kinds=["clt_cluster"], n_boot=99, level=0.5)
    for covered in row.covered["clt_cluster"]:
        assert binomtest(int(covered), 1000, 0.5).pvalue > 0.001


def test_the_tables_are_written_row_by_row():
    rows = coverage_table(5, sizes=(26,), truths=(PlantedTruth(0.30, 0.10),), n_boot=99)
    text = markdown(rows, [slider_row(2), watching_row(0.3, 3)])
    assert text.count("| 0.3, 0.1, 0.2, 0.1 | 26 |") == 5 and "5 data sets a row" in text
    assert "rate 0.3" in text and "bounded sequence" in text
    with pytest.raises(ValueError, match="at least 10"):
        coverage_row(PlantedTruth(0.3, 0.1), 5, 1)


def test_single_looks_fail_where_sequences_hold():
    row = watching_row(0.3, 200)
    assert row.wrong["single intervals"] > 0.15 > row.wrong["bounded sequence"]
    assert np.isfinite(list(row.wrong.values())).all()


def test_the_command_prints_the_tables(capsys):
    main(["--simulations", "1"])
    assert capsys.readouterr().out.startswith("# Simulated coverage and size\n\n1 data sets a row")
