"""What a pilot measures: the seconds and price of its own calls, scaled up to the whole study."""

import threading
from types import SimpleNamespace

import pytest

from flipcore.access import acting
from flipcore.access.acting import OWNER, Level, Person
from flipcore.core.errors import AccessDenied, BadInput, FlipscopeError
from flipcore.runs import background
from flipcore.runs.background import Registry
from flipcore.runs.cluster.where import HERE
from flipcore.runs.cost import Projection
from flipcore.runs.origins import study_row
from flipcore.runs.progress import NOT_STARTED, STOPPING, Progress
from flipcore.store import audit_log
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

        def run(study, store, items_limit, record):
            assert (items_limit, record) == (3, False)  # a pilot is no run of the study
            return Progress(**progress)

        monkeypatch.setattr(background, "run", run)
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


def registry_of(monkeypatch, *turns):
    """A registry with this queue, and the studies whose pages are computed anew and the acts that it stores."""
    touched, acts = [], []
    writer = SimpleNamespace(add_together=acts.append)
    registry = Registry(SimpleNamespace(touch=touched.extend, writer=writer, path="a.duckdb"))
    for turn in turns:
        registry._queue.add(turn)
    return registry, touched, acts


ADA, BEA, CHEF = Person("Ada", Level.ANALYST), Person("Bea", Level.ANALYST), Person("Chef", Level.ADMIN)
FIRST, SECOND = (background.Turn(tiny_study(name=name), "Ada") for name in ("first", "second"))


@pytest.mark.parametrize(("person", "is_moved"), [(ADA, True), (BEA, False), (CHEF, True)])
def test_a_waiting_study_is_moved_by_its_person_or_an_admin(monkeypatch, person, is_moved):
    registry, _, _ = registry_of(monkeypatch, FIRST, SECOND)
    monkeypatch.setattr(acting, "is_access_on", lambda: True)
    with acting.acting_as(person):
        registry.move("unknown", -1)
        if is_moved:
            registry.move(SECOND.study_id, -1)
        else:
            with pytest.raises(AccessDenied, match="Only the person who queued this study, or an admin, may move it."):
                registry.move(SECOND.study_id, -1)
    assert registry.queue() == ([SECOND, FIRST] if is_moved else [FIRST, SECOND])


@pytest.mark.parametrize("state", ["waiting", "running", "unknown"])
def test_a_study_that_waits_or_runs_is_stopped_and_its_act_stored(monkeypatch, state):
    registry, touched, acts = registry_of(monkeypatch, *[FIRST] * (state == "waiting"))
    if state == "running":
        registry._register(FIRST)
    registry.cancel(FIRST.study_id)
    is_stopped = state != "unknown"
    assert registry.queue() == [] and touched == [FIRST.study_id] * is_stopped and len(acts) == is_stopped
    if state == "running":
        assert registry.progress(FIRST.study_id).state == STOPPING


def test_what_a_pilot_used_is_read_round_by_round_until_an_answer_is_missing(monkeypatch):
    """Its second round asks after the first was answered; an item without an answer has no further round."""
    rounds = {"a": [["a1", "a2"], ["a3"], []], "b": [["b1", "b2"], ["b3"]]}
    protocol = SimpleNamespace(next_calls=lambda item: [SimpleNamespace(call_id=name) for name in rounds[item].pop(0)])
    study_plan = SimpleNamespace(
        items=["a", "b"], protocol=protocol, prepare=lambda backend: None, history=lambda item, *more: item
    )
    monkeypatch.setattr(background, "plan", lambda study, store, n_items: study_plan)
    monkeypatch.setattr(
        background.planning, "completions", lambda store, ids: [{"call_id": name} for name in ids if name != "b2"]
    )
    monkeypatch.setattr(background.rows, "completion_of", lambda row: row["call_id"])
    monkeypatch.setattr(background.cost, "usage", lambda completions, seconds: sorted(completions))
    assert registry_of(monkeypatch)[0]._usage(tiny_study(), 2) == ["a1", "a2", "a3", "b1"]
    assert rounds == {"a": [], "b": [["b3"]]}


def test_the_inbox_is_watched_by_one_thread_that_goes_on_after_a_fault(monkeypatch):
    registry, _, _ = registry_of(monkeypatch)
    threads, taken, started = [], iter([[(FIRST.study, "gpu")], OSError("The disk is full."), [(SECOND.study, "")]]), []
    monkeypatch.setattr(
        background.threading, "Thread", lambda **how: threads.append(how) or SimpleNamespace(start=lambda: None)
    )
    for _ in range(2):
        registry.watch_inbox()
    assert [(how["target"], how["daemon"]) for how in threads] == [(registry._watch, True)]

    def take(database):
        batch = next(taken)
        if isinstance(batch, OSError):
            raise batch
        return batch

    naps = []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(background.inbox, "take", take)
    monkeypatch.setattr(background, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(registry, "start", lambda study, on: started.append((study.name, on)))
    with pytest.raises(KeyboardInterrupt):
        threads[0]["target"]()
    assert started == [("first", "gpu"), ("second", "")]


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("person", [OWNER, ADA])
def test_a_waiting_study_is_stored_once_and_its_act_where_people_have_names(monkeypatch, is_known, person):
    registry, _, _ = registry_of(monkeypatch, FIRST)
    monkeypatch.setattr(audit_log, "is_access_on", lambda: True)
    parts = []
    registry._store.writer.add_together = lambda given: parts.extend(given) or SimpleNamespace(result=lambda timeout: None)
    monkeypatch.setattr(background.studies, "toml", lambda store, study_id: "known" if is_known else "")
    registry._store_waiting(FIRST, person)
    assert [table for table, _ in parts] == ["studies"] * (not is_known) + ["acts"] * (person is ADA)
    for table, rows in parts:
        (row,) = rows
        assert row["state"] == NOT_STARTED if table == "studies" else (row["who"], row["act"]) == ("Ada", "queued a study")
    assert registry.queue() == [FIRST]


def test_a_waiting_study_that_cannot_be_stored_leaves_the_queue(monkeypatch):
    registry, _, _ = registry_of(monkeypatch, FIRST)

    def refuse(parts):
        raise OSError("The disk is full.")

    registry._store.writer.add_together = refuse
    monkeypatch.setattr(background.studies, "toml", lambda store, study_id: "")
    with pytest.raises(OSError, match="full"):
        registry._store_waiting(FIRST, OWNER)
    assert registry.queue() == []


@pytest.mark.parametrize("person", [OWNER, ADA])
def test_a_study_that_begins_is_running_and_its_act_stored_where_people_have_names(monkeypatch, person):
    registry, _, _ = registry_of(monkeypatch)
    monkeypatch.setattr(audit_log, "is_access_on", lambda: True)
    registry._register(FIRST)
    parts, threads = [], []
    registry._store.writer.add_together = lambda given: parts.extend(given) or SimpleNamespace(result=lambda timeout: None)
    monkeypatch.setattr(background.threading, "Thread", lambda **how: SimpleNamespace(start=lambda: threads.append(how)))
    registry._begin(FIRST, person)
    assert [table for table, _ in parts] == ["studies"] + ["acts"] * (person is ADA)
    assert parts[0][1][0]["state"] == "running"
    (how,) = threads
    assert how["args"] == (FIRST.study, registry._cancels[FIRST.study_id]) and how["daemon"] is True


def test_where_a_study_does_not_begin_the_next_one_does(monkeypatch):
    """One study of a person runs at once, so the second waits for the first until that has failed to begin."""
    registry, _, _ = registry_of(monkeypatch, FIRST, SECOND)
    begun = []

    def try_begin(turn):
        begun.append(turn)
        if turn is FIRST:
            registry._forget(turn.study_id)
        return turn is SECOND

    monkeypatch.setattr(registry, "_try_begin", try_begin)
    registry._begin_due()
    assert begun == [FIRST, SECOND] and registry.queue() == [] and set(registry.running()) == {SECOND.study_id}


@pytest.mark.parametrize("toml", ["declared", "", OSError("The disk is full.")])
def test_a_study_whose_turn_comes_begins_unless_it_was_deleted_or_cannot(monkeypatch, toml):
    registry, _, _ = registry_of(monkeypatch)
    registry._register(FIRST)
    begun = []

    def stored(store, study_id):
        if isinstance(toml, OSError):
            raise toml
        return toml

    monkeypatch.setattr(background.studies, "toml", stored)
    monkeypatch.setattr(registry, "_begin", lambda turn, person: begun.append((turn, person)))
    assert registry._try_begin(FIRST) is (toml == "declared")
    assert begun == [(FIRST, OWNER)] * (toml == "declared") and (FIRST.study_id in registry.running()) is (toml == "declared")
    problem = "It did not begin when its turn came. The disk is full." if isinstance(toml, OSError) else ""
    assert registry.problem(FIRST.study_id) == problem
