"""Handing a study to the process that holds the database: a file in data/inbox/, put there in one step."""

import os
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.core.whole_files import write
from flipcore.store.connection import default_path


def inbox_path() -> Path:
    """Beside the database, so that two dashboards with two databases do not take each other's studies."""
    return default_path().parent / "inbox"


_ON = "# on "  # the file's first line, where the study is to run on a cluster


def hand_over(study: Study, on: str = "") -> Path:
    """Leaves the study for the dashboard, with the cluster that it is to run on."""
    require(Permission.RUN)
    return write(inbox_path() / f"{study.study_id}.toml", (f"{_ON}{on}\n" if on else "") + study.to_toml())


def take() -> list[tuple[Study, str]]:
    """The studies that were left, each taken once, with where they are to run; a file that is no study is set aside with its reason
    beside it."""
    studies = []
    for path in sorted(inbox_path().glob("*.toml")):
        try:
            study = Study.read(path)
            first = path.read_text(encoding="utf-8").partition("\n")[0]
            studies.append((study, first.removeprefix(_ON).strip() if first.startswith(_ON) else ""))
            path.unlink()
        except BadInput as error:
            os.replace(path, path.with_suffix(".refused"))
            write(path.with_suffix(".why.txt"), str(error))
    return studies
