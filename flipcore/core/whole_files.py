"""Write files that are whole or absent. All files that Flipscope keeps are written here.

A draft beside the file is written, flushed to the disk and read again. Then it gets the file's name
in one step. A process that is killed before that leaves only a draft, which no reader takes for the
file. The next start finds and reports such drafts.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flipcore.core.errors import BadInput, NotStored
from flipcore.core.paths import home

DRAFT = ".unfinished"  # a draft's name ends in its process id, a random part and this
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | Path, *, over: bool = True, mode: int | None = None) -> Iterator[Path]:
    """Give the path of a draft, which becomes the file at the end of the block.

    The draft may also be a folder if `path` does not exist yet and each file in it was written
    whole. If the block fails, no draft is left and the file is as it was.

    Parameters
    ----------
    over
        Replace an existing file. If False, it stays and FileExistsError is raised.
    mode
        Access rights of the file (posix), from its first byte on.

    Raises
    ------
    NotStored
        The disk is full.
    BadInput
        The file cannot be written.
    """
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(3)}{DRAFT}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if mode is not None:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield draft
        _flush(draft)
        if over:
            os.replace(draft, path)
        else:
            os.link(draft, path)
        _flush(path.parent)
    except OSError as error:
        if isinstance(error, FileExistsError) and not over:
            raise
        raise _write_error(path, error) from error
    finally:
        # The draft of a database has a log (.wal) beside it.
        for remnant in (draft, draft.with_name(f"{draft.name}.wal")):
            with suppress(OSError):
                remnant.unlink(missing_ok=True)
        shutil.rmtree(draft, ignore_errors=True)


def write(
    path: str | Path, content: str | bytes, *, over: bool = True, mode: int | None = None
) -> Path:
    """Write a file (text in UTF-8) and check it by reading; return the path.
    Raises as `whole_file` does."""
    content = content.encode("utf-8") if isinstance(content, str) else content
    with whole_file(path, over=over, mode=mode) as draft:
        draft.write_bytes(content)
        if draft.read_bytes() != content:
            raise OSError(errno.EIO, "what was written reads otherwise")
    return Path(path)


def copy(source: str | Path, path: str | Path) -> Path:
    """Copy a file with its times; return the path. Raises as `whole_file` does."""
    with whole_file(path) as draft:
        shutil.copy2(source, draft)
        if draft.stat().st_size != Path(source).stat().st_size:
            raise OSError(errno.EIO, "the copy is shorter than the file")
    return Path(path)


def leftovers(folders: Iterable[Path], trees: Iterable[Path] = ()) -> list[Path]:
    """Return the drafts of ended processes in these folders, and anywhere in these trees."""
    drafts: set[Path] = set()
    for folder in folders:
        drafts |= set(folder.glob(f".*{DRAFT}*"))
    for tree in trees:
        drafts |= set(tree.rglob(f".*{DRAFT}*"))
    return sorted(path for path in drafts if not _is_at_work(path.name))


def _is_at_work(name: str) -> bool:
    """Tell whether the process in a draft's name still runs."""
    # The name is ".FILE.PROCESS.RANDOM.unfinished".
    before_random = name[: name.rindex(DRAFT)].rpartition(".")[0]
    return is_running(before_random.rpartition(".")[2])


def is_running(process_id: str) -> bool:
    """Tell whether a process with this id runs, whoever its user is."""
    try:
        os.kill(int(process_id), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except OSError:
        pass  # it runs, but belongs to another user
    return True


def _flush(path: Path) -> None:
    """Force a file's content, or a folder's list of names, onto the disk."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot flush.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _write_error(path: Path, error: OSError) -> BadInput | NotStored:
    reason = error.strerror or str(error)
    if error.errno in _DISK_FULL:
        return NotStored(
            f"{path} could not be written: {reason}. Nothing of it was left there. Make room, "
            "then do the same again."
        )
    place = "folder with FLIPSCOPE_HOME" if path.parent == home() else "place"
    return BadInput(
        f"{path} could not be written: {reason}. Nothing of it was left there. Choose another "
        f"{place}."
    )
