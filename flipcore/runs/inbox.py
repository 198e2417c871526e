"""Handing a study to the process that holds the database: a file in data/inbox/, put there in one step."""

from __future__ import annotations

import os
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.store.connection import default_path


def inbox_path() -> Path:
    """Beside the database, so that two dashboards with two databases do not take each other's studies."""
    return default_path().parent / "inbox"


def hand_over(study: Study) -> Path:
    """Leaves the study for the dashboard; atomic, so that a half-written file is never read."""
    folder = inbox_path()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{study.study_id}.toml"
    part_path = path.with_suffix(".part")
    part_path.write_text(study.to_toml(), encoding="utf-8")
    os.replace(part_path, path)
    return path


def take() -> list[Study]:
    """The studies that were left, each taken once; a file that is no study is set aside with its reason beside it."""
    studies = []
    for path in sorted(inbox_path().glob("*.toml")):
        try:
            studies.append(Study.read(path))
            path.unlink()
        except BadInput as error:
            os.replace(path, path.with_suffix(".refused"))
            path.with_suffix(".why.txt").write_text(str(error), encoding="utf-8")
    return studies
