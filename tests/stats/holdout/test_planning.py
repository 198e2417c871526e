from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from flipcore.claims.plans import equality_plan, gap_plan
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.holdout.planning import detectable_margin, equivalence_plan, equivalence_power
from flipcore.stats.holdout.verdict import difficulty_test


@pytest.mark.slow
@pytest.mark.parametrize(("p", "margin", "n"), [(0.4, 0.25, 50), (0.95, 0.1, 60), (0.7, 0.3, 25)])
def test_the_power_to_show_equivalence_is_that_of_the_rule(p, margin, n):
    rng = generator(1)
    shown = sum(difficulty_test(int(rng.binomial(n, p)), n, int(rng.binomial(n, p)), n, margin).equivalent for _ in range(150))
    assert binomtest(shown, 150, equivalence_power(p, margin, n)).pvalue > 1e-3


def test_a_plan_is_the_fewest_that_reach_its_power():
    plan = equivalence_plan(0.4, 0.2)
    assert plan.power >= 0.8 and plan.power == pytest.approx(equivalence_power(0.4, 0.2, plan.n))
    assert equivalence_power(0.4, 0.2, int(plan.n / 1.05)) < 0.8


def test_power_that_is_reached_exactly_is_enough():
    powers = [equivalence_power(0.9, margin / 100, 12) for margin in range(51)]
    assert powers == sorted(powers)
    for margin in range(1, 51):
        if powers[margin] > powers[margin - 1]:
            assert detectable_margin(0.9, 12, powers[margin]) == margin / 100
            assert not detectable_margin(0.9, 12, np.nextafter(powers[margin], 1.0)) <= margin / 100
    assert detectable_margin(0.9, 10, equivalence_power(0.9, 0.31, 10)) == 0.31
    assert np.isnan(detectable_margin(0.9, 9, 0.0)) and np.isnan(detectable_margin(0.9, 12, np.nextafter(powers[50], 1.0)))
    plan = equivalence_plan(0.8, 0.35, 0.5)
    assert equivalence_plan(0.8, 0.35, plan.power) == plan


@pytest.mark.slow
def test_where_the_approximation_promised_power_and_the_rule_has_none():
    # 17 entries a set at .99 and 10 points: the approximation says .80
    assert equivalence_power(0.99, 0.1, 17) == 0.0
    plan = equivalence_plan(0.99, 0.1)
    assert plan.n > 30 and plan.power >= 0.8 and not np.isnan(plan.power)


@pytest.mark.slow
def test_impossible_plans_are_sentences():
    assert equality_plan(0.5, 0.01).text.startswith("Not even 20,000 items a set reach 80%: the rule then shows equivalence in")
    assert gap_plan(0.15, 0.9, 0.8).text == "No benchmark can drop by 105 points: lower the gap or the drop on the control."
    assert gap_plan(0.9, 0.9, 1).outcome == "impossible" and gap_plan(0.9, 0.9, 1).assertion is None
    with pytest.raises(BadInput, match="between 0 and 1"):
        equivalence_plan(1.0, 0.1)


def test_a_plan_says_its_items_or_that_none_are_enough(monkeypatch):
    enough = equality_plan(0.4, 0.2)
    plan = equivalence_plan(0.4, 0.2)
    assert enough.text.startswith(f"{plan.n:,} items a set: ") and enough.outcome == "plan"
    monkeypatch.setattr("flipcore.claims.plans.equivalence_plan", lambda *asked: replace(plan, n=None, power=0.31))
    none = equality_plan(0.4, 0.2)
    assert none.text == "Not even 20,000 items a set reach 80%: the rule then shows equivalence in 31%."
    assert none.outcome == "impossible" and none.numbers == {"power": 0.31}
