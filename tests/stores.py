"""A store in a file of its own, in which studies have run."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from flipcore.core.study import Study
from flipcore.runs import demo, runner
from flipcore.store import schema
from flipcore.store.connection import Store


@cache
def _empty_file(schema_sql: Path) -> bytes:
    """A closed file without a row, as `Store.open` writes it under this schema."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.duckdb"
        Store.open(path).close()
        return path.read_bytes()


def empty_store(path: Path) -> Store:
    """Open a new file at `path`. Copying one takes half of the time of making its tables."""
    path.write_bytes(_empty_file(schema.SCHEMA_SQL))
    return Store.open(path)


def store_with(folder: Path, *studies: Study, shipped: bool = False) -> Path:
    """The file of a closed store, with what the demo ships if that is wanted, and with the studies, run in this order."""
    path = folder / "flips.duckdb"
    store = empty_store(path)
    if shipped:
        demo.fill_store(store)
    for study in studies:
        runner.run(study, store)
    store.close()
    return path


def built_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Store], object]) -> Path:
    """The file of a closed store that `fill` filled, built once for all processes of a test run. Nobody writes to it: who wants
    to takes a copy."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / f"store-{name}"
    path, ready = folder / "flips.duckdb", folder / "ready"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 300
        while not ready.exists():  # another process fills it
            assert time.monotonic() < deadline, f"the store {name!r} was not filled within five minutes"
            time.sleep(0.2)
        return path
    store = empty_store(path)
    fill(store)
    store.close()
    ready.touch()
    return path


def copy_of(path: Path, folder: Path) -> Path:
    """A copy of a closed store in this folder."""
    return Path(shutil.copy(path, folder / "flips.duckdb"))
