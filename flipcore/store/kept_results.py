"""Keep results of finished studies beside the database, for the next server.

A result over a million readouts takes seconds to compute. It depends only on the study's rows, on
settings and on code. So it is kept in a folder beside the database, where a new server finds it.
Merge, export and backup ignore this folder, and deleting it costs only time.

A result is filed under the state that it was computed from (`state_of`), so it is never used for
other rows. The files are pickles, and loading a pickle can run any code. So each file is signed
with a secret of this user, and files of anybody else are not read.
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
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from duckdb import DuckDBPyConnection

from flipcore.core.errors import FlipscopeError
from flipcore.core.paths import APP, home
from flipcore.core.plugins import installed
from flipcore.core.records import digest
from flipcore.core.whole_files import write
from flipcore.store import commits, packing
from flipcore.store.archives import fingerprint
from flipcore.store.connection import Store, results_folder
from flipcore.store.judgements import KINDS
from flipcore.store.visible import HIDDEN_BY

T = TypeVar("T")
SECRET = "results-secret"
_SECRET_BYTES = 32
_SIGNATURE_BYTES = hashlib.sha256().digest_size
# Reading a larger result takes as long as computing it, and a study has dozens of results.
MAX_BYTES = 32_000_000
CONTENT_FOLDER, MAX_CONTENT_FILES = "content", 100  # for results of other content than studies
_LIBRARIES = ("duckdb", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy")
# Besides readouts and variants, results depend on further rows of the study, and on people's
# judgements of questions, in whatever study these were asked.
_STUDY_TABLES = ("studies", "study_items", "locks", "flip_verdicts", "late_readouts")
_JUDGEMENTS = sorted({kind.table for kind in KINDS} - {*_STUDY_TABLES})
_REVIEW_TABLES = ("paraphrases", "control_pairs", "surveys", *_JUDGEMENTS)
_ITEMS = "SELECT i.* FROM items i JOIN study_items m USING (item_id) WHERE m.study_id = $id"
_CALLS = """SELECT count(*), bit_xor(hash(c.call_id, c.status, c.created_at))
    FROM completions c JOIN study_calls s USING (call_id) WHERE s.study_id = $id"""
_HIDDEN_BY = f"SELECT item_id, hidden_by FROM ({HIDDEN_BY}) WHERE study_id = $id ORDER BY ALL"

# store -> study id -> (number of the last commit, state)
_states: WeakKeyDictionary[Store, dict[str, tuple[int, str]]] = WeakKeyDictionary()
_lock = threading.Lock()


def kept(store: Store, study_id: str, names: Sequence[str], make: Callable[[], T]) -> T:
    """Return the kept result of `make`, or compute and keep it. `names` identify the computation
    and its settings. Results are kept only of packed studies; others are small or still running.
    With plug-ins of other packages nothing is kept."""
    state = "" if has_plugins() else state_of(store, study_id)
    if not state:
        return make()
    folder = results_folder(store.path) / study_id / state
    path = folder / f"{digest(*names)}.result"
    if (stored := _read(path)) is not None:
        return stored[0]
    result = make()
    # Do not keep a result if rows changed meanwhile: it may contain some of them.
    if state_of(store, study_id) == state:
        _write(path, result)
        _remove_other_states(folder)
    return result


def kept_of_content(store: Store, names: Sequence[str], make: Callable[[], T]) -> T:
    """Return the kept result of `make` on other content than a study, or compute and keep it.
    `names` identify the computation and its settings, and include a hash of the content."""
    if str(store.path) == commits.MEMORY:
        return make()
    folder = results_folder(store.path) / CONTENT_FOLDER / code()[:20]
    path = folder / f"{digest(*names)}.result"
    if (stored := _read(path)) is not None:
        return stored[0]
    result = make()
    _write(path, result)
    _remove_other_states(folder)
    _remove_oldest(folder)
    return result


def state_of(store: Store, study_id: str) -> str:
    """Return a hash of all rows and code that a study's results depend on; "" if none are kept."""
    if str(store.path) == commits.MEMORY:
        return ""
    with store.cursor() as cursor:
        number = commits.number(cursor)
        with _lock:
            states = _states.setdefault(store, {})
            if study_id in states and states[study_id][0] == number:
                return states[study_id][1]
        state = _compute_state(cursor, study_id)
    with _lock:
        states[study_id] = number, state
    return state


def _compute_state(cursor: DuckDBPyConnection, study_id: str) -> str:
    parameters = {"id": study_id}
    # Changing readouts or variants deletes the mark, and a new mark has another token. So the token
    # identifies all readouts and variants.
    marks = cursor.execute(
        "SELECT token FROM packed.marks WHERE study_id = $id AND rule = $rule",
        parameters | {"rule": packing.rule_hash()},
    ).fetchall()
    if not marks:
        return ""
    parts = [marks[0][0], code()]
    for table in _STUDY_TABLES:
        rows = f"SELECT * FROM {table} WHERE study_id = $id"
        parts.append(str(fingerprint(cursor, table, rows, parameters)))
    for table in _REVIEW_TABLES:
        parts.append(str(fingerprint(cursor, table, f"SELECT * FROM {table}")))
    parts.append(str(fingerprint(cursor, "items", _ITEMS, parameters)))
    # A completion changes only when a failed call gets its answer.
    parts.append(str(cursor.execute(_CALLS, parameters).fetchall()))
    # Which items are hidden depends on other studies, too.
    parts.append(str(cursor.execute(_HIDDEN_BY, parameters).fetchall()))
    return digest(*parts)


@cache
def has_plugins() -> bool:
    """Return whether a package provides plug-ins, whose code may change without a new version."""
    return any(group.startswith("flipscope.") for group in installed().groups)


@cache
def code() -> str:
    """Return a hash of Flipscope's own code and of the libraries that results depend on."""
    code_hash = hashlib.sha256(sys.version.encode())
    for library in _LIBRARIES:
        code_hash.update(version(library).encode())
    for folder in (Path(__file__).resolve().parents[1], APP.parent / "pages"):
        # Not only Python files: the measured coverage is JSON, and methods are TOML.
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                code_hash.update(path.relative_to(folder.parent).as_posix().encode())
                code_hash.update(path.read_bytes())
    return code_hash.hexdigest()


def _read(path: Path) -> tuple | None:
    """Return (kept result,), as a result may be None; None without a file by this user."""
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
    except Exception as error:  # the result is then computed again
        logging.getLogger(__name__).info("A kept result is not used: %s", error)
    return None


def _write(path: Path, result: object) -> None:
    """Keep a result. A failure is only logged, as it costs the next server nothing but time."""
    secret = _secret()
    if secret is None:
        return
    try:
        payload = pickle.dumps(result, protocol=5)
        if len(payload) <= MAX_BYTES:
            write(path, _signature(secret, path, payload) + payload, mode=0o600)
    except Exception as error:  # a full disk, or a result that no file can hold
        logging.getLogger(__name__).info("A result is not kept: %s", error)


def remove(store: Store, study_id: str) -> None:
    """Remove the kept results of a deleted study."""
    shutil.rmtree(results_folder(store.path) / study_id, ignore_errors=True)


def _remove_other_states(folder: Path) -> None:
    """Remove the results of earlier states of the same study."""
    with suppress(OSError):
        for state_folder in folder.parent.iterdir():
            if state_folder != folder:
                shutil.rmtree(state_folder, ignore_errors=True)


def _remove_oldest(folder: Path) -> None:
    """Remove the oldest results of other content, which no deleted study removes."""
    with suppress(OSError):
        files = sorted(folder.glob("*.result"), key=lambda path: path.stat().st_mtime)
        for path in files[:-MAX_CONTENT_FILES]:
            path.unlink(missing_ok=True)


def _signature(secret: bytes, path: Path, payload: bytes) -> bytes:
    # Sign the path, too, so that a file cannot be moved to the path of another result.
    study, state, name = path.parts[-3:]
    return hmac.new(secret, f"{study}/{state}/{name}\n".encode() + payload, hashlib.sha256).digest()


def _secret() -> bytes | None:
    """Return this user's secret, creating it if needed; None if others could read it."""
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
    n_digits = 2 * _SECRET_BYTES  # hexadecimal
    return secret if len(secret) >= n_digits else None
