"""Results of finished studies, kept beside the database for the next server.

What a page says of a million readouts takes seconds to compute. It depends on the rows of the
study, on settings and on code alone, so it is kept in a folder beside the database, and a fresh
server reads it. Nothing else looks there: merge, export and backup leave the folder out, and
whoever deletes it loses only time.

A result stands under the state that it was computed from (`state_of`), so it is never taken for
that of other rows. The files are pickles, and reading a pickle runs what it says. Each is therefore
signed with a secret of this user, and a file that anybody else wrote is not read.
"""

import hashlib
import hmac
import logging
import os
import pickle
import secrets
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from duckdb import DuckDBPyConnection

from flipcore.core.errors import FlipscopeError
from flipcore.core.paths import APP, home
from flipcore.core.records import digest
from flipcore.core.whole_files import write
from flipcore.store import commits, packing
from flipcore.store.archives import fingerprint
from flipcore.store.connection import Store, results_folder
from flipcore.store.judgements import KINDS
from flipcore.store.visible import HOLDINGS

T = TypeVar("T")
SECRET = "results-secret"
_SECRET_BYTES = 32
_SIGNATURE_BYTES = hashlib.sha256().digest_size
# A larger result takes as long to read as to compute, and a study has dozens.
MOST_BYTES = 32_000_000
OF_CONTENT, MOST_OF_CONTENT = "content", 100  # the folder of what is no study, and its files
_LIBRARIES = ("duckdb", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy")
# Rows, besides readouts and variants, from which the results of a study are made: its own, and what
# people said of questions, wherever they were asked.
_OF_STUDY = ("studies", "study_items", "locks", "flip_verdicts", "late_readouts")
_JUDGEMENTS = sorted({kind.table for kind in KINDS} - {*_OF_STUDY})
_OF_PEOPLE = ("paraphrases", "control_pairs", "surveys", *_JUDGEMENTS)
_ITEMS = "SELECT i.* FROM items i JOIN study_items m USING (item_id) WHERE m.study_id = $id"
_CALLS = """SELECT count(*), bit_xor(hash(c.call_id, c.status, c.created_at))
    FROM completions c JOIN study_calls s USING (call_id) WHERE s.study_id = $id"""
_HELD = f"SELECT item_id, holder FROM ({HOLDINGS}) WHERE study_id = $id ORDER BY ALL"

_states: WeakKeyDictionary[Store, dict[str, tuple[int, str]]] = WeakKeyDictionary()
_lock = threading.Lock()


def kept(store: Store, study_id: str, names: Sequence[str], make: Callable[[], T]) -> T:
    """Return the result of `make`, computed only where it is not kept.

    `names` say what is computed, with which settings. Nothing is kept of a study that is not
    packed: it is small or still running. Nor is anything where packages bring plug-ins.
    """
    state = "" if has_plugins() else state_of(store, study_id)
    if not state:
        return make()
    folder = results_folder(store.path) / study_id / state
    path = folder / f"{digest(*names)}.result"
    if (kept := _read(path)) is not None:
        return kept[0]
    result = make()
    # Rows that came meanwhile may or may not be in the result.
    if state_of(store, study_id) == state:
        _write(path, result)
        _remove_others(folder)
    return result


def kept_of_content(store: Store, names: Sequence[str], make: Callable[[], T]) -> T:
    """Return the result of `make`, computed only where it is not kept, of what is no study.

    `names` say what is computed, with which settings, and hash all of the content.
    """
    if str(store.path) == commits.MEMORY:
        return make()
    folder = results_folder(store.path) / OF_CONTENT / code()[:20]
    path = folder / f"{digest(*names)}.result"
    if (kept := _read(path)) is not None:
        return kept[0]
    result = make()
    _write(path, result)
    _remove_others(folder)
    _remove_oldest(folder)
    return result


def state_of(store: Store, study_id: str) -> str:
    """Return a hash of all rows and code that results of the study depend on; "" where none are
    kept."""
    if str(store.path) == commits.MEMORY:
        return ""
    with store.cursor() as cursor:
        number = commits.number(cursor)
        with _lock:
            states = _states.setdefault(store, {})
            if study_id in states and states[study_id][0] == number:
                return states[study_id][1]
        state = _computed_state(cursor, study_id)
    with _lock:
        states[study_id] = number, state
    return state


def _computed_state(cursor: DuckDBPyConnection, study_id: str) -> str:
    parameters = {"id": study_id}
    # The mark goes in the transaction that changes readouts or variants, and a new one has another
    # token, so the token stands for all of them.
    marks = cursor.execute(
        "SELECT token FROM packed.marks WHERE study_id = $id AND rule = $rule",
        parameters | {"rule": packing.rule()},
    ).fetchall()
    if not marks:
        return ""
    parts = [marks[0][0], code()]
    for table in _OF_STUDY:
        rows = f"SELECT * FROM {table} WHERE study_id = $id"
        parts.append(str(fingerprint(cursor, table, rows, parameters)))
    for table in _OF_PEOPLE:
        parts.append(str(fingerprint(cursor, table, f"SELECT * FROM {table}")))
    parts.append(str(fingerprint(cursor, "items", _ITEMS, parameters)))
    # A completion changes only where a call that failed gets its answer.
    parts.append(str(cursor.execute(_CALLS, parameters).fetchall()))
    # Another study may have set questions aside, or shown them again.
    parts.append(str(cursor.execute(_HELD, parameters).fetchall()))
    return digest(*parts)


@cache
def has_plugins() -> bool:
    """Return True where a package brings plug-ins, whose code may change without a new version:
    then nothing is kept."""
    return any(group.startswith("flipscope.") for group in entry_points().groups)


@cache
def code() -> str:
    """Return a hash of Flipscope's own code and of the libraries that results depend on."""
    seen = hashlib.sha256(sys.version.encode())
    for library in _LIBRARIES:
        seen.update(version(library).encode())
    for folder in (Path(__file__).resolve().parents[1], APP.parent / "pages"):
        # All files and not Python alone: the measured coverage is JSON, and methods are TOML.
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                seen.update(path.relative_to(folder.parent).as_posix().encode())
                seen.update(path.read_bytes())
    return seen.hexdigest()


def _read(path: Path) -> tuple | None:
    """Return the kept result, alone in a tuple; None without one that this user wrote."""
    secret = _secret()
    if secret is None:
        return None
    try:
        content = path.read_bytes()
        signature, payload = content[:_SIGNATURE_BYTES], content[_SIGNATURE_BYTES:]
        if hmac.compare_digest(signature, _signature(secret, path, payload)):
            return (pickle.loads(payload),)
    except FileNotFoundError:
        return None
    except Exception as error:  # it is computed again
        logging.getLogger(__name__).info("A kept result is not used: %s", error)
    return None


def _write(path: Path, result: object) -> None:
    """Keep a result; nothing where it cannot be kept, which costs the next server time alone."""
    secret = _secret()
    if secret is None:
        return
    try:
        payload = pickle.dumps(result, protocol=5)
        if len(payload) <= MOST_BYTES:
            write(path, _signature(secret, path, payload) + payload, mode=0o600)
    except Exception as error:  # a full disk, or a result that no file can hold
        logging.getLogger(__name__).info("A result is not kept: %s", error)


def remove(store: Store, study_id: str) -> None:
    """Remove what is kept of a study that was deleted."""
    shutil.rmtree(results_folder(store.path) / study_id, ignore_errors=True)


def _remove_others(folder: Path) -> None:
    """Remove the results of earlier states of the same study."""
    with suppress(OSError):
        for state_folder in folder.parent.iterdir():
            if state_folder != folder:
                shutil.rmtree(state_folder, ignore_errors=True)


def _remove_oldest(folder: Path) -> None:
    """Remove the oldest results of content that comes and goes: no study's end removes them."""
    with suppress(OSError):
        files = sorted(folder.glob("*.result"), key=lambda path: path.stat().st_mtime)
        for path in files[:-MOST_OF_CONTENT]:
            path.unlink(missing_ok=True)


def _signature(secret: bytes, path: Path, payload: bytes) -> bytes:
    # With its place, so that no result can be put in the place of another.
    place = "/".join(path.parts[-3:])
    return hmac.new(secret, f"{place}\n".encode() + payload, hashlib.sha256).digest()


def _secret() -> bytes | None:
    """Return the secret, made when it is first needed; None where none can be kept, or where others
    may read it."""
    path = home() / SECRET
    try:
        if not path.exists():
            with suppress(FileExistsError):
                write(path, secrets.token_hex(_SECRET_BYTES), over=False, mode=0o600)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            return None
        secret = path.read_bytes().strip()
    except (OSError, FlipscopeError):
        return None
    return secret if len(secret) >= 2 * _SECRET_BYTES else None
