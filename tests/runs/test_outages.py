"""Faults that pass never end a run; a prompt that always fails fails alone; an exhausted quota stops at once."""

import time

import pytest

from flipcore.reports.badges import badges_of
from flipcore.runs import runner
from flipcore.store.queries import studies as queries
from tests.models.server import Server
from tests.runs.test_endings import declared, ended, items, study

pytestmark = pytest.mark.usefixtures("allowed_folders")

__all__ = ["declared", "items"]  # fixtures


class Failing(Server):
    """Answers by a rule of the prompt and of how often it was seen: `rule(prompt, nth, seconds since the start)` is a fault."""

    def __init__(self, rule, **rest):
        super().__init__(**rest)
        self.rule, self.seen, self.began, self.times = rule, {}, None, []

    async def _misbehaved(self, request, fault, body):
        now = time.monotonic()
        self.began = self.began or now
        self.times.append(now - self.began)
        prompt = body["messages"][-1]["content"]
        self.seen[prompt] = self.seen.get(prompt, 0) + 1
        return await super()._misbehaved(request, self.rule(prompt, self.seen[prompt], now - self.began) or ("none",), body)


def share(prompt, percent):
    return sum(prompt.encode()) % 100 < percent


PASSING = {
    "a second of 503": lambda prompt, nth, t: ("status", 503) if t < 1.0 else None,
    "a fifth of first attempts dropped": lambda prompt, nth, t: ("drop",) if nth == 1 and share(prompt, 20) else None,
    "a tenth hanging": lambda prompt, nth, t: ("slow", 3.0) if nth == 1 and share(prompt, 10) else None,
    "every third reply cut": lambda prompt, nth, t: ("half",) if nth == 1 and share(prompt, 33) else None,
    "a rate limit of a second": lambda prompt, nth, t: ("status", 429) if t < 1.0 else None,
}


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_ends_no_run(store, items, declared, monkeypatch, fault):
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.2)
    with Failing(PASSING[fault]) as server:
        declared(server.url, timeout_s=1.5)
        last = ended(study(items, n=120), store)
    assert (last.state, last.n_failed) == ("done", 0), last.message


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.parametrize("code", [500, 403, 404])
def test_prompts_that_always_fail_fail_alone_and_resume_goes_past_them(store, items, declared, code):
    poison = {f"What is {i} plus {i}?" for i in (3, 5, 8, 13, 21, 34, 55)}

    def rule(prompt, nth, t):
        return ("status", code) if any(one in prompt for one in poison) else None

    with Failing(rule) as server:
        declared(server.url, n_in_flight=8)
        first = ended(study(items, n=60), store)
        assert first.state == "incomplete" and 0 < first.n_failed <= 7 and first.n_done == 60
        (row,) = queries.studies(store).to_dict("records")
        assert badges_of(row, 0, judge_is_closed=False) == [("INCOMPLETE", "INCOMPLETE")]  # and no unbiased part
        again = ended(study(items, n=60), store)  # nothing but poison is left to ask
        assert (again.state, again.n_failed) == ("incomplete", first.n_failed)
        more = ended(study(items, n=100, name="more"), store)
        assert more.state == "incomplete" and more.n_done == 100
        server.rule = lambda prompt, nth, t: None
        assert ended(study(items, n=60), store).state == "done"


QUOTAS = {
    "openai": ("status", 429, {}, "You exceeded your current quota, please check your plan and billing details."),
    "anthropic": ("status", 400, {}, "Your credit balance is too low to access the API."),
    "payment": ("status", 402, {}, "Insufficient Balance"),
}


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.parametrize("provider", QUOTAS)
def test_an_exhausted_quota_stops_at_once_with_the_providers_words(store, items, declared, provider):
    fault = QUOTAS[provider]
    with Server(*[("none",)] * 20, *[fault] * 5_000) as server:
        declared(server.url, n_in_flight=8)
        last = ended(study(items), store)
        assert last.state == "failed" and fault[3] in last.message and "has no quota left" in last.message
        assert len(server.bodies) <= 20 + 8
        server.faults.clear()
        assert ended(study(items, n=30), store).n_done == 30


@pytest.mark.slow
def test_requests_are_few_while_a_server_fails_and_the_progress_says_so(store, items, declared, monkeypatch):
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.1)
    seen = []
    with Failing(lambda prompt, nth, t: ("status", 503)) as server:
        declared(server.url, n_in_flight=16)
        last = ended(study(items), store, on_progress=seen.append)
        times = server.times
    assert last.state == "failed" and "HTTP 503" in last.message
    later = [t for t in times if t > 1.5]
    assert len(times) <= 16 + 5 + 8 and len(later) <= 8
    assert any("It is asked once every" in p.trouble for p in seen) and not last.trouble


@pytest.mark.slow
def test_calls_on_their_way_when_a_server_fails_are_no_verdict_on_it(store, items, declared):
    """Sixteen calls fail at once and two controls after them; the third is answered."""
    with Server(*[("status", 503)] * 18, delay_s=0.05) as server:
        declared(server.url)
        last = ended(study(items, n=120), store)
    assert (last.state, last.n_failed) == ("done", 0)


@pytest.mark.slow
def test_a_run_knows_nothing_of_a_server_that_was_down_before(store, items, declared):
    with Server(*[("status", 500)] * 200) as server:
        declared(server.url)
        assert ended(study(items, n=40), store).state == "failed"
        server.faults.clear()
        assert runner.run(study(items, n=40), store).state == "done"
