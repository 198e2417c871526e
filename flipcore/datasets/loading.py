"""From a study's item source to its items: read, check, filter, draw; what was refused is reported, never hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name
from flipcore.core.records import ROLES, Item
from flipcore.core.study import ItemSource
from flipcore.datasets.dataset import Dataset, item_of
from flipcore.datasets.reading.columns import explain, roles_in, understood
from flipcore.datasets.reading.rows import Row
from flipcore.text.counts import count_of

ITEM_ID = "item_id"  # in `where`: these very items


@dataclass(frozen=True)
class LoadReport:
    """`refusals` are (line, sentence) of the rows that are no items; `notes` are sentences about those that are."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    refusals: tuple[tuple[int, str], ...] = ()


def report(dataset: Dataset, source: ItemSource) -> LoadReport:
    """The items of a source; raises BadInput when the source cannot be read or nothing is left of it."""
    rows = list(dataset.rows(source.path, **source.options))
    if not rows:
        raise BadInput(f"{_name_of(source)} has no rows; give a file or a split with at least one.")
    make = dataset.making(rows, source.columns)
    items, lines, refusals = _accepted(make, rows)
    if not items:
        raise BadInput(f"None of the {len(rows):,} rows of {_name_of(source)} could be used. {refusals[0][1]}")
    mapping = understood([row.values for row in rows if not row.problem], source.columns) if dataset.maker else {}
    if "key" in mapping:
        _check_ids(items, lines, mapping["key"])
    selection, notes = _sample(_where(_of_categories(items, source), source), source)
    if dataset.maker:
        notes = [*explain(mapping), *notes]
    if refusals:
        notes = [*notes, f"{len(refusals):,} of {len(rows):,} rows were refused."]
    return LoadReport(tuple(selection), (*notes, *_duplicates(selection)), tuple(refusals))


def _name_of(source: ItemSource) -> str:
    """A source as the user calls it: its file, else its dataset."""
    return spoken_name(source.path) if source.path else source.dataset


def _check_ids(items: Sequence[Item], lines: Mapping[str, int], column: str) -> None:
    """Two items under one id could not be told apart on any page."""
    first: dict[str, Item] = {}
    for item in items:
        first_item = first.setdefault(item.item_id.rpartition("@")[0], item)
        if first_item is not item:
            name = item.item_id.rpartition("@")[0].partition("/")[2]
            raise BadInput(
                f"The id should be in the column {column!r}, but line {lines[first_item.item_id]} and line {lines[item.item_id]} both have "
                f"{name!r} there. Choose a column whose values differ, or none: then rows are numbered."
            )


def _accepted(make, rows: Sequence[Row]) -> tuple[list[Item], dict[str, int], list[tuple[int, str]]]:
    """(items, item id -> its line, refusals)."""
    items: dict[str, Item] = {}
    lines: dict[str, int] = {}
    refusals = []
    for row in rows:
        try:
            item = item_of(make, row)
            if item.item_id in items:
                raise BadInput(f"repeats line {lines[item.item_id]} word for word under the same id")
        except BadInput as error:
            refusals.append((row.line, f"{row.place} {error}."))
        else:
            items[item.item_id], lines[item.item_id] = item, row.line
    return list(items.values()), lines, refusals


def _of_categories(items: Sequence[Item], source: ItemSource) -> list[Item]:
    names = sorted({item.category for item in items if item.category})
    unknown = [category for category in source.categories if category not in names]
    if unknown:
        raise BadInput(f"{source.dataset} has no category {unknown[0]!r}; it has {', '.join(names[:30]) or 'none'}.")
    return [item for item in items if not source.categories or item.category in source.categories]


def _where(items: Sequence[Item], source: ItemSource) -> list[Item]:
    """The items whose meta have one of the wanted values under every name; the name `item_id` asks for the id itself."""
    subset = list(items)
    for name, criterion in source.where.items():
        values = criterion if isinstance(criterion, (list, tuple)) else [criterion]
        if name == ITEM_ID:
            subset = _of_ids(subset, [str(value) for value in values], source.dataset)
            continue
        choices = sorted({str(item.meta[name]) for item in items if name in item.meta})
        subset = [item for item in subset if str(item.meta.get(name)) in map(str, values)]
        if not subset:
            raise BadInput(
                f"No item of {source.dataset} has {name} = {criterion!r}; there is {', '.join(choices[:30]) or 'none'}."
            )
    return subset


def _of_ids(items: Sequence[Item], ids: Sequence[str], dataset: str) -> list[Item]:
    """The items of these ids; BadInput names one that is not there."""
    by_id = {item.item_id: item for item in items}
    unknown = [item_id for item_id in ids if item_id not in by_id]
    if unknown:
        raise BadInput(f"{dataset} has no item {unknown[0]!r}; its file may have changed since the items were chosen.")
    id_set = set(ids)
    return [item for item in items if item.item_id in id_set]


def few_valued(items: Sequence[Item], most: int = 12) -> dict[str, list]:
    """The fields of the items' own data with 2 to `most` different plain values, to filter by."""
    by_name: dict[str, set] = {}
    for item in items:
        for name, value in item.meta.items():
            if isinstance(value, (str, int, float, bool)):
                by_name.setdefault(name, set()).add(value)
    return {
        name: sorted(values, key=lambda value: (str(type(value)), value))
        for name, values in by_name.items()
        if 2 <= len(values) <= most
    }


def _sample(items: Sequence[Item], source: ItemSource) -> tuple[list[Item], list[str]]:
    """`n` items in their own order; the draw for a smaller n is part of the draw for a larger one."""
    if source.n < 0:
        raise BadInput(f"{source.n} items of {source.dataset} were asked for; give a number from 1, or 0 for all.")
    if source.n == 0 or source.n >= len(items):
        few = source.n > len(items)
        return list(items), [f"{source.n:,} items were asked for and there are {len(items):,}."] if few else []
    from flipcore.core.randomness import generator

    places = generator(source.seed, "items", source.dataset).permutation(len(items))[: source.n]
    return [items[place] for place in sorted(places)], []


def _duplicates(items: Sequence[Item]) -> list[str]:
    """Items that ask the same question are reported and kept: a benchmark is what it is (MMLU-Pro repeats 159 questions)."""
    first: dict[Any, Item] = {}
    repeats: list[tuple[Item, Item]] = []
    for item in items:
        asked = (item.kind, item.question.strip(), frozenset(item.options))
        first_item = first.setdefault(asked, item)
        if first_item is not item:
            repeats.append((item, first_item))
    if not repeats:
        return []
    examples = "; ".join(f"{_short(item)} = {_short(first_item)}" for item, first_item in repeats[:5])
    more = " …" if len(repeats) > 5 else ""
    return [f"{count_of(len(repeats), 'item asks', 'items ask')} the same as another; kept: {examples}{more}."]


def _short(item: Item) -> str:
    return item.item_id.split("@")[0]


def sources_by_role(dataset: Dataset, source: ItemSource) -> list[ItemSource]:
    """Return a source for each role that a column of the file names, or the source as it is.

    A file of benchmark and control questions would else be asked as benchmark alone.
    """
    if not dataset.maker:
        return [source]
    rows = [row.values for row in dataset.rows(source.path, **source.options) if not row.problem]
    column, roles = roles_in(rows)
    values_of: dict[str, list[str]] = {}
    for value, role in roles.items():
        values_of.setdefault(role, []).append(value)
    sources = []
    for role, values in sorted(values_of.items(), key=lambda pair: ROLES.index(pair[0])):
        where = {**source.where, column: values[0] if len(values) == 1 else values}
        sources.append(replace(source, role=role, where=where))
    return sources or [source]


def first_rows(dataset: Dataset, source: ItemSource, limit: int) -> list[Mapping[str, Any]]:
    """The first readable rows by column, for guessing a mapping; raises BadInput when there is none."""
    rows: list[Mapping[str, Any]] = [
        row.values for row in islice((row for row in dataset.rows(source.path, **source.options) if not row.problem), limit)
    ]
    if not rows:
        raise BadInput(f"{_name_of(source)} has no readable row; check that the file is complete.")
    return rows
