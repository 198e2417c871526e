"""Uploads kept beside the database, so that a study can name them and be run again."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from flipcore.access.acting import Permission, require, tell
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import copy, whole_file, write
from flipcore.store.connection import default_path


def uploads_folder() -> Path:
    """Beside the database, wherever FLIPSCOPE_DB puts it."""
    return default_path().parent / "uploads"


def keep_upload(name: str, content: bytes) -> Path:
    """Store a file under the hash of its content: the same content is the same file. Of the name
    only letters and digits stay, so that a sentence can name the file and no name can leave the
    folder."""
    # What it is stands before: .jsonl.gz.
    packed = Path(name).suffix if Path(name).suffix.lower() == ".gz" else ""
    inner = Path(name.removesuffix(packed))
    suffix = re.sub(r"[^.A-Za-z0-9]", "", inner.suffix)[:10] + packed
    stem = re.sub(r"[^A-Za-z0-9]+", "-", inner.stem)[:40].strip("-")
    path = (
        uploads_folder() / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    )
    _keep(path, content)
    return path


def keep_together(files: Sequence[tuple[str, bytes]]) -> Path:
    """Store several uploads in a folder of their own; the folder, as `keep_files` makes it."""
    return keep_files(files)[0]


def keep_files(files: Sequence[tuple[str, bytes | Path]]) -> tuple[Path, list[Path]]:
    """Store several uploads, each as its content or where it was kept before, in a folder of their
    own, and return the folder and the path of each. The folder is named after its `mark_of`: the
    same files are the same folder, which is whole or absent. Names are kept without their paths, so
    that none can leave the folder; another file of the same name lies in a folder within it that is
    called by a number."""
    require(Permission.BRING)
    placed: dict[str, bytes | Path] = {}
    hashes: dict[str, str] = {}
    places = []
    for name, content in files:
        file_name = name.replace("\\", "/").rpartition("/")[2].lstrip(".") or "log"
        content_hash = _hash(content)
        place, n = file_name, 1
        while hashes.get(place, content_hash) != content_hash:
            n += 1
            place = f"{n}/{file_name}"
        placed[place], hashes[place] = content, content_hash
        places.append(place)
    folder = uploads_folder() / f"logs-{mark_of(hashes)}"
    if not folder.is_dir():
        try:
            with whole_file(folder) as draft:
                for place, content in placed.items():
                    _write(draft / place, content)
            for place in placed:
                tell("uploaded a file", place)
        except BadInput:
            if not folder.is_dir():  # else somebody else brought the same files at the same moment
                raise
    for place, content in placed.items():
        _keep(folder / place, content)
    return folder, [folder / place for place in places]


def mark_of(hashes: Mapping[str, str]) -> str:
    """Return the name of a folder of uploads: a hash of where its files lie in it and of the
    SHA-256 of each."""
    return hashlib.sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()[:16]


def _keep(path: Path, content: bytes | Path) -> None:
    """Write the file where it is not there whole: one of an earlier release may have been cut.
    Whoever may bring in nothing writes nothing."""
    require(Permission.BRING)
    if not (path.is_file() and _hash(path) == _hash(content)):
        _write(path, content)
        tell("uploaded a file", path.name)


def _write(path: Path, content: bytes | Path) -> None:
    if isinstance(content, Path):
        copy(content, path)
    else:
        write(path, content)


def _hash(content: bytes | Path) -> str:
    """The SHA-256 of a content; of a file without having all of it in memory."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
