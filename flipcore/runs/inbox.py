"""Hand a study to the process that holds the database, as a file in data/inbox/."""

import os
import time
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.core.whole_files import write
from flipcore.store.connection import default_path


def inbox_path(database: Path | None = None) -> Path:
    """Return the inbox beside a database, the default one if None. Each database has its own, so
    that two dashboards do not take each other's studies."""
    return (database or default_path()).parent / "inbox"


_CLUSTER_MARK = "# on "  # begins the first line of a study that is to run on a cluster


def hand_over(study: Study, on: str = "") -> Path:
    """Leave the study for the dashboard, to run on the cluster `on` or ("") on this machine. The
    file's name holds the process's id. Otherwise, of two commands with the same study, one could
    take the other's withdrawal for the dashboard's answer."""
    require(Permission.RUN)
    path = inbox_path() / f"{study.study_id}-{os.getpid()}.toml"
    return write(path, (f"{_CLUSTER_MARK}{on}\n" if on else "") + study.to_toml())


def withdraw(path: Path) -> bool:
    """Take back a study that was handed over; False if the dashboard has taken it meanwhile."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def take(min_age_s: float = 0.0, database: Path | None = None) -> list[tuple[Study, str]]:
    """Take the studies left in a database's inbox; return (study, cluster or "") for each. A file
    that is no study is renamed to .refused, with the reason in a file beside it. Files newer than
    `min_age_s` are left alone: their command still waits for an answer."""
    studies, folder = [], inbox_path(database)
    # Only the process that holds the database takes files, so a .taken file is from one that died.
    for path in sorted([*folder.glob("*.toml"), *folder.glob("*.taken")]):
        claimed = path.with_suffix(".taken")
        try:
            # A file from the future is old: the clock was set back after it was written.
            if 0 <= time.time() - path.stat().st_mtime < min_age_s:
                continue
            # Rename before reading: the command that left it may withdraw it at the same moment.
            os.replace(path, claimed)
        except FileNotFoundError:
            continue
        try:
            study = Study.read(claimed)
            first_line = claimed.read_text(encoding="utf-8").partition("\n")[0]
            is_marked = first_line.startswith(_CLUSTER_MARK)
            studies.append(
                (study, first_line.removeprefix(_CLUSTER_MARK).strip() if is_marked else "")
            )
            claimed.unlink()
        except BadInput as error:
            os.replace(claimed, path.with_suffix(".refused"))
            write(path.with_suffix(".why.txt"), str(error))
    return studies
