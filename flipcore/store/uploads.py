"""Uploads kept beside the database, so that a study can name them and be run again."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.access.telling import tell
from flipcore.core.whole_files import write
from flipcore.store.connection import default_path


def uploads_folder() -> Path:
    """Beside the database, wherever FLIPSCOPE_DB puts it."""
    return default_path().parent / "uploads"


def keep_upload(name: str, content: bytes) -> Path:
    """The file under its content's hash: the same content is the same file. Of the name only letters and digits stay, so that a
    sentence can name the file and no name can leave the folder."""
    require(Permission.BRING)
    folder = uploads_folder()
    suffix = re.sub(r"[^.A-Za-z0-9]", "", Path(name).suffix)[:10]
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem)[:40].strip("-")
    path = folder / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    if not (path.is_file() and path.read_bytes() == content):  # one of an earlier release may have been cut
        write(path, content)
        tell("uploaded a file", path.name)
    return path
