"""Care for what is stored: a finished study's completions and readouts are moved to Parquet files
and back, the database is copied while it runs, and everything is looked through for what was
changed.

Of a study that is moved the rows of `readouts`, `readout_sources` and those of its `completions`
that no other study holds go to FOLDER/study_id=…/model=…/TABLE.parquet, are read again there, and
leave the file in the same transaction. The folder may be a URL that `fsspec` opens where that is
installed.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from duckdb import DuckDBPyConnection

from flipcore.access.acting import Permission, require
from flipcore.core import work_folders
from flipcore.core.errors import BadInput, NotStored
from flipcore.core.whole_files import leftovers, whole_file
from flipcore.store import archives, audit_log
from flipcore.store.audit_log import act_row
from flipcore.store.connection import BESIDE, Store
from flipcore.store.queries import locks
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.uploads import mark_of

# completions that only this study holds; an answer that is missing may still come
_OWN_CALLS = """
SELECT call_id FROM study_calls WHERE study_id = $study_id
EXCEPT SELECT call_id FROM study_calls WHERE study_id <> $study_id
EXCEPT SELECT call_id FROM readout_sources WHERE study_id <> $study_id
EXCEPT SELECT call_id FROM completions WHERE status <> 'ok'
"""
_ROWS = {
    "readouts": "study_id = $study_id",
    "readout_sources": "study_id = $study_id",
    "completions": f"call_id IN ({_OWN_CALLS})",
}


def archive(store: Store, study_id: str, to: str | Path | None = None) -> archives.Archive:
    """Move a finished study's rows to Parquet files under the folder `to` ("archive" beside the
    database) and says where they are. Raises AccessDenied for whoever is no admin, BadInput for a
    study that has not ended or is archived.
    """
    require(Permission.FILES)
    if study_id in store.archives:
        raise BadInput(f"The study is archived already. {store.archives[study_id].sentence()}")
    if to is not None and "://" in str(to):
        root = str(to)
    else:
        root = str(Path(to or store.path.parent / "archive").resolve())
    action = partial(_move_out, study_id=study_id, root=root)
    moved = store.writer.transact(
        action, Permission.FILES, act="archived a study", on=study_id, changes=()
    ).result()
    _after(store, study_id)
    return moved


def restore(store: Store, study_id: str) -> archives.Archive:
    """Bring an archived study's rows back into the file and removes the files. Raises AccessDenied
    for whoever is no admin, BadInput for a study that is not archived or whose files are not there
    or not whole."""
    require(Permission.FILES)
    if study_id not in store.archives:
        raise BadInput(
            f"The study {study_id!r} is not archived here, so there is nothing to restore."
        )
    archive_of_study = store.archives[study_id]
    action = partial(_move_in, archive=archive_of_study)
    store.writer.transact(
        action, Permission.FILES, act="restored a study", on=study_id, changes=()
    ).result()
    for path in archive_of_study.paths:
        if "://" not in path:
            Path(path).unlink(missing_ok=True)
    _after(store, study_id)
    return archive_of_study


def check(store: Store, study_id: str) -> archives.Archive:
    """The archive of a study, once its files were read and hold what was put there. Raises BadInput
    where they do not, or where the study is not archived."""
    require(Permission.READ)
    if study_id not in store.archives:
        raise BadInput(
            f"The study {study_id!r} is not archived here, so there is nothing to check."
        )
    with store.own_cursor() as cursor:
        sentence = archives.problem(cursor, store.archives[study_id])
    if sentence:
        raise BadInput(
            f"{sentence} Put the files back from a backup, or restore nothing from there."
        )
    return store.archives[study_id]


def _after(store: Store, study_id: str) -> None:
    store.look_for_archives()
    store.writer.checkpoint()
    store.touch([study_id])


def _move_out(connection: DuckDBPyConnection, study_id: str, root: str) -> archives.Archive:
    state = connection.execute(
        "SELECT state FROM studies WHERE study_id = $study_id", {"study_id": study_id}
    ).fetchall()
    if state != [("done",)]:
        reason = f"its state is {state[0][0]}" if state else "there is no such study"
        raise BadInput(
            f"{study_id} was not archived: {reason}. Only a study that is done can be; run it to"
            " its end first."
        )
    archives.open_folders(connection, [root])
    files: dict[str, list[str]] = {}
    n_rows: dict[str, int] = {}
    marks: dict[str, str] = {}
    for table in archives.TABLES:
        (n_rows[table], marks[table]), files[table] = _table_files(
            connection, table, study_id, root
        )
    for table in reversed(archives.TABLES):
        connection.execute(f"DELETE FROM {table} WHERE {_ROWS[table]}", {"study_id": study_id})
    moved = archives.Archive(study_id, root, files, n_rows, marks)
    moved.stamps.update(moved.stamps_now())
    archives.keep(connection, moved)
    return moved


def _table_files(
    connection: DuckDBPyConnection, table: str, study_id: str, root: str
) -> tuple[tuple[int, str], list[str]]:
    """The rows of one table, a file a model; read again in the files before anything is deleted."""
    params: dict[str, Any] = {"study_id": study_id}
    counts = connection.execute(
        f"SELECT model, count(*) FROM {table} WHERE {_ROWS[table]} GROUP BY model ORDER BY model",
        params,
    ).fetchall()
    paths = []
    for model, _ in counts:
        folder = f"{root}/study_id={quote(study_id, safe='')}/model={quote(model, safe='')}"
        paths.append(f"{folder}/{table}.parquet")
        names = ", ".join(f'"{name}"' for name in tables()[table].names)
        order = ""
        if table != "completions":
            order = "ORDER BY item_id, axis, variant_id, sample, extractor"
        rows = f"SELECT {names} FROM {table} WHERE {_ROWS[table]} AND model = $model {order}"
        with nullcontext(paths[-1]) if "://" in root else whole_file(paths[-1]) as place:
            connection.execute(
                f"COPY ({rows}) TO {archives.text(str(place))} (FORMAT parquet, COMPRESSION zstd)",
                params | {"model": model},
            )
    rows = f"SELECT {', '.join(tables()[table].names)} FROM {table} WHERE {_ROWS[table]}"
    in_database = archives.fingerprint(connection, table, rows, params)
    in_files = (
        archives.fingerprint(connection, table, archives.rows_of(connection, table, paths))
        if paths
        else in_database
    )
    if in_database != in_files:
        raise BadInput(
            f"{in_files[0]:,} of {in_database[0]:,} {table} arrived whole in {root}, so nothing was"
            " moved. Check the disk and try again."
        )
    return in_database, paths


def _move_in(connection: DuckDBPyConnection, archive: archives.Archive) -> None:
    if sentence := archives.problem(connection, archive):
        raise BadInput(f"{sentence} Nothing was restored.")
    archives.bring_in(connection, archive)


# A copy of the whole database in one file, taken while it runs: the one writer makes it between two
# transactions. What is archived in files beside the database stands in the copy itself.


def back_up(store: Store) -> Path:
    """The copy, named by this second in UTC. Raises AccessDenied for whoever is no admin, BadInput
    where there is one already."""
    person = require(Permission.FILES)
    database = Path(store.path)
    path = database.parent / "backups" / f"{database.stem}-{now():%Y%m%d-%H%M%S}.duckdb"
    try:
        with whole_file(path, over=False) as draft:
            try:
                counts = store.writer.transact(
                    partial(_copied, place=archives.text(str(draft))), changes=(), writes_here=False
                ).result()
            finally:
                store.writer.transact(_let_go, changes=(), writes_here=False).result(60)
            store.writer.transact(
                partial(_check, place=archives.text(str(draft)), counts=counts),
                changes=(),
                writes_here=False,
            ).result()
            store.writer.transact(_let_go, changes=(), writes_here=False).result(60)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already. Wait a second and try again.") from error
    store.writer.add_together(act_row(person, "backed up the database", path.name)).result(60)
    return path


def _copied(connection: DuckDBPyConnection, place: str) -> dict[str, int]:
    """Table -> how many rows the copy has of it."""
    _let_go(connection)
    name = connection.execute("SELECT current_database()").fetchall()[0][0]
    connection.execute(f"ATTACH {place} AS copy_of_all")
    connection.execute(f'COPY FROM DATABASE "{name}" TO copy_of_all')
    for archive in archives.archives(connection).values():
        # Else the copy says where it was, and what it was.
        if not archives.problem(connection, archive):
            archives.bring_in(connection, archive, "copy_of_all.main")
    return _counts(connection)


def _check(connection: DuckDBPyConnection, place: str, counts: dict[str, int]) -> None:
    """Raise NotStored where the file that was written reads otherwise."""
    connection.execute(f"ATTACH {place} AS copy_of_all (READ_ONLY)")
    if _counts(connection) != counts:
        raise NotStored(
            "The copy reads otherwise than it was written, so it was not kept. Check the disk and"
            " try again."
        )


def _counts(connection: DuckDBPyConnection) -> dict[str, int]:
    return {
        name: connection.execute(f"SELECT count(*) FROM copy_of_all.main.{name}").fetchall()[0][0]
        for name in tables()
    }


def _let_go(connection: DuckDBPyConnection) -> None:
    connection.execute("DETACH DATABASE IF EXISTS copy_of_all")


# Whether what is stored is as it was written: the log of acts, archived studies, uploads, locks,
# and files that were left half written.

# Of an upload's content, at the end of its name.
_HASH = re.compile(r"-([0-9a-f]{16})(\.[.A-Za-z0-9]*)?$")


def problems(store: Store, published: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Sentence per thing that is not as it was written; `published` are known locks."""
    require(Permission.ACCESS)
    store.writer.flush()
    with closing(store.own_cursor()) as cursor:
        sentences = [
            audit_log.problem(cursor, store.path),
            *(archives.problem(cursor, archive) for archive in store.archives.values()),
        ]
    for path in sorted((store.path.parent / "uploads").glob("*")):
        mark = _HASH.search(path.name)
        if mark and _mark_of(path) != mark[1]:
            sentences.append(
                f"{path} is not what was uploaded under that name: it was cut or changed. Upload"
                " the file again."
            )
    for path in leftovers([store.path.parent], [store.path.parent / name for name in BESIDE]):
        sentences.append(f"{path} was left half written. Nothing uses it: delete it.")
    for path in work_folders.abandoned():  # opening the database removes them where it may
        sentences.append(f"{path} was left by a process that ended. Nothing uses it: delete it.")
    stored_locks: list[Mapping[str, Any]] = []
    for (study_id,) in store.rows("SELECT DISTINCT study_id FROM locks ORDER BY ALL"):
        stored_locks += locks.locks(store, study_id)
    for lock in (*stored_locks, *published):
        sentences += locks.differences(store, lock)
    return list(dict.fromkeys(sentence for sentence in sentences if sentence))


def _mark_of(path: Path) -> str:
    """The hash of an upload, or of a folder of them, as its name has it while nothing was
    changed."""
    if path.is_file():
        return _hash_of(path)[:16]
    hashes = {}
    for upload in path.rglob("*"):
        if upload.is_file():
            hashes[upload.relative_to(path).as_posix()] = _hash_of(upload)
    return mark_of(hashes)


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sentence(store: Store) -> str:
    """Return the sentence for a database without a problem."""
    n_own, n_merged = store.rows(
        "SELECT count(*) FILTER (number IS NOT NULL), count(*) FILTER (origin <> '') FROM acts"
    )[0]
    return (
        f"All is as it was written: {n_own:,} rows of the log of acts, each chained to the one"
        f" before ({n_merged:,} came with merged files and are told apart), every archive, every"
        " upload, every lock with the readouts under it; and no file is half written."
    )
