"""Uploads kept beside the database, so that a study can name them and be run again."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.access.observers import tell
from flipcore.core.whole_files import write
from flipcore.store.connection import default_path


def uploads_folder() -> Path:
    """Beside the database, wherever FLIPSCOPE_DB puts it."""
    return default_path().parent / "uploads"


def keep_upload(name: str, content: bytes) -> Path:
    """The file under its content's hash: the same content is the same file. Of the name only letters and digits stay, so that a
    sentence can name the file and no name can leave the folder."""
    suffix = re.sub(r"[^.A-Za-z0-9]", "", Path(name).suffix)[:10]
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem)[:40].strip("-")
    path = uploads_folder() / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    _keep(path, content)
    return path


def keep_together(files: Sequence[tuple[str, bytes]]) -> Path:
    """Several uploads in a folder of their own, named after their content: the same files are the same folder. Names are kept without
    their paths, so that none can leave the folder."""
    mark = hashlib.sha256()
    for name, content in files:
        mark.update(name.encode() + hashlib.sha256(content).digest())
    folder = uploads_folder() / f"logs-{mark.hexdigest()[:12]}"
    for name, content in files:
        _keep(folder / (name.replace("\\", "/").rpartition("/")[2].lstrip(".") or "log"), content)
    return folder


def _keep(path: Path, content: bytes) -> None:
    """Written where it is not there whole: one of an earlier release may have been cut. Whoever may bring in nothing writes nothing."""
    require(Permission.BRING)
    if not (path.is_file() and path.read_bytes() == content):
        write(path, content)
        tell("uploaded a file", path.name)
