"""Kills -9 while files are written: `python -m tests.core.file_kills [N]` writes a table of them beside this file.

A child writes files of one kind one after the other; it is killed at a seeded moment, N times. After each kill every file that has
its name is whole, and the database holds what it held; what was left half written has the name of a draft."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path

import duckdb
import pandas as pd

from flipcore.commands.report import write_report
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.core.whole_files import DRAFT
from flipcore.models import own_models
from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
from flipcore.runs import runner
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs, study_of
from flipcore.runs.log_survey import survey
from flipcore.store import archiving
from flipcore.store.archives import fingerprint
from flipcore.store.archiving import archive, restore
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.merge import merge
from flipcore.store.queries.studies import delete_study
from flipcore.store.schema import tables
from flipcore.store.uploads import keep_files, keep_upload
from flipcore.store.whole_copy import copy_whole, log_of, repair
from tests.conftest import ROOT
from tests.datasets.recorded import harness_files
from tests.runs.kills import contents

TABLE = Path(__file__).with_suffix(".md")
FIRST = ROOT / "tests" / "store" / "schemas" / "1.sql"
STUDY = Study(
    "files",
    (ItemSource("flipscope_choice", n=20),),
    (Part("option_order", {"n": 4}), Part("identity")),
    (Part("regex"),),
    (ModelUse("simulated-noisy", n_samples=4), ModelUse("simulated-artifact-prone", n_samples=4)),
)
N_OLD = 300_000  # rows of an old database
N_LOG = 3_000  # rows of a log, each by two filters
N_COMMITS, N_READABLE = 60, 40  # of a damaged log


def _upload(folder: Path) -> None:
    """One file, then several that are one folder."""
    for number in count():
        keep_upload(f"{number}.csv", random.Random(number).randbytes(3_000_000))
        keep_files([(f"{part}.json", random.Random(f"{number} {part}").randbytes(500_000)) for part in range(4)])


def _backup(folder: Path) -> None:
    with_store = Store.open(folder / "flips.duckdb")
    for number in count():
        moment = pd.Timestamp("2026-01-01", tz="UTC") + pd.Timedelta(number, "s")
        archiving.now = lambda moment=moment: moment  # type: ignore[attr-defined, assignment]  # a copy a second
        if not (folder / "backups" / f"flips-{moment:%Y%m%d-%H%M%S}.duckdb").exists():
            archiving.back_up(with_store)


def old_file(path: Path) -> None:
    """A database of the first release."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(FIRST.read_text(encoding="utf-8"))
        connection.execute("INSERT INTO store_info VALUES ('schema', '1')")
        connection.execute(f"CREATE TABLE more AS SELECT range AS a, hash(range) AS b FROM range({N_OLD})")


def _migration(folder: Path) -> None:
    for number in count(int(time.time() * 1000)):
        path = folder / f"old-{number}.duckdb"
        old_file(path)
        Store.open(path).close()


def _export(folder: Path) -> None:
    store = Store.open(folder / "flips.duckdb")
    for number in count():
        export(store, STUDY.study_id, folder / "exports", ("csv", "parquet")[number % 2])
        write_every_eval_ever(store, STUDY.study_id, folder / "exchange", retrieved=1.0)


def _archive(folder: Path) -> None:
    store = Store.open(folder / "flips.duckdb")
    while True:
        (restore if STUDY.study_id in store.archives else archive)(store, STUDY.study_id)


def _imported(store: Store, folder: Path) -> Study:
    """A log of N_LOG rows, from wherever the last import of it was killed."""
    if not (folder / "log").exists():  # a child may be killed while it is made
        harness_files.lm_eval(folder / "becoming", n=N_LOG)
        (folder / "becoming").rename(folder / "log")
    log = survey([folder / "log"], corrections_of(()))
    store_logs(log, store)
    return study_of(log)


def _merged(store: Store, folder: Path) -> Study:
    """Another file with the study."""
    path = folder / "other.duckdb"
    if not path.exists():
        other = Store.open(folder / "becoming.duckdb")  # a child may be killed here too
        runner.run(STUDY, other)
        other.close()
        (folder / "becoming.duckdb").rename(path)
    merge([path], store)
    return STUDY


def _again_and_again(do: Callable[[Store, Path], Study]) -> Callable[[Path], None]:
    """What is there is deleted and made again; the child may be killed at either."""

    def work(folder: Path) -> None:
        store = Store.open(folder / "flips.duckdb")
        while True:
            delete_study(store, do(store, folder).study_id)

    return work


def _report(folder: Path) -> None:
    store = Store.open(folder / "flips.duckdb")
    while True:
        write_report(store, STUDY.study_id, str(folder / "report.html"), None)
        own_models.save(own_models.ModelCard("mine", "openai"))
        own_models.remove("mine")


def _copy(folder: Path) -> None:
    """`flipscope backup` of a database that another process writes to without a pause."""
    for number in count(int(time.time() * 1000)):
        copy_whole(folder / "flips.duckdb", folder / "backups" / f"copy-{number}.duckdb")


def _repair(folder: Path) -> None:
    """Repair one damaged database after another; each appears whole, under its own name."""
    for number in count(int(time.time() * 1000)):
        becoming = folder / f"becoming-{number}"
        becoming.mkdir()
        for name in ("hurt.duckdb", "hurt.duckdb.wal"):
            shutil.copyfile(folder / "damaged" / name, becoming / name)
        place = folder / f"hurt-{number}"
        becoming.rename(place)
        repair(place / "hurt.duckdb")


def write_without_pause(folder: Path) -> None:
    """Commit long values, so that the log grows and is worked into the file again and again."""
    store = Store.open(folder / "flips.duckdb")
    print("begins", flush=True)
    for number in count():
        store.writer.add("store_info", [{"key": f"written {number}", "value": "x" * 100_000}]).result(60)


def leave_damaged(folder: Path) -> None:
    """A database of which N_COMMITS stand in the log alone, one bit of it flipped after N_READABLE of them."""
    store = Store.open(folder / "hurt.duckdb")
    store.writer.checkpoint()
    for number in range(N_COMMITS):
        row = {"key": f"kept {number}", "value": f"<{number}>" * 20_000}
        store.writer.add("store_info", [row]).result(60)
    log = log_of(folder / "hurt.duckdb")
    content = bytearray(log.read_bytes())
    content[content.index(f"<{N_READABLE}>".encode() * 1_000) + 500] ^= 1
    log.write_bytes(content)
    os._exit(0)


def n_kept(folder: Path) -> int:
    """How many of the commits a repaired database holds; a repair that was killed is done again first."""
    path = folder / "hurt.duckdb"
    with suppress(BadInput):  # where nothing is left to repair
        repair(path)
    with duckdb.connect(str(path)) as connection:
        return connection.execute("SELECT count(*) FROM store_info WHERE key LIKE 'kept %'").fetchall()[0][0]


WORKS: dict[str, Callable[[Path], None]] = {
    "upload": _upload,
    "backup": _backup,
    "migration": _migration,
    "export": _export,
    "archive": _archive,
    "report": _report,
    "import": _again_and_again(_imported),
    "merge": _again_and_again(_merged),
    "copy of a database that is written to": _copy,
    "repair": _repair,
}
WRITTEN_TO = "copy of a database that is written to"
ENDS: dict[str, Callable[[Store, Path], Study]] = {"import": _imported, "merge": _merged}  # what a kill keeps from its end


def rows_after(folder: Path, work: str) -> dict[str, object]:
    """Table -> what is in it, once the work was done to its end; without times, since it was done at another."""
    store = Store.open(folder / "flips.duckdb")
    try:
        rows: dict[str, object] = {**contents(store, ENDS[work](store, folder))}
    finally:
        store.close()
    return rows | {f"rows of {name}": n for name, (n, _) in whole_tables(folder / "flips.duckdb").items()}


def whole_tables(path: Path) -> dict[str, tuple[int, str]]:
    """Table -> how many rows and a fingerprint of them, wherever they stand."""
    store = Store.open(path)
    try:
        with store.cursor() as cursor:
            names = [one.name for one in tables().values() if one.name not in ("store_info", "acts")]
            return {name: fingerprint(cursor, name, f"SELECT * FROM {name}") for name in names}
    finally:
        store.close()


def half_files(folder: Path, before: dict[str, tuple[int, str]], exported: dict[str, bytes]) -> list[str]:
    """The files that have their name and are not whole."""
    wrong = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and DRAFT not in one.as_posix()):
        name = path.relative_to(folder).as_posix()
        if path.parent.name == "uploads":
            whole = hashlib.sha256(path.read_bytes()).hexdigest()[:16] in path.name
        elif path.parent.parent.name == "uploads":
            whole = len(list(path.parent.iterdir())) == 4 and path.stat().st_size == 500_000
        elif path.parent == folder / "backups":
            whole = whole_tables(path) == before
        elif path.name.startswith("old-") and path.suffix == ".duckdb":
            whole = _is_old_whole(path)
        elif name in exported:
            whole = path.read_bytes() == exported[name]
        elif path.name == "hurt.duckdb" and path.parent.name.startswith("hurt-"):
            whole = n_kept(path.parent) == N_READABLE
        elif path.suffix == ".html":
            whole = path.read_text(encoding="utf-8").rstrip().endswith("</html>")
        else:
            continue
        if not whole:
            wrong.append(name)
    return wrong


def _is_old_whole(path: Path) -> bool:
    with duckdb.connect(str(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if "more" not in names:  # killed while the test itself made it
            return "schema-1" not in path.name
        return connection.execute("SELECT count(*) FROM more").fetchall() == [(N_OLD,)]


def killed(work: str, n_kills: int, folder: Path, seed: int = 7) -> tuple[int, list[str], bool]:
    """(kills at work, files that are not whole, whether the tables are what they were)."""
    rng, path = random.Random(seed), folder / "flips.duckdb"
    environment = {**os.environ, "FLIPSCOPE_DB": str(path), "FLIPSCOPE_HOME": str(folder / "home")}
    expected: dict[str, object] = {}
    if work in ENDS:
        with tempfile.TemporaryDirectory() as alone:
            expected = rows_after(Path(alone), work)
    store = Store.open(path)
    if work not in ENDS:
        runner.run(STUDY, store)
    exported = {}
    if work == "export":
        for form in ("csv", "parquet"):
            export(store, STUDY.study_id, folder / "exports", form)
        write_every_eval_ever(store, STUDY.study_id, folder / "exchange", retrieved=1.0)
        exported = {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
        exported = {name: content for name, content in exported.items() if name.startswith("ex")}
    store.close()
    before, n_at_work, wrong = whole_tables(path), 0, []
    if work == "repair":
        (folder / "damaged").mkdir()
        subprocess.run(_command("damage", folder / "damaged"), env=environment, cwd=ROOT, check=True)
    with _writer(folder, environment) if work == WRITTEN_TO else nullcontext():
        n_at_work, wrong = _kill_children(work, n_kills, folder, environment, rng, before, exported)
    return n_at_work, wrong, rows_after(folder, work) == expected if work in ENDS else whole_tables(path) == before


def _command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tests.core.file_kills", *map(str, words)]


@contextmanager
def _writer(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A process that holds the database and writes to it."""
    with subprocess.Popen(_command("write", folder), env=environment, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout and writer.stdout.readline() == b"begins\n"
        try:
            yield
            assert writer.poll() is None, "the writer ended"
        finally:
            writer.kill()


def _kill_children(
    work: str,
    n_kills: int,
    folder: Path,
    environment: dict[str, str],
    rng: random.Random,
    before: dict[str, tuple[int, str]],
    exported: dict[str, bytes],
) -> tuple[int, list[str]]:
    """How many children were killed at work, and the files that were not whole after a kill."""
    n_at_work, wrong = 0, []
    for _ in range(n_kills):
        child = subprocess.Popen(
            _command("child", work, folder),
            env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert child.stdout and child.stdout.readline() == b"begins\n"
        time.sleep(rng.uniform(0.05, 1.5))
        n_at_work += child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.wait(30)
        child.stdout.close()
        wrong += half_files(folder, before, exported)
    return n_at_work, wrong


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        print("begins", flush=True)
        WORKS[sys.argv[2]](Path(sys.argv[3]))
        return
    if sys.argv[1:2] in (["write"], ["damage"]):
        {"write": write_without_pause, "damage": leave_damaged}[sys.argv[1]](Path(sys.argv[2]))
        return
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    lines = [
        "# Kills -9 while files are written",
        "",
        "`python -m tests.core.file_kills` writes this table. A child writes one kind of file after the other and is killed at seeded",
        "moments; every file that has its name is read, and every table is compared with what it was before. An import and a merge are",
        "made, deleted and made again, killed at either, then finished: tables are those of one that nobody interrupted.",
        "",
        "| written | kills at work | half files | tables |",
        "|---|---|---|---|",
    ]
    for work in WORKS:
        with tempfile.TemporaryDirectory() as folder:
            n_at_work, wrong, same = killed(work, n, Path(folder))
        lines.append(f"| {work} | {n_at_work} | {', '.join(wrong) or 'none'} | {'identical' if same else 'DIFFER'} |")
        print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
