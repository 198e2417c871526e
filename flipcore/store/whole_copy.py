"""Copy a database file with its log: back up an open one, and repair a damaged one.

DuckDB writes each commit to a log beside the file (`x.duckdb.wal`). Now and then it merges the log
into the file (a checkpoint). So the file alone is complete up to its last checkpoint, and a log
that is cut off can be read up to the cut.
"""

import datetime as dt
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import copy as copy_file
from flipcore.core.whole_files import whole_file
from flipcore.core.work_folders import work_folder
from flipcore.store import commits
from flipcore.store.archives import archives

_ATTEMPTS = 5  # at copying a file and its log without a checkpoint in between
_DAMAGED_AT = re.compile(r"at byte position (\d+)")


def log_of(path: Path) -> Path:
    """Return the path of a database file's log."""
    return path.with_name(f"{path.name}.wal")


def is_held(message: str) -> bool:
    """Tell whether an error of DuckDB says that another process holds the file.

    "lock" alone also stands in "block", where a damaged file is named.
    """
    return "could not set lock" in message.lower()


def damaged_log(path: Path, error: duckdb.Error) -> BadInput | None:
    """Return the error for a file whose log is damaged; None if the log is not at fault."""
    message = str(error).splitlines()[0]
    if "WAL" not in message or not log_of(path).is_file():
        return None
    match = _DAMAGED_AT.search(message)
    where = f" at byte {int(match[1]):,}" if match else ""
    return BadInput(
        f"{log_of(path)}, the log of the last commits, is damaged{where} of"
        f" {log_of(path).stat().st_size:,}. {path.name} is whole up to its last checkpoint."
        f" `{command('repair')}` copies both files, keeps the commits before the damage and says"
        " how many are missing."
    )


@dataclass(frozen=True)
class Repaired:
    """Result of a repair."""

    copies: tuple[Path, ...]  # of the damaged files
    n_kept: int  # commits in the repaired file
    kept_bytes: int  # of the log
    log_bytes: int
    missing: str  # a sentence on missing commits, "" if none is known to be missing

    def sentence(self) -> str:
        """Say what was kept, what is missing and where the copies are."""
        missing = self.missing or "No commit is known to be missing."
        return (
            f"The damaged files were copied to {' and '.join(map(str, self.copies))}. Of the log"
            f" {self.kept_bytes:,} of {self.log_bytes:,} bytes could be read; the file now holds"
            f" commit {self.n_kept:,} and all before. {missing}"
        )


def keep_log(path: Path) -> Path | None:
    """Copy an unreadable log before DuckDB's next commit empties it; None if there is no log."""
    log = log_of(path)
    if not log.is_file():
        return None
    return copy_file(log, _copy_name(path, log))


def _copy_name(path: Path, file: Path, reason: str = "damaged") -> Path:
    """Return the path for a copy of a file that will change: in "backups", with the time."""
    stamp = dt.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    return path.parent / "backups" / f"{reason}-{stamp}-{file.name}"


def repair(path: Path) -> Repaired | None:
    """Repair a file whose log is damaged, after copying both; None if both can be read. Raises
    BadInput if the file itself is no database, or if another process holds it."""
    if not path.is_file():
        raise BadInput(f"There is no database {path}. Name another one with FLIPSCOPE_DB.")
    log = log_of(path)
    try:
        # Opened for writing, DuckDB merges a readable log into the file on closing.
        duckdb.connect(str(path), read_only=not log.is_file()).close()
    except duckdb.Error as error:
        if is_held(str(error)):
            raise BadInput(f"{path} is open in another process. Close it, then repair.") from error
        if damaged_log(path, error) is None:
            raise BadInput(
                f"{path} cannot be repaired: {str(error).splitlines()[0]}. Only a damaged log can;"
                " put back a backup of the file."
            ) from error
    else:
        if not log.is_file():
            return None
    # A log that still exists after closing was not read.
    copies = tuple(copy_file(file, _copy_name(path, file)) for file in (path, log))
    log_bytes = log.stat().st_size
    with whole_file(path) as draft:
        kept_bytes = _copy_readable(path, log, draft)
        with closing(duckdb.connect(str(draft))) as connection:
            n_kept = commits.number(connection)
            missing = commits.shortfall(connection, path)
    log.unlink(missing_ok=True)
    commits.write_beside(path, n_kept)
    return Repaired(copies, n_kept, kept_bytes, log_bytes, missing)


def _copy_readable(path: Path, log: Path, draft: Path) -> int:
    """Write the file and the readable part of its log to `draft`; return this part's bytes."""
    end = log.stat().st_size
    draft_log = log_of(draft)
    while True:
        shutil.copyfile(path, draft)
        with log.open("rb") as source, draft_log.open("wb") as target:
            target.write(source.read(end))
        try:
            with closing(duckdb.connect(str(draft))) as connection:
                connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            # Try again with the log cut off before the damage.
            match = _DAMAGED_AT.search(str(error))
            end = int(match[1]) if match and int(match[1]) < end else 0
            if end:
                continue
        was_read = not draft_log.exists()
        draft_log.unlink(missing_ok=True)
        if was_read:
            return end
        shutil.copyfile(path, draft)
        return 0


def copy_whole(path: Path, target: Path) -> tuple[int, list[str]]:
    """Copy a database to `target`, as one file with all commits so far.

    Returns (number of the last commit, folders of archived studies, which are not in the copy). The
    database may be open in a dashboard: between checkpoints its log only grows, and a copy with a
    checkpoint in between is repeated. Raises BadInput if `target` exists, if the database or
    its log is damaged, or if every attempt met a checkpoint.
    """
    if not path.is_file():
        raise BadInput(f"There is no database {path}. Name another one with FLIPSCOPE_DB.")
    if target.exists():
        raise BadInput(
            f"{target} exists already, and a backup replaces nothing. Name another file."
        )
    if target.resolve().parent == path.resolve().parent and target.name.startswith(f"{path.name}."):
        # DuckDB could read such a file as the database's log at the next opening.
        raise BadInput(
            f"{target.name} is a name that Flipscope keeps for itself beside {path.name}. Name"
            " another file."
        )
    for _ in range(_ATTEMPTS):
        with _copied(path) as copy:
            if copy is None:
                continue
            try:
                with closing(duckdb.connect(str(copy))) as connection:
                    connection.execute("CHECKPOINT")
                    number = commits.number(connection)
                    folders = sorted({archive.folder for archive in archives(connection).values()})
            except duckdb.Error as error:
                raise damaged_log(path, error) or BadInput(
                    f"{path} cannot be copied: {str(error).splitlines()[0]}. Nothing was written."
                ) from error
            copy_file(copy, target)
            return number, folders
    raise BadInput(
        f"{path} was written to so fast that no copy of one moment could be taken. Back it up again"
        " when fewer studies run."
    )


def go_back(path: Path, backup: Path) -> tuple[int, tuple[Path, ...]]:
    """Replace a database by a backup, after copying the present files. Returns (number of the
    backup's last commit, the copies). Raises BadInput if the backup is no complete database of
    Flipscope, or where another process has the database open."""
    if not backup.is_file():
        raise BadInput(f"There is no file {backup}. Nothing was changed.")
    if path.exists() and path.samefile(backup):
        raise BadInput(f"{backup} is the database itself. Name a backup of it.")
    if log_of(backup).is_file():
        raise BadInput(f"{backup} has a log of its own, {log_of(backup).name}: it is no backup.")
    try:
        with closing(duckdb.connect(str(backup), read_only=True)) as connection:
            number = commits.number(connection)
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if is_held(reason):
            raise BadInput(
                f"{backup} is open in another process. Close it, then restore."
            ) from error
        if "Corrupt database file" in reason:
            raise BadInput(
                f"{backup} is damaged ({reason}). Nothing was changed. Name another backup."
            ) from error
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
            reason = "it is a database of something else"
        elif "not a valid DuckDB database" in reason:
            reason = "it is no DuckDB database"
        raise BadInput(
            f"{backup} is not a backup of Flipscope: {reason}. Nothing was changed. Name a file"
            " that `flipscope backup` wrote."
        ) from error
    _check_not_open(path)
    copies = tuple(
        copy_file(file, _copy_name(path, file, "before-restore"))
        for file in (path, log_of(path))
        if file.is_file()
    )
    with whole_file(path) as draft:
        shutil.copyfile(backup, draft)
        # Delete the log first, or DuckDB would merge it into the backup.
        log_of(path).unlink(missing_ok=True)
    commits.write_beside(path, number)
    return number, copies


def _check_not_open(path: Path) -> None:
    """Raise BadInput if another process has the database open; any other error is ignored."""
    if not path.is_file():
        return
    try:
        duckdb.connect(str(path), read_only=True).close()
    except duckdb.Error as error:
        if is_held(str(error)):
            raise BadInput(f"{path} is open in another process. Close it, then restore.") from error


@contextmanager
def _copied(path: Path) -> Iterator[Path | None]:
    """Yield a copy of the file and its log; None if a checkpoint came in between."""
    with work_folder("backup") as folder:
        copy = folder / path.name
        state_before = _state(path)
        shutil.copyfile(path, copy)
        log = log_of(path)
        if log.is_file():
            shutil.copyfile(log, log_of(copy))
        yield copy if _state(path) == state_before else None


def _state(path: Path) -> tuple[int, int]:
    """Return time and size of the file, which change with a checkpoint and with no commit."""
    state = os.stat(path)
    return state.st_mtime_ns, state.st_size
