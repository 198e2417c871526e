"""Folders that a study, an upload or an import may read from. The admin says so outside of any
file.

Always: the project's data, the uploads beside the database, and what was unpacked from a file that
may be read. `FLIPSCOPE_FOLDERS` adds folders, separated as in PATH. Without it a command line also
reads from the current folder and from the folders of the files that it is given (`admit`).
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.paths import DATA, DATABASE

VARIABLE = "FLIPSCOPE_FOLDERS"
_HASH = re.compile(r"-[0-9a-f]{16}((?:\.[^.]*){0,2})$")  # as `store.uploads.keep_upload` writes it
_admitted: set[Path] = set()
# folder -> its files, by the names that they had where they were packed
_unpacked: dict[Path, dict[Path, str]] = {}


def admit_unpacked(folder: Path, names: Mapping[Path, str]) -> None:
    """Lets this process read from a folder that it made itself, for what it unpacked from a file
    that was allowed; `names` are what people call its files."""
    _unpacked[folder.resolve()] = {path.resolve(): name for path, name in names.items()}


def admit(*folders: str | Path) -> None:
    """Allow folders that the user named on the command line; the admin's list overrides it."""
    _admitted.update(Path(folder).resolve() for folder in folders)


def allowed_folders() -> Iterator[Path]:
    """Every folder that may be read now, resolved, those first that need no look at the disk."""
    setting = os.environ.get(VARIABLE)
    if setting is None:
        yield from sorted(_admitted)
    yield from sorted(_unpacked)
    yield DATA.resolve()
    database = Path(os.environ.get("FLIPSCOPE_DB") or DATABASE)
    yield (database.parent / "uploads").resolve()
    for folder in (setting or "").split(os.pathsep):
        if folder:
            yield Path(folder).expanduser().resolve()


def spoken_name(path: str | Path) -> str:
    """A file's name as its user knows it: an upload without the hash of its content, which stands
    in its stored name, and a file of a zip as it is called there."""
    if names := _unpacked.get(Path(path).parent.resolve()):
        return names.get(Path(path).resolve(), Path(path).name)
    name = Path(path).name
    uploads = Path(os.environ.get("FLIPSCOPE_DB") or DATABASE).parent / "uploads"
    return _HASH.sub(r"\1", name) if Path(path).parent.resolve() == uploads.resolve() else name


def allowed(path: str | Path) -> Path:
    """Path with its links resolved; raises BadInput if it leads out of the folders."""
    try:
        real_path = Path(path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"{str(path)[:200]!r} is no path ({error}). Give the path of a file."
        ) from error
    if not any(
        real_path == folder or real_path.is_relative_to(folder) for folder in allowed_folders()
    ):
        raise BadInput(
            f"{str(path)[:200]!r} is outside of the folders that may be read. Upload it in the "
            "dashboard, run the command in its folder, or let the admin add the folder to "
            f"{VARIABLE}."
        )
    return real_path
