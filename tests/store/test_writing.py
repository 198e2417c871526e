"""No write fails silently: a full disk, a value that does not fit and a colliding writer end a run with a sentence."""

import errno
import json
import queue
import subprocess
import sys
import threading
from concurrent.futures import Future
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from flipcore.core.errors import NotStored
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models.simulated import Simulated
from flipcore.runs import runner
from flipcore.runs.background import Registry
from flipcore.store import rows, writer
from flipcore.store.connection import Store
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "written",
    (ItemSource("flipscope_choice"), ItemSource("flipscope_problems")),
    (Part("option_order", {"n": 3}), Part("identity")),
    (Part("regex"),),
    (ModelUse("simulated-noisy", n_samples=2),),
)


def spoilt(monkeypatch, **changes):
    """The hundredth answer holds a value that the database cannot."""
    import dataclasses

    answered, n = Simulated.complete, iter(range(100_000))

    async def odd(self, call):
        made = await answered(self, call)
        return dataclasses.replace(made, **changes) if next(n) == 100 else made

    monkeypatch.setattr(Simulated, "complete", odd)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"n_tokens_in": 2**70}, {"n_attempts": 2**40}, {"latency_s": "soon"}], ids=str)
def test_a_value_that_does_not_fit_ends_the_run_with_a_sentence_and_counts_what_is_stored(store, monkeypatch, changes):
    spoilt(monkeypatch, **changes)
    last = runner.run(STUDY, store)
    assert last.state == "failed" and "could not be written" in last.message
    assert store.rows("SELECT count(*) FROM completions") == [(last.n_done,)]
    assert store.rows("SELECT state FROM studies") == [("failed",)]
    monkeypatch.undo()
    done = runner.run(STUDY, store)
    assert done.state == "done" and done.n_reused == last.n_done


_FULL = """
import json, resource, signal, sys
from pathlib import Path
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.store.test_writing import STUDY
store = Store.open(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = sum(one.stat().st_size for one in Path(sys.argv[1]).parent.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60_000, size + 60_000))
last = runner.run(STUDY, store)
print(json.dumps([last.state, last.message, last.n_done]), flush=True)
import os
os._exit(0)
"""


@pytest.mark.slow
def test_a_full_disk_ends_the_run_with_a_sentence_and_keeps_all_that_was_counted(tmp_path):
    """A limit on the size of files stands for the disk: writes fail from some point on."""
    path = tmp_path / "flips.duckdb"
    made = subprocess.run([sys.executable, "-c", _FULL, str(path)], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert made.stdout, made.stderr
    state, message, n_done = json.loads(made.stdout.splitlines()[-1])
    assert state == "failed" and "could not be written" in message and "resume" in message
    store = Store.open(path)
    n_stored = store.rows("SELECT count(*) FROM completions")[0][0]
    assert n_stored >= n_done
    assert runner.run(STUDY, store).state == "done"
    store.close()


def test_a_writer_that_collides_is_waited_for(store):
    """Somebody else changes the same row in a transaction of their own."""
    study = rows.study_row(STUDY, "planned")
    store.writer.add("studies", [study]).result(10)
    cursor = store.cursor()
    cursor.execute("BEGIN")
    cursor.execute("UPDATE studies SET message = 'theirs'")
    later = threading.Timer(0.25, lambda: cursor.execute("COMMIT"))
    later.start()
    store.writer.add("studies", [study | {"state": "done"}]).result(20)
    later.join()
    cursor.close()
    assert store.rows("SELECT state FROM studies") == [("done",)]


@pytest.mark.slow
def test_a_writer_that_collides_for_good_is_a_sentence(store):
    study = rows.study_row(STUDY, "planned")
    store.writer.add("studies", [study]).result(10)
    cursor = store.cursor()
    cursor.execute("BEGIN")
    cursor.execute("UPDATE studies SET message = 'theirs'")
    with pytest.raises(NotStored, match="could not be written"):
        store.writer.add("studies", [study | {"state": "done"}]).result(30)
    cursor.execute("ROLLBACK")
    cursor.close()


@pytest.mark.slow
def test_the_dashboard_tells_what_the_disk_did_not_take(store, monkeypatch):
    registry = Registry(store)
    add = store.writer.add

    def refuses(table, given):
        if table == "studies" and given[0]["state"] != "running":
            from concurrent.futures import Future

            failed = Future()
            failed.set_exception(NotStored("The disk is full."))
            return failed
        return add(table, given)

    monkeypatch.setattr(store.writer, "add", refuses)
    spoilt(monkeypatch, n_attempts=2**40)
    registry.start(STUDY)
    while registry.running():
        pass
    assert "could not be written" in registry.problem(STUDY.study_id)


def test_a_sender_that_waits_has_its_rows_written_at_once(store, monkeypatch):
    monkeypatch.setattr(writer, "INTERVAL_S", 60.0)
    for n in range(3):
        store.writer.add("store_info", [{"key": f"key {n}", "value": "v"}]).result(20)
    for n in range(3, 6):
        store.writer.add("store_info", [{"key": f"key {n}", "value": "v"}])
    store.writer.flush(20)
    assert store.rows("SELECT count(*) FROM store_info WHERE starts_with(key, 'key ')") == [(6,)]


def test_rows_that_nobody_waits_for_are_written_together(store, monkeypatch):
    transactions, transaction = [], store.writer._transaction
    monkeypatch.setattr(writer, "INTERVAL_S", 1.0)
    monkeypatch.setattr(store.writer, "_transaction", lambda *words: transactions.append(1) or transaction(*words))
    receipts = [store.writer.add("store_info", [{"key": f"key {n}", "value": "v"}]) for n in range(20)]
    written = threading.Event()
    receipts[-1].add_done_callback(lambda _: written.set())
    assert written.wait(30) and len(transactions) == 1


@pytest.mark.parametrize("log_bytes", [None, 0, 5_000])
def test_there_is_room_where_the_log_and_sixteen_megabytes_fit(tmp_path, monkeypatch, log_bytes):
    if log_bytes is not None:
        (tmp_path / "a.duckdb.wal").write_bytes(b"x" * log_bytes)
    needed = 16_000_000 + (log_bytes or 0)
    for free in (needed, needed - 1):
        monkeypatch.setattr(writer.shutil, "disk_usage", lambda folder, free=free: SimpleNamespace(free=free))
        if free >= needed:
            writer.check_room(tmp_path / "a.duckdb")
            continue
        with pytest.raises(OSError, match="16 MB are free and 16 MB are needed") as raised:
            writer.check_room(tmp_path / "a.duckdb")
        assert raised.value.errno == errno.ENOSPC


@pytest.mark.parametrize(("tables_written", "is_locked"), [("readouts", True), ("readouts", False), ("items", True)])
def test_only_readouts_of_locked_items_are_written_row_by_row(monkeypatch, tables_written, is_locked):
    """A batch of an import holds thousands of rows."""
    written, asked = [], []

    def fixed_items(connection, studies=None):
        asked.append(studies)
        return {("s", "i"): []} if is_locked else {}

    monkeypatch.setattr(writer.late_readouts, "fixed_items", fixed_items)
    monkeypatch.setattr(writer.late_readouts, "separate_late", lambda connection, rows: {"late_readouts": rows[tables_written]})
    monkeypatch.setattr(writer, "upsert_arrow", lambda connection, table, rows: written.append((table.name, rows)))
    monkeypatch.setattr(writer, "_upsert", lambda connection, table, rows: written.append((table.name, rows)))
    rows = pa.table({"study_id": ["s", "s"], "item_id": ["i", "j"]})
    writer.write_columns(None, {tables_written: rows})
    is_separated = tables_written == "readouts" and is_locked
    assert written == [("late_readouts", rows.to_pylist()) if is_separated else (tables_written, rows)]
    assert asked == ([["s"]] if tables_written == "readouts" else [])


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("  Out of\nroom.  \nHere is more.", "Out of room"),
        ("x" * 300, "x" * 300),
        ("a" * 121 + "b" * 180, "a" * 120 + " … " + "b" * 170),
        ("", "ValueError"),
        (" . ", "ValueError"),
    ],
)
def test_an_error_is_said_on_one_line_by_its_begin_and_its_end(message, line):
    assert writer._one_line(ValueError(message)) == line


@pytest.mark.parametrize(
    ("error", "is_of_disk"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EDQUOT, "quota"), True),
        (OSError(errno.EFBIG, "large"), True),
        (OSError(errno.EIO, "broken"), True),
        (OSError(errno.EACCES, "denied"), False),
        (OSError("No space left on device"), False),
        (duckdb.IOException("Could not write: No space left on device"), True),
        (duckdb.ConversionException("Could not convert"), False),
        (pa.ArrowException("No space left on device"), True),
        (ValueError("No space left on device"), False),
    ],
)
def test_only_errors_of_the_disk_end_all_that_waits(error, is_of_disk):
    assert writer.is_disk_error(error) == is_of_disk


class Connection:
    """A connection whose commits collide so many times."""

    def __init__(self, n_collisions, message="Transaction conflict"):
        self.n_left, self.message, self.statements = n_collisions, message, []

    def execute(self, sql, *params):
        self.statements.append(sql)
        if sql == "COMMIT" and self.n_left:
            self.n_left -= 1
            raise duckdb.TransactionException(self.message)
        return SimpleNamespace(fetchall=lambda: [("7",)])


@pytest.fixture
def waits(monkeypatch):
    """The seconds that a writer waits, and the numbers that it writes beside the database."""
    seconds, numbers = [], []
    monkeypatch.setattr(writer.time, "sleep", seconds.append)
    monkeypatch.setattr(writer.commits, "write_beside", lambda path, number: numbers.append(number))
    return seconds, numbers


def transaction(connection, **how):
    made = object.__new__(writer.Writer)
    made._store = SimpleNamespace(path="flips.duckdb")
    return made._transaction(connection, lambda opened: "outcome", **how)


@pytest.mark.parametrize("n_collisions", [0, 1, 4])
def test_a_transaction_that_collides_is_tried_again_up_to_five_times(waits, n_collisions):
    connection = Connection(n_collisions)
    assert transaction(connection) == "outcome"
    assert connection.statements.count("BEGIN") == n_collisions + 1 and connection.statements.count("ROLLBACK") == n_collisions
    assert waits == ([pytest.approx(0.1 * (n + 1)) for n in range(n_collisions)], [7])


@pytest.mark.parametrize(("n_collisions", "message", "n_tries"), [(5, "Transaction conflict", 5), (1, "No space left", 1)])
def test_a_transaction_fails_at_the_fifth_collision_or_a_full_disk(waits, n_collisions, message, n_tries):
    connection = Connection(n_collisions, message)
    with pytest.raises(duckdb.TransactionException):
        transaction(connection)
    assert connection.statements.count("BEGIN") == n_tries and connection.statements[-1] == "ROLLBACK" and waits[1] == []


def test_a_transaction_of_another_database_is_no_commit_of_this_one(waits):
    connection = Connection(0)
    assert transaction(connection, is_counted=False) == "outcome"
    assert connection.statements == ["BEGIN", "COMMIT"] and waits == ([], [])


@pytest.mark.parametrize(("table", "studies"), [("readouts", {"s", "t"}), ("decisions", set()), ("verdicts", {""})])
def test_pages_are_computed_again_where_a_row_may_change_a_number(table, studies):
    assert writer._touched_studies(table, [{"study_id": "s"}, {"study_id": "t"}, {"study_id": ""}, {}]) == studies


@pytest.mark.parametrize(
    ("value", "stored"),
    [({"é": "a"}, '{"é": "a"}'), ("a\ud800b", "a?b"), ("é", "é"), (1.5, 1.5), (None, None), ({"a": "\ud800"}, '{"a": "?"}')],
)
def test_values_are_stored_as_the_database_takes_them(value, stored):
    assert writer._storable(value) == stored


def test_of_rows_with_one_key_the_one_is_sent_that_would_stay(monkeypatch):
    sent = []
    monkeypatch.setattr(writer, "upsert_arrow", lambda connection, table, rows: sent.append(rows.to_pylist()))
    table = writer.tables()["store_info"]
    keyed = [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}, {"key": "a", "value": "3"}]
    kept = {"a": "3" if table.changing_columns else "1", "b": "2"}
    writer._upsert(None, table, keyed)
    assert {row["key"]: row["value"] for row in sent[0]} == kept and len(sent) == 1
    items = writer.tables()["items"]
    writer._upsert(None, items, [{"item_id": "i", "dataset": "first"}, {"item_id": "i", "dataset": "later"}, {"item_id": "j"}])
    assert sorted(map(str, sent[1:])) == ["[{'item_id': 'i', 'dataset': 'first'}]", "[{'item_id': 'j'}]"]


def test_writing_that_takes_too_long_is_a_sentence(store):
    held = threading.Event()
    store.writer.transact(lambda connection: held.wait(10), changes=())
    with pytest.raises(NotStored, match=r"flips.duckdb took longer than 0.01 s to write. Check the disk and resume"):
        store.writer.flush(0.01)
    held.set()
    store.writer.flush(20)


class Queued:
    """A writer without a thread, and what it waits for and writes."""

    def __init__(self, monkeypatch, *batches, error_at=None, error=None):
        self.naps, self.written, self.touched, self.heads = [], [], [], []
        self.error_at, self.error = error_at, error
        made = self.writer = object.__new__(writer.Writer)
        made._queue = queue.Queue()
        for batch in batches:
            made._queue.put(batch)
        made._wanted = SimpleNamespace(wait=self.naps.append, clear=lambda: None)
        made._store = SimpleNamespace(path="flips.duckdb", touch=self.touched.append)
        monkeypatch.setattr(writer, "check_room", lambda path: None)
        monkeypatch.setattr(writer, "keep_head_outside", lambda connection, path: self.heads.append(path))
        monkeypatch.setattr(made, "_transaction", lambda connection, action, **how: action(connection))
        monkeypatch.setattr(made, "_write_rows", self.write)

    def write(self, connection, batches):
        names = [batch.parts[0][1][0]["study_id"] for batch in batches if batch.parts]
        if self.error_at in names:
            raise self.error
        self.written.append(names)


def batch_of(name, n_rows=1, table="readouts", **how):
    rows = [{"study_id": name}] * n_rows
    return writer._Batch([(table, rows)] if n_rows else [], Future(), **how)


@pytest.mark.parametrize(
    ("sizes", "n_taken", "is_awaited"),
    [([1], 1, True), ([4, 1, 1], 2, True), ([5, 1], 1, False), ([6, 1], 1, False), ([0, 4], 2, False), ([2, 0, 2], 3, True)],
)
def test_a_writer_waits_for_more_rows_and_takes_no_more_than_enough(monkeypatch, sizes, n_taken, is_awaited):
    monkeypatch.setattr(writer, "MAX_ROWS", 5)
    batches = [batch_of(str(i), n_rows) for i, n_rows in enumerate(sizes)]
    queued = Queued(monkeypatch, *batches)
    taken, is_stopping = queued.writer._take_batches()
    assert taken == batches[:n_taken] and not is_stopping
    assert queued.naps == [0.1] * is_awaited


def test_a_writer_that_is_stopped_writes_what_was_queued_before(monkeypatch):
    batch = batch_of("a")
    assert Queued(monkeypatch, batch, None).writer._take_batches() == ([batch], True)
    assert Queued(monkeypatch, None).writer._take_batches() == ([], True)


def test_rows_are_written_together_between_actions(monkeypatch):
    queued, order = Queued(monkeypatch), []

    def action(connection):
        order.append(list(queued.written))
        return "outcome"

    acting = batch_of("", 0, action=action, is_act=True)
    first, second, third = (batch_of(name) for name in "abc")
    queued.writer._write_batches(None, [first, second, acting, third])
    assert queued.written == [["a", "b"], ["c"]] and order == [[["a", "b"]]]
    assert acting.future.result(0) == "outcome" and [batch.future.result(0) for batch in (first, second, third)] == [None] * 3
    assert queued.heads == ["flips.duckdb"] and queued.touched == [{"a", "b"}, {"c"}]
    queued.writer._write_batches(None, [batch_of("", 0, action=action)])
    assert len(queued.heads) == 1  # an action that is no act leaves the log of acts as it is


def test_who_flushes_waits_for_no_transaction_and_acts_leave_their_head_outside(monkeypatch):
    queued = Queued(monkeypatch)
    flushed = batch_of("", 0)
    queued.writer._commit(None, [flushed])
    assert flushed.future.result(0) is None and queued.written == []
    queued.writer._commit(None, [batch_of("a", table="acts"), batch_of("b")])
    assert queued.written == [["a", "b"]] and queued.heads == ["flips.duckdb"]


@pytest.mark.parametrize(
    ("error", "n_lost"), [(duckdb.ConversionException("odd"), 1), (OSError(errno.ENOSPC, "No space left"), 3)]
)
def test_a_bad_batch_harms_no_other_and_a_full_disk_all(monkeypatch, error, n_lost):
    queued = Queued(monkeypatch, error_at="b", error=error)
    batches = [batch_of(name) for name in "abc"]
    queued.writer._commit(None, batches)
    lost = [batch for batch in batches if batch.future.exception(0) is not None]
    assert len(lost) == n_lost and batches[1] in lost
    assert queued.written == ([["a"], ["c"]] if n_lost == 1 else [])
    with pytest.raises(NotStored, match="could not be written to flips.duckdb"):
        batches[1].future.result(0)


def test_an_action_that_fails_says_why(monkeypatch):
    def action(connection):
        raise ValueError("It is so.")

    queued = Queued(monkeypatch)
    batch = batch_of("", 0, action=action, is_act=True)
    queued.writer._write_batches(None, [batch])
    with pytest.raises(ValueError, match="It is so."):
        batch.future.result(0)
    assert queued.heads == []


def test_an_action_that_meets_a_stored_key_is_undone_and_replaced_where_it_names_another(store):
    def insert(connection):
        connection.execute("INSERT INTO store_info VALUES ('new', '1'), ('old', '1')")

    def update(connection):
        connection.execute("UPDATE store_info SET value = '2' WHERE key = 'old'")

    store.writer.transact(lambda connection: connection.execute("INSERT INTO store_info VALUES ('old', '0')")).result(10)
    stored = "SELECT key, value FROM store_info WHERE key IN ('new', 'old') ORDER BY key"
    with pytest.raises(NotStored, match="old"):
        store.writer.transact(insert).result(10)
    assert store.rows(stored) == [("old", "0")]
    store.writer.transact(insert, if_keys_exist=update).result(10)
    assert store.rows(stored) == [("old", "2")]


@pytest.mark.parametrize(
    ("changes", "items", "asked", "n_changes"),
    [(None, None, [None], [1, 1]), ((), None, [], [0, 0]), ({"s"}, ["i"], [["i"]], [1, 0])],
)
def test_an_action_says_which_studies_and_items_it_changes(store, monkeypatch, changes, items, asked, n_changes):
    added = []
    before = [store.writer.n_changes(study_id) for study_id in "st"]
    monkeypatch.setattr(writer.questions, "add_missing_keys", lambda connection, names: added.append(names))
    assert store.writer.transact(lambda connection: "outcome", changes=changes, items=items).result(10) == "outcome"
    assert added == asked
    assert [store.writer.n_changes(study_id) for study_id in "st"] == [
        n + more for n, more in zip(before, n_changes, strict=True)
    ]
