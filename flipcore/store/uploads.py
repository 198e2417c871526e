"""Store uploads beside the database, so that a study can name them and be run again."""

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
    """Return the folder of uploads, beside the database."""
    return default_path().parent / "uploads"


def keep_upload(name: str, content: bytes) -> Path:
    """Store a file under its name and the hash of its content, and return its path. Only letters
    and digits of the name are kept, so that no name can leave the folder."""
    # For "x.jsonl.gz" keep both suffixes, because the first one tells the format.
    compression = Path(name).suffix if Path(name).suffix.lower() == ".gz" else ""
    inner = Path(name.removesuffix(compression))
    suffix = re.sub(r"[^.A-Za-z0-9]", "", inner.suffix)[:10] + compression
    stem = re.sub(r"[^A-Za-z0-9]+", "-", inner.stem)[:40].strip("-")
    path = (
        uploads_folder() / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    )
    _write_if_changed(path, content)
    return path


def keep_files(files: Sequence[tuple[str, bytes | Path]]) -> tuple[Path, list[Path]]:
    """Store several uploads in a folder of their own; return the folder and the path of each file.

    `files` are (name, content or the path of a stored copy). The folder's name ends with the files'
    `folder_hash`, so the same files give the same folder. It is created complete or not at all.
    Paths in names are dropped, so that no name can leave the folder. Further files of the same name
    go to subfolders with a number.
    """
    require(Permission.BRING)
    content_by_path: dict[str, bytes | Path] = {}
    hashes: dict[str, str] = {}
    paths_in_folder = []
    for name, content in files:
        file_name = name.replace("\\", "/").rpartition("/")[2].lstrip(".") or "log"
        content_hash = _hash(content)
        path_in_folder, n = file_name, 1
        while hashes.get(path_in_folder, content_hash) != content_hash:
            n += 1
            path_in_folder = f"{n}/{file_name}"
        content_by_path[path_in_folder], hashes[path_in_folder] = content, content_hash
        paths_in_folder.append(path_in_folder)
    folder = uploads_folder() / f"logs-{folder_hash(hashes)}"
    if not folder.is_dir():
        try:
            with whole_file(folder) as draft:
                for path_in_folder, content in content_by_path.items():
                    _write(draft / path_in_folder, content)
            for path_in_folder in content_by_path:
                tell("uploaded a file", path_in_folder)
        except BadInput:
            if not folder.is_dir():  # otherwise somebody uploaded the same files just now
                raise
    for path_in_folder, content in content_by_path.items():
        _write_if_changed(folder / path_in_folder, content)
    return folder, [folder / path_in_folder for path_in_folder in paths_in_folder]


def folder_hash(hashes: Mapping[str, str]) -> str:
    """Return a hash of path -> SHA-256 of the files in a folder, for the folder's name."""
    return hashlib.sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()[:16]


def _write_if_changed(path: Path, content: bytes | Path) -> None:
    """Write the file unless it is there with this content; earlier releases may have cut it. Raises
    AccessDenied for people who may not upload."""
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
    """Return the SHA-256 of a content or file; a file is not loaded into memory."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
