"""Folders that a study, an upload or an import may read from.

Always allowed are the project's data, the uploads beside the database, and folders unpacked from an
allowed file. The admin adds folders in `FLIPSCOPE_FOLDERS`, separated as in PATH. Where that is not
set, a command line may also read the folders that it admits (`admit`).
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
# folder -> {file: the name that it had in its archive}
_unpacked: dict[Path, dict[Path, str]] = {}


def admit_unpacked(folder: Path, names: Mapping[Path, str]) -> None:
    """Allow a folder into which this process unpacked an allowed file.
    `names` maps the folder's files to the names that they had in that file."""
    _unpacked[folder.resolve()] = {path.resolve(): name for path, name in names.items()}


def admit(*folders: str | Path) -> None:
    """Allow folders that the user named on the command line; the admin's list overrides it."""
    _admitted.update(Path(folder).resolve() for folder in folders)


def allowed_folders() -> Iterator[Path]:
    """Yield every folder that may be read now, resolved; first those that need no disk access."""
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
    """Return a file's name as its user knows it: an upload without the hash that ends its stored
    name, an unpacked file by its name in the archive."""
    if names := _unpacked.get(Path(path).parent.resolve()):
        return names.get(Path(path).resolve(), Path(path).name)
    name = Path(path).name
    uploads = Path(os.environ.get("FLIPSCOPE_DB") or DATABASE).parent / "uploads"
    return _HASH.sub(r"\1", name) if Path(path).parent.resolve() == uploads.resolve() else name


def allowed(path: str | Path) -> Path:
    """Return the path with its links resolved; BadInput if it leads out of the allowed folders."""
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
