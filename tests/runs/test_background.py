"""What a pilot measures: the seconds and price of its own calls, scaled up to the whole study."""

import threading
from types import SimpleNamespace

import pytest

from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.runs import background
from flipcore.runs.background import Registry
from flipcore.runs.cluster.where import HERE
from flipcore.runs.cost import Projection
from flipcore.runs.origins import study_row
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


def queue_of(*turns, at_once=1):
    queue = background.Queue(at_once)
    for name, person in turns:
        queue.add(background.Turn(tiny_study(name=name), person))
    return queue


@pytest.mark.parametrize(("n_running", "is_taken"), [(0, True), (7, True), (8, False)])
def test_at_most_eight_studies_run_at_once(n_running, is_taken):
    queue = queue_of(("a", "Ada"))
    running = {f"study {n}": f"person {n}" for n in range(n_running)}
    assert (queue.take(running) is not None) == is_taken and (queue.order() == []) == is_taken


@pytest.mark.parametrize(("at_once", "n_own", "is_taken"), [(1, 0, True), (1, 1, False), (2, 1, True), (2, 2, False)])
def test_a_person_has_as_many_studies_running_as_are_set(at_once, n_own, is_taken):
    running = {f"study {n}": "Ada" for n in range(n_own)}
    assert (queue_of(("a", "Ada"), at_once=at_once).take(running) is not None) == is_taken


@pytest.mark.parametrize(
    ("name", "places", "order"), [("a", 1, "bac"), ("a", 9, "bca"), ("c", -1, "acb"), ("c", -9, "cab"), ("b", 0, "abc")]
)
def test_a_study_moves_within_the_queue_of_its_person(name, places, order):
    queue = queue_of(("a", "Ada"), ("b", "Ada"), ("c", "Ada"), ("x", "Bea"))
    queue.move(tiny_study(name=name).study_id, places)
    queue.move("unknown", 1)
    assert [turn.study.name for turn in queue.order() if turn.person == "Ada"] == list(order)


def test_a_study_leaves_the_queue_once():
    queue = queue_of(("a", "Ada"), ("x", "Bea"))
    study_id = tiny_study(name="a").study_id
    assert queue.turn(study_id).person == "Ada" == queue.remove(study_id).person
    assert queue.turn(study_id) is None is queue.remove(study_id) and [turn.person for turn in queue.order()] == ["Bea"]


@pytest.mark.parametrize(("text", "n"), [("", 1), (" 2 ", 2), ("8", 8), ("9", None), ("0", None), ("-1", None), ("two", None)])
def test_how_many_run_at_once_is_a_number_from_1_to_8(monkeypatch, text, n):
    monkeypatch.setenv(background.VARIABLE, text)
    if n:
        assert background.runs_at_once() == n
    else:
        with pytest.raises(BadInput, match="it must be a whole number from 1 to 8"):
            background.runs_at_once()


@pytest.mark.parametrize(
    ("state", "is_running", "state_after"),
    [("running", False, "cancelled"), ("running", True, "running"), ("planned", False, "planned"), ("done", False, "done")],
)
def test_studies_that_an_earlier_process_left_running_were_cut_off(store, state, is_running, state_after):
    registry = Registry(store)
    study = tiny_study()
    store.writer.add("studies", [study_row(study, state)]).result(10)
    if is_running:
        registry._progress[study.study_id] = Progress()
    registry.settle()
    assert store.rows("SELECT state FROM studies") == [(state_after,)]


@pytest.mark.parametrize("n", [1, 2, 8, 0, 9, -1])
def test_from_1_to_8_studies_of_a_person_may_run_at_once(store, monkeypatch, n):
    registry = Registry(store)
    begun = []
    monkeypatch.setattr(registry, "_begin_due", lambda: begun.append(registry.at_once()))
    if 1 <= n <= 8:
        registry.set_at_once(n)
        assert begun == [n]
        return
    with pytest.raises(BadInput, match=f"{n} studies at a time were asked for; it must be from 1 to 8."):
        registry.set_at_once(n)
    assert begun == [] and registry.at_once() == 1
