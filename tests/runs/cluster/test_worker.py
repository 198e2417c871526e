"""Keys stay where they are: on the machine of the worker, in its environment. Limits are shared, and a new worker does not begin anew."""

import json

import pytest

from flipcore.core import folders
from flipcore.core.records import Call, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard
from flipcore.models.openai.pace import BURST_S, Pace
from flipcore.runs import plan, runner
from flipcore.runs.cluster.states import SET_ASIDE, WorkerState, missing_workers, work_line
from tests.models.server import Server
from tests.runs.cluster.in_process import place

pytestmark = pytest.mark.usefixtures("allowed_folders")

KEY = "sk-cluster-4711-secret"
CALL = Call("lab", "r", Request("generate", "x" * 400, max_tokens=100))


def served_study(tmp_path, url, monkeypatch, **changes):
    """A study of a few questions to one server, and the card by which it is asked."""
    card = ModelCard("lab", "openai_compatible", "lab", url, "chat", "LAB_KEY", price_in=0.0, price_out=0.0, **changes)
    for module in (runner, plan):
        monkeypatch.setattr(module, "model_cards", lambda: {"lab": card})
    path = tmp_path / "items.jsonl"
    lines = [json.dumps({"question": f"What is {i} plus {i}?", "answer": str(2 * i), "id": i}) for i in range(12)]
    path.write_text("\n".join(lines), encoding="utf-8")
    folders.admit(tmp_path)
    source = ItemSource("file", path=str(path), columns={"question": "question", "target": "answer", "key": "id"})
    formats = Part("prompt_format", {"layouts": ["paren"]})
    return Study("served", (source,), (formats,), (Part("regex"),), (ModelUse("lab", max_tokens=8),))


@pytest.mark.slow
def test_a_key_is_in_the_environment_of_the_worker_and_in_no_message(store, tmp_path, monkeypatch):
    monkeypatch.setenv("LAB_KEY", KEY)
    on = place(2)
    with Server(("status", 401, {}, f"wrong key {KEY}")) as server:
        last = runner.run(served_study(tmp_path, server.url, monkeypatch), store, place=on)
        sent = [headers["Authorization"] for headers in server.headers]
    assert last.state in ("done", "incomplete") and set(sent) == {f"Bearer {KEY}"}  # the workers had it
    messages = on._cluster.messages
    assert len(messages) > 5 and not any(KEY.encode() in one for one in messages)
    assert any(b"LAB_KEY" in one for one in messages)  # its name is what travels


@pytest.mark.slow
def test_without_the_key_every_worker_says_so_and_nothing_is_asked(store, tmp_path, monkeypatch):
    monkeypatch.delenv("LAB_KEY", raising=False)
    with Server() as server:
        last = runner.run(served_study(tmp_path, server.url, monkeypatch), store, place=place(2))
        assert server.bodies == []
    assert last.state == "failed" and "LAB_KEY" in last.message and {one.state for one in last.workers} == {SET_ASIDE}


def test_the_shares_of_workers_are_the_limit_of_the_study():
    def in_a_minute(share, since=None):
        pace = Pace(ModelCard("lab", "openai_compatible", requests_per_minute=600))
        pace.take_share(share, since)
        return sum(pace.reserve(CALL, 0.0) <= 60.0 for _ in range(2_000))

    alone = in_a_minute(1.0)
    assert alone <= 600 * (1 + BURST_S / 60) + 1 and 3 * in_a_minute(1 / 3) <= alone + 3
    assert in_a_minute(1 / 3, since=0.0) <= 200 + 1  # one that stands in for a lost worker lets nothing go at once


def test_limits_that_headers_name_are_shared_too():
    pace = Pace(ModelCard("lab", "openai_compatible"))
    pace.take_share(0.5)
    pace.note_headers({"x-ratelimit-limit-requests": "60"}, 0.0)
    n = sum(pace.reserve(CALL, 0.0) <= 60.0 for _ in range(200))
    assert 30 <= n <= 34


@pytest.mark.slow
def test_the_budget_holds_over_all_workers(store, tmp_path, monkeypatch):
    """Three workers have room for all calls at once, and are sent what the budget bears."""
    monkeypatch.setenv("LAB_KEY", KEY)
    with Server() as server:
        study = served_study(tmp_path, server.url, monkeypatch)
        card = runner.model_cards()["lab"]
        dear = ModelCard(**{**vars(card), "price_in": 1_000.0, "price_out": 1_000.0})
        for module in (runner, plan):
            monkeypatch.setattr(module, "model_cards", lambda: {"lab": dear})
        monkeypatch.setattr(runner, "refusal", lambda *_: "")  # else it would not begin
        last = runner.run(Study(**{**vars(study), "budget_usd": 0.2}), store, place=place(3))
        n_asked = len(server.bodies)
    assert last.state == "over_budget" and 0 < last.cost_usd <= 0.2
    assert 0 < n_asked < 12 and store.rows("SELECT count(*) FROM completions") == [(n_asked,)]


def test_lists_of_workers_are_short_sentences():
    workers = [WorkerState(f"m #{i}", "lab", "at work", 10 * i, 0, 0) for i in range(9)]
    assert work_line(()) == missing_workers(()) == missing_workers(workers) == ""
    assert work_line(workers[:2]) == "by worker 0, 10 (2 at work)"
    assert work_line(workers) == "9 of 9 workers at work, 0 to 80 answers each"
    lost = [WorkerState(f"x #{i}", "lab", "missing", 0, 2, 2, "No route.") for i in range(5)]
    assert missing_workers([*workers, *lost]) == (
        "5 of 14 workers get no calls (x #0, missing: No route; x #1, missing: No route; x #2, missing: No route; and 2 more)."
    )
    assert lost[0].sentence == "x #0 for lab: missing, 0 answers, 2 failed, lost 2 times (No route.)"
