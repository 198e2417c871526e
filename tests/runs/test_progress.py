"""Sentences about money, progress and how a run ended."""

import pytest

from flipcore.core.records import Call, Request
from flipcore.models.cards import ModelCard
from flipcore.runs.cost import call_bound, call_price, dollars
from flipcore.runs.progress import Pace, Progress, Speed, calls_text, end_message, window_title

PAID = ModelCard("paid", "openai_compatible", price_in=2.0, price_out=8.0)


@pytest.mark.parametrize(
    "usd, said", [(0, "$0.00"), (0.01, "$0.01"), (1234.5, "$1,234.50"), (0.0034, "$0.0034"), (0.000123, "$0.00012")]
)
def test_an_amount_shows_the_digits_that_matter(usd, said):
    assert dollars(usd) == said


@pytest.mark.parametrize("text", ["x" * 90, "語" * 30, "🏴‍☠️" * 10, "\ud800" * 30])
def test_a_bound_holds_one_token_a_byte_in_any_script(text):
    call = Call("m", "r", Request("generate", text, max_tokens=10))
    n_bytes = len(text.encode("utf-8", "surrogatepass"))
    assert call_bound(call, PAID) >= (n_bytes * 2.0 + 10 * 8.0) / 1e6 > call_price(call, PAID) - 1e-12


def test_progress_says_that_a_server_fails_and_how_rarely_it_is_asked():
    p = Progress(n_calls=10, n_failed=2, eta_s=5.0, trouble="lab failed. It is asked once every 4.0 s until it answers.")
    assert p.outlook == ", about 5 s left, 2 failed. lab failed. It is asked once every 4.0 s until it answers."


def test_the_time_left_counts_neither_the_start_nor_what_was_stored_and_follows_a_change_of_speed():
    speed, times, n = Speed(), iter(range(1, 1_000)), 0
    assert [speed.at(float(next(times)), 0) for _ in range(20)] == [0.0] * 20  # models are opened, prompts are written
    for _ in range(12):
        n += 10
        rate = speed.at(float(next(times)), n)
    assert rate == pytest.approx(10.0)
    assert [speed.at(float(next(times)), n) for _ in range(5)] == [pytest.approx(10.0)] * 5  # between two batches
    for _ in range(60):
        n += 2
        rate = speed.at(float(next(times)), n)
    assert rate == pytest.approx(2.0)
    for _ in range(300):
        rate = speed.at(float(next(times)), n)
    assert 0 < rate < 0.01  # nothing comes any more
    assert Progress(rate_per_s=rate).outlook == f", {60 * rate:.1f} a minute"
    assert Progress(rate_per_s=12.4, eta_s=900.0).outlook == ", 12 a second, about 900 s left"
    stored = Progress(n_reused=2, rate_per_s=3.0, eta_s=99.0)
    assert stored.outlook == ", 3 a second asked, the others stored, about 99 s left"


def test_the_time_left_is_that_of_the_calls_that_still_need_asking():
    """Nine of ten calls are stored answers, which take no time; the others come at two a second."""
    pace, p, lefts = Pace(), Progress(n_calls=1_000), {}
    for second in range(1, 46):
        p.n_done, p.n_reused = 20 * second, 18 * second
        pace.measure(p, float(second))
        lefts[second] = p.eta_s
    assert p.rate_per_s == pytest.approx(2.0) and lefts[1] is None
    assert all(lefts[second] == pytest.approx(50 - second) for second in range(5, 46))
    p.n_done = p.n_reused = 1_000
    Pace().measure(p, 50.0)
    assert p.eta_s is None


def test_no_time_left_is_said_while_only_stored_answers_come():
    """One call was asked, which tells nothing of how long the next ones take."""
    pace, p = Pace(), Progress(n_calls=1_000)
    for second in range(1, 12):
        p.n_reused = 20 * second
        p.n_done = 1 + p.n_reused
        pace.measure(p, float(second))
    assert p.rate_per_s == 0 and p.eta_s is None


def test_an_incomplete_run_says_what_failed_and_what_resume_does():
    said = end_message(Progress(n_calls=9, n_done=9, n_failed=2, state="incomplete"), None, 0.0, "No.")
    assert said == "2 of 9 calls failed. Resume asks only those again. The first error: No."


def test_a_run_over_its_budget_says_what_all_runs_spent():
    said = end_message(Progress(n_calls=9, n_done=4, state="over_budget"), 0.005, 0.0049, "")
    assert said.startswith("Stopped at its budget of $0.0050 after 4 calls: $0.0049 spent over all runs.")


def test_a_tab_says_which_study_ended_and_how():
    assert window_title([]) == "Flipscope"
    assert window_title([("my\nstudy", "done")]) == "Done: my study · Flipscope"
    assert window_title([("a" * 200, "over_budget")]) == f"Stopped at its budget: {'a' * 60} · Flipscope"
    assert window_title([("a", "done"), ("b", "failed")]) == "2 studies ended · Flipscope"


def test_calls_that_were_answered_before_are_said():
    assert calls_text(1728, 0) == "1,728 calls" and calls_text(1, 0) == "1 call"
    assert calls_text(1728, 1728) == "1,728 calls, all of them stored answers"
    assert calls_text(1728, 40) == "1,728 calls, 40 of them stored answers"
    assert calls_text(9, 1) == "9 calls, 1 of them a stored answer" and calls_text(1, 1) == "1 call, a stored answer"
