"""A file is whole or absent: the one place where Flipscope writes what is to be kept.

A file is written beside its place, flushed to the disk, read again, and then given its name in one
step, so that whoever is killed meanwhile leaves a draft that nobody takes for the file. What a
process that is gone left so is found and named at the next start.
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

DRAFT = ".unfinished"  # the end of a draft's name, after the process that writes it
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | Path, *, over: bool = True, mode: int | None = None) -> Iterator[Path]:
    """A draft's path to write to; at the end of the block the draft is flushed and becomes the
    file, or a folder that is not there yet, each of whose files was written whole. Where the block
    fails nothing is left and the file is as it was. Without `over` a file that is there stays, and
    FileExistsError is raised. `mode` are the rights of the file (posix), from its first byte on.
    Raises NotStored where the disk is full, BadInput where the file cannot be written."""
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
        raise _sentence(path, error) from error
    finally:
        # a database has a log beside it
        for remnant in (draft, draft.with_name(f"{draft.name}.wal")):
            with suppress(OSError):
                remnant.unlink(missing_ok=True)
        shutil.rmtree(draft, ignore_errors=True)


def write(
    path: str | Path, content: str | bytes, *, over: bool = True, mode: int | None = None
) -> Path:
    """The file with this content (text in UTF-8), read again before it gets its name; the path.
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
    """Drafts in these folders, and anywhere in these trees, whose processes are gone."""
    drafts: set[Path] = set()
    for folder in folders:
        drafts |= set(folder.glob(f".*{DRAFT}*"))
    for tree in trees:
        drafts |= set(tree.rglob(f".*{DRAFT}*"))
    return sorted(path for path in drafts if not _is_at_work(path.name))


def _is_at_work(name: str) -> bool:
    """Tell whether the process that a draft is named after still runs."""
    return is_running(name[: name.rindex(DRAFT)].rpartition(".")[0].rpartition(".")[2])


def is_running(process_id: str) -> bool:
    """Tell whether a process of this number runs, whosever it is."""
    try:
        os.kill(int(process_id), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except OSError:
        pass  # somebody else's
    return True


def _flush(path: Path) -> None:
    """To the disk itself: what a file holds, or which names a folder has."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot
            raise
    finally:
        os.close(handle)


def _sentence(path: Path, error: OSError) -> BadInput | NotStored:
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return NotStored(
            f"{path} could not be written: {reason}. Nothing of it was left there. Make room, "
            "then do the same again."
        )
    place = "folder with FLIPSCOPE_HOME" if path.parent == home() else "place"
    return BadInput(
        f"{path} could not be written: {reason}. Nothing of it was left there. Choose another "
        f"{place}."
    )
