"""Handing a study to the process that holds the database: a file in data/inbox/, put there in one
step."""

import os
import time
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.core.whole_files import write
from flipcore.store.connection import default_path


def inbox_path(database: Path | None = None) -> Path:
    """Return the folder beside a database, the default one if None: two dashboards with two
    databases do not take each other's studies."""
    return (database or default_path()).parent / "inbox"


_ON = "# on "  # the file's first line, where the study is to run on a cluster


def hand_over(study: Study, on: str = "") -> Path:
    """Leave the study for the dashboard, with the cluster that it is to run on.

    Each process has a file of its own: two commands with one study must not take the other's
    withdrawal for a dashboard's answer.
    """
    require(Permission.RUN)
    path = inbox_path() / f"{study.study_id}-{os.getpid()}.toml"
    return write(path, (f"{_ON}{on}\n" if on else "") + study.to_toml())


def withdraw(path: Path) -> bool:
    """Take back a study that was handed over; False where it has been taken meanwhile."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def take(min_age_s: float = 0.0, database: Path | None = None) -> list[tuple[Study, str]]:
    """Take each study that was left beside a database, once, with where it is to run.

    A file that is no study is set aside with its reason beside it. `min_age_s` leaves newer files
    alone: they belong to a command that still waits for an answer.
    """
    studies, folder = [], inbox_path(database)
    # Only the process that holds the database takes, so a claimed file is of one that died.
    for path in sorted([*folder.glob("*.toml"), *folder.glob("*.taken")]):
        claimed = path.with_suffix(".taken")
        try:
            # A file of the future was left before the clock was set back, and is old.
            if 0 <= time.time() - path.stat().st_mtime < min_age_s:
                continue
            # Claimed before it is read: whoever left it may withdraw it at the same moment.
            os.replace(path, claimed)
        except FileNotFoundError:
            continue
        try:
            study = Study.read(claimed)
            first_line = claimed.read_text(encoding="utf-8").partition("\n")[0]
            is_marked = first_line.startswith(_ON)
            studies.append((study, first_line.removeprefix(_ON).strip() if is_marked else ""))
            claimed.unlink()
        except BadInput as error:
            os.replace(claimed, path.with_suffix(".refused"))
            write(path.with_suffix(".why.txt"), str(error))
    return studies
