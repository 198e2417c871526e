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
    assert [speed.update(float(next(times)), 0) for _ in range(20)] == [0.0] * 20  # models are opened, prompts are written
    for _ in range(12):
        n += 10
        rate = speed.update(float(next(times)), n)
    assert rate == pytest.approx(10.0)
    assert [speed.update(float(next(times)), n) for _ in range(5)] == [pytest.approx(10.0)] * 5  # between two batches
    for _ in range(60):
        n += 2
        rate = speed.update(float(next(times)), n)
    assert rate == pytest.approx(2.0)
    for _ in range(300):
        rate = speed.update(float(next(times)), n)
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
    reply = end_message(Progress(n_calls=9, n_done=9, n_failed=2, state="incomplete"), None, 0.0, 'HTTP 400: {"error": 1}')
    assert reply.endswith('{"error": 1}.')  # a sentence on answers that were cut off may follow


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


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        ({}, ""),
        ({"rate_per_s": 1.94}, ", 1.9 a second"),
        ({"rate_per_s": 2.0}, ", 2 a second"),
        ({"rate_per_s": 0.1}, ", 0.1 a second"),
        ({"rate_per_s": 0.099}, ", 5.9 a minute"),
        ({"n_reused": 3}, ""),
        ({"eta_s": 0.0}, ", about 0 s left"),
        ({"eta_s": 1_200.4, "n_failed": 1_000}, ", about 1,200 s left, 1,000 failed"),
        ({"trouble": "lab failed."}, ". lab failed."),
    ],
)
def test_a_line_of_progress_says_what_is_known(progress, words):
    assert Progress(**progress).outlook == words


def speeds(*counts):
    """The last rate of (seconds, answered calls) in turn."""
    speed = Speed()
    return [speed.update(seconds, n) for seconds, n in counts][-1]


@pytest.mark.parametrize(
    ("counts", "rate"),
    [
        ([(0.0, 1), (2.9, 7)], 0.0),  # too short a time
        ([(0.0, 1), (3.0, 7)], 2.0),
        ([(0.0, 1), (10.0, 1)], 0.0),
        ([(0.0, 1), (10.0, 11), (39.9, 11)], 1.0),  # between two batches
        ([(0.0, 1), (10.0, 11), (40.0, 11)], 0.25),  # a stall
        ([(0.0, 1), (5.0, 6), (10.0, 21), (35.0, 46)], 40 / 30),  # the first count is out of the window
        ([(0.0, 1), (5.0, 6), (10.0, 21), (34.9, 46)], 45 / 34.9),
        ([(0.0, 1), (40.0, 41)], 1.0),
    ],
)
def test_a_rate_is_that_of_the_last_half_minute(counts, rate):
    assert speeds(*counts) == pytest.approx(rate)


@pytest.mark.parametrize(("n_calls", "left"), [(41, 20.0), (22, 1.0), (21, None), (20, None)])
def test_the_time_left_of_less_than_a_call_per_second(n_calls, left):
    """21 answers in 20 seconds, of which half were stored: half a call per second is asked."""
    pace, p = Pace(), Progress(n_calls=n_calls)
    for second, n_done in ((0.0, 1), (20.0, 21)):
        p.n_done, p.n_reused = n_done, n_done // 2
        pace.measure(p, second)
    assert p.rate_per_s == pytest.approx(0.5)
    assert p.eta_s == (None if left is None else pytest.approx(left))


@pytest.mark.parametrize(
    ("n_calls", "n_reused", "words"),
    [
        (2, 2, "2 calls, all of them stored answers"),
        (2, 3, "2 calls, all of them stored answers"),
        (3, 2, "3 calls, 2 of them stored answers"),
    ],
)
def test_two_calls_are_several(n_calls, n_reused, words):
    assert calls_text(n_calls, n_reused) == words


@pytest.mark.parametrize(("state", "words"), [("cancelled", "Cancelled"), ("incomplete", "Incomplete"), ("queued", "queued")])
def test_a_tab_names_every_ending(state, words):
    assert window_title([("a", state)]) == f"{words}: a · Flipscope"


@pytest.mark.parametrize(
    ("progress", "money", "words"),
    [
        ({"state": "done"}, (None, 0.0), ""),
        ({"state": "done", "n_failed": 1}, (None, 0.0), "1 call failed; Resume asks again."),
        ({"state": "failed", "n_failed": 2}, (None, 0.0), "2 calls failed; Resume asks again."),
        (
            {"state": "cancelled", "n_done": 1_000, "n_calls": 2_000},
            (None, 0.0),
            "Cancelled after 1,000 of about 2,000 calls. Resume makes only the missing calls.",
        ),
        (
            {"state": "cancelled", "n_done": 1, "n_calls": 2, "n_failed": 1},
            (None, 0.0),
            "Cancelled after 1 of about 2 calls. Resume makes only the missing calls. 1 call failed; Resume asks again.",
        ),
        (
            {"state": "over_budget", "n_done": 4},
            (None, 0.5),
            "Stopped at its budget of none after 4 calls: $0.50 spent over all runs. Raise the budget to go on.",
        ),
        (
            {"state": "over_budget", "n_done": 4},
            (0.5, 0.5),
            "Stopped at its budget of $0.50 after 4 calls: $0.50 spent over all runs. Raise the budget to go on.",
        ),
        (
            {"state": "over_budget", "n_done": 4, "n_failed": 1},
            (0.5, 0.51),
            "Stopped at its budget of $0.50 after 4 calls: $0.51 spent over all runs. A server billed more for a call than its text "
            "and token limit allow. Raise the budget to go on. 1 call failed; Resume asks again.",
        ),
        (
            {"state": "incomplete", "n_done": 9, "n_failed": 2},
            (None, 0.0),
            "2 of 9 calls failed. Resume asks only those again.",
        ),
    ],
)
def test_an_ended_run_says_what_to_do_next(progress, money, words):
    assert end_message(Progress(**progress), *money, "") == words


@pytest.mark.parametrize(("spent", "is_more"), [(100.0, False), (100.0 * (1 + 1e-9), False), (100.001, True), (99.0, False)])
def test_a_rounding_is_no_bill_above_the_budget(spent, is_more):
    assert ("billed more" in end_message(Progress(state="over_budget"), 100.0, spent, "")) == is_more


def test_the_time_of_stored_answers_before_the_first_call_is_not_counted():
    pace, p = Pace(), Progress(n_calls=115)
    for second, n_done, n_reused in ((0.0, 50, 50), (10.0, 100, 100), (20.0, 101, 100), (24.0, 105, 100)):
        p.n_done, p.n_reused = n_done, n_reused
        pace.measure(p, second)
    assert (p.rate_per_s, p.eta_s) == (1.0, 10.0)
