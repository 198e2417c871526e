import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from flipcore.core.randomness import generator
from flipcore.protocols import rotation as harness
from tests.definitions import c1_run, lead3_two_option


def answers(*votes):
    return lambda attempt, rotation: votes[(attempt - 1) % len(votes)]


def test_only_the_first_line_of_a_stripped_output_counts():
    assert harness.normalise("\n  B) two \r\n because") == "B) two"
    assert harness.normalise("   \n ") == harness.normalise("") == ""


def test_rotation_comes_back_after_all_options():
    assert harness.rotate("abc", 0) == harness.rotate("abc", 3) == ["a", "b", "c"]
    assert harness.rotate("abc", 2) == ["c", "a", "b"] and harness.rotate([], 4) == []


def test_each_attempt_shows_the_next_rotation():
    seen = []
    c1_run(lambda attempt, rotation: seen.append((attempt, rotation)), 3, cap=7)
    assert seen == [(1, 0), (2, 1), (3, 2), (4, 0), (5, 1), (6, 2), (7, 0)]


def test_a_unanimous_model_stops_at_the_minimum():
    assert c1_run(answers(2), 4) == {"choice": 2, "attempts": 5, "counts": [0, 0, 5, 0], "stopped": "lead"}


def test_unreadable_attempts_count_towards_the_minimum_but_not_as_votes():
    # three votes and two unreadable attempts: at attempt 5 the lead is 3
    result = c1_run(answers(1, None, 1, None, 1), 4)
    assert result == {"choice": 1, "attempts": 5, "counts": [0, 3, 0, 0], "stopped": "lead"}


def test_an_item_that_is_never_readable_has_no_choice():
    assert c1_run(answers(None), 4) == {"choice": None, "attempts": 100, "counts": [0] * 4, "stopped": "cap"}


def test_a_lead_of_two_does_not_stop():
    # 0 0 1 1 1 0 0 1 ...: the lead never exceeds 2; 33 rounds of three and one attempt more
    result = c1_run(answers(0, 0, 1, 1), 4)
    assert (result["stopped"], result["attempts"]) == ("cap", 100)


def test_of_equal_counts_at_the_cap_the_first_to_reach_it_wins():
    # 50:50; option 1 got its 50th vote at attempt 99, option 0 at 100
    assert c1_run(answers(0, 1, 1, 0), 2)["choice"] == 1


def test_the_only_option_leads_by_all_its_votes():
    assert c1_run(answers(0), 1)["counts"] == [5]


@given(st.floats(0.01, 0.99))
def test_the_gamblers_ruin_is_symmetric(p):
    assert lead3_two_option(p) + lead3_two_option(1 - p) == pytest.approx(1)
    assert lead3_two_option(p, lead=1) == pytest.approx(p)


@pytest.mark.parametrize(("p", "voted"), [(0.55, 0.65), (0.60, 0.78), (0.70, 0.94), (0.80, 0.99)])
def test_voting_amplifies_accuracy_as_in_f25(p, voted):
    rng, runs, right = generator(round(100 * p)), 3_000, 0
    for _ in range(runs):
        right += c1_run(lambda attempt, rotation: int(rng.random() < p), 2)["choice"] == 1
    assert right / runs == pytest.approx(voted, abs=0.012 + 3 * (voted * (1 - voted) / runs) ** 0.5)


def test_without_a_minimum_the_vote_is_the_gamblers_ruin():
    rng, runs = generator(9), 4_000
    right = sum(
        c1_run(lambda attempt, rotation: int(rng.random() < 0.6), 2, min_n=1, cap=10_000)["choice"] for _ in range(runs)
    )
    assert binomtest(right, runs, lead3_two_option(0.6)).pvalue > 1e-3
