"""Datasets, the sources of items: a file and a name here, or an entry point `flipscope.datasets`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed
from flipcore.core.plugins import Registry, in_files
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import loading
from flipcore.datasets.dataset import Dataset, dataset_fault
from flipcore.datasets.loading import LoadReport

_BENCHMARKS = "shipped gsm mmlu truthfulqa arc competition_math trivia_qa humaneval"
_GENERIC = "text_files tables"
LOADERS: Registry[Dataset] = Registry(
    "dataset",
    "datasets",
    Dataset,
    (
        *in_files(f"{__name__}.benchmarks", _BENCHMARKS, "LOADER", "LOADERS"),
        *in_files(f"{__name__}.generic", _GENERIC, "LOADER", "LOADERS"),
    ),
    dataset_fault,
)


def load(source: ItemSource) -> list[Item]:
    """Return the items of a source: those of its categories, `n` of them drawn with its seed."""
    return list(load_report(source).items)


def load_report(source: ItemSource) -> LoadReport:
    """Return the items of a source with refusals and notes. Raises BadInput if no item is left.

    The latest reports are cached as long as their files are unchanged.
    """
    dataset = _dataset(source)
    path = allowed(source.path) if source.path else dataset.local
    with suppress(OSError):  # the loader raises a better error for the file
        # a folder's own time does not change when its files are written, so look at them too
        files = [path, *path.rglob("*")] if path else []
        states = tuple(sorted((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files))
        return _cached_report(_HashableSource((id(dataset), repr(source), states), dataset, source))
    return loading.load_report(dataset, source)


@dataclass(frozen=True)
class _HashableSource:
    """A source as a key of the cache: compared by `key` alone, because a source is not hashable."""

    key: tuple
    dataset: Dataset = field(compare=False)
    source: ItemSource = field(compare=False)


@lru_cache(8)
def _cached_report(keyed: _HashableSource) -> LoadReport:
    return loading.load_report(keyed.dataset, keyed.source)


def rows_of(source: ItemSource, limit: int) -> list[Mapping[str, Any]]:
    """Return the first rows of a source, at most `limit`, to guess a mapping."""
    return loading.first_rows(_dataset(source), source, limit)


def sources_by_role(source: ItemSource) -> list[ItemSource]:
    """Return a source for each role in a column of roles: benchmark and control."""
    return loading.sources_by_role(_dataset(source), source)


def _dataset(source: ItemSource) -> Dataset:
    if source.dataset not in LOADERS:
        raise BadInput(f"There is no dataset called {source.dataset!r}; choose one of {', '.join(LOADERS)}.")
    return LOADERS[source.dataset]
