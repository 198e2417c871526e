"""Moves a finished study's completions and readouts to Parquet files, and back.

Its rows of `readouts`, `readout_sources` and those of its `completions` that no other study holds go to
FOLDER/study_id=…/model=…/TABLE.parquet, are read again there, and leave the file in the same transaction. The folder may be a URL that
`fsspec` opens where that is installed.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

from duckdb import DuckDBPyConnection

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import whole_file
from flipcore.store.archives import TABLES, Archive, bring_in, cast, fingerprint, keep, open_folders, problem, read, text
from flipcore.store.connection import Store
from flipcore.store.schema import tables

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


def archive(store: Store, study_id: str, to: str | Path | None = None) -> Archive:
    """Moves a finished study's rows to Parquet files under the folder `to` ("archive" beside the database) and says where they
    are. Raises AccessDenied for whoever is no admin, BadInput for a study that has not ended or is archived."""
    require(Permission.FILES)
    if study_id in store.archives:
        raise BadInput(f"The study is archived already. {store.archives[study_id].sentence()}")
    root = str(to) if to is not None and "://" in str(to) else str(Path(to or store.path.parent / "archive").resolve())
    action = lambda connection: _move_out(connection, study_id, root)  # noqa: E731
    moved = store.writer.transact(action, Permission.FILES, "archived a study", study_id, changes=()).result()
    _after(store, study_id)
    return moved


def restore(store: Store, study_id: str) -> Archive:
    """Brings an archived study's rows back into the file and removes the files. Raises AccessDenied for whoever is no admin, BadInput
    for a study that is not archived or whose files are not there or not whole."""
    require(Permission.FILES)
    if study_id not in store.archives:
        raise BadInput(f"The study {study_id!r} is not archived here, so there is nothing to restore.")
    one = store.archives[study_id]
    action = lambda connection: _move_in(connection, one)  # noqa: E731
    store.writer.transact(action, Permission.FILES, "restored a study", study_id, changes=()).result()
    for path in (path for files in one.files.values() for path in files if "://" not in path):
        Path(path).unlink(missing_ok=True)
    _after(store, study_id)
    return one


def check(store: Store, study_id: str) -> Archive:
    """The archive of a study, once its files were read and hold what was put there. Raises BadInput where they do not, or where the
    study is not archived."""
    require(Permission.READ)
    if study_id not in store.archives:
        raise BadInput(f"The study {study_id!r} is not archived here, so there is nothing to check.")
    with store.own_cursor() as cursor:
        what = problem(cursor, store.archives[study_id])
    if what:
        raise BadInput(f"{what} Put the files back from a backup, or restore nothing from there.")
    return store.archives[study_id]


def _after(store: Store, study_id: str) -> None:
    store.look_for_archives()
    store.writer.checkpoint()
    store.touch([study_id])


def _move_out(connection: DuckDBPyConnection, study_id: str, root: str) -> Archive:
    state = connection.execute("SELECT state FROM studies WHERE study_id = $study_id", {"study_id": study_id}).fetchall()
    if state != [("done",)]:
        why = f"its state is {state[0][0]}" if state else "there is no such study"
        raise BadInput(f"{study_id} was not archived: {why}. Only a study that is done can be; run it to its end first.")
    open_folders(connection, [root])
    files: dict[str, list[str]] = {}
    n_rows: dict[str, int] = {}
    marks: dict[str, str] = {}
    for table in TABLES:
        (n_rows[table], marks[table]), files[table] = _table_files(connection, table, study_id, root)
    for table in reversed(TABLES):
        connection.execute(f"DELETE FROM {table} WHERE {_ROWS[table]}", {"study_id": study_id})
    one = Archive(study_id, root, files, n_rows, marks)
    one.stamps.update(one.stamps_now())
    keep(connection, one)
    return one


def _table_files(connection: DuckDBPyConnection, table: str, study_id: str, root: str) -> tuple[tuple[int, str], list[str]]:
    """The rows of one table, a file a model; read again in the files before anything is deleted."""
    params: dict[str, Any] = {"study_id": study_id}
    counts = connection.execute(
        f"SELECT model, count(*) FROM {table} WHERE {_ROWS[table]} GROUP BY model ORDER BY model", params
    ).fetchall()
    paths = []
    for model, _ in counts:
        folder = f"{root}/study_id={quote(study_id, safe='')}/model={quote(model, safe='')}"
        paths.append(f"{folder}/{table}.parquet")
        names = ", ".join(f'"{name}"' for name in tables()[table].names)
        order = "ORDER BY item_id, axis, variant_id, sample, extractor" if table != "completions" else ""
        rows = f"SELECT {names} FROM {table} WHERE {_ROWS[table]} AND model = $model {order}"
        with nullcontext(paths[-1]) if "://" in root else whole_file(paths[-1]) as place:
            connection.execute(
                f"COPY ({rows}) TO {text(str(place))} (FORMAT parquet, COMPRESSION zstd)", params | {"model": model}
            )
    rows = f"SELECT {', '.join(tables()[table].names)} FROM {table} WHERE {_ROWS[table]}"
    here = fingerprint(connection, table, rows, params)
    there = fingerprint(connection, table, f"SELECT {cast(table)} FROM {read(paths)}") if paths else here
    if here != there:
        raise BadInput(
            f"{there[0]:,} of {here[0]:,} {table} arrived whole in {root}, so nothing was moved. Check the disk and try again."
        )
    return here, paths


def _move_in(connection: DuckDBPyConnection, one: Archive) -> None:
    if what := problem(connection, one):
        raise BadInput(f"{what} Nothing was restored.")
    bring_in(connection, one)
