"""A plan says its power."""

from flipcore.claims.plans import equality_plan, gap_plan


def test_a_plan_says_its_power():
    said = equality_plan(0.4, 0.2)
    n, percent = said.numbers["n"], round(100 * said.numbers["power"])
    assert said.text == f"{n} items a set: the rule then shows equivalence in {percent} % of studies."
    assert gap_plan(0.15, 0.05, 0.8).text == "73 rewritten items a set, so 92 items to start from."
