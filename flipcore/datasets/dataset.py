"""A dataset: the source of its rows, on disk or on the hub, and the function that makes an item from a row."""

import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed
from flipcore.core.records import KINDS, Item
from flipcore.datasets.reading.checks import checked
from flipcore.datasets.reading.rows import Row, read_rows

_REPO_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")  # any other name may be a path

Maker = Callable[[Row], Item]


@dataclass(frozen=True)
class Hub:
    """An address on the Hugging Face hub."""

    repo: str
    config: str | None
    split: str


@dataclass(frozen=True)
class Dataset:
    """A loader. `item` makes an item from a row. Generic files have `maker`, which makes such a function from a column mapping.

    `kind` is the kind of its items, "any" if the rows decide. `local` is the file of a shipped set. `license` is an identifier;
    items of an unknown one ("") are not passed on. `drawn_alone` means that each item was drawn
    independently, wording included, so that items with the same wording are no cluster.
    """

    name: str
    title: str
    about: str
    kind: str
    item: Maker | None = None
    maker: Callable[[Sequence[Row], Mapping[str, Any], str], Maker] | None = None
    hub: Hub | None = None
    read: Callable[[Path], Iterator[Row]] = read_rows
    local: Path | None = None
    license: str = ""
    drawn_alone: bool = False

    def rows(self, path: str | None = None, **options) -> Iterator[Row]:
        """Return the rows of the local copy at `path`, else of the shipped file, else of the hub."""
        if path or self.local:
            if options:
                raise BadInput(f"{self.name} takes no options for a local copy, but {', '.join(sorted(options))} came.")
            return self.read(allowed(path) if path else Path(str(self.local)))
        return hub_rows(self.name, self.hub, options)

    def making(self, rows: Sequence[Row], columns: Mapping[str, Any]) -> Maker:
        """Return the function that makes an item from a row, for a generic file by the mapping `columns`."""
        if self.maker:
            return self.maker(rows, columns, self.name)
        if columns:
            raise BadInput(f"{self.name} knows its own columns; a column mapping belongs to 'file' or 'hub'.")
        if self.item is None:
            raise BadInput(f"{self.name} has no way to make an item of a row.")
        return self.item


def dataset_fault(dataset: Dataset) -> str:
    """Return what is wrong with a dataset beyond its types; "" for a valid one."""
    if dataset.kind not in (*KINDS, "any"):
        return f"its items are of the kind {dataset.kind!r}; items are {', '.join(KINDS)}, or any."
    return "" if dataset.item or dataset.maker else "it has no way to make an item of a row."


def item_of(make: Maker, row: Row) -> Item:
    """Return the checked item of a row. Raises BadInput with a text that completes "Line 3 …"."""
    if row.problem:
        raise BadInput(row.problem)
    try:
        return checked(make(row))
    except KeyError as error:
        raise BadInput(f"has no column {error.args[0]!r}; it has {', '.join(map(str, row.values)) or 'none'}") from error
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(f"holds a value of the wrong type ({error})") from error


def hub_rows(name: str, hub: Hub | None, options: Mapping[str, Any]) -> Iterator[Row]:
    """Return the rows of a dataset of the hub; `options` may set repo, config and split."""
    unknown = sorted(set(options) - {"repo", "config", "split"})
    if unknown:
        raise BadInput(f"{name} has no option {unknown[0]!r}; it takes repo, config and split.")
    repo = options.get("repo") or (hub.repo if hub else None)
    if not repo:
        raise BadInput(f"{name} needs a local path or a repository on the hub (options: repo, config, split).")
    if not _REPO_NAME.fullmatch(str(repo)) or Path(str(repo)).exists():
        allowed(str(repo))  # `datasets` reads folders of this machine too
    config = options.get("config") or (hub.config if hub else None)
    split = options.get("split") or (hub.split if hub else "test")
    records = _download(repo, config, split)
    return (Row(number, dict(values)) for number, values in enumerate(records, start=1))


def _is_offline(endpoint: str) -> bool:
    """Tell whether the environment forbids the network, or the hub's address cannot be resolved."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        return True
    try:
        socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        return True
    return False


def _download(repo: str, config: str | None, split: str):
    import datasets
    from huggingface_hub import constants

    # without a network, the package would try five times over 25 seconds before it uses its cache on disk
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = _is_offline(constants.ENDPOINT)
    try:
        return datasets.load_dataset(repo, config, split=split)
    except Exception as error:  # the package raises many kinds: no network, no such repository, a script, a bad file
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        raise BadInput(
            f"The hub did not give {repo} ({config or 'default'}, {split}): {reason}. Check the name and the "
            "network, or give a local copy."
        ) from error
