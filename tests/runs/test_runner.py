"""Running studies: every call once, resumable, capped, cancellable; kill −9 loses nothing that was acknowledged."""

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import model_cards
from flipcore.models.simulated import Simulated
from flipcore.reports.audit import audit
from flipcore.runs import runner
from flipcore.runs.background import Registry
from flipcore.runs.plan import plan, projection
from flipcore.runs.progress import Progress
from flipcore.store.connection import Store
from flipcore.store.queries import locks
from flipcore.store.queries import studies as queries

pytestmark = pytest.mark.usefixtures("allowed_folders")


def tiny_study(**changes):
    made = {
        "name": "tiny",
        "items": (ItemSource("flipscope_choice", n=6), ItemSource("flipscope_problems", n=4)),
        "axes": (Part("identity"), Part("option_order", {"n": 3})),
        "extractors": (Part("first_token"), Part("regex")),
        "models": (ModelUse("simulated-artifact-prone"),),
    }
    return Study(**made | changes)


def n_completions(store):
    return store.rows("SELECT count(*) FROM completions")[0][0]


def test_no_more_calls_are_done_than_expected_where_answers_need_more(store, monkeypatch):
    planned = dataclasses.replace(projection(plan(tiny_study(), store)), n_calls=3)
    monkeypatch.setattr(runner, "projection", lambda _: planned)
    reports = []
    runner.run(tiny_study(), store, on_progress=reports.append)
    assert reports[-1].n_done == n_completions(store) > 3
    assert all(report.n_done <= report.n_calls for report in reports)


@pytest.mark.slow
def test_a_run_ends_done_with_a_readout_for_every_cell(store):
    progress = runner.run(tiny_study(), store)
    assert (progress.state, progress.n_failed) == ("done", 0)
    frame = queries.readouts(store, tiny_study().study_id)
    # choice items: identity 2 samples + order 3 variants, two readouts; problems: identity 2 samples, text only
    assert len(frame) == 6 * (2 + 3) * 2 + 4 * 2
    assert set(frame["status"]) == {"ok"}


def test_running_again_asks_nothing(store):
    first = runner.run(tiny_study(), store)
    again = runner.run(tiny_study(), store)
    assert again.n_reused == again.n_done == first.n_done == n_completions(store)


@pytest.mark.slow
def test_the_projection_counts_the_calls_exactly_for_small_studies(store):
    assert projection(plan(tiny_study(), store)).n_calls == runner.run(tiny_study(), store).n_done


@pytest.mark.slow
def test_every_slot_is_used_where_an_item_asks_few_calls(store, monkeypatch):
    """36 items of two calls each, 64 slots."""
    now, most, complete = [], [], Simulated.complete

    async def slowly(self, call):
        now.append(call)
        await asyncio.sleep(0.1)
        most.append(len(now))
        now.remove(call)
        return await complete(self, call)

    monkeypatch.setattr(Simulated, "complete", slowly)
    study = tiny_study(items=(ItemSource("flipscope_problems", n=36),), axes=(Part("identity"),), extractors=(Part("regex"),))
    assert runner.run(study, store).n_done == 72 and max(most) == model_cards()["simulated-artifact-prone"].n_in_flight == 64


@pytest.mark.slow
def test_a_cancelled_run_resumes_with_the_missing_calls_only(store):
    cancel = threading.Event()
    cancel.set()
    stopped = runner.run(tiny_study(), store, cancel=cancel)
    assert stopped.state == "cancelled" and "Resume" in stopped.message
    done = runner.run(tiny_study(), store)
    assert done.state == "done" and done.n_done == n_completions(store)


@pytest.mark.slow
def test_confirmatory_items_are_read_only_under_a_lock(store):
    study = tiny_study(confirmatory_share=0.5)
    runner.run(study, store)
    shown = set(queries.readouts(store, study.study_id)["item_id"])
    lock = locks.keep_lock(store, study.study_id, "decomposition", {}, "Ada")
    hidden = set(queries.readouts(store, study.study_id, lock=lock)["item_id"])
    assert shown and hidden and not shown & hidden and len(shown | hidden) == 10


@pytest.mark.slow
def test_an_audit_counts_the_calls_of_the_items_that_it_is_of(store):
    study = tiny_study(items=(ItemSource("flipscope_choice", n=12),), extractors=(Part("regex"),), confirmatory_share=0.5)
    runner.run(study, store)
    n_items = queries.readouts(store, study.study_id)["item_id"].nunique()
    n_calls = n_items * (2 + 2)  # the own prompt twice, two other orders
    assert 0 < n_items < 12 and f"{n_items} items, {n_calls} calls" in audit(store, study.study_id).recognised


def priced(monkeypatch, price):
    cards = model_cards()
    name = "simulated-artifact-prone"
    table = {**cards, name: dataclasses.replace(cards[name], price_in=price, price_out=price)}
    monkeypatch.setattr(runner, "model_cards", lambda: table)
    monkeypatch.setattr("flipcore.runs.plan.model_cards", lambda: table)


def test_a_paid_model_without_a_budget_is_refused_before_the_first_call(store, monkeypatch):
    priced(monkeypatch, 10.0)
    with pytest.raises(OverBudget, match="no budget.*Nothing was asked"):
        runner.run(tiny_study(), store)
    assert n_completions(store) == 0


def test_a_projection_over_the_budget_is_refused_and_printed(store, monkeypatch):
    priced(monkeypatch, 1000.0)
    with pytest.raises(OverBudget, match=r"more than its budget of \$0.01. Projection: .* calls"):
        runner.run(tiny_study(budget_usd=0.01), store)
    assert queries.studies(store)["state"].tolist() == ["over_budget"]


def test_an_unknown_axis_names_those_that_there_are(store):
    with pytest.raises(BadInput, match="no axis called 'mirror'.*option_order"):
        runner.run(tiny_study(axes=(Part("mirror"),)), store)


@pytest.mark.slow
def test_two_studies_at_once_buy_a_shared_call_once(store):
    registry = Registry(store)
    registry.set_at_once(2)
    studies = [tiny_study(), tiny_study(name="the same questions under another name")]
    for study in studies:
        registry.start(study)
    deadline = time.monotonic() + 60
    while registry.running() and time.monotonic() < deadline:
        time.sleep(0.05)
    table = queries.studies(store)
    assert table["state"].tolist() == ["done", "done"]
    assert n_completions(store) == table["n_calls_done"].iloc[0] == table["n_calls_done"].iloc[1]


@pytest.mark.slow
def test_a_study_whose_calls_were_answered_for_another_says_so(store):
    runner.run(tiny_study(), store)
    runner.run(tiny_study(name="the same questions later"), store)
    runner.run(tiny_study(), store)  # what a study asked itself is not reused when it is run again
    assert queries.studies(store)["n_reused"].tolist() == [n_completions(store), 0]  # the newest first


@pytest.mark.slow
def test_deleting_a_study_keeps_what_was_paid_for(store):
    study = tiny_study()
    runner.run(study, store)
    before = n_completions(store)
    queries.delete_study(store, study.study_id)
    assert queries.studies(store).empty and queries.readouts(store, study.study_id).empty
    assert n_completions(store) == before


def test_a_pilot_measures_and_leaves_no_study(store):
    measured = Registry(store).pilot(tiny_study(), 2)
    assert measured.is_measured and measured.n_calls > 0
    assert queries.studies(store).empty and n_completions(store) > 0


@pytest.mark.slow
def test_a_pilot_of_an_adaptive_protocol_measures_every_wave_of_its_calls(store):
    """A noisy model needs more than the five votes that go out at once: all that was asked is in the measurement."""
    study = tiny_study(protocol=Part("rotation", {"lead": 6}), models=(ModelUse("simulated-noisy"),))
    measured = Registry(store).pilot(study, 2)
    used = store.rows("SELECT sum(n_tokens_in) FROM completions")[0][0]
    whole, part = (projection(plan(study, store, n)).n_calls for n in (None, 2))
    assert measured.n_tokens_in == round(used * whole / part)


_SLOW = """
import sys, time
from flipcore.models.simulated import Simulated
from flipcore.reports.audit import audit
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.runs.test_runner import tiny_study
import asyncio
answered = Simulated.complete
async def slowly(self, call):
    await asyncio.sleep(0.03)
    return await answered(self, call)
Simulated.complete = slowly
store = Store.open(sys.argv[1])
add = store.writer.add_together
def told(parts):
    parts = list(parts)
    done = add(parts)
    for row in dict(parts).get("completions", []):
        done.add_done_callback(lambda _, call_id=row["call_id"]: print(call_id, flush=True))
    return done
store.writer.add_together = told
runner.run(tiny_study(), store)
store.close()
"""


@pytest.mark.slow
def test_kill_minus_nine_loses_nothing_acknowledged_and_repeats_nothing(tmp_path):
    path, acknowledged = tmp_path / "flips.duckdb", []
    for delay in (0.10, 0.25, 0.18, 0.30, 0.22):
        child = subprocess.Popen([sys.executable, "-c", _SLOW, str(path)], stdout=subprocess.PIPE, text=True, env=os.environ)
        first = child.stdout.readline().strip()  # some work is done before the blow
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        acknowledged += [first, *child.stdout.read().split()] if first else []
        child.wait(20)
        child.stdout.close()
    assert len(acknowledged) == len(set(acknowledged)) > 0  # nothing was bought twice
    store = Store.open(path)
    kept = {row[0] for row in store.rows("SELECT call_id FROM completions")}
    assert set(acknowledged) <= kept
    done = runner.run(tiny_study(), store)
    assert done.state == "done" and done.n_reused == len(kept)
    store.close()


class Ending:
    """A run that asked its last call: its row of the study, and the writer that takes it or not."""

    def __init__(self, monkeypatch, *, is_stored=True, record=True, ending="", **progress):
        self.stored, self.told = [], []
        self.run = run = object.__new__(runner._Run)
        run.asking = SimpleNamespace(
            progress=Progress(**progress),
            spending=SimpleNamespace(cap_usd=None, spent_usd=0.0),
            ending=ending,
            first_error="",
            other_models_sentence=lambda: "",
        )
        run.cut, run.unreadable = SimpleNamespace(sentence=lambda: "Cut."), SimpleNamespace(sentences=lambda: ["Unread."])
        run.plan, run.study, run.record = SimpleNamespace(warnings=("Mind this.",)), None, record
        run.runs, run.on_progress = SimpleNamespace(whole_hash=lambda state: f"hash {state}"), self.told.append
        monkeypatch.setattr(run, "_measure", lambda: None)
        monkeypatch.setattr(
            runner, "study_row", lambda study, state, message, **more: (state, message, more["n_calls"], more["plan_hash"])
        )

        def flush():
            if not is_stored:
                raise OSError("The disk is full.")

        add = lambda table, rows: SimpleNamespace(result=lambda timeout: self.stored.extend(rows))  # noqa: E731
        run.store = SimpleNamespace(writer=SimpleNamespace(add=add, flush=flush))
        run._finish()


@pytest.mark.parametrize(
    ("ending", "n_failed", "state", "n_calls"),
    [("", 0, "done", 7), ("", 1, "incomplete", 7), ("cancelled", 1, "cancelled", 9), ("failed", 0, "failed", 9)],
)
def test_a_run_ends_in_the_state_of_its_calls(monkeypatch, ending, n_failed, state, n_calls):
    run = Ending(monkeypatch, ending=ending, n_failed=n_failed, n_done=7, n_calls=9, message="Said.")
    assert run.stored == [(state, "Said. Cut. Mind this.", n_calls, f"hash {state}")]
    (told,) = run.told
    assert (told.state, told.message, told.cut, told.unreadable) == (state, "Said. Cut. Mind this.", "Cut.", ("Unread.",))
    assert (told.eta_s, told.trouble) == (None, "")
    assert Ending(monkeypatch, ending=ending, record=False).stored == []


@pytest.mark.parametrize(
    ("ending", "n_failed", "state", "message"),
    [
        ("", 0, "failed", "The disk is full."),
        ("", 1, "failed", "The disk is full."),
        ("cancelled", 0, "cancelled", "Said. Cut. Mind this."),
    ],
)
def test_a_run_that_was_done_and_could_not_be_stored_has_failed(monkeypatch, ending, n_failed, state, message):
    (told,) = Ending(monkeypatch, is_stored=False, ending=ending, n_failed=n_failed, message="Said.").told
    assert (told.state, told.message) == (state, message)
