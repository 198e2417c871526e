"""Uploads kept beside the database, so that a study can name them and be run again."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from flipcore.access.acting import Permission, require, tell
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import whole_file, write
from flipcore.store.connection import default_path


def uploads_folder() -> Path:
    """Beside the database, wherever FLIPSCOPE_DB puts it."""
    return default_path().parent / "uploads"


def keep_upload(name: str, content: bytes) -> Path:
    """The file under its content's hash: the same content is the same file. Of the name only letters and digits stay, so that a
    sentence can name the file and no name can leave the folder."""
    packed = Path(name).suffix if Path(name).suffix.lower() == ".gz" else ""  # what it is stands before: .jsonl.gz
    inner = Path(name.removesuffix(packed))
    suffix = re.sub(r"[^.A-Za-z0-9]", "", inner.suffix)[:10] + packed
    stem = re.sub(r"[^A-Za-z0-9]+", "-", inner.stem)[:40].strip("-")
    path = uploads_folder() / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    _keep(path, content)
    return path


def keep_together(files: Sequence[tuple[str, bytes]]) -> Path:
    """Several uploads in a folder of their own, named after its `mark_of`: the same files are the same folder, which is whole or
    absent. Names are kept without their paths, so that none can leave the folder; another file of the same name lies in a folder
    within it that is called by a number."""
    require(Permission.BRING)
    placed: dict[str, bytes] = {}
    for name, content in files:
        own = name.replace("\\", "/").rpartition("/")[2].lstrip(".") or "log"
        place = next(one for one in chain([own], (f"{n}/{own}" for n in count(2))) if placed.get(one, content) == content)
        placed[place] = content
    folder = uploads_folder() / f"logs-{mark_of({place: hashlib.sha256(one).hexdigest() for place, one in placed.items()})}"
    if not folder.is_dir():
        try:
            with whole_file(folder) as draft:
                for place, content in placed.items():
                    write(draft / place, content)
            for place in placed:
                tell("uploaded a file", place)
        except BadInput:
            if not folder.is_dir():  # else somebody else brought the same files at the same moment
                raise
    for place, content in placed.items():
        _keep(folder / place, content)
    return folder


def mark_of(hashes: Mapping[str, str]) -> str:
    """What names a folder of uploads: a hash of where its files lie in it and of the SHA-256 of each."""
    return hashlib.sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()[:16]


def _keep(path: Path, content: bytes) -> None:
    """Written where it is not there whole: one of an earlier release may have been cut. Whoever may bring in nothing writes nothing."""
    require(Permission.BRING)
    if not (path.is_file() and path.read_bytes() == content):
        write(path, content)
        tell("uploaded a file", path.name)
