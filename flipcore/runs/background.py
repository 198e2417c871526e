"""The runs of this process: one thread each, none twice, and calls that two of them need are bought once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.access.person import OWNER
from flipcore.core.errors import BadInput, FlipscopeError, OverBudget
from flipcore.core.records import Completion
from flipcore.core.study import Study
from flipcore.runs import cost, inbox
from flipcore.runs.cluster.places import HERE, check_offered, place_of
from flipcore.runs.in_flight import InFlight
from flipcore.runs.plan import plan, projection
from flipcore.runs.progress import CANCELLED, FAILED, OVER_BUDGET, Progress
from flipcore.runs.runner import run
from flipcore.store import rows
from flipcore.store.acts import act_row
from flipcore.store.connection import Store
from flipcore.store.queries import planning, studies

INBOX_S = 2.0


class Registry:
    """Starts, watches and cancels studies on one store. Safe to call from any thread."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock, self._in_flight = store, threading.Lock(), InFlight()
        self._progress: dict[str, Progress] = {}
        self._cancels: dict[str, threading.Event] = {}
        self._problems: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._watching = False

    def start(self, study: Study, on: str | None = None) -> None:
        """Begins or resumes a study in the background; a study that runs already is left alone. `on` is where its models are asked:
        by default where it ran last. Raises AccessDenied for whoever may not, and for a cluster that is not offered; the run itself
        is the owner's."""
        person, study_id = require(Permission.RUN), study.study_id
        on = self._places.get(study_id, HERE) if on is None else on
        check_offered(on)
        with self._lock:
            if study_id in self._progress:
                return
            self._progress[study_id] = Progress(message="Getting ready")
            cancel = self._cancels[study_id] = threading.Event()
            self._problems.pop(study_id, None)
            self._places[study_id] = on
        try:
            started = act_row(person, "started a study", study_id) if person != OWNER else []
            row = rows.study_row(study, "running", "")
            self._store.writer.add_together([("studies", [row]), *started]).result(30)
        except Exception:
            self._forget(study_id)
            raise
        threading.Thread(target=self._run, args=(study, cancel), name=f"study-{study_id}", daemon=True).start()

    def _run(self, study: Study, cancel: threading.Event) -> None:
        study_id = study.study_id
        try:
            with closing(place_of(self._places[study_id])) as place:
                last = run(
                    study,
                    self._store,
                    cancel=cancel,
                    in_flight=self._in_flight,
                    on_progress=lambda progress: self._progress.__setitem__(study_id, progress),
                    place=place,
                )
            if last.state == FAILED:
                self._problems[study_id] = last.message  # shown even where the disk did not take it
        except FlipscopeError as error:
            self._ended(study, OVER_BUDGET if isinstance(error, OverBudget) else FAILED, str(error))
        except Exception as error:  # a fault of ours must reach the page as a sentence and end the run
            logging.getLogger(__name__).error("A study could not be run", exc_info=error)
            message = f"The run stopped on an internal fault ({type(error).__name__}: {error}). Nothing stored is lost; resume."
            self._ended(study, FAILED, message)
        finally:
            self._forget(study_id)
            self._store.touch([study_id])

    def _ended(self, study: Study, state: str, message: str) -> None:
        """Stores how a study ended; what cannot be stored is still told."""
        self._problems[study.study_id] = message
        try:
            self._store.writer.add("studies", [rows.study_row(study, state, message, ended_at=rows.now())]).result(30)
        except Exception as error:
            self._problems[study.study_id] = f"{message} {error}"

    def _forget(self, study_id: str) -> None:
        with self._lock:
            self._progress.pop(study_id, None)
            self._cancels.pop(study_id, None)

    def problem(self, study_id: str) -> str:
        """Why the study's last run in this process failed, or ""."""
        return self._problems.get(study_id, "")

    def settle(self, resumed: Sequence[Study] = ()) -> None:
        """Studies that a process now gone left running: said so, except those to be `resumed`, which go on."""
        ids_to_resume = {study.study_id for study in resumed}
        for (study_id,) in self._store.rows("SELECT study_id FROM studies WHERE state = 'running'"):
            if study_id in self._progress:
                continue
            try:
                study = studies.declared(self._store, study_id)
            except BadInput:
                continue  # a declaration that this version cannot read: shown as such, never run
            if study_id in ids_to_resume:
                self.start(study)
            else:
                cut_off = "It was cut off when its process ended. Resume makes only the missing calls."
                self._store.writer.add("studies", [rows.study_row(study, CANCELLED, cut_off)]).result(30)

    def progress(self, study_id: str) -> Progress | None:
        """How far a running study is; None when it does not run here."""
        return self._progress.get(study_id)

    def running(self) -> dict[str, Progress]:
        return dict(self._progress)

    def cancel(self, study_id: str) -> None:
        """Lets the calls that are on their way come in, then stops."""
        person = require(Permission.RUN)
        cancel = self._cancels.get(study_id)
        if cancel:
            cancel.set()
            self._store.writer.add_together(act_row(person, "stopped a study", study_id))

    def pilot(self, study: Study, n_items: int) -> cost.Projection:
        """Asks the first items and scales what they used up to the whole study; what was asked is kept."""
        require(Permission.RUN)
        whole, part = projection(plan(study, self._store)), projection(plan(study, self._store, n_items))
        before = time.monotonic()
        progress = run(study, self._store, items_limit=n_items, in_flight=self._in_flight, record=False)
        seconds = time.monotonic() - before
        usage = self._usage(study, n_items)
        if progress.n_done == 0 or usage.n_calls == 0:
            raise FlipscopeError("The pilot got no answer, so it measured nothing. " + progress.message)
        n_calls = progress.n_done - progress.n_reused
        seconds = seconds if n_calls == 0 else seconds * part.n_calls / n_calls
        pilot_cost = cost.Projection(part.n_calls, usage.n_tokens_in, usage.n_tokens_out, usage.cost_usd, seconds, True)
        return replace(pilot_cost.scaled(whole.n_calls / max(part.n_calls, 1)), note=progress.cut)

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
                while calls := study_plan.protocol.next_calls(study_plan.history(item_plan, use, backend, completions, judge)):
                    completion_rows = planning.completions(self._store, [call.call_id for call in calls])
                    completions |= {row["call_id"]: rows.completion_of(row) for row in completion_rows}
                    if len(completion_rows) < len(calls):
                        break
                by_call |= completions
        return cost.usage(by_call.values(), 0.0)

    def watch_inbox(self) -> None:
        """Takes studies that the command line left, for as long as the process lives."""
        if not self._watching:
            self._watching = True
            threading.Thread(target=self._watch, name="inbox", daemon=True).start()

    def _take_in(self, study: Study, on: str) -> None:
        """Starts a study that was handed over; one for a cluster that is not offered here says so on its card."""
        try:
            self.start(study, on)
        except FlipscopeError as error:
            self._ended(study, FAILED, str(error))

    def _watch(self) -> None:
        while True:
            try:
                for study, on in inbox.take():
                    self._take_in(study, on)
            except Exception as error:  # one bad file or a full disk must not end the watch
                logging.getLogger(__name__).error("The inbox could not be emptied", exc_info=error)
            time.sleep(INBOX_S)
