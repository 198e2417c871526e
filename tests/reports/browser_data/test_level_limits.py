"""The threshold board looks numbers up; they must be those that the statistics would print."""

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.reports.browser_data.level_limits import KINDS, LEVELS, QUANTITIES, level_limits, stated_names
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from tests.lab.simulations.planted import PlantedTruth, planted_readouts

ANSWERS = coded_answers(planted_readouts(45, PlantedTruth(0.3, 0.1), generator(2)))
LADDER = level_limits(ANSWERS, ["stated", "first_token"], policies=["own_class", "drop"], n_boot=400, seed=7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_every_rung_is_what_a_decomposition_prints(kind, level):
    at = LADDER.levels.index(level)
    for d in decompositions(ANSWERS, "stated", policy="drop", kind=kind, level=level, seed=7, n_boot=400):
        row = LADDER.rows.index((d.axis, d.extractor))
        for q, name in enumerate(QUANTITIES[:2] if d.is_reference else stated_names(d.item_values)):
            where = (0, 1, LADDER.kinds.index(kind), row, q)
            wanted = getattr(d, name)
            limits = pytest.approx((wanted.low, wanted.high), abs=1e-6)
            assert (LADDER.low[(*where, at)], LADDER.high[(*where, at)]) == limits
            assert LADDER.values[0, 1, row, q] == pytest.approx(wanted.value, abs=1e-6)
            assert LADDER.methods[where] == wanted.method


def test_below_thirty_items_differences_alone_take_the_paired_t():
    few = coded_answers(planted_readouts(20, PlantedTruth(0.3, 0.1), generator(2)))
    methods = level_limits(few, ["stated"], kinds=["default"], levels=[0.95], n_boot=200).methods[0, 0, 0, 0]
    assert [*methods[:4]] == ["studentized", "studentized", "clt_cluster", "clt_cluster"] and QUANTITIES[2:4] == (
        "A",
        "A_minus_G",
    )


def test_a_reference_row_has_no_artifact_to_decide_on():
    row = LADDER.rows.index(("option_order", "first_token"))
    assert np.isnan(LADDER.low[1, :, :, row, 2:]).all() and (LADDER.methods[1, :, :, row, 2:] == "reference").all()
    assert not np.isnan(LADDER.low[1, :, :, row, :2]).any()


def test_the_usual_levels_are_rungs_and_limits_widen_along_them():
    assert {0.5, 0.8, 0.9, 0.95, 0.99, 0.999} <= set(LEVELS) and list(LEVELS) == sorted(LEVELS)
    low, high = LADDER.low[0, 0, :, 0], LADDER.high[0, 0, :, 0]
    assert (np.diff(low, axis=-1) <= 1e-6).all() and (np.diff(high, axis=-1) >= -1e-6).all()
