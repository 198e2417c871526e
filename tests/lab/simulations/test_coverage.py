"""Simulated coverage on the stated grid (T >= .08, n >= 150) is not below .93, that of every displayed interval is not below .90, and the
tables say what they count."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from flipcore.stats.base.accuracy import accuracy
from tests.lab.simulations import coverage
from tests.lab.simulations.coverage import (
    DISPLAYED,
    KINDS,
    PAGE,
    QUANTITIES,
    World,
    coverage_row,
    coverage_table,
    displayed,
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
    cells = [
        displayed("accuracy", World("a quarter of 8", 50, rate, samples, 0.5), 4) for rate in (0.1, 0.5) for samples in (1, 5)
    ]
    text = markdown({"accuracy": cells}, rows, [slider_row(2), watching_row(0.3, 3)])
    assert text.count("| 0.3, 0.1, 0.2, 0.1 | 26 |") == 1 and "5 data sets a row" in text
    assert "4 data sets a cell, 4 cells, seed 0" in text and text.count("| accuracy | a quarter of 8 | 47 | 8.2 |") == 1
    assert "rate 0.3" in text and "bounded sequence" in text
    with pytest.raises(ValueError, match="at least 10"):
        coverage_row(PlantedTruth(0.3, 0.1), 5, 1)


def test_single_looks_fail_where_sequences_hold():
    row = watching_row(0.3, 200)
    assert row.wrong["single intervals"] > 0.15 > row.wrong["bounded sequence"]
    assert np.isfinite(list(row.wrong.values())).all()


def test_the_command_prints_the_tables(capsys, monkeypatch):
    monkeypatch.setattr(coverage, "displayed_table", lambda n, seed: {"accuracy": [displayed("accuracy", UNEVEN, n, seed)]})
    main(["--simulations", "1"])
    assert capsys.readouterr().out.startswith(
        "# Simulated coverage and size\n\nWritten by `python -m tests.lab.simulations.coverage"
    )


UNEVEN = World("6 with .8 of the items", 100, 0.1, 5, 0.9)


def test_no_displayed_interval_of_the_kept_table_holds_the_truth_less_than_it_may():
    """Of 17.1 and 18.9: from 3 effective families on an interval holds .90 at least, below there is none."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").split("## How often")[0].splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    assert {cell[0] for cell in cells} == set(DISPLAYED) and {cell[1] for cell in cells} == set(coverage.SHAPES)
    for quantity, families, n, effective, *shares in cells:
        for share in shares:
            held = re.match(r"(1|\.\d+) at", share)
            assert (held is None) == (float(effective) < 3 or share == "–"), (quantity, families, n)
            assert held is None or float(held[1]) >= 0.9, (quantity, families, n, share)


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("quantity", DISPLAYED)
@pytest.mark.parametrize("world", [UNEVEN, World("none", 20, 0.1, 1, 0.0), World("a quarter of 8", 100, 0.05, 1, 0.9)])
def test_a_displayed_interval_holds_the_truth(quantity, world):
    found = displayed(quantity, world if quantity != "inflation" else replace(world, samples=1), 300, seed=5)
    assert binomtest(found.n_held, found.n_shown, 0.9, alternative="less").pvalue > 0.001


def test_what_is_simulated_at_once_must_be_what_the_page_gives(monkeypatch):
    monkeypatch.setattr(coverage, "accuracy", lambda x, families: accuracy(x))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        displayed("accuracy", UNEVEN, 10)


def test_of_too_few_families_nothing_is_displayed():
    assert {displayed(one, World("one with .75 of the items", 50, 0.3, 1, 0.5), 50).n_shown for one in DISPLAYED} == {0}


def test_a_displayed_interval_that_is_too_short_would_be_seen(monkeypatch):
    of_items = DISPLAYED["accuracy"]._replace(page=lambda world, columns: accuracy(columns[0]), every=lambda *_: None)
    monkeypatch.setitem(coverage.DISPLAYED, "accuracy", of_items)
    found = displayed("accuracy", UNEVEN, 200)
    assert found.n_shown == 200 and binomtest(found.n_held, 200, 0.9, alternative="less").pvalue < 0.001
