"""Archive finished studies as Parquet files and restore them, back up the database, check both.

Archiving moves a study's rows of `readouts` and `readout_sources`, and its `completions` that no
other study holds, to FOLDER/study_id=…/model=…/TABLE.parquet. One transaction writes the files,
reads them again, and deletes the rows. The folder may be a URL that `fsspec` can open.
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
from flipcore.store.audit_log import act_parts
from flipcore.store.connection import FOLDERS, Store
from flipcore.store.queries import locks
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.uploads import folder_hash

# Completions that only this study holds. Failed ones stay, because a run may still replace them.
_OWN_CALLS = """
SELECT call_id FROM study_calls WHERE study_id = $study_id
EXCEPT SELECT call_id FROM study_calls WHERE study_id <> $study_id
EXCEPT SELECT call_id FROM readout_sources WHERE study_id <> $study_id
EXCEPT SELECT call_id FROM completions WHERE status <> 'ok'
"""
_CONDITIONS = {
    "readouts": "study_id = $study_id",
    "readout_sources": "study_id = $study_id",
    "completions": f"call_id IN ({_OWN_CALLS})",
}


def archive(store: Store, study_id: str, to: str | Path | None = None) -> archives.Archive:
    """Move a finished study's rows to Parquet files, and return the archive. `to` is a folder or
    URL, by default "archive" beside the database. Raises AccessDenied for people who are no admins,
    and BadInput for a study that is not done or is archived already."""
    require(Permission.FILES)
    if study_id in store.archives:
        raise BadInput(f"The study is archived already. {store.archives[study_id].sentence()}")
    if to is not None and "://" in str(to):
        root = str(to)
    else:
        root = str(Path(to or store.path.parent / "archive").resolve())
    action = partial(_move_out, study_id=study_id, root=root)
    archive_of_study = store.writer.transact(
        action, Permission.FILES, act="archived a study", on=study_id, changes=()
    ).result()
    _refresh(store, study_id)
    return archive_of_study


def restore(store: Store, study_id: str) -> archives.Archive:
    """Move an archived study's rows back into the database, delete the files, return the archive.
    Raises AccessDenied for people who are no admins, and BadInput for a study that is not archived,
    or whose files are missing or damaged."""
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
    _refresh(store, study_id)
    return archive_of_study


def check(store: Store, study_id: str) -> archives.Archive:
    """Read an archived study's files and return the archive. Raises BadInput if the files are
    missing or changed, or the study is not archived."""
    require(Permission.READ)
    if study_id not in store.archives:
        raise BadInput(
            f"The study {study_id!r} is not archived here, so there is nothing to check."
        )
    with store.own_cursor() as cursor:
        sentence = archives.problem(cursor, store.archives[study_id])
    if sentence:
        raise BadInput(f"{sentence} Put the files back from a backup before you restore the study.")
    return store.archives[study_id]


def _refresh(store: Store, study_id: str) -> None:
    store.look_for_archives()
    store.writer.checkpoint()
    store.touch([study_id])


def _move_out(connection: DuckDBPyConnection, study_id: str, root: str) -> archives.Archive:
    states = connection.execute(
        "SELECT state FROM studies WHERE study_id = $study_id", {"study_id": study_id}
    ).fetchall()
    state = states[0][0] if states else ""
    if state != "done":
        reason = f"its state is {state}" if states else "there is no such study"
        raise BadInput(
            f"{study_id} was not archived: {reason}. Only a study that is done can be; run it to"
            " its end first."
        )
    archives.open_folders(connection, [root])
    files: dict[str, list[str]] = {}
    n_rows: dict[str, int] = {}
    fingerprints: dict[str, str] = {}
    for table in archives.TABLES:
        count_and_fingerprint, files[table] = _write_table(connection, table, study_id, root)
        n_rows[table], fingerprints[table] = count_and_fingerprint
    for table in reversed(archives.TABLES):
        connection.execute(
            f"DELETE FROM {table} WHERE {_CONDITIONS[table]}", {"study_id": study_id}
        )
    archive_of_study = archives.Archive(study_id, root, files, n_rows, fingerprints)
    archive_of_study.stamps.update(archive_of_study.current_stamps())
    archives.record(connection, archive_of_study)
    return archive_of_study


def _write_table(
    connection: DuckDBPyConnection, table: str, study_id: str, root: str
) -> tuple[tuple[int, str], list[str]]:
    """Write a table's rows of a study to one file per model, and read them again to compare.
    Returns ((number of rows, fingerprint), paths). Raises BadInput if the files differ."""
    params: dict[str, Any] = {"study_id": study_id}
    rows_of_study = f"FROM {table} WHERE {_CONDITIONS[table]}"
    names = ", ".join(f'"{name}"' for name in tables()[table].names)
    order = ""
    if table != "completions":
        order = "ORDER BY item_id, axis, variant_id, sample, extractor"
    models = connection.execute(
        f"SELECT DISTINCT model {rows_of_study} ORDER BY model", params
    ).fetchall()
    paths = []
    for (model,) in models:
        folder = f"{root}/study_id={quote(study_id, safe='')}/model={quote(model, safe='')}"
        paths.append(f"{folder}/{table}.parquet")
        rows = f"SELECT {names} {rows_of_study} AND model = $model {order}"
        with nullcontext(paths[-1]) if "://" in root else whole_file(paths[-1]) as target:
            connection.execute(
                f"COPY ({rows}) TO {archives.quoted(str(target))} "
                "(FORMAT parquet, COMPRESSION zstd)",
                params | {"model": model},
            )
    in_database = archives.fingerprint(connection, table, f"SELECT {names} {rows_of_study}", params)
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
    archives.insert_rows(connection, archive)


# A backup is one file, made by the writer between two transactions. It includes archived rows.


def back_up(store: Store) -> Path:
    """Back up the database, and return the copy, whose name holds the time in UTC. Raises
    AccessDenied for people who are no admins, BadInput where this copy exists already."""
    person = require(Permission.FILES)
    database = Path(store.path)
    path = database.parent / "backups" / f"{database.stem}-{now():%Y%m%d-%H%M%S}.duckdb"
    try:
        with whole_file(path, over=False) as draft:
            try:
                counts = store.writer.transact(
                    partial(_copy_tables, quoted_path=archives.quoted(str(draft))),
                    changes=(),
                    writes_here=False,
                ).result()
            finally:
                store.writer.transact(_detach_copy, changes=(), writes_here=False).result(60)
            store.writer.transact(
                partial(_check_copy, quoted_path=archives.quoted(str(draft)), counts=counts),
                changes=(),
                writes_here=False,
            ).result()
            store.writer.transact(_detach_copy, changes=(), writes_here=False).result(60)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already. Wait a second and try again.") from error
    store.writer.add_together(act_parts(person, "backed up the database", path.name)).result(60)
    return path


def _copy_tables(connection: DuckDBPyConnection, quoted_path: str) -> dict[str, int]:
    """Copy all tables to the file at `quoted_path`; return table -> number of rows in the copy."""
    _detach_copy(connection)
    name = connection.execute("SELECT current_database()").fetchall()[0][0]
    connection.execute(f"ATTACH {quoted_path} AS copy_of_all")
    connection.execute(f'COPY FROM DATABASE "{name}" TO copy_of_all')
    for archive in archives.archives(connection).values():
        # Where the files cannot be used, the copy keeps the record of the archive instead.
        if not archives.problem(connection, archive):
            archives.insert_rows(connection, archive, "copy_of_all.main")
    return _counts(connection)


def _check_copy(connection: DuckDBPyConnection, quoted_path: str, counts: dict[str, int]) -> None:
    """Raise NotStored if the copy, opened again, has other numbers of rows."""
    connection.execute(f"ATTACH {quoted_path} AS copy_of_all (READ_ONLY)")
    if _counts(connection) != counts:
        raise NotStored(
            "The copy differs from what was written, so it was not kept. Check the disk and"
            " try again."
        )


def _counts(connection: DuckDBPyConnection) -> dict[str, int]:
    return {
        name: connection.execute(f"SELECT count(*) FROM copy_of_all.main.{name}").fetchall()[0][0]
        for name in tables()
    }


def _detach_copy(connection: DuckDBPyConnection) -> None:
    connection.execute("DETACH DATABASE IF EXISTS copy_of_all")


# Checks that nothing was changed by hand: the log of acts, archives, uploads, locks, and files that
# were only half written.

# An upload's name ends with the hash of its content.
_HASH_IN_NAME = re.compile(r"-([0-9a-f]{16})(\.[.A-Za-z0-9]*)?$")


def problems(store: Store, published: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return a sentence per stored thing that was changed; `published` are locks from elsewhere."""
    require(Permission.ACCESS)
    store.writer.flush()
    with closing(store.own_cursor()) as cursor:
        sentences = [
            audit_log.problem(cursor, store.path),
            *(archives.problem(cursor, archive) for archive in store.archives.values()),
        ]
    for path in sorted((store.path.parent / "uploads").glob("*")):
        hash_in_name = _HASH_IN_NAME.search(path.name)
        if hash_in_name and _upload_hash(path) != hash_in_name[1]:
            sentences.append(
                f"{path} is not what was uploaded under that name: it was cut or changed. Upload"
                " the file again."
            )
    for path in leftovers([store.path.parent], [store.path.parent / name for name in FOLDERS]):
        sentences.append(f"{path} was left half written. Nothing uses it: delete it.")
    for path in work_folders.abandoned():  # opening the database removes them where it may
        sentences.append(f"{path} was left by a process that ended. Nothing uses it: delete it.")
    stored_locks: list[Mapping[str, Any]] = []
    for (study_id,) in store.rows("SELECT DISTINCT study_id FROM locks ORDER BY ALL"):
        stored_locks += locks.locks(store, study_id)
    for lock in (*stored_locks, *published):
        sentences += locks.differences(store, lock)
    return list(dict.fromkeys(sentence for sentence in sentences if sentence))


def _upload_hash(path: Path) -> str:
    """Return the hash of an upload or a folder of uploads, which its name holds if unchanged."""
    if path.is_file():
        return _file_hash(path)[:16]
    hashes = {}
    for upload in path.rglob("*"):
        if upload.is_file():
            hashes[upload.relative_to(path).as_posix()] = _file_hash(upload)
    return folder_hash(hashes)


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def no_problem_sentence(store: Store) -> str:
    """Return the sentence for a database without a problem."""
    n_own, n_merged = store.rows(
        "SELECT count(*) FILTER (number IS NOT NULL), count(*) FILTER (origin <> '') FROM acts"
    )[0]
    return (
        f"Nothing was changed. The log of acts has {n_own:,} rows, each chained to the one before"
        f" ({n_merged:,} from merged files are counted apart). Archives, uploads, and locks with"
        " their readouts are as they were written, and no file is half written."
    )
