"""Run studies in the background of this process, one thread each, and never one study twice.

A call that two runs need is bought once. A study that a person starts while another of theirs runs
waits in the `Queue`.
"""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from flipcore.access.acting import OWNER, Level, Permission, Person, acting, require
from flipcore.core.errors import AccessDenied, BadInput, FlipscopeError, OverBudget
from flipcore.core.records import Completion
from flipcore.core.study import Study
from flipcore.runs import cost, inbox
from flipcore.runs.cluster.where import HERE, check_offered, place_of
from flipcore.runs.origins import study_row
from flipcore.runs.plan import plan, projection
from flipcore.runs.progress import (
    CANCELLED,
    FAILED,
    NOT_STARTED,
    OVER_BUDGET,
    QUEUED,
    STOPPING,
    Progress,
)
from flipcore.runs.runner import run
from flipcore.store import packing, rows
from flipcore.store.audit_log import act_parts
from flipcore.store.connection import Store
from flipcore.store.queries import planning, studies

# Each person has a queue of waiting studies. The queues are served in turn, so that one person's
# studies do not hold up another's. A person has at most `at_once` studies running, and all people
# together at most MAX_RUNNING.

VARIABLE = "FLIPSCOPE_RUNS"
MAX_RUNNING = 8  # each run takes memory and keeps connections open


@dataclass(frozen=True)
class Turn:
    """A waiting study and the name of its person; "" for the owner of the database."""

    study: Study
    person: str

    @property
    def study_id(self) -> str:
        return self.study.study_id


def runs_at_once() -> int:
    """Return FLIPSCOPE_RUNS: how many studies of one person run at once, 1 by default. Raises
    BadInput for anything but a whole number from 1 to MAX_RUNNING."""
    text = os.environ.get(VARIABLE, "").strip() or "1"
    if not text.isdecimal() or not 1 <= int(text) <= MAX_RUNNING:
        raise BadInput(
            f"{VARIABLE} is {text[:20]!r}; it must be a whole number from 1 to {MAX_RUNNING}."
        )
    return int(text)


class Queue:
    """The waiting studies of all people."""

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        # Turns by person. The person whose last turn was longest ago comes first.
        self._turns: dict[str, list[Turn]] = {}

    def add(self, turn: Turn) -> None:
        """Add a turn at the end of the person's queue; a new person comes after the others."""
        self._turns.setdefault(turn.person, []).append(turn)

    def remove(self, study_id: str) -> Turn | None:
        """Remove a study's turn and return it; None if the study does not wait."""
        turn = self.turn(study_id)
        if turn is not None:
            self._turns[turn.person].remove(turn)
            self._drop_empty()
        return turn

    def move(self, study_id: str, places: int) -> None:
        """Move a study by so many places towards the front (negative) or back of its own queue."""
        if (turn := self.turn(study_id)) is not None:
            turns = self._turns[turn.person]
            place = turns.index(turn)
            turns.insert(max(0, min(len(turns) - 1, place + places)), turns.pop(place))

    def turn(self, study_id: str) -> Turn | None:
        """Return a study's turn; None if the study does not wait."""
        for turns in self._turns.values():
            for turn in turns:
                if turn.study_id == study_id:
                    return turn
        return None

    def take(self, running: Mapping[str, str]) -> Turn | None:
        """Remove and return the next turn that may start; None if none may. `running` maps the
        ids of running studies to their people."""
        if len(running) >= MAX_RUNNING:
            return None
        n_running = Counter(running.values())
        for person, turns in self._turns.items():
            if n_running[person] < self.at_once:
                turn = turns.pop(0)
                self._turns[person] = self._turns.pop(person)  # now behind everybody else
                self._drop_empty()
                return turn
        return None

    def order(self) -> list[Turn]:
        """Return all turns in the order in which they start if each study takes equally long."""
        rounds = zip_longest(*self._turns.values())
        return [turn for turn in chain.from_iterable(rounds) if turn is not None]

    def _drop_empty(self) -> None:
        self._turns = {person: turns for person, turns in self._turns.items() if turns}


INBOX_S = 2.0
DEMO = "the demo"
_STOPS = "Stopping: calls that are on their way come in."


@dataclass(frozen=True)
class Ending:
    """A run of this process that ended, and the state in which it ended."""

    study_id: str
    name: str
    state: str


class Registry:
    """Starts, queues, watches and cancels studies on one store. Safe to call from any thread."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._queue = Queue(runs_at_once())
        self._people: dict[str, str] = {}  # running study -> person
        # Ids of the studies of a first start. They wait only for one another, in their own queue.
        self.demos: set[str] = set()
        self.endings: list[Ending] = []
        self._progress: dict[str, Progress] = {}
        self._cancels: dict[str, threading.Event] = {}
        self._problems: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._watching = False

    def start(self, study: Study, on: str | None = None) -> None:
        """Begin or resume a study in the background, or queue it while its person's others run.

        A study that runs or waits already is left alone. `on` is where its models are asked: a
        cluster, or HERE; None is where it ran last. Raises AccessDenied for people who may not run
        studies, and for a cluster that is not offered.
        """
        person = require(Permission.RUN)
        turn = Turn(study, DEMO if study.study_id in self.demos else acting().name)
        on = self._places.get(turn.study_id, HERE) if on is None else on
        check_offered(on)
        with self._lock:
            if turn.study_id in self._progress or self._queue.turn(turn.study_id):
                return
            self._problems.pop(turn.study_id, None)
            self._places[turn.study_id] = on
            self._queue.add(turn)
            due_turns = self._take_due()
            for due_turn in due_turns:
                self._register(due_turn)
        if turn not in due_turns:
            self._store_waiting(turn, person)
        for due_turn in due_turns:
            if due_turn is not turn:
                self._try_begin(due_turn)
        if turn in due_turns:
            self._begin(turn, person)

    def _take_due(self) -> list[Turn]:
        """Take the turns that may start now. The caller holds the lock and registers them."""
        turns: list[Turn] = []
        people = dict(self._people)
        while (turn := self._queue.take(people)) is not None:
            turns.append(turn)
            people[turn.study_id] = turn.person
        return turns

    def _register(self, turn: Turn) -> None:
        self._people[turn.study_id] = turn.person
        self._progress[turn.study_id] = Progress(message="Getting ready")
        self._cancels[turn.study_id] = threading.Event()

    def _store_waiting(self, turn: Turn, person: Person) -> None:
        """Store a waiting study that never ran, so that a restart shows it as not started."""
        acts = act_parts(person, "queued a study", turn.study_id) if person != OWNER else []
        is_new = not studies.toml(self._store, turn.study_id)
        study_part = [("studies", [study_row(turn.study, NOT_STARTED, "")])] if is_new else []
        try:
            if study_part or acts:
                self._store.writer.add_together([*study_part, *acts]).result(30)
        except Exception:
            with self._lock:
                self._queue.remove(turn.study_id)
            raise

    def _begin(self, turn: Turn, person: Person) -> None:
        """Store that the study runs, and start its thread."""
        study = turn.study
        try:
            acts = act_parts(person, "started a study", study.study_id) if person != OWNER else []
            row = study_row(study, "running", "")
            self._store.writer.add_together([("studies", [row]), *acts]).result(30)
        except Exception:
            self._forget(study.study_id)
            raise
        cancel = self._cancels[study.study_id]
        threading.Thread(
            target=self._run, args=(study, cancel), name=f"study-{study.study_id}", daemon=True
        ).start()

    def _begin_due(self) -> None:
        """Begin the studies whose turn it is; one that fails makes room for the next."""
        while True:
            with self._lock:
                turns = self._take_due()
                for turn in turns:
                    self._register(turn)
            # `sum` tries every turn, where `all` would stop at the first failure.
            n_begun = sum(self._try_begin(turn) for turn in turns)
            if n_begun == len(turns):
                return

    def _try_begin(self, turn: Turn) -> bool:
        """Begin a study that waited, and return whether it began. A deleted study is forgotten. For
        another that fails to begin, the problem is kept."""
        try:
            if studies.toml(self._store, turn.study_id):
                # The audit log has the person's act of queueing it; as OWNER no act is added.
                self._begin(turn, OWNER)
                return True
        except Exception as error:  # a full disk, or a store that was closed
            self._problems[turn.study_id] = f"It did not begin when its turn came. {error}"
        self._forget(turn.study_id)
        return False

    def _run(self, study: Study, cancel: threading.Event) -> None:
        study_id = study.study_id
        try:
            with closing(place_of(self._places[study_id])) as place:
                last = run(
                    study,
                    self._store,
                    cancel=cancel,
                    on_progress=lambda progress: self._progress.__setitem__(study_id, progress),
                    place=place,
                )
            if last.state == FAILED:
                self._problems[study_id] = last.message  # shown even if the disk refused it
            self.endings.append(Ending(study_id, study.name, last.state))
            packing.pack_later(self._store, study_id)
        except FlipscopeError as error:
            self._store_ending(
                study, OVER_BUDGET if isinstance(error, OverBudget) else FAILED, str(error)
            )
        except Exception as error:
            # An internal error must reach the page as a sentence and end the run.
            logging.getLogger(__name__).error("A study could not be run", exc_info=error)
            message = (
                f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing"
                " stored is lost; resume."
            )
            self._store_ending(study, FAILED, message)
        finally:
            self._forget(study_id)
            self._store.touch([study_id])
            self._begin_due()

    def _store_ending(self, study: Study, state: str, message: str) -> None:
        """Store how a study ended; where that fails, the page still shows the problem."""
        self._problems[study.study_id] = message
        self.endings.append(Ending(study.study_id, study.name, state))
        try:
            self._store.writer.add(
                "studies", [study_row(study, state, message, ended_at=rows.now())]
            ).result(30)
        except Exception as error:
            self._problems[study.study_id] = f"{message} {error}"

    def _forget(self, study_id: str) -> None:
        with self._lock:
            self._progress.pop(study_id, None)
            self._cancels.pop(study_id, None)
            self._people.pop(study_id, None)

    def problem(self, study_id: str) -> str:
        """Return why the study's last run in this process failed, or ""."""
        return self._problems.get(study_id, "")

    def settle(self, resumed: Sequence[Study] = ()) -> None:
        """Mark studies that an earlier process left running as cancelled; resume those given."""
        ids_to_resume = {study.study_id for study in resumed}
        unfinished = (
            f"SELECT study_id, state FROM studies WHERE state IN ('running', '{NOT_STARTED}')"
        )
        for study_id, state in self._store.rows(unfinished):
            if study_id in self._progress or (
                state == NOT_STARTED and study_id not in ids_to_resume
            ):
                continue
            try:
                study = studies.declared(self._store, study_id)
            except BadInput:
                continue  # this version cannot read its declaration; pages say so
            if study_id in ids_to_resume:
                self.start(study)
            else:
                cut_off = (
                    "It was cut off when its process ended. Resume makes only the missing calls."
                )
                self._store.writer.add("studies", [study_row(study, CANCELLED, cut_off)]).result(30)

    def progress(self, study_id: str) -> Progress | None:
        """Return the progress of a running or waiting study; None for any other."""
        return self._running().get(study_id) or self._waiting().get(study_id)

    def running(self) -> dict[str, Progress]:
        """Return the progress of running and waiting studies, by id."""
        return self._waiting() | self._running()

    def _running(self) -> dict[str, Progress]:
        """Return the progress of running studies; cancelled ones are shown as stopping."""
        with self._lock:
            cancelled = {study_id for study_id, cancel in self._cancels.items() if cancel.is_set()}
            running = dict(self._progress)
            for study_id in cancelled & running.keys():
                running[study_id] = replace(running[study_id], state=STOPPING, message=_STOPS)
            return running

    def _waiting(self) -> dict[str, Progress]:
        with self._lock:
            turns = self._queue.order()
        return {
            turn.study_id: Progress(
                state=QUEUED, message=f"Waiting: number {place} of {len(turns)} in the queue."
            )
            for place, turn in enumerate(turns, 1)
        }

    def queue(self) -> list[Turn]:
        with self._lock:
            return self._queue.order()

    def move(self, study_id: str, places: int) -> None:
        """Move a waiting study within its queue. AccessDenied unless by its person or an admin."""
        person = require(Permission.RUN)
        with self._lock:
            turn = self._queue.turn(study_id)
            if turn is not None and turn.person != person.name and person.level is not Level.ADMIN:
                raise AccessDenied(
                    "Only the person who queued this study, or an admin, may move it. Ask one of"
                    " them."
                )
            self._queue.move(study_id, places)

    def set_at_once(self, n: int) -> None:
        """Set how many studies of one person run at once, until this process ends."""
        require(Permission.ACCESS)
        if not 1 <= n <= MAX_RUNNING:
            raise BadInput(
                f"{n} studies at a time were asked for; it must be from 1 to {MAX_RUNNING}."
            )
        with self._lock:
            self._queue.at_once = n
        self._begin_due()

    def at_once(self) -> int:
        return self._queue.at_once

    def cancel(self, study_id: str) -> None:
        """Stop a study once its calls on their way are received; a waiting one leaves the queue."""
        person = require(Permission.RUN)
        with self._lock:
            waiting_turn = self._queue.remove(study_id)
            cancel = self._cancels.get(study_id)
        if cancel:
            cancel.set()
        if cancel or waiting_turn:
            self._store.touch([study_id])
            self._store.writer.add_together(act_parts(person, "stopped a study", study_id))

    def pilot(self, study: Study, n_items: int) -> cost.Projection:
        """Ask the first items and scale their cost up to the whole study. The answers are stored.
        The notes of the projection are sentences on answers that the token limit cut off and on
        unreadable ones."""
        require(Permission.RUN)
        all_calls = projection(plan(study, self._store))
        pilot_calls = projection(plan(study, self._store, n_items))
        before = time.monotonic()
        progress = run(study, self._store, items_limit=n_items, record=False)
        seconds = time.monotonic() - before
        usage = self._usage(study, n_items)
        if progress.n_done == 0 or usage.n_calls == 0:
            raise FlipscopeError(
                "The pilot got no answer, so it measured nothing. " + progress.message
            )
        n_calls = progress.n_done - progress.n_reused
        seconds = seconds if n_calls == 0 else seconds * pilot_calls.n_calls / n_calls
        pilot_cost = replace(usage, n_calls=pilot_calls.n_calls, seconds=seconds)
        notes = tuple(filter(None, (progress.cut, *progress.unreadable)))
        return replace(
            pilot_cost.scaled(all_calls.n_calls / max(pilot_calls.n_calls, 1)), notes=notes
        )

    def _usage(self, study: Study, n_items: int) -> cost.Projection:
        """Return tokens and price of the pilot's completions, read from the store."""
        from flipcore.models import model_cards, open_backend

        study_plan, cards = plan(study, self._store, n_items), model_cards()
        by_call: dict = {}
        judge = open_backend(study.judge, cards) if study.judge else None
        for use in study.models:
            backend = open_backend(use.name, cards)
            study_plan.prepare(backend)
            for item_plan in study_plan.items:
                completions: dict[str, Completion] = {}
                while calls := study_plan.protocol.next_calls(
                    study_plan.history(item_plan, use, backend, completions, judge)
                ):
                    completion_rows = planning.completions(
                        self._store, [call.call_id for call in calls]
                    )
                    completions |= {
                        row["call_id"]: rows.completion_of(row) for row in completion_rows
                    }
                    if len(completion_rows) < len(calls):
                        break
                by_call |= completions
        return cost.usage(by_call.values(), 0.0)

    def watch_inbox(self) -> None:
        """Start studies that the command line leaves in the inbox, as long as the process lives."""
        if not self._watching:
            self._watching = True
            threading.Thread(target=self._watch, name="inbox", daemon=True).start()

    def _take_in(self, study: Study, on: str) -> None:
        """Start a study from the inbox; where its cluster is not offered here, its card says so."""
        try:
            self.start(study, on)
        except FlipscopeError as error:
            self._store_ending(study, FAILED, str(error))

    def _watch(self) -> None:
        while True:
            try:
                for study, on in inbox.take(database=self._store.path):
                    self._take_in(study, on)
            except Exception as error:  # one bad file or a full disk must not end the watch
                logging.getLogger(__name__).error("The inbox could not be emptied", exc_info=error)
            time.sleep(INBOX_S)
