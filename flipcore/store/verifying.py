"""Whether what is stored is as it was written: the log of acts, archived studies, uploads, locks, and files that were left half written."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.whole_files import leftovers
from flipcore.store import archives, audit_log
from flipcore.store.connection import BESIDE, Store
from flipcore.store.queries import locks
from flipcore.store.uploads import mark_of

_HASH = re.compile(r"-([0-9a-f]{16})(\.[.A-Za-z0-9]*)?$")  # of an upload's content, at the end of its name


def problems(store: Store, published: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """A sentence for each thing that is not as it was written; `published` are locks as others were told them."""
    require(Permission.ACCESS)
    store.writer.flush()
    with closing(store.own_cursor()) as cursor:
        sentences = [audit_log.problem(cursor, store.path), *(archives.problem(cursor, one) for one in store.archives.values())]
    for path in sorted((store.path.parent / "uploads").glob("*")):
        mark = _HASH.search(path.name)
        if mark and _mark_of(path) != mark[1]:
            sentences.append(f"{path} is not what was uploaded under that name: it was cut or changed. Upload the file again.")
    for path in leftovers([store.path.parent], [store.path.parent / name for name in BESIDE]):
        sentences.append(f"{path} was left half written. Nothing uses it: delete it.")
    own = [
        lock
        for (study,) in store.rows("SELECT DISTINCT study_id FROM locks ORDER BY ALL")
        for lock in locks.locks(store, study)
    ]
    for lock in (*own, *published):
        sentences += locks.differences(store, lock)
    return list(dict.fromkeys(one for one in sentences if one))


def _mark_of(path: Path) -> str:
    """The hash of an upload, or of a folder of them, as its name has it while nothing was changed."""
    if path.is_file():
        return _hash_of(path)[:16]
    return mark_of({one.relative_to(path).as_posix(): _hash_of(one) for one in path.rglob("*") if one.is_file()})


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sentence(store: Store) -> str:
    """What holds, where there is no problem."""
    own, others = store.rows("SELECT count(*) FILTER (number IS NOT NULL), count(*) FILTER (origin <> '') FROM acts")[0]
    return (
        f"All is as it was written: {own:,} rows of the log of acts, each chained to the one before ({others:,} came with merged files "
        "and are told apart), every archive, every upload, every lock with the readouts under it; and no file is half written."
    )
