"""The runs of this process: one thread each, none twice, and calls that two of them need are bought
once. What a person starts while a study of theirs runs waits for its turn (`Queue`)."""

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
from flipcore.store.audit_log import act_row
from flipcore.store.connection import Store
from flipcore.store.queries import planning, studies

# Who is next: studies that wait for their turn, a queue for each person, taken round robin so that
# nobody's runs starve another's. A person has `at_once` studies running; what else they start waits
# in their own queue. Over all people at most MOST_RUNNING run.

VARIABLE = "FLIPSCOPE_RUNS"
MOST_RUNNING = 8  # of all people together; each run takes memory and keeps connections open


@dataclass(frozen=True)
class Turn:
    """A study that waits, and whose it is: the name of the identity, "" for the owner of the
    file."""

    study: Study
    person: str

    @property
    def study_id(self) -> str:
        return self.study.study_id


def runs_at_once() -> int:
    """Return how many studies of one person run at once, as FLIPSCOPE_RUNS says it: 1 without it.
    Raises BadInput for what is no such number."""
    text = os.environ.get(VARIABLE, "").strip() or "1"
    if not text.isdecimal() or not 1 <= int(text) <= MOST_RUNNING:
        raise BadInput(
            f"{VARIABLE} is {text[:20]!r}; it must be a whole number from 1 to {MOST_RUNNING}."
        )
    return int(text)


class Queue:
    """The waiting studies of everybody."""

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        # Turns by person, in the order in which people had their last one, longest ago first.
        self._turns: dict[str, list[Turn]] = {}

    def add(self, turn: Turn) -> None:
        """Add a turn at the end of the person's own queue. Somebody who was not waiting comes after
        those who were."""
        self._turns.setdefault(turn.person, []).append(turn)

    def remove(self, study_id: str) -> Turn | None:
        """Give up a turn and return it; None where the study does not wait."""
        turn = self.turn(study_id)
        if turn is not None:
            self._turns[turn.person].remove(turn)
            self._tidy()
        return turn

    def move(self, study_id: str, places: int) -> None:
        """Move a study to the front (negative) or the back of its person's queue, as far as there
        is room."""
        if (turn := self.turn(study_id)) is not None:
            turns = self._turns[turn.person]
            place = turns.index(turn)
            turns.insert(max(0, min(len(turns) - 1, place + places)), turns.pop(place))

    def turn(self, study_id: str) -> Turn | None:
        """Return the turn that the study waits for, or None."""
        for turns in self._turns.values():
            for turn in turns:
                if turn.study_id == study_id:
                    return turn
        return None

    def take(self, running: Mapping[str, str]) -> Turn | None:
        """Take the next that may start beside those that run (study -> person); None where all
        wait."""
        if len(running) >= MOST_RUNNING:
            return None
        n_running = Counter(running.values())
        for person, turns in self._turns.items():
            if n_running[person] < self.at_once:
                turn = turns.pop(0)
                self._turns[person] = self._turns.pop(person)  # now behind everybody else
                self._tidy()
                return turn
        return None

    def order(self) -> list[Turn]:
        """All that wait, as they will come if each takes as long: one of each person in turn."""
        rounds = zip_longest(*self._turns.values())
        return [turn for turn in chain.from_iterable(rounds) if turn is not None]

    def _tidy(self) -> None:
        self._turns = {person: turns for person, turns in self._turns.items() if turns}


INBOX_S = 2.0
DEMO = "the demo"
_STOPS = "Stopping: calls that are on their way come in."


@dataclass(frozen=True)
class Ending:
    """A run of this process that ended, and how."""

    study_id: str
    name: str
    state: str


class Registry:
    """Starts, queues, watches and cancels studies on one store. Safe to call from any thread."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._queue = Queue(runs_at_once())
        self._people: dict[str, str] = {}  # of the studies that run
        # of a first start: they wait for one another, never for a person's studies nor a person for
        # them
        self.demos: set[str] = set()
        self.endings: list[Ending] = []
        self._progress: dict[str, Progress] = {}
        self._cancels: dict[str, threading.Event] = {}
        self._problems: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._watching = False

    def start(self, study: Study, on: str | None = None) -> None:
        """Begin or resumes a study in the background, or queues it while its person has others
        running; `demos` have a queue of their own. A study that runs or waits already is left
        alone. `on` is where its models are asked: by default where it ran last. Raises AccessDenied
        for whoever may not, and for a cluster that is not offered; the run itself is the owner's.
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
            begun = self._due()
            for begun_turn in begun:
                self._enter(begun_turn)
        if turn not in begun:
            self._store_waiting(turn, person)
        for begun_turn in begun:
            if begun_turn is not turn:
                self._has_begun(begun_turn)
        if turn in begun:
            self._begin(turn, person)

    def _due(self) -> list[Turn]:
        """Take those that may start now; the caller holds the lock and enters them."""
        turns: list[Turn] = []
        people = dict(self._people)
        while (turn := self._queue.take(people)) is not None:
            turns.append(turn)
            people[turn.study_id] = turn.person
        return turns

    def _enter(self, turn: Turn) -> None:
        self._people[turn.study_id] = turn.person
        self._progress[turn.study_id] = Progress(message="Getting ready")
        self._cancels[turn.study_id] = threading.Event()

    def _store_waiting(self, turn: Turn, person: Person) -> None:
        """Store a study that never began, so that after a restart it is shown as not started."""
        act = act_row(person, "queued a study", turn.study_id) if person != OWNER else []
        is_new = not studies.toml(self._store, turn.study_id)
        row = [("studies", [study_row(turn.study, NOT_STARTED, "")])] if is_new else []
        try:
            if row or act:
                self._store.writer.add_together([*row, *act]).result(30)
        except Exception:
            with self._lock:
                self._queue.remove(turn.study_id)
            raise

    def _begin(self, turn: Turn, person: Person) -> None:
        """Store that the study runs and starts its thread."""
        study = turn.study
        try:
            begun = act_row(person, "started a study", study.study_id) if person != OWNER else []
            row = study_row(study, "running", "")
            self._store.writer.add_together([("studies", [row]), *begun]).result(30)
        except Exception:
            self._forget(study.study_id)
            raise
        cancel = self._cancels[study.study_id]
        threading.Thread(
            target=self._run, args=(study, cancel), name=f"study-{study.study_id}", daemon=True
        ).start()

    def _next(self) -> None:
        """Begin those whose turn it is; for one that cannot begin the next one comes."""
        while True:
            with self._lock:
                turns = self._due()
                for turn in turns:
                    self._enter(turn)
            # Each is tried, whatever the others do.
            n_begun = sum(self._has_begun(turn) for turn in turns)
            if n_begun == len(turns):
                return

    def _has_begun(self, turn: Turn) -> bool:
        """Begin a study that waited. One that was deleted meanwhile is forgotten; one that cannot
        begin says why."""
        try:
            if studies.toml(self._store, turn.study_id):
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
                self._problems[study_id] = last.message  # shown even where the disk did not take it
            self.endings.append(Ending(study_id, study.name, last.state))
            packing.want(self._store, study_id)
        except FlipscopeError as error:
            self._ended(study, OVER_BUDGET if isinstance(error, OverBudget) else FAILED, str(error))
        except Exception as error:
            # A fault of ours must reach the page as a sentence and end the run.
            logging.getLogger(__name__).error("A study could not be run", exc_info=error)
            message = (
                f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing"
                " stored is lost; resume."
            )
            self._ended(study, FAILED, message)
        finally:
            self._forget(study_id)
            self._store.touch([study_id])
            self._next()

    def _ended(self, study: Study, state: str, message: str) -> None:
        """Store how a study ended; what cannot be stored is still told."""
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
        """Mark studies that a process now gone left running, except those to be `resumed`, which go
        on."""
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
                continue  # a declaration that this version cannot read: shown as such, never run
            if study_id in ids_to_resume:
                self.start(study)
            else:
                cut_off = (
                    "It was cut off when its process ended. Resume makes only the missing calls."
                )
                self._store.writer.add("studies", [study_row(study, CANCELLED, cut_off)]).result(30)

    def progress(self, study_id: str) -> Progress | None:
        """Return how far a running study is, or at which place it waits; None when it does
        neither."""
        return self._running().get(study_id) or self._waiting().get(study_id)

    def running(self) -> dict[str, Progress]:
        """Those that run and those that wait for their turn."""
        return self._waiting() | self._running()

    def _running(self) -> dict[str, Progress]:
        """Return the progress of what runs; what was cancelled says that it stops, whatever it is
        at."""
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
        """Move a waiting study within its person's own queue. Only they may, or an admin."""
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
        if not 1 <= n <= MOST_RUNNING:
            raise BadInput(
                f"{n} studies at a time were asked for; it must be from 1 to {MOST_RUNNING}."
            )
        with self._lock:
            self._queue.at_once = n
        self._next()

    def at_once(self) -> int:
        return self._queue.at_once

    def cancel(self, study_id: str) -> None:
        """Let the calls that are on their way come in, then stops; a study that waits leaves the
        queue."""
        person = require(Permission.RUN)
        with self._lock:
            waited = self._queue.remove(study_id)
            cancel = self._cancels.get(study_id)
        if cancel:
            cancel.set()
        if cancel or waited:
            self._store.touch([study_id])
            self._store.writer.add_together(act_row(person, "stopped a study", study_id))

    def pilot(self, study: Study, n_items: int) -> cost.Projection:
        """Ask the first items and scales what they used up to the whole study; what was asked is
        kept. Its notes are what the token limit cut off and what readers cannot read."""
        require(Permission.RUN)
        all_calls = projection(plan(study, self._store))
        part = projection(plan(study, self._store, n_items))
        before = time.monotonic()
        progress = run(study, self._store, items_limit=n_items, record=False)
        seconds = time.monotonic() - before
        usage = self._usage(study, n_items)
        if progress.n_done == 0 or usage.n_calls == 0:
            raise FlipscopeError(
                "The pilot got no answer, so it measured nothing. " + progress.message
            )
        n_calls = progress.n_done - progress.n_reused
        seconds = seconds if n_calls == 0 else seconds * part.n_calls / n_calls
        pilot_cost = replace(usage, n_calls=part.n_calls, seconds=seconds)
        notes = tuple(filter(None, (progress.cut, *progress.unreadable)))
        return replace(pilot_cost.scaled(all_calls.n_calls / max(part.n_calls, 1)), notes=notes)

    def _usage(self, study: Study, n_items: int) -> cost.Projection:
        """Tokens and price of the pilot's completions, which are in the store."""
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
        """Take studies that the command line left, for as long as the process lives."""
        if not self._watching:
            self._watching = True
            threading.Thread(target=self._watch, name="inbox", daemon=True).start()

    def _take_in(self, study: Study, on: str) -> None:
        """Start a study that was handed over; one for a cluster that is not offered here says so on
        its card."""
        try:
            self.start(study, on)
        except FlipscopeError as error:
            self._ended(study, FAILED, str(error))

    def _watch(self) -> None:
        while True:
            try:
                for study, on in inbox.take(database=self._store.path):
                    self._take_in(study, on)
            except Exception as error:  # one bad file or a full disk must not end the watch
                logging.getLogger(__name__).error("The inbox could not be emptied", exc_info=error)
            time.sleep(INBOX_S)
