"""Folders for work on the way: copies of databases, unpacked logs. What a killed process leaves
there is removed at the next start.

They lie in one folder of this user in the temporary folder, each named after its process, so
that they can be told from what others wrote there.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flipcore.core.whole_files import is_running


def make(purpose: str) -> Path:
    """Make a folder that this process is to remove; `purpose` is part of its name."""
    folder = _all() / f"{os.getpid()}-{purpose}-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


@contextmanager
def work_folder(purpose: str) -> Iterator[Path]:
    """A folder that is gone after the block."""
    folder = make(purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def abandoned() -> list[Path]:
    """Folders of processes that ended without removing them."""
    if not _all().is_dir():
        return []
    return sorted(path for path in _all().iterdir() if not is_running(path.name.partition("-")[0]))


def clear() -> list[Path]:
    """Remove the folders of processes that ended; those that were there."""
    folders = abandoned()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return folders


def _all() -> Path:
    """The folder of this user's work; the name tells users of one machine apart."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"flipscope-{user}"
