"""What a pilot measures: the seconds and price of its own calls, scaled up to the whole study."""

import threading
from types import SimpleNamespace

import pytest

from flipcore.core.errors import FlipscopeError
from flipcore.runs import background
from flipcore.runs.background import Registry
from flipcore.runs.cluster.where import HERE
from flipcore.runs.cost import Projection
from flipcore.runs.progress import Progress
from tests.runs.test_runner import tiny_study


@pytest.fixture
def pilot(monkeypatch):
    """A pilot of 10 of 200 calls that takes three seconds and a dollar."""

    def run_pilot(n_all=200, n_part=10, n_used=10, **progress):
        seconds = iter((100.0, 103.0))
        monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
        monkeypatch.setattr(background, "require", lambda permission: None)
        monkeypatch.setattr(background, "plan", lambda study, store, n_items=None: n_part if n_items else n_all)
        monkeypatch.setattr(background, "projection", lambda n_calls: SimpleNamespace(n_calls=n_calls))
        monkeypatch.setattr(background, "run", lambda *arguments, **options: Progress(**progress))
        usage = Projection(n_used, n_tokens_in=50, n_tokens_out=20, cost_usd=1.0, seconds=0.0, is_measured=True)
        monkeypatch.setattr(Registry, "_usage", lambda registry, study, n_items: usage)
        return Registry(None).pilot(None, 3)

    return run_pilot


@pytest.mark.parametrize(
    ("progress", "seconds"),
    [
        ({"n_done": 10}, 60.0),
        ({"n_done": 10, "n_reused": 5}, 120.0),  # half of the answers were stored, and took no time
        ({"n_done": 10, "n_reused": 10}, 60.0),
        ({"n_done": 4, "n_reused": 2}, 300.0),
    ],
)
def test_a_pilots_seconds_are_those_of_the_calls_that_it_asked(pilot, progress, seconds):
    found = pilot(**progress)
    assert found.seconds == pytest.approx(seconds)
    assert (found.n_calls, found.n_tokens_in, found.cost_usd, found.is_measured) == (200, 1_000, 20.0, True)


def test_a_pilot_says_what_was_cut_off_and_what_nobody_could_read(pilot):
    assert pilot(n_done=10, cut="Some were cut.", unreadable=("None was read.",)).notes == ("Some were cut.", "None was read.")
    assert pilot(n_done=10).notes == ()


@pytest.mark.parametrize("counts", [{"n_done": 0}, {"n_done": 10, "n_used": 0}])
def test_a_pilot_without_an_answer_measures_nothing(pilot, counts):
    with pytest.raises(FlipscopeError, match="The pilot got no answer, so it measured nothing. The server is down."):
        pilot(**counts, message="The server is down.")


def test_a_study_without_planned_calls_is_scaled_by_one_call(pilot):
    assert pilot(n_all=2, n_part=0, n_done=1).n_tokens_in == 100


def test_only_a_failed_run_leaves_a_problem(store, monkeypatch):
    registry = Registry(store)
    monkeypatch.setattr(background, "run", lambda study, *_, **__: Progress(state=study.name, message=f"It is {study.name}."))
    states = ("done", "failed", "incomplete", "cancelled")
    studies = {state: tiny_study(name=state) for state in states}
    for study in studies.values():
        registry._places[study.study_id] = HERE
        registry._run(study, threading.Event())
    assert [ending.state for ending in registry.endings] == list(states)
    problems = {state: registry.problem(study.study_id) for state, study in studies.items()}
    assert problems == dict.fromkeys(states, "") | {"failed": "It is failed."}
