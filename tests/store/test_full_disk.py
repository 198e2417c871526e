"""A disk that fills at any commit ends the work with its sentence within seconds; with room again nothing is lost.

By a writer whose k-th commit and every later one fails as DuckDB's does, for every k, and on a small file system."""

import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import duckdb
import pytest

from flipcore.core.errors import FlipscopeError, NotStored
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models.simulated import Simulated
from flipcore.runs import runner
from flipcore.runs.background import Registry
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store import migrations, writer
from flipcore.store.archiving import archive, back_up, restore
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from tests.conftest import ROOT
from tests.datasets.recorded import harness_files
from tests.runs.kills import contents
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

AT_ONCE_S = 30.0  # of a run that would go on for as long as it has calls; a busy machine included
MAX_MORE = 2  # commits that are tried once one met the full disk; as for a collision it would be four for that one alone
STUDY = Study(
    "filled",
    (ItemSource("flipscope_choice", n=6),),
    (Part("option_order", {"n": 3}), Part("identity")),
    (Part("regex"),),
    (ModelUse("simulated-noisy", n_samples=2),),
)


class Disk:
    """Takes `k - 1` commits and then no more, until there is `room`."""

    def __init__(self):
        self.n, self.k, self.words = 0, 10**9, "TransactionContext Error: Failed to commit: Could not write file: No space left"

    def full_at(self, k):
        self.n, self.k = 0, k

    def room(self):
        self.k = 10**9


class Connection:
    """A connection of DuckDB on such a disk."""

    def __init__(self, inner, disk):
        self._inner, self._disk = inner, disk
        # The variables that a query names are those of the caller of `execute` below.
        inner.execute("SET python_scan_all_frames = true")

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def execute(self, sql, *params):
        if sql == "COMMIT":
            self._disk.n += 1
            if self._disk.n >= self._disk.k:
                self._inner.execute("ROLLBACK")
                raise duckdb.TransactionException(self._disk.words)
        return self._inner.execute(sql, *params)


@pytest.fixture
def disk(monkeypatch):
    one, own_cursor = Disk(), Store.own_cursor
    monkeypatch.setattr(Store, "own_cursor", lambda self: Connection(own_cursor(self), one))
    return one


@pytest.fixture
def opened():
    """Opens stores that are closed at the end."""
    stores = []

    def opening(path):
        stores.append(Store.open(path))
        return stores[-1]

    yield opening
    for one in stores:
        one.close()


@pytest.fixture
def slowly(monkeypatch):
    """Answers that take a moment, so that a run is many commits."""
    import asyncio

    answered = Simulated.complete

    async def complete(self, call):
        await asyncio.sleep(0.05)
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", complete)


def whole(tmp_path, study):
    store = Store.open(tmp_path / "whole.duckdb")
    assert runner.run(study, store).state == "done"
    rows = contents(store, study)
    store.close()
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_on_a_disk_that_is_full_at_the_kth_commit_for_every_k(tmp_path, disk, slowly, step):
    expected, k = whole(tmp_path, STUDY), 1 - step
    while True:
        k += step
        store = Store.open(tmp_path / f"{k}.duckdb")
        disk.full_at(k)
        last = runner.run(STUDY, store)
        is_whole = disk.n < k
        if not is_whole:
            assert last.state == "failed" and "No space left" in last.message and "resume" in last.message, (k, last)
            assert store.rows("SELECT count(*) FROM completions")[0][0] >= last.n_done
            assert disk.n - k <= MAX_MORE, k
        disk.room()
        assert runner.run(STUDY, store).state == "done"
        assert contents(store, STUDY) == expected, k
        store.close()
        if is_whole:
            break
    assert k > 3  # the declaration, answers, readouts, the end


@pytest.mark.slow
def test_calls_stop_and_others_go_on_writing_once_there_is_room(tmp_path, disk, monkeypatch):
    """In a dashboard one writer serves everybody: whoever writes is told at once, and not held behind a run's thousand rows."""
    import asyncio

    answered, asked = Simulated.complete, []

    async def complete(self, call):
        asked.append(call.call_id)
        await asyncio.sleep(0.02)
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", complete)
    long = Study(
        "long",
        (ItemSource("flipscope_choice"),),
        (Part("option_order", {"n": 6}),),
        (Part("regex"),),
        (ModelUse("simulated-noisy", n_samples=40),),
    )
    store = Store.open(tmp_path / "flips.duckdb")
    registry = Registry(store)
    registry.start(long)
    while not asked:
        time.sleep(0.01)
    disk.full_at(3)
    while disk.n < 3:
        time.sleep(0.01)
    start = time.monotonic()
    with pytest.raises(NotStored, match="No space left"):
        store.writer.add("store_info", [{"key": "mine", "value": "x"}]).result(AT_ONCE_S)
    while registry.running():
        time.sleep(0.01)
    assert time.monotonic() - start < AT_ONCE_S
    assert "No space left" in registry.problem(long.study_id)
    n_asked = len(asked)
    disk.room()
    store.writer.add("store_info", [{"key": "mine", "value": "y"}]).result(AT_ONCE_S)
    time.sleep(0.2)
    assert len(asked) == n_asked < 0.5 * runner.projection(runner.plan_of(runner.plan_inputs(long, store))).n_calls
    store.close()


def test_a_run_on_a_full_disk_hears_that_it_is_to_stop(tmp_path, disk, slowly):
    store, cancel = Store.open(tmp_path / "flips.duckdb"), threading.Event()
    disk.full_at(2)
    threading.Timer(0.3, cancel.set).start()
    start = time.monotonic()
    assert runner.run(STUDY, store, cancel=cancel).state in ("failed", "cancelled")
    assert time.monotonic() - start < AT_ONCE_S
    store.close()


def everything(store):
    """Table -> how many rows it has and a fingerprint of them, whatever their order."""
    from flipcore.store.archives import fingerprint
    from flipcore.store.schema import tables

    names = [one.name for one in tables().values() if one.name not in ("store_info", "studies", "acts", "budgets")]
    with store.cursor() as cursor:
        return {name: fingerprint(cursor, name, f"SELECT * FROM {name}")[0] for name in names}


def _import(store, folder):
    path = folder / "run"
    if not path.exists():
        harness_files.lm_eval(path)
    store_logs(survey([path], corrections_of(())), store)


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "other.duckdb"
    store = Store.open(path)
    store.writer.add("items", [ITEM]).result(10)
    store.close()
    return path


def _merge(store, folder):
    merge([folder / "other.duckdb"], store)


ITEM = {
    "item_id": "i", "dataset": "d", "kind": "text", "question": "q", "options": [], "target": None, "category": "", "published": None,
    "solution": "", "source_id": None, "meta": "{}",
}  # fmt: skip
WORKS = {
    "import": _import,
    "merge": _merge,
    "archive": lambda store, folder: archive(store, STUDY.study_id) if STUDY.study_id not in store.archives else None,
    "restore": lambda store, folder: restore(store, STUDY.study_id) if STUDY.study_id in store.archives else None,
    "backup": lambda store, folder: back_up(store),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("ran"), STUDY)


def steps():
    """A few commits of an import and a restore, and every commit of all works as slow siblings."""
    yield pytest.param("import", 9, id="import-some")
    yield pytest.param("restore", 3, id="restore-some")
    for work in WORKS:
        yield pytest.param(work, 1, id=f"{work}-each", marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize(("work", "step"), list(steps()))
def test_any_work_on_a_disk_that_is_full_at_the_kth_commit_for_every_k(tmp_path, ran, other, disk, opened, work, step):
    k, expected = 0, None
    while True:
        folder = tmp_path / str(k)
        folder.mkdir()
        for name, path in (("flips.duckdb", ran), ("other.duckdb", other)):
            (folder / name).write_bytes(path.read_bytes())
        store = opened(folder / "flips.duckdb")
        if work == "restore":
            archive(store, STUDY.study_id)
        if k:
            disk.full_at(k)
            try:
                WORKS[work](store, folder)
            except FlipscopeError as error:
                assert "No space left" in str(error), error
            else:
                assert disk.n < k  # it came through
            assert disk.n - k <= MAX_MORE, k
        was_hit = k and disk.n >= k
        disk.room()
        if not k or was_hit:
            WORKS[work](store, folder)
        expected = expected or everything(store)
        assert everything(store) == expected, k
        if k and not was_hit:
            break
        k += step if k else 1
    assert k > 1


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own of 64 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place, leaving):
    """The rest of the disk but so many bytes is taken by something else."""
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    (place / "ballast").write_bytes(bytes(max(0, free - leaving)))


_RUN = """
import sys
from flipcore.models.simulated import Simulated
from flipcore.store import migrations, writer
import asyncio, dataclasses, random
writer.SPARE_BYTES = int(sys.argv[2])
answered = Simulated.complete
async def long(self, call):
    await asyncio.sleep(0.02)
    made = await answered(self, call)
    return dataclasses.replace(made, raw_reply=random.Random(call.call_id).randbytes(4_000).hex())
Simulated.complete = long
from flipcore.__main__ import main
sys.exit(main(["run", sys.argv[1]]))
"""
LONG = Study(
    "filling",
    (ItemSource("flipscope_choice"),),
    (Part("option_order", {"n": 4}),),
    (Part("regex"),),
    (ModelUse("simulated-noisy", n_samples=12),),
)


@pytest.mark.slow
@pytest.mark.parametrize("room", [writer.SPARE_BYTES, -(10**12)], ids=["room is asked for", "the commit itself fails"])
def test_a_run_whose_disk_fills_midway_says_so_and_goes_on_with_room(small_disk, tmp_path, room):
    (tmp_path / "study.toml").write_text(LONG.to_toml(), encoding="utf-8")
    environment = {**os.environ, "FLIPSCOPE_DB": str(small_disk / "flips.duckdb")}
    Store.open(small_disk / "flips.duckdb").close()
    fill(small_disk, 6_000_000 + max(room, 0))
    command = [sys.executable, "-c", _RUN, str(tmp_path / "study.toml"), str(room)]
    start = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120)
    assert ended.returncode == 1 and re.search("No space left", ended.stdout + ended.stderr), ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert time.monotonic() - start < 60
    (small_disk / "ballast").unlink()
    store = Store.open(small_disk / "flips.duckdb")
    n_before = store.rows("SELECT count(*) FROM completions WHERE model = 'simulated-noisy'")[0][0]
    last = runner.run(LONG, store)
    assert n_before > 0 and last.state == "done" and last.n_reused >= 1
    assert contents(store, LONG) == whole(tmp_path, LONG)
    store.close()


@contextmanager
def largest_file(n_bytes):
    """No file of this process grows beyond so many bytes: as on a disk that is full, with another word for it (EFBIG)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def said_of(work, place, ran, other, leaving, limit):
    """What is said of a work on files in `place` with so much room, as one sentence without its numbers, names and reason; then the rows
    once there is room."""
    place.mkdir()
    for name, path in (("flips.duckdb", ran), ("other.duckdb", other)):
        (place / name).write_bytes(path.read_bytes())
    store, sentence = Store.open(place / "flips.duckdb"), ""
    try:
        if work == "restore":
            archive(store, STUDY.study_id)
        if work == "import":
            harness_files.lm_eval(place / "run")
        if leaving is not None:
            with limit(leaving):
                try:
                    WORKS[work](store, place)
                except FlipscopeError as error:
                    sentence = str(error)
            store.close()  # a file that DuckDB has shut is opened again
            store = Store.open(place / "flips.duckdb")
        WORKS[work](store, place)
        rows = everything(store)
    finally:
        store.close()
        shutil.rmtree(place)
    return sentence, rows


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_any_work_on_a_disk_that_fills_midway(small_disk, ran, other, work, monkeypatch):
    """On a small file system, and where a file may not grow: the same sentence, and nothing is lost."""
    monkeypatch.setattr(writer, "SPARE_BYTES", -(10**12))  # the file system itself says no

    @contextmanager
    def full(leaving):
        fill(small_disk, leaving)
        try:
            yield
        finally:
            (small_disk / "ballast").unlink()

    def no_larger(leaving):
        return largest_file(leaving)

    _, expected = said_of(work, small_disk / "w", ran, other, None, None)
    said = []
    for limit, words in ((full, "No space left"), (no_larger, "File too large")):
        for leaving in (0, 50_000, 200_000, 800_000, 3_200_000):
            sentence, rows = said_of(work, small_disk / "w", ran, other, leaving, limit)
            assert rows == expected, (words, leaving)
            if sentence:
                assert words in sentence and re.search("room|space|disk", sentence), (leaving, sentence)
                said.append(words)
    assert set(said) == {"No space left", "File too large"}, said


@pytest.mark.slow
def test_an_old_file_on_a_full_disk_is_left_as_it_is(small_disk, ran):
    path = small_disk / "flips.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((ROOT / "tests" / "store" / "schemas" / "1.sql").read_text(encoding="utf-8"))
        connection.execute("INSERT INTO store_info VALUES ('schema', '1')")
        connection.execute("CREATE TABLE more AS SELECT range AS a, random() AS b FROM range(1000000)")
    before = path.read_bytes()
    for leaving in (0, 1_000_000, len(before) // 2, len(before) + 4096):
        fill(small_disk, leaving)
        with pytest.raises(FlipscopeError, match="No space left"):
            Store.open(path)
        (small_disk / "ballast").unlink()
        assert {one.name for one in small_disk.iterdir()} <= {"flips.duckdb", "flips.duckdb.wal", "flips.schema-1.duckdb"}
        with duckdb.connect(str(path)) as connection:
            assert connection.execute("SELECT count(*) FROM more").fetchall() == [(1_000_000,)]
            assert connection.execute("SELECT value FROM store_info").fetchall() == [("1",)]
        (small_disk / "flips.schema-1.duckdb").unlink(missing_ok=True)
    store = Store.open(path)
    assert store.rows("SELECT value FROM store_info WHERE key = 'schema'") == [(str(migrations.SCHEMA_VERSION),)]
    store.close()
