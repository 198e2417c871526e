"""Limits by leaving units out: the formula written out, and nothing where it is undefined."""

import math

import numpy as np
import pytest
from scipy.stats import t

from flipcore.stats.base.agreement import log_jackknife


def mean(units):
    return float(units.mean()) if len(units) else math.nan


def test_the_limits_are_those_of_the_formula_written_out():
    units = np.array([[0.9], [0.5], [0.7], [0.9]])
    logs = [math.log(1 - float(np.delete(units, i).mean())) for i in range(4)]
    error = math.sqrt(3 / 4 * sum((one - sum(logs) / 4) ** 2 for one in logs))
    step = t.ppf(0.975, 3) * error
    assert log_jackknife(mean, units) == pytest.approx((1 - 0.25 * math.exp(step), 1 - 0.25 * math.exp(-step)))


@pytest.mark.parametrize("units", [[[0.5]], [[1.0], [1.0]], [[1.0], [0.5]], [[0.5], [0.5], [0.5]]])
def test_one_unit_full_agreement_or_no_change_has_no_limits(units):
    assert all(map(math.isnan, log_jackknife(mean, np.array(units))))
