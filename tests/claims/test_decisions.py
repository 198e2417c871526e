"""The sentences of each kind of decision, on both sides of its margin, as they stand before a full stop."""

import pytest

from flipcore.claims.decisions import ANOTHER, EVERY_OTHER, Decision, Flips, Loss

LEAD, BY_A_POINT = Decision("alpha", "beta"), Decision("alpha", "beta", 0.01)
FIRST, BAR, FINE_BAR = Decision("alpha", EVERY_OTHER), Decision("alpha", margin=0.8), Decision("alpha", margin=0.825)
LOSS, ONE_POINT, HALF = Loss("new", "old", -0.02), Loss("new", "old", -0.01), Loss("new", "old", -0.025)
FLIPS, FLIPS_BY = Flips("style", "option text"), Flips("style", "option text", 0.05)


@pytest.mark.parametrize(
    ("decision", "above", "below"),
    [
        (LEAD, "alpha scores higher than beta", "alpha scores lower than beta"),
        (
            BY_A_POINT,
            "alpha scores more than 1.0 points higher than beta",
            "alpha does not score more than 1.0 points higher than beta",
        ),
        (FIRST, f"alpha scores higher than {EVERY_OTHER}", f"alpha scores lower than {ANOTHER}"),
        (BAR, "alpha scores above 80%", "alpha scores below 80%"),
        (FINE_BAR, "alpha scores above 82.5%", "alpha scores below 82.5%"),
        (LOSS, "new does not lose 2 points or more against old", "new loses more than 2 points against old"),
        (ONE_POINT, "new does not lose 1 point or more against old", "new loses more than 1 point against old"),
        (HALF, "new does not lose 2.5 points or more against old", "new loses more than 2.5 points against old"),
        (
            FLIPS,
            "Flips by style are mostly those of the extractor option text",
            "Flips by style are not mostly those of the extractor option text",
        ),
        (
            FLIPS_BY,
            "Flips by style are mostly those of the extractor option text, by more than 5.0 points",
            "Flips by style are not mostly those of the extractor option text, by more than 5.0 points",
        ),
    ],
)
def test_a_decision_and_its_opposite(decision, above, below):
    assert decision.holds() == decision.holds(above=True) == above
    assert decision.holds(above=False) == below
    assert decision.clause in (above, f"{above[:1].lower()}{above[1:]}")


@pytest.mark.parametrize(
    ("decision", "above", "below"),
    [
        (
            LEAD,
            "alpha scores higher than beta, whichever of these 48 ways is chosen: by 1.0 to 2.5 points.",
            "alpha scores lower than beta, whichever of these 48 ways is chosen: by -2.5 to -1.0 points.",
        ),
        (BAR, "alpha scores above 80% in each of 48 ways: 1 to 2%.", "alpha scores below 80% in each of 48 ways: 1 to 2%."),
        (
            LOSS,
            "new does not lose 2 points or more against old, whichever of 48 ways is chosen: a change of +1.0 to +2.5 points.",
            "new loses more than 2 points against old, whichever of 48 ways is chosen: a change of +1.0 to +2.5 points.",
        ),
        (
            FLIPS,
            "Flips by style are mostly those of the extractor option text, whichever of these 48 ways is chosen: "
            "by 1.0 to 2.5 points.",
            "Flips by style are not mostly those of the extractor option text, whichever of these 48 ways is chosen: "
            "by -2.5 to -1.0 points.",
        ),
    ],
)
def test_a_decision_that_every_way_of_counting_shares(decision, above, below):
    said = [decision.survives("48 ways", 0.01, 0.025, below=is_below).replace("−", "-") for is_below in (False, True)]
    assert said == [above, below]


@pytest.mark.parametrize(
    ("decision", "above", "below"),
    [
        (LEAD, "alpha leads in all 48, by 1.0 to 2.5 points", "beta leads in all 48, by -2.5 to -1.0 points"),
        (
            FIRST,
            f"alpha leads {EVERY_OTHER} in all 48, by 1.0 to 2.5 points",
            "Another model leads in all 48, by -2.5 to -1.0 points",
        ),
        (
            LOSS,
            "new loses less than 2 points in all 48, a change of +1.0 to +2.5 points",
            "new loses more than 2 points in all 48, a change of +1.0 to +2.5 points",
        ),
        (
            FLIPS,
            "Flips by style: more pairs flip under option text alone than under both extractors in all 48, by 1.0 to 2.5 points",
            "Flips by style: fewer pairs flip under option text alone than under both extractors in all 48, "
            "by -2.5 to -1.0 points",
        ),
    ],
)
def test_a_lead_in_all_ways_of_counting(decision, above, below):
    said = [decision.in_all("all 48", 0.01, 0.025, below=is_below).replace("−", "-") for is_below in (False, True)]
    assert said == [above, below]


@pytest.mark.parametrize(
    ("decision", "doubt", "leads", "lags", "turns", "tie"),
    [
        (
            LEAD,
            "alpha is not safely ahead of beta.",
            "It leads in 32 of 48",
            "It is behind in 32 of 48",
            ("It leads", "It falls behind"),
            "they are level",
        ),
        (
            BY_A_POINT,
            "alpha is not safely far enough ahead of beta.",
            "It leads by more than 1.0 points in 32 of 48",
            "It does not lead by more than 1.0 points in 32 of 48",
            ("It leads", "It falls behind"),
            "it is just the margin ahead",
        ),
        (
            BAR,
            "alpha is not safely above 80%.",
            "It scores above 80% in 32 of 48",
            "It scores below 80% in 32 of 48",
            ("It rises above it", "It falls below it"),
            "it is just the bar",
        ),
        (
            LOSS,
            "new is not safely within 2 points of old.",
            "It loses less than 2 points in 32 of 48",
            "It loses more than that in 32 of 48",
            ("It loses less", "It loses more"),
            "it loses just the margin",
        ),
        (
            FLIPS,
            "Flips by style are not safely those of the extractor option text.",
            "More pairs flip under it alone than under both in 32 of 48",
            "Fewer flip under it alone in 32 of 48",
            ("It is so", "It is not"),
            "as many flip under it alone as under both",
        ),
        (
            FLIPS_BY,
            "Flips by style are not safely those of the extractor option text.",
            "More pairs flip under it alone than under both, by more than 5.0 points, in 32 of 48",
            "Not so many flip under it alone in 32 of 48",
            ("It is so", "It is not"),
            "as many flip under it alone as under both",
        ),
    ],
)
def test_a_decision_on_which_ways_of_counting_differ(decision, doubt, leads, lags, turns, tie):
    assert (decision.doubt, decision.leads("32 of 48"), decision.lags("32 of 48")) == (doubt, leads, lags)
    assert (decision.turn(above=True), decision.turn(above=False)) == turns and decision.tie_words == tie


def test_equal_ends_are_said_once():
    assert LEAD.numbers(0.011, 0.0111) == "by 1.1 points" and BAR.numbers(0.804, 0.8) == "80%"
    assert LOSS.numbers(0.01, 0.01) == "a change of +1.0 points"


def test_large_losses_are_in_points():
    assert "loses more than 20 points" in Loss("new", "old", -0.2).holds(above=False)
    assert LOSS.numbers(-0.25, 0.2).replace("−", "-") == "a change of -25.0 to +20.0 points"


@pytest.mark.parametrize(
    ("decision", "subject", "sides", "side_words"),
    [
        (LEAD, "the lead", ("alpha", "beta"), ("ahead", "ahead")),
        (FIRST, "the lead", ("alpha", ANOTHER), ("ahead", "ahead")),
        (BAR, "the score", ("alpha", ""), ("above", "below")),
        (LOSS, "the change", ("new", "old"), ("ahead", "ahead")),
        (FLIPS, "the difference", ("The extractor", "The model"), ("ahead", "ahead")),
    ],
)
def test_the_words_beside_a_chart(decision, subject, sides, side_words):
    assert (decision.subject, decision.sides, decision.side_words) == (subject, sides, side_words)
