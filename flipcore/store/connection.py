"""Open the database. The process that opens the file owns it; its sessions read through cursors."""

import logging
import os
import re
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from flipcore.access.acting import acting, leave, listen, require_read
from flipcore.core import work_folders
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput, NotStored, StoreHeld
from flipcore.core.paths import DATABASE
from flipcore.core.whole_files import leftovers
from flipcore.store import commits, migrations, pack_tables, questions
from flipcore.store.archives import Archive, archives, attach, open_folders, problem_at_opening
from flipcore.store.audit_log import act_parts
from flipcore.store.whole_copy import damaged_log, is_held, keep_log
from flipcore.store.writer import Writer, is_disk_error

ALL_STUDIES = ""  # in place of a study's id: a commit that concerns all of them
_BATCH = 2_000  # rows in memory at a time
FOLDERS = ("uploads", "backups", "archive", "inbox")  # folders that Flipscope writes to
# Size of the log at which a large import merges it into the file; DuckDB's default of 16 MB takes a
# fifth more time.
_CHECKPOINT_MB = 256


def default_path() -> Path:
    """Return `FLIPSCOPE_DB`, by default data/flips.duckdb in the project."""
    path = os.environ.get("FLIPSCOPE_DB")
    return Path(path) if path else DATABASE


def results_folder(path: Path) -> Path:
    """Return the folder with kept results of a database (`flipcore.store.kept_results`)."""
    return path.with_name(f"{path.name}.results")


def text_list(texts: Iterable[str]) -> list[str]:
    """Return texts as a parameter of a query. DuckDB cannot type an empty list, so none is [""]."""
    return list(texts) or [""]


class Store:
    """An open database file. Each read takes its own cursor, so any thread may read. All writing
    goes through `writer`. Every query checks whether the acting person may read."""

    def __init__(self, connection, path: Path) -> None:
        self._connection, self.path = connection, path
        self._lock = threading.Lock()
        self._revisions: dict[str, int] = defaultdict(int)
        self.archives: dict[str, Archive] = {}
        self._readable_archives: list[Archive] = []
        self._faults: dict[str, str] = {}  # archived study -> why its files cannot be read
        self.lost_commits = ""  # a sentence on commits that the file has lost, "" for none
        self.before_closing: list[Callable[[], None]] = []
        self.writer = Writer(self)
        listen(self)

    @classmethod
    def open(cls, path: str | Path | None = None) -> "Store":
        """Open the file, or create it. Raises StoreHeld if another process has it open,
        NotStored where the disk fails, and BadInput where the file is no database."""
        path = Path(path) if path is not None else default_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        trees = [*(path.parent / name for name in FOLDERS), results_folder(path)]
        if half_written := leftovers([path.parent], trees):
            logging.getLogger(__name__).warning(
                "%s: left half written by a process that ended meanwhile. Nothing uses it: delete"
                " it, and do again what it was for.",
                ", ".join(map(str, half_written)),
            )
        if removed := work_folders.clear():
            logging.getLogger(__name__).info("Removed what ended processes left: %s", removed)
        is_fresh = not path.exists()
        try:
            connection = migrations.open_migrated(lambda: duckdb.connect(str(path)), path)
            pack_tables.prepare(connection)
            questions.prepare(connection)
        except duckdb.Error as error:
            if is_disk_error(error):
                raise NotStored(
                    f"{path} could not be opened: {str(error).splitlines()[0]}. Nothing in it was"
                    " changed. Make room on its disk, then open it again."
                ) from error
            if damaged := damaged_log(path, error):
                raise damaged from error
            if isinstance(error, duckdb.IOException):
                raise _lock_error(path, str(error)) from error
            if "Corrupt database file" in str(error):
                raise BadInput(
                    f"{path} is damaged ({str(error).splitlines()[0]}). Put back a backup of it:"
                    f" `{command('restore')} BACKUP`."
                ) from error
            raise BadInput(
                f"{path} is not a Flipscope database ({str(error).splitlines()[0]}). Choose another"
                " file with FLIPSCOPE_DB, or move this one away."
            ) from error
        store = cls(connection, path)
        if is_fresh:
            commits.forget(path)
        elif lost_commits := commits.shortfall(connection, path):
            copy = keep_log(path)
            store.lost_commits = (
                f"{lost_commits} What is left of the log was copied to {copy}."
                if copy
                else lost_commits
            )
            logging.getLogger(__name__).warning(store.lost_commits)
        store.look_for_archives()
        return store

    def cursor(self) -> DuckDBPyConnection:
        """Return a cursor for one thread, which must close it. Raises AccessDenied for people who
        may not read results."""
        require_read()
        cursor = self._connection.cursor()
        attach(cursor, self._readable_archives)
        return cursor

    def own_cursor(self) -> DuckDBPyConnection:
        """Return a cursor that sees the database without archives, for its writer."""
        return self._connection.cursor()

    def look_for_archives(self) -> None:
        """Find the archived studies. An archive with missing or changed files is logged and not
        read, because its answers would be wrong, and a cut file would make every query fail."""
        with self._connection.cursor() as cursor:
            self.archives = archives(cursor)
            faults = {
                archive.study_id: problem_at_opening(cursor, archive)
                for archive in self.archives.values()
            }
            self.archives = archives(cursor)  # again, as `problem_at_opening` updates stamps
            self._faults = {study: sentence for study, sentence in faults.items() if sentence}
            for sentence in self._faults.values():
                logging.getLogger(__name__).warning(
                    "%s The study is not read until it is put back.", sentence
                )
            self._readable_archives = [
                archive
                for archive in self.archives.values()
                if archive.study_id not in self._faults
            ]
            open_folders(cursor, [archive.folder for archive in self._readable_archives])

    def check_readable(self, study_id: str) -> None:
        """Raise BadInput for a study whose archive cannot be read, because it would look empty."""
        if study_id in self._faults:
            raise BadInput(
                f"{self._faults[study_id]} Put back what was archived, and open Flipscope again."
            )

    def frame(self, sql: str, **params) -> pd.DataFrame:
        with self.cursor() as cursor, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # DuckDB 2.0 warns about the strings of pandas 3
            return cursor.execute(sql, params or None).df()

    def arrow(self, sql: str, **params) -> pa.Table:
        """Return the rows of a query as an Arrow table, each column in one chunk."""
        with self.cursor() as cursor:
            return cursor.sql(sql, params=params or None).to_arrow_table().combine_chunks()

    def rows(self, sql: str, **params) -> list[tuple]:
        with self.cursor() as cursor:
            return cursor.execute(sql, params or None).fetchall()

    def value(self, sql: str, **params) -> Any:
        """Return the value of a query with one row and column; None without a row."""
        rows = self.rows(sql, **params)
        return rows[0][0] if rows else None

    def rows_of(self, sql: str, **params) -> list[dict]:
        """Return the rows of a query as dictionaries; NULL is None. Select no time stamps, because
        DuckDB needs the package pytz for them."""
        return list(self.stream(sql, **params))

    def stream(self, sql: str, **params) -> Iterator[dict]:
        """Yield the rows of a query as dictionaries, so that a large result takes little memory."""
        with self.cursor() as cursor:
            query = cursor.execute(sql, params or None)
            names = [column[0] for column in query.description]
            while batch := query.fetchmany(_BATCH):
                yield from (dict(zip(names, row, strict=True)) for row in batch)

    def revision(self, study_id: str) -> int:
        """Return a number that grows with every commit on the study: the cache key of its pages."""
        return self._revisions[study_id] + self._revisions[ALL_STUDIES]

    @property
    def revision_of_all(self) -> int:
        """A number that grows with every commit on any study."""
        with self._lock:
            return sum(self._revisions.values())

    def touch(self, study_ids) -> None:
        """Increase the revisions of studies, or of `ALL_STUDIES`, after a commit."""
        with self._lock:
            for study_id in study_ids:
                self._revisions[study_id] += 1

    @contextmanager
    def memory_bound(self, megabytes: int) -> Iterator[None]:
        """Limit DuckDB's memory, and merge its log into the file less often, within the context.
        The memory is not limited if another query needs more at the moment."""
        cursor = self.cursor()
        try:
            with suppress(duckdb.Error):
                cursor.execute(f"SET GLOBAL memory_limit = '{int(megabytes)}MB'")
                cursor.execute(f"SET GLOBAL checkpoint_threshold = '{_CHECKPOINT_MB}MB'")
            yield
        finally:
            with suppress(duckdb.Error):
                cursor.execute("RESET GLOBAL checkpoint_threshold")
                cursor.execute("RESET GLOBAL memory_limit")
            cursor.close()

    def record_act(self, act: str, target: str) -> None:
        """Add to the log of acts that the acting person did this, if access control is on. For acts
        that write no row of another table."""
        self.writer.add_together(act_parts(acting(), act, target)).result(60)

    def close(self) -> None:
        """Wait until everything is written, then close the file."""
        leave(self)
        for stop in self.before_closing:
            stop()
        self.writer.stop()
        self._connection.close()


def _lock_error(path: Path, message: str) -> StoreHeld | BadInput:
    holder_id = re.search(r"\(PID (\d+)\)", message)
    if not is_held(message):
        return BadInput(
            f"{path} could not be opened: {message.splitlines()[0]}. Check the folder, or choose"
            " another file with FLIPSCOPE_DB."
        )
    holder = f"process {holder_id[1]}" if holder_id else "another process"
    held_by = f"{path} is held by {holder}"
    return StoreHeld(
        f"{held_by}, probably an open dashboard: look there, hand it a study with "
        f"`{command('run')}`, or choose another file with FLIPSCOPE_DB.",
        holder=held_by,
    )
