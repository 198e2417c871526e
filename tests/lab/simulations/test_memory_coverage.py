"""A small run of the simulated table: no interval holds the truth less often, and no test rejects a true null more often, than
a binomial test allows; and the table kept here has its rows."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.lab.simulations.memory_coverage import CoverageRow, main, markdown, rows

KEPT = Path(__file__).with_name("memory_coverage.md")


@pytest.fixture(scope="module")
def found():
    return list(rows(40, seed=1))


@pytest.mark.simulation
@pytest.mark.slow
def test_nothing_recommended_breaks_its_promise(found):
    for row in found:
        if "source" in row.what or np.isnan(row.promised):
            continue
        if row.kind == "interval":
            assert binomtest(row.count, row.n_sims, row.promised - 0.02, alternative="less").pvalue > 1e-3, row
        else:
            assert binomtest(row.count, row.n_sims, row.promised + 0.01, alternative="greater").pvalue > 1e-3, row


def test_the_kept_table_has_the_same_rows_and_breaks_no_promise():
    names = list(rows(1, seed=1))
    lines = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in KEPT.read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| what")
    ]
    assert [(what, data) for what, data, *_ in lines] == [
        (row.what, row.setting) for kind in ("interval", "test") for row in names if row.kind == kind
    ]
    for what, _, n, promised, share in lines:
        if "source" not in what and promised != "–":
            k, n = round(float(share) * int(n.replace(",", ""))), int(n.replace(",", ""))
            side = {"less": float(promised) - 0.02} if float(promised) > 0.5 else {"greater": float(promised) + 0.01}
            ((alternative, level),) = side.items()
            assert binomtest(k, n, level, alternative=alternative).pvalue > 1e-3, what


def test_a_broken_promise_would_be_seen():
    row = CoverageRow("interval", "x", "y", 0.95, 30, 40)
    assert binomtest(row.count, row.n_sims, 0.93, alternative="less").pvalue < 1e-3
    assert "| x | y | 40 | .950 | .750 |" in markdown([row])


def test_the_command_prints_both_tables(capsys):
    main(["1"])
    said = capsys.readouterr().out
    assert "## Intervals" in said and "## Tests" in said
