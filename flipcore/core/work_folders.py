"""Temporary folders: copies of databases, unpacked logs.

They are in one folder per user, in the system's temporary folder. Their names begin with the id of
their process, so that the next start can remove the folders of killed processes.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flipcore.core.whole_files import is_running

_own_folders: set[Path] = set()  # made by this process


def make(purpose: str) -> Path:
    """Make a folder, which this process must remove; `purpose` is part of its name."""
    folder = _parent_folder() / f"{os.getpid()}-{purpose}-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700, parents=True)
    _own_folders.add(folder)
    return folder


@contextmanager
def work_folder(purpose: str) -> Iterator[Path]:
    """Give a folder that is removed after the block."""
    folder = make(purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def abandoned() -> list[Path]:
    """Return the folders of processes that ended without removing them."""
    if not _parent_folder().is_dir():
        return []
    return sorted(path for path in _parent_folder().iterdir() if not _is_in_use(path))


def _is_in_use(folder: Path) -> bool:
    """Tell whether the process that made a folder still runs."""
    process_id = folder.name.partition("-")[0]
    if process_id == str(os.getpid()):
        # In a container that starts again, the dashboard is process 1 each time.
        return folder in _own_folders
    return is_running(process_id)


def clear() -> list[Path]:
    """Remove the folders of ended processes, and return them."""
    folders = abandoned()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return folders


def _parent_folder() -> Path:
    """Return the folder that holds all work folders of this user."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"flipscope-{user}"
