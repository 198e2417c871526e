"""Short intervals say what they held in simulation, and nothing is claimed of one that is too short."""

import numpy as np
import pytest

from flipcore.stats.base import measured_coverage
from flipcore.stats.base.estimate import SHORT, Estimate, coverage_label
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.flips.coded_answers import coded_answers
from tests.stats.flips.test_decomposition import readme

CODED = coded_answers(readme(60, 5, n=80))


def test_the_interval_of_a_page_holds_what_it_promises_in_every_simulated_world():
    """Replaced before labelled: no default interval is short, so no page starts with a label."""
    default = [row for row in measured_coverage._table_rows() if row["kind"] == "default"]
    assert len(default) == 48 and [row for row in default if row["covered"] < SHORT] == []


@pytest.mark.parametrize(("n", "size"), [(12, 26), (26, 26), (49, 26), (50, 50), (10_000, 500)])
def test_it_takes_the_worst_world_of_the_size_below(n, size):
    of_size = [row for row in measured_coverage._table_rows() if (row["kind"], row["n"]) == ("percentile", size)]
    for signed, quantities in ((False, ("T", "G")), (True, ("A", "A_minus_G"))):
        worst = min(row["covered"] for row in of_size if row["quantity"] in quantities)
        assert measured_coverage.measured_coverage("percentile", n, signed=signed) == worst


def test_a_short_interval_says_so_and_a_good_one_does_not():
    assert coverage_label(0.897) == "95 % covers .90" and coverage_label(SHORT) == coverage_label(None) == ""
    short = Estimate(0.2, 0.1, 0.3, 0.95, "percentile", 26, 0, coverage=0.897)
    assert short.text() == "0.20 [0.10, 0.30] (95 % covers .90)" and not short.is_too_short
    assert short.text_pp() == "+20.0 pp [+10.0, +30.0] (95 % covers .90)"
    columns = np.random.default_rng(1).random((26, 1))
    (((estimate,),),) = (JointMeans(columns, 0, 199).estimates("percentile", [0.95], [(0.0, 1.0)]),)
    assert estimate.coverage == measured_coverage.measured_coverage("percentile", 26) < SHORT
