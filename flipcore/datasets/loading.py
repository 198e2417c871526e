"""Load the items of a study's item source: read, check, filter, draw. Refused rows are reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name
from flipcore.core.records import ROLES, Item
from flipcore.core.study import ItemSource
from flipcore.datasets.dataset import Dataset, item_of
from flipcore.datasets.reading.columns import complete_mapping, explain, roles_in
from flipcore.datasets.reading.rows import Row
from flipcore.text.counts import count_of

ITEM_ID = "item_id"  # the name in `where` that selects items by their ids


@dataclass(frozen=True)
class LoadReport:
    """The items, (line, sentence) of each refused row, and sentences about the items."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    refusals: tuple[tuple[int, str], ...] = ()


def load_report(dataset: Dataset, source: ItemSource) -> LoadReport:
    """Load the items of a source. Raises BadInput if it cannot be read or no item is left."""
    rows = list(dataset.rows(source.path, **source.options))
    if not rows:
        raise BadInput(f"{_spoken_source(source)} has no rows; give a file or a split with at least one.")
    make = dataset.making(rows, source.columns)
    items, lines, refusals = _make_items(make, rows)
    if not items:
        raise BadInput(f"None of the {len(rows):,} rows of {_spoken_source(source)} could be used. {refusals[0][1]}")
    mapping = complete_mapping([row.values for row in rows if not row.problem], source.columns) if dataset.maker else {}
    if "key" in mapping:
        _check_ids(items, lines, mapping["key"])
    selection, notes = _draw_items(_filter_by_meta(_in_categories(items, source), source), source)
    if dataset.maker:
        notes = [*explain(mapping), *notes]
    if refusals:
        notes = [*notes, f"{len(refusals):,} of {len(rows):,} rows were refused."]
    return LoadReport(tuple(selection), (*notes, *_notes_on_duplicates(selection)), tuple(refusals))


def _spoken_source(source: ItemSource) -> str:
    """Return the name of a source for users: its file, else its dataset."""
    return spoken_name(source.path) if source.path else source.dataset


def _check_ids(items: Sequence[Item], lines: Mapping[str, int], column: str) -> None:
    """Raise BadInput if two items have one id, because no page could distinguish them."""
    first_by_id: dict[str, Item] = {}
    for item in items:
        id_without_hash = item.item_id.rpartition("@")[0]
        first_item = first_by_id.setdefault(id_without_hash, item)
        if first_item is not item:
            name = id_without_hash.partition("/")[2]
            raise BadInput(
                f"The id should be in the column {column!r}, but line {lines[first_item.item_id]} and line {lines[item.item_id]} both have "
                f"{name!r} there. Choose a column whose values differ, or none: then rows are numbered."
            )


def _make_items(make, rows: Sequence[Row]) -> tuple[list[Item], dict[str, int], list[tuple[int, str]]]:
    """Return the items of the rows, their lines by item id, and (line, sentence) of each refusal."""
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


def _in_categories(items: Sequence[Item], source: ItemSource) -> list[Item]:
    """Return the items of the wanted categories, all if none are named. Raises BadInput for an unknown one."""
    names = sorted({item.category for item in items if item.category})
    unknown = [category for category in source.categories if category not in names]
    if unknown:
        raise BadInput(f"{source.dataset} has no category {unknown[0]!r}; it has {', '.join(names[:30]) or 'none'}.")
    return [item for item in items if not source.categories or item.category in source.categories]


def _filter_by_meta(items: Sequence[Item], source: ItemSource) -> list[Item]:
    """Return the items with one of the wanted values in each named field of meta, or with the wanted ids.

    Raises BadInput if no item is left, and for an unknown id.
    """
    subset = list(items)
    for name, criterion in source.where.items():
        values = dict.fromkeys(map(str, criterion if isinstance(criterion, (list, tuple)) else [criterion]))
        if name == ITEM_ID:
            ids = {item.item_id for item in subset}
            unknown = [item_id for item_id in values if item_id not in ids]
            if unknown:
                raise BadInput(
                    f"{source.dataset} has no item {unknown[0]!r}; its file may have changed since the items were chosen."
                )
            subset = [item for item in subset if item.item_id in values]
            continue
        choices = sorted({str(item.meta[name]) for item in items if name in item.meta})
        subset = [item for item in subset if str(item.meta.get(name)) in values]
        if not subset:
            raise BadInput(
                f"No item of {source.dataset} has {name} = {criterion!r}; there is {', '.join(choices[:30]) or 'none'}."
            )
    return subset


def few_valued(items: Sequence[Item], max_values: int = 12) -> dict[str, list]:
    """Return {field of meta: its values} of the fields with 2 to `max_values` plain values, for filters."""
    by_name: dict[str, set] = {}
    for item in items:
        for name, value in item.meta.items():
            if isinstance(value, (str, int, float, bool)):
                by_name.setdefault(name, set()).add(value)
    return {
        name: sorted(values, key=lambda value: (str(type(value)), value))
        for name, values in by_name.items()
        if 2 <= len(values) <= max_values
    }


def _draw_items(items: Sequence[Item], source: ItemSource) -> tuple[list[Item], list[str]]:
    """Draw `n` items; return them in the order of the file, with notes. A smaller draw is part of a larger one."""
    if source.n < 0:
        raise BadInput(f"{source.n} items of {source.dataset} were asked for; give a number from 1, or 0 for all.")
    if source.n > len(items):
        return list(items), [f"{source.n:,} items were asked for and there are {len(items):,}."]
    if source.n in (0, len(items)):
        return list(items), []
    from flipcore.core.randomness import generator

    indices = generator(source.seed, "items", source.dataset).permutation(len(items))[: source.n]
    return [items[index] for index in sorted(indices)], []


def _notes_on_duplicates(items: Sequence[Item]) -> list[str]:
    """Return a note on items with the same question. They are kept, as published benchmarks have them too."""
    first_by_content: dict[Any, Item] = {}
    repeats: list[str] = []
    for item in items:
        first_item = first_by_content.setdefault((item.kind, item.question.strip(), frozenset(item.options)), item)
        if first_item is not item:
            repeats.append(f"{item.item_id.split('@')[0]} = {first_item.item_id.split('@')[0]}")
    if not repeats:
        return []
    examples = "; ".join(repeats[:5])
    more = " …" if len(repeats) > 5 else ""
    return [f"{count_of(len(repeats), 'item asks', 'items ask')} the same as another; kept: {examples}{more}."]


def sources_by_role(dataset: Dataset, source: ItemSource) -> list[ItemSource]:
    """Return a source for each role in a column of roles, or the source as it is.

    Without this, the controls of such a file would count as benchmark.
    """
    if not dataset.maker:
        return [source]
    rows = [row.values for row in dataset.rows(source.path, **source.options) if not row.problem]
    column, roles = roles_in(rows)
    values_by_role: dict[str, list[str]] = {}
    for value, role in roles.items():
        values_by_role.setdefault(role, []).append(value)
    sources = []
    for role, values in sorted(values_by_role.items(), key=lambda pair: ROLES.index(pair[0])):
        where = {**source.where, column: values[0] if len(values) == 1 else values}
        sources.append(replace(source, role=role, where=where))
    return sources or [source]


def first_rows(dataset: Dataset, source: ItemSource, limit: int) -> list[Mapping[str, Any]]:
    """Return the first readable rows, at most `limit`, to guess a mapping. Raises BadInput for none."""
    readable = (row for row in dataset.rows(source.path, **source.options) if not row.problem)
    rows: list[Mapping[str, Any]] = [row.values for row in islice(readable, limit)]
    if not rows:
        raise BadInput(f"{_spoken_source(source)} has no readable row; check that the file is complete.")
    return rows
