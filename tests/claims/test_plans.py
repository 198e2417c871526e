"""A plan says its power."""

from flipcore.claims.plans import equality_plan, gap_plan


def test_a_plan_says_its_power():
    said = equality_plan(0.4, 0.2)
    n, percent = said.numbers["n"], round(100 * said.numbers["power"])
    assert said.text == f"{n} items a set: the rule then shows equivalence in {percent} % of studies."
    assert gap_plan(0.15, 0.05, 0.8).text == "73 rewritten items a set, so 92 items to start from."
    # answers that change both ways widen the difference: 7.849 (.30 - .04 + .15 - .0025) / .0225 = 142.2
    assert gap_plan(0.15, 0.05, 0.8, gains=0.05).text == "143 rewritten items a set, so 179 items to start from."
