"""Who is next: one study of a person after the other, people in turn, and what a restart or a deletion leaves of it."""

import threading
import time
from pathlib import Path

import pytest

from flipcore.access.acting import OWNER, Level, Person, acting_as
from flipcore.core.errors import AccessDenied, BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import background, runner
from flipcore.runs.asking import Asking
from flipcore.runs.background import MAX_RUNNING, Queue, Registry, Turn, runs_at_once
from flipcore.runs.demo import declare
from flipcore.runs.progress import CANCELLED, DONE, NOT_STARTED, QUEUED, STOPPING, Progress
from flipcore.store.queries import studies as queries

ADA, BOB, CY = (Person(name, Level.ANALYST) for name in ("ada@x.org", "bob@x.org", "cy@x.org"))


def study(name):
    return Study(
        name=name,
        items=(ItemSource("flipscope_choice", n=2),),
        axes=(Part("identity"),),
        extractors=(Part("regex"),),
        models=(ModelUse("simulated-clean"),),
    )


def turns(words):
    """ "a1 b1" -> turns of a and b."""
    return [Turn(study(word), word[0]) for word in words.split()]


def filled(words, at_once=1):
    queue = Queue(at_once)
    for turn in turns(words):
        queue.add(turn)
    return queue


def names(some):
    return [turn.study.name for turn in some]


def drained(queue):
    """The order in which a queue is worked off where nothing else runs and each ends before the next begins."""
    return names(iter(lambda: queue.take({}), None))


def test_people_take_turns_and_keep_their_own_order():
    queue = filled("a1 a2 a3 b1 c1 b2")
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert names(queue.order()) == expected and drained(queue) == expected and queue.order() == []


def test_whoever_comes_later_waits_for_one_turn_of_each_other_and_not_for_all_of_them():
    queue = filled("a1 a2 a3 a4")
    assert queue.take({}).study.name == "a1"
    queue.add(turns("b1")[0])
    assert drained(queue)[:2] == ["a2", "b1"]


def test_a_person_with_a_run_waits_and_another_does_not():
    queue = filled("a1 a2 b1")
    assert queue.take({"x": "a"}).study.name == "b1"
    assert queue.take({"x": "a", "y": "b"}) is None
    assert queue.take({"y": "b"}).study.name == "a1"


def test_as_many_run_as_are_set_and_no_more_than_the_process_bears():
    queue = filled("a1 a2 a3", at_once=2)
    assert queue.take({"x": "a"}).study.name == "a1" and queue.take({"x": "a", "y": "a"}) is None
    assert queue.take({str(n): f"p{n}" for n in range(MAX_RUNNING)}) is None
    assert queue.take({str(n): f"p{n}" for n in range(MAX_RUNNING - 1)}) is not None


def test_a_move_is_within_the_persons_own_queue():
    queue = filled("a1 a2 a3 b1")
    ids = {turn.study.name: turn.study_id for turn in queue.order()}
    queue.move(ids["a3"], -1)
    queue.move(ids["b1"], -9)
    assert names(queue.order()) == ["a1", "b1", "a3", "a2"]
    queue.move(ids["a1"], 99)
    assert names(queue.order()) == ["a3", "b1", "a2", "a1"]
    queue.move("nothing", 1)
    assert queue.remove(ids["b1"]).study.name == "b1" and queue.remove(ids["b1"]) is None
    assert names(queue.order()) == ["a3", "a2", "a1"]


@pytest.mark.parametrize(
    "text, wanted", [("", 1), ("3", 3), (" 8 ", 8), ("0", None), ("9", None), ("many", None), ("1.5", None)]
)
def test_how_many_run_is_said_by_the_environment(monkeypatch, text, wanted):
    monkeypatch.setenv("FLIPSCOPE_RUNS", text)
    if wanted:
        assert runs_at_once() == wanted
    else:
        with pytest.raises(BadInput, match="FLIPSCOPE_RUNS"):
            runs_at_once()


class Stage:
    """Runs that end when they are told to; `log` says in which order they began."""

    def __init__(self, monkeypatch):
        self.log, self.ends, self.registries, self.holding = [], {}, [], set()
        monkeypatch.setattr(background, "run", self.run)

    def registry(self, store):
        self.registries.append(Registry(store))
        return self.registries[-1]

    def run(self, one, store, *, cancel, **_):
        end = self.ends.setdefault(one.name, threading.Event())
        self.log.append(one.name)
        while not end.wait(0.005):
            if cancel.is_set() and one.name not in self.holding:
                return Progress(state=CANCELLED)
        return Progress(state=DONE)

    def hold(self, name):
        """A call of it is on its way: cancelled, it still ends only when it is told to."""
        self.holding.add(name)

    def end(self, name):
        self.ends.setdefault(name, threading.Event()).set()


@pytest.fixture
def stage(monkeypatch, store):
    one = Stage(monkeypatch)
    yield one
    with acting_as(OWNER):
        for registry in one.registries:
            for turn in registry.queue():
                registry.cancel(turn.study_id)
            for study_id in registry.running():
                registry.cancel(study_id)
            until(lambda registry=registry: not registry.running())


def until(is_so):
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def states(store):
    return dict(store.rows("SELECT name, state FROM studies"))


def test_the_second_study_begins_when_the_first_has_ended(store, stage):
    registry = stage.registry(store)
    for name in ("one", "two", "three"):
        registry.start(study(name))
        registry.start(study(name))  # a second press changes nothing
    until(lambda: stage.log == ["one"])
    assert states(store) == {"one": "running", "two": "planned", "three": "planned"}
    waiting = registry.progress(study("three").study_id)
    assert waiting.state == QUEUED and "number 2 of 2" in waiting.message and len(registry.running()) == 3
    stage.end("one")
    until(lambda: stage.log == ["one", "two"])
    stage.end("two")
    stage.end("three")
    until(lambda: not registry.running())
    assert stage.log == ["one", "two", "three"]
    assert [(one.name, one.state) for one in registry.endings] == [(name, DONE) for name in ("one", "two", "three")]


def test_one_persons_runs_do_not_starve_anothers(store, stage, monkeypatch):
    monkeypatch.setattr("flipcore.access.acting.access_file", lambda: Path(__file__))
    registry = stage.registry(store)
    for person, names_ in ((ADA, "a1 a2 a3 a4"), (BOB, "b1 b2"), (CY, "c1")):
        with acting_as(person):
            for name in names_.split():
                registry.start(study(name))
    until(lambda: sorted(stage.log) == ["a1", "b1", "c1"])  # a long run of Ada's keeps nobody else waiting
    stage.end("b1")
    until(lambda: stage.log[-1] == "b2")
    acts = dict(store.rows("SELECT act, count(*) FROM acts GROUP BY act"))
    assert acts == {"started a study": 3, "queued a study": 4}


def test_a_study_that_two_people_start_runs_once(store, stage, monkeypatch):
    monkeypatch.setattr("flipcore.access.acting.access_file", lambda: Path(__file__))
    registry = stage.registry(store)
    for person in (ADA, BOB):
        with acting_as(person):
            registry.start(study("shared"))
    until(lambda: stage.log == ["shared"])
    assert registry.queue() == []


def test_a_waiting_study_is_moved_by_its_person_or_an_admin_and_by_nobody_else(store, stage, monkeypatch):
    monkeypatch.setattr("flipcore.access.acting.access_file", lambda: Path(__file__))
    registry = stage.registry(store)
    with acting_as(ADA):
        for name in ("a1", "a2", "a3"):
            registry.start(study(name))
    last = study("a3").study_id
    with acting_as(BOB), pytest.raises(AccessDenied, match="Only the person who queued"):
        registry.move(last, -1)
    with acting_as(Person("eve", Level.VIEWER)), pytest.raises(AccessDenied):
        registry.move(last, -1)
    with acting_as(BOB), pytest.raises(AccessDenied):
        registry.set_at_once(3)
    with acting_as(ADA):
        registry.move(last, -1)
    assert names(registry.queue()) == ["a3", "a2"]
    with acting_as(Person("root", Level.ADMIN)):
        registry.move(last, 1)
        registry.set_at_once(2)
    until(lambda: stage.log == ["a1", "a2"])
    for n in (0, MAX_RUNNING + 1):
        with acting_as(Person("root", Level.ADMIN)), pytest.raises(BadInput, match="from 1 to"):
            registry.set_at_once(n)


PHASES = {
    "getting ready": (runner, "plan_inputs"),
    "writing the prompts": (runner, "plan_of"),
    "counting the calls": (runner, "projection"),
    "opening the models": (Asking, "__aenter__"),
    "storing the prompts": (runner, "declared_rows"),
    "asking": (Asking, "_ask"),
    "reading the answers": (runner._Run, "_read"),
}


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_click_on_cancel_ends_a_run_in_every_phase_and_says_at_once_that_it_stops(store, monkeypatch, phase):
    registry, one, said = Registry(store), study("one"), []
    where, name = PHASES[phase]
    step = getattr(where, name)

    def clicked(*args, **rest):
        with acting_as(OWNER):
            registry.cancel(one.study_id)
        said.append(registry.progress(one.study_id).state)
        return step(*args, **rest)

    monkeypatch.setattr(where, name, clicked)
    with acting_as(OWNER):
        registry.start(one)
    until(lambda: not registry.running())
    assert said and set(said) == {STOPPING} and states(store) == {"one": CANCELLED}


def test_a_cancelled_study_leaves_the_queue_and_a_deleted_one_never_begins(store, stage):
    registry = stage.registry(store)
    for name in ("one", "two", "three", "four"):
        registry.start(study(name))
    until(lambda: stage.log == ["one"])
    registry.cancel(study("two").study_id)
    queries.delete_study(store, study("three").study_id)
    stage.end("one")
    until(lambda: stage.log == ["one", "four"])
    assert states(store) == {"one": "running", "two": "planned", "four": "running"}
    registry.cancel(study("four").study_id)
    until(lambda: not registry.running())
    assert registry.endings[-1].state == CANCELLED


def test_after_a_restart_what_waited_is_not_started_and_what_ran_was_cut_off(store, stage):
    registry = stage.registry(store)
    for name in ("one", "two"):
        registry.start(study(name))
    until(lambda: stage.log == ["one"])
    after = stage.registry(store)  # as another process finds the file
    after.settle()
    assert states(store) == {"one": "cancelled", "two": "planned"} and after.running() == {}
    after.start(study("two"))
    until(lambda: stage.log == ["one", "two"])


def test_resuming_in_a_queue_keeps_how_the_study_ended_before(store, stage):
    registry = stage.registry(store)
    registry.start(study("one"))
    registry.start(study("two"))
    registry.cancel(study("two").study_id)
    store.writer.transact(lambda c: c.execute("UPDATE studies SET state = 'over_budget' WHERE name = 'two'")).result(10)
    registry.start(study("two"))
    assert states(store)["two"] == "over_budget" and registry.progress(study("two").study_id).state == QUEUED


def test_the_demos_wait_for_one_another_and_nobody_for_them(store, stage):
    registry = stage.registry(store)
    registry.demos |= {study("two").study_id, study("three").study_id}
    for name in ("one", "two", "three"):
        registry.start(study(name))
    until(lambda: sorted(stage.log) == ["one", "two"])
    assert registry.progress(study("three").study_id).state == QUEUED
    assert registry.progress(study("one").study_id).state != QUEUED


def test_a_demo_that_had_not_begun_begins_at_the_next_start(store, stage):
    declare(store, [study("one"), study("two")])
    registry = stage.registry(store)
    registry.settle(resumed=[study("two")])
    until(lambda: stage.log == ["two"])
    assert states(store)["one"] == NOT_STARTED
