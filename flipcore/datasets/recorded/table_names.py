"""Names of tables of outputs that lie beside each other: tables that ask the same questions are one
task, and what tells their files apart is the model, the condition under which it was asked, or a
run of it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.packed import without_packing
from flipcore.datasets.reading.rows import SUFFIXES, read_rows
from flipcore.datasets.recorded.by_structure import read_by_structure
from flipcore.datasets.recorded.columns import columns_of, looked_at
from flipcore.datasets.recorded.grouping import MOST_MB
from flipcore.datasets.recorded.layouts import Layout, layouts_of
from flipcore.datasets.tables.roles import PROMPT, part_of
from flipcore.datasets.tables.stems import last_names
from flipcore.datasets.tables.stems import names as is_called

LEAST_ALIKE = 0.9  # of the rows of two tables that ask the same
MOST_BY_CHANCE = 0.7  # of the rows of two columns that tell something: a kind of question is nearly constant
LEAST_ROWS = 10  # whose right answers two tables do not share by chance
LONG = 20  # letters of a text that no two questions share by chance
MOST_SHARING = 64  # sets of tables that hold a cell by which one is found
MOST_TRIED = 8  # sets of tables that share the most cells with one
_N_TRIED = 5  # rows whose texts find the tables that may ask the same
# a part of a name that counts runs or says when one was: run3, seed_1, 20250601_202535, 2025-06-01T20-25-35
_RUN = re.compile(
    r"(?:^|[_. -])(?:(?:run|seed|trial|epoch|rep|repeat|sample|fold|part|shard)[_ -]?\d+|20\d{6}(?:[_T-]\d{4,6})?"
    r"|20\d\d-\d\d-\d\d(?:[_T ]\d\d[-:.]\d\d(?:[-:.][\d.]+)?)?)(?=$|[_. -])",
    re.IGNORECASE,
)


# how one table is cut into files: part_00001, shard-2, train-00000-of-00003
_SHARD = re.compile(r"[_. -]*(?:(?:part|shard|chunk|split|batch)[_ -]?\d+|\d{3,}-of-\d{3,})(?=$|[_. -])", re.IGNORECASE)


@dataclass(frozen=True)
class TableName:
    """The `task` of a table; how its `model` is called where its rows name none; the `condition` under which those were asked that they
    name. "" for neither."""

    task: str
    model: str = ""
    condition: str = ""


@dataclass(frozen=True)
class _Table:
    source: Source
    models: frozenset[str]
    columns: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[str, ...]:
        """Folders and stem without what counts runs, the stem first."""
        path = without_packing(self.source.name)
        stem = path.stem if path.suffix.lower() in SUFFIXES else path.name
        return tuple(re.sub(r"^\d+$", "", _RUN.sub("", part)).strip("_. -") for part in (stem, *reversed(path.parts[:-1])))


def names_of_tables(sources: Iterable[Source], layouts: Mapping[Path, Layout] | None = None) -> dict[str, TableName]:
    """Name of a file -> what its table is called, of those that ask the same questions as another, and of those whose folder or stem is
    called like what tells these apart. Different files of one model are different conditions, unless their names only count runs."""
    sources = list(sources)
    if len(sources) < 2:
        return {}
    names: dict[str, TableName] = {}
    conditions: set[str] = set()  # of models that tables name
    models: set[str] = set()  # that files name
    unlabelled: list[_Table] = []
    groups = _asking_alike(sources, layouts_of(sources) if layouts is None else layouts)
    tasks = [_task([table.parts for table in tables]) if len(tables) > 1 else ("",) for tables in groups]
    n_called = Counter(names[0] for names in tasks)
    for tables, called in zip(groups, tasks, strict=True):
        task = next((name for name in called if n_called[name] < 2), called[0])
        labels_beside: dict[frozenset[str], dict[str, str]] = {}
        for table in tables:
            if table.models not in labels_beside:
                siblings = [sibling for sibling in tables if table.models & sibling.models] if table.models else tables
                labels = _labels([sibling.parts for sibling in siblings])
                labels_beside[table.models] = dict(zip((sibling.source.name for sibling in siblings), labels, strict=True))
            label = labels_beside[table.models][table.source.name]
            if task:
                names[table.source.name] = _table_name(table, task, label)
            if label:
                (conditions if table.models else models).add(label)
            else:
                unlabelled.append(table)
    for table in unlabelled:
        (label, *other_labels) = [part for part in table.parts if part in (conditions if table.models else models)] or [""]
        if label and not other_labels:
            task = next((part for part in table.parts if part and part != label), "outputs")
            task = names[table.source.name].task if table.source.name in names else task
            names[table.source.name] = _table_name(table, task, label)
    unnamed = [tables[0] for tables in groups if len(tables) == 1 and tables[0].source.name not in names]
    names |= _names_of_shards(unnamed)
    unnamed = [table for table in unnamed if table.source.name not in names]
    by_stem: dict[str, list[_Table]] = defaultdict(list)
    for table in unnamed:
        by_stem[table.parts[0]].append(table)
    for same_stem in by_stem.values():  # a folder a task, and one name for its file in all of them
        labelled = zip(same_stem, _labels([table.parts for table in same_stem]), strict=True)
        names |= {table.source.name: TableName(label) for table, label in labelled if label}
    return names


def _names_of_shards(tables: Iterable[_Table]) -> dict[str, TableName]:
    """Name of a file -> what the table is called of which it is a part, as part_00001 and part_00002 are of one."""
    parts: dict[tuple, list[_Table]] = defaultdict(list)
    for table in tables:
        path = without_packing(table.source.name)
        stem, n_numbers = _SHARD.subn("", path.stem)
        if n_numbers:
            parts[path.parent, stem.strip("_. -"), table.columns].append(table)
    names: dict[str, TableName] = {}
    for (folder, stem, _), shards in parts.items():
        task = stem or folder.name or "outputs"
        if len(shards) > 1:
            names |= {shard.source.name: TableName(task) for shard in shards}
    return names


def _table_name(table: _Table, task: str, label: str) -> TableName:
    return TableName(task, condition=label) if table.models else TableName(task, model=label)


def first_states(sources: Sequence[Source], layouts: Mapping[Path, Layout] | None = None) -> dict[str, str]:
    """Name of a table -> that of the one beside it that is called like it and more, and holds the same rows with more in them: labels, or a
    judgement, that were added to the same outputs."""
    by_name: list[tuple[str, str, int]] = []  # folder, stem, place among the sources
    for place, source in enumerate(sources):
        path = Path(source.name)
        by_name.append((str(path.parent), path.stem, place))
    by_name.sort()
    pairs: list[tuple[int, int]] = []
    for index, (folder, stem, place) in enumerate(by_name):
        # names that begin alike stand next to each other in this order
        for other_index in range(index + 1, len(by_name)):
            other_folder, other_stem, other_place = by_name[other_index]
            if other_folder != folder or not other_stem.startswith(stem):
                break
            if len(other_stem) > len(stem):
                pairs.append((place, other_place))
    states = {}
    layouts = layouts or {}
    for place, other_place in sorted(pairs):
        row = _first_row(sources[place], layouts)
        other_row = _first_row(sources[other_place], layouts)
        if row and other_row and not _within(row, other_row):
            continue  # without opening both
        if _says_more(sources[place], sources[other_place]):
            states[sources[place].name] = sources[other_place].name
    return states


def _first_row(source: Source, layouts: Mapping[Path, Layout]) -> Mapping[str, Any]:
    """Return the first row that the layout holds of a table, empty for a table without a layout."""
    layout = layouts.get(source.path)
    return layout.rows[source.path][0] if layout else {}


def _says_more(first: Source, second: Source) -> bool:
    """Tell whether every row of `second` holds all that the row of `first` does, and some row more."""
    is_more = False
    try:
        file_rows = (read_rows(str(source.path), most_mb=MOST_MB) for source in (first, second))
        for row, second_row in zip_longest(*file_rows):
            if (
                row is None
                or second_row is None
                or row.problem
                or second_row.problem
                or not _within(row.values, second_row.values)
            ):
                return False
            is_more |= row.values != second_row.values
    except (BadInput, OSError):
        return False  # its reader says why
    return is_more


def _within(part: Any, outer: Any) -> bool:
    if isinstance(part, Mapping) and isinstance(outer, Mapping):
        return all(key in outer and _within(value, outer[key]) for key, value in part.items())
    return part == outer


def _looked_at(source: Source, layout: Layout | None) -> tuple[_Table, list[Mapping[str, Any]]]:
    """A table, and its first rows without what was answered."""
    if layout:
        reading, models, first_rows = layout.reading({}), layout.models[source.path], layout.rows_of(source.path)
    else:
        reading = read_by_structure(source.path, {})
        models, first_rows = reading.named_models, looked_at(str(source.path))
    said = {reading.roles.output, *reading.roles.readouts}
    rows: list[Mapping[str, Any]] = []
    for row in first_rows:
        rows.append({name: cell for name, cell in row.items() if name not in said})
    return _Table(source, models, frozenset(columns_of(first_rows))), rows


def _asking_alike(sources: Iterable[Source], layouts: Mapping[Path, Layout]) -> list[list[_Table]]:
    """The tables, those that ask the same questions together."""
    groups: list[list[_Table]] = []
    firsts: list[Sequence[Mapping[str, Any]]] = []  # the rows of the first table of each, without what was answered
    holders: dict[int, list[int]] = defaultdict(list)  # hash of a cell -> the sets whose first table holds it
    for source in sources:
        try:
            table, rows = _looked_at(source, layouts.get(source.path))
        except (BadInput, OSError):
            continue  # its reader says why
        likely: Counter[int] = Counter()
        for cell in _cells(rows[:_N_TRIED]):
            sets = holders.get(cell, ())
            if len(sets) <= MOST_SHARING:  # a cell that more of them hold tells nothing
                likely.update(sets)
        group = next((group for group, _ in likely.most_common(MOST_TRIED) if ask_alike(firsts[group], rows)), len(groups))
        if group == len(groups):
            groups.append([])
            firsts.append(rows)
            for cell in _cells(rows):
                holders[cell].append(group)
        groups[group].append(table)
    return groups


def _cells(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return hashes that find tables which may ask the same: long texts, the cells of the first
    row, and how each column begins."""
    texts: set[int] = set()
    for row in rows:
        texts |= {hash(text) for value in row.values() if len(text := str(value)) > LONG}
    first = rows[0] if rows else {}
    names = [name for name in columns_of(rows[:1]) if not last_names(name, "id")]
    hashes = {hash((name, str(first[name]))) for name in names}
    hashes |= {hash((name, *(str(row.get(name)) for row in rows[:_N_TRIED]))) for name in names}
    return texts | hashes | {hash(("id", cell)) for cell in _bare_ids(rows[:_N_TRIED])}


def _bare_ids(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids of a table without texts, where they name their items and do not only count them."""
    for row in rows:
        if any(len(str(value)) > LONG for value in row.values()):
            return set()
    column = next((name for name in columns_of(rows[:1]) if last_names(name, "id")), "")
    cells = {str(row.get(column)) for row in rows} if column else set()
    return set() if all(cell.isdecimal() for cell in cells) else cells


def ask_alike(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the rows of two tables are of the same questions: these stand in the same order,
    or the right answers do, or the same long texts stand in any. An id, a count and a constant say
    nothing, and neither do a few right answers."""
    first_ids, second_ids = _bare_ids(first), _bare_ids(second)
    if min(len(first_ids), len(second_ids)) >= LEAST_ROWS and len(first_ids & second_ids) >= LEAST_ALIKE * min(
        len(first_ids), len(second_ids)
    ):
        return True
    for name in (column for column in columns_of(first) if column in columns_of(second)):
        pairs = [(str(a.get(name)), str(b.get(name))) for a, b in zip(first, second, strict=False)]
        first_texts, second_texts = ({str(row.get(name)) for row in rows} for rows in (first, second))
        in_order = _by_chance(pairs) <= MOST_BY_CHANCE and sum(a == b for a, b in pairs) >= LEAST_ALIKE * len(pairs)
        if in_order and (
            part_of(name) == PROMPT or (not last_names(name, "id") and len(pairs) >= LEAST_ROWS and not _counts(pairs))
        ):
            return True
        if min(map(len, first_texts)) > LONG and len(first_texts & second_texts) >= LEAST_ALIKE * min(
            len(first_texts), len(second_texts)
        ):
            return True
    return False


def _by_chance(pairs: Sequence[tuple[str, str]]) -> float:
    """The share of rows in which two columns would agree in any order of theirs: 1 for a constant."""
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    return sum(n * second[name] for name, n in first.items()) / len(pairs) ** 2


def _counts(pairs: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a column counts its rows."""
    numbers = [int(cell) for cell, _ in pairs if cell.isdecimal()]
    return len(numbers) == len(pairs) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _task(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what the files share, the likeliest name of their task first: the stem, else the
    deepest folder; the beginning of their names."""
    shared = [next(iter(names)) for level in zip(*paths, strict=False) if len(names := set(level)) == 1]
    tokens = [re.split(r"[_ ]", path[0]) for path in paths]
    same = "_".join(level[0] for level in _while_same(zip(*tokens, strict=False)))
    return tuple(filter(None, (*shared[:1], same, *shared[1:]))) or ("outputs",)


def _labels(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Return what tells each file from the others, "" where nothing does: one folder's name or the
    stem where that is enough, else all that differ."""
    n = max(map(len, paths))
    levels = list(zip(*(path + ("",) * (n - len(path)) for path in paths), strict=True))
    kinds = len(set(zip(*levels, strict=True)))
    if kinds == 1:
        return [""] * len(paths)
    for level in (*levels[1:], levels[0]):
        if len(set(level)) == kinds:
            return _trimmed(level)
    differing = [_trimmed(level) for level in reversed(levels) if len(set(level)) > 1]
    return ["/".join(filter(None, parts)) for parts in zip(*differing, strict=True)]


def _trimmed(names: Sequence[str]) -> list[str]:
    """The names without the words that all begin or end with; "a" and "4" keep the word before them."""
    words = [re.split(r"(?<=[_ ])", name) for name in names]
    for side in range(2):
        n = sum(1 for _ in _while_same(zip(*words, strict=False)))
        n = min(n, *(len(name_words) - 1 for name_words in words))
        if side == 0 and n:
            # model_a and gpt_4 are called so, and neither "a" nor "4"
            ends = [name_words[n].strip("_ ") for name_words in words]
            is_short = any(len(end) == 1 or end.isdigit() for end in ends)
            n -= is_short and is_called(words[0][n - 1], "model")
        words = [name_words[n:][::-1] for name_words in words]
    return ["".join(name_words).strip("_ ") for name_words in words]


def _while_same(levels: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for is_same, same_levels in groupby(levels, lambda level: len(set(level)) == 1):
        if not is_same:
            return
        yield from same_levels
