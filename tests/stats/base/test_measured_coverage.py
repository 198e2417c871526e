"""Short intervals say what they held in simulation, and nothing is claimed of one that is too short."""

import re
from pathlib import Path

import numpy as np
import pytest

from flipcore.stats.base import measured_coverage
from flipcore.stats.base.estimate import SHORT, Estimate, coverage_label
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.flips.coded_answers import coded_answers
from tests.stats.flips.test_decomposition import readme

CODED = coded_answers(readme(60, 5, n=80))
PAGE = Path(__file__).parents[2] / "lab" / "simulations" / "coverage.md"


def printed():
    """(world, n, quantity) -> kind -> share, as the page beside the simulation prints it."""
    out, kinds = {}, []
    for line in PAGE.read_text(encoding="utf-8").split("## How often")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| T, G"):
            kinds = cells[3:]
        elif re.match(r"\| 0\.", line):
            out[cells[0], int(cells[1]), cells[2]] = dict(zip(kinds, map(float, cells[3:]), strict=True))
    return out


def test_the_stored_table_is_the_printed_one():
    stored = measured_coverage._table_rows()
    by_cell = {(row["T"], row["G"], row["n"], row["quantity"], row["kind"]): row["covered"] for row in stored}
    cells = printed()
    assert len(stored) == sum(map(len, cells.values())) > 200
    for (world, n, quantity), shares in cells.items():
        total, genuine = map(float, world.split(", ")[:2])
        for kind, share in shares.items():
            assert by_cell[total, genuine, n, quantity.replace(" − ", "_minus_"), kind] == share


def test_the_interval_of_a_page_holds_what_it_promises_in_every_simulated_world():
    """Replaced before labelled: no default interval is short, so no page starts with a label."""
    short = {cell: shares["default"] for cell, shares in printed().items() if shares["default"] < SHORT}
    assert short == {}


@pytest.mark.parametrize(("n", "size"), [(12, 26), (26, 26), (49, 26), (50, 50), (10_000, 500)])
def test_it_takes_the_worst_world_of_the_size_below(n, size):
    cells = printed()
    worst = min(shares["percentile"] for (_, m, q), shares in cells.items() if m == size and q != "A − G")
    assert measured_coverage.measured_coverage("percentile", n) == worst
    worst = min(shares["percentile"] for (_, m, q), shares in cells.items() if m == size and q == "A − G")
    assert measured_coverage.measured_coverage("percentile", n, contrast=True) == worst


def test_a_short_interval_says_so_and_a_good_one_does_not():
    assert coverage_label(0.897) == "95 % covers .90" and coverage_label(SHORT) == coverage_label(None) == ""
    short = Estimate(0.2, 0.1, 0.3, 0.95, "percentile", 26, 0, coverage=0.897)
    assert short.text() == "0.20 [0.10, 0.30] (95 % covers .90)" and not short.is_too_short
    assert short.text_pp() == "+20.0 pp [+10.0, +30.0] (95 % covers .90)"
    columns = np.random.default_rng(1).random((26, 1))
    (((estimate,),),) = (JointMeans(columns, 0, 199).estimates("percentile", [0.95], [(0.0, 1.0)]),)
    assert estimate.coverage == measured_coverage.measured_coverage("percentile", 26) < SHORT
