"""Names of tables of outputs in one import.

Tables with the same questions are one task. The difference between the names of their files is the
model, the condition under which it was asked, or a run.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.packed import without_packing
from flipcore.datasets.reading.rows import SUFFIXES, read_rows
from flipcore.datasets.recorded.by_structure import read_by_structure
from flipcore.datasets.recorded.columns import columns_of, first_good_rows
from flipcore.datasets.recorded.grouping import MAX_MB
from flipcore.datasets.recorded.layouts import Layout, layouts_of
from flipcore.datasets.tables.roles import PROMPT, part_of
from flipcore.datasets.tables.stems import last_names
from flipcore.datasets.tables.stems import names as is_called

_LEAST_ALIKE = 0.9  # least share of equal rows in two tables with the same questions
_MAX_BY_CHANCE = 0.7  # most rows in which two columns may agree by chance, such as two columns of the kind of question
_LEAST_ROWS = 10  # rows; fewer right answers may be equal by chance
_LONG_TEXT = 20  # letters; shorter texts may be equal by chance
_MAX_SHARING = 64  # most groups of tables with the same cell, where the cell helps to find one of them
_MAX_TRIED = 8  # groups with the most shared cells, which are compared row by row
_N_KEY_ROWS = 5  # rows by whose cells groups are found
# part of a file's name that numbers or dates a run: run3, seed_1, 20250601_202535, 2025-06-01T20-25-35
_RUN = re.compile(
    r"(?:^|[_. -])(?:(?:run|seed|trial|epoch|rep|repeat|sample|fold|part|shard)[_ -]?\d+|20\d{6}(?:[_T-]\d{4,6})?"
    r"|20\d\d-\d\d-\d\d(?:[_T ]\d\d[-:.]\d\d(?:[-:.][\d.]+)?)?)(?=$|[_. -])",
    re.IGNORECASE,
)
# part of the name of a file that holds a part of a table: part_00001, shard-2, train-00000-of-00003
_SHARD = re.compile(r"[_. -]*(?:(?:part|shard|chunk|split|batch)[_ -]?\d+|\d{3,}-of-\d{3,})(?=$|[_. -])", re.IGNORECASE)


@dataclass(frozen=True)
class TableName:
    """Names that a table gets from its file; "" for unknown ones.

    `model` is for a table whose rows name none, `condition` for the models that its rows name.
    """

    task: str
    model: str = ""
    condition: str = ""


@dataclass(frozen=True)
class _Table:
    """A table's file, the models that its rows name, and its columns."""

    source: Source
    models: frozenset[str]
    columns: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[str, ...]:
        """The stem and the folders from the innermost on, without numbers and dates of runs."""
        path = without_packing(self.source.name)
        stem = path.stem if path.suffix.lower() in SUFFIXES else path.name
        return tuple(re.sub(r"^\d+$", "", _RUN.sub("", part)).strip("_. -") for part in (stem, *reversed(path.parts[:-1])))


def names_of_tables(sources: Iterable[Source], layouts: Mapping[Path, Layout] | None = None) -> dict[str, TableName]:
    """Return the names of tables by the name of their file.

    Tables with the same questions are named by what their paths share and differ in; other tables by a label found there, by
    shard, or by folder. Files of one model are different conditions, unless their names only number runs.
    """
    sources = list(sources)
    if len(sources) < 2:
        return {}
    names: dict[str, TableName] = {}
    conditions: set[str] = set()  # labels of files whose rows name models
    models: set[str] = set()  # labels of files whose rows name none
    unlabelled: list[_Table] = []
    groups = _groups_by_questions(sources, layouts_of(sources) if layouts is None else layouts)
    candidates = [_task_names([table.parts for table in tables]) if len(tables) > 1 else ("",) for tables in groups]
    n_groups = Counter(task_names[0] for task_names in candidates)
    for tables, task_names in zip(groups, candidates, strict=True):
        task = next((name for name in task_names if n_groups[name] < 2), task_names[0])
        labels_by_models: dict[frozenset[str], dict[str, str]] = {}
        for table in tables:
            if table.models not in labels_by_models:
                siblings = [sibling for sibling in tables if table.models & sibling.models] if table.models else tables
                labels = _labels([sibling.parts for sibling in siblings])
                files = [sibling.source.name for sibling in siblings]
                labels_by_models[table.models] = dict(zip(files, labels, strict=True))
            label = labels_by_models[table.models][table.source.name]
            if task:
                names[table.source.name] = _table_name(table, task, label)
            if label:
                (conditions if table.models else models).add(label)
            else:
                unlabelled.append(table)
    for table in unlabelled:
        known_labels = conditions if table.models else models
        labels_in_path = [part for part in table.parts if part in known_labels]
        if len(labels_in_path) == 1:
            label = labels_in_path[0]
            task = next((part for part in table.parts if part and part != label), "outputs")
            task = names[table.source.name].task if table.source.name in names else task
            names[table.source.name] = _table_name(table, task, label)
    unnamed = [tables[0] for tables in groups if len(tables) == 1 and tables[0].source.name not in names]
    names |= _names_of_shards(unnamed)
    unnamed = [table for table in unnamed if table.source.name not in names]
    by_stem: dict[str, list[_Table]] = defaultdict(list)
    for table in unnamed:
        by_stem[table.parts[0]].append(table)
    for same_stem in by_stem.values():  # a folder per task, with a file of the same name in each
        labelled = zip(same_stem, _labels([table.parts for table in same_stem]), strict=True)
        names |= {table.source.name: TableName(label) for table, label in labelled if label}
    return names


def _names_of_shards(tables: Iterable[_Table]) -> dict[str, TableName]:
    """Return the names of tables that are split into several files, by the name of each file."""
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
    """Return {table: a later state of it}: its name begins with the same stem, and its rows hold the same cells and more.

    Somebody has added labels or a judgement to the same outputs.
    """
    by_name: list[tuple[str, str, int]] = []  # folder, stem, place among the sources
    for place, source in enumerate(sources):
        path = Path(source.name)
        by_name.append((str(path.parent), path.stem, place))
    by_name.sort()
    pairs: list[tuple[int, int]] = []
    for index, (folder, stem, place) in enumerate(by_name):
        # in this order, names with the same beginning are neighbors
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
        if row and other_row and not _is_within(row, other_row):
            continue  # no need to open the files
        if _is_first_state(sources[place], sources[other_place]):
            states[sources[place].name] = sources[other_place].name
    return states


def _first_row(source: Source, layouts: Mapping[Path, Layout]) -> Mapping[str, Any]:
    """Return the first row of a table from its layout; {} for a table without a layout."""
    layout = layouts.get(source.path)
    return layout.rows[source.path][0] if layout else {}


def _is_first_state(first: Source, second: Source) -> bool:
    """Tell whether each row of `second` contains that of `first`, and some row holds more."""
    has_more = False
    try:
        file_rows = (read_rows(str(source.path), most_mb=MAX_MB) for source in (first, second))
        for row, second_row in zip_longest(*file_rows):
            if row is None or second_row is None or row.problem or second_row.problem:
                return False
            if not _is_within(row.values, second_row.values):
                return False
            has_more |= row.values != second_row.values
    except (BadInput, OSError):
        return False  # the reader of the file gives the reason
    return has_more


def _is_within(part: Any, outer: Any) -> bool:
    """Tell whether an object contains the keys and values of another one; other values must be equal."""
    if isinstance(part, Mapping) and isinstance(outer, Mapping):
        return all(key in outer and _is_within(value, outer[key]) for key, value in part.items())
    return part == outer


def _table_and_questions(source: Source, layout: Layout | None) -> tuple[_Table, list[Mapping[str, Any]]]:
    """Return a table, and its first rows without outputs and readouts. Raises BadInput or OSError."""
    if layout:
        reading, models, first_rows = layout.reading({}), layout.models[source.path], layout.rows_of(source.path)
    else:
        reading = read_by_structure(source.path, {})
        models, first_rows = reading.named_models, first_good_rows(str(source.path))
    answered = {reading.roles.output, *reading.roles.readouts}
    rows: list[Mapping[str, Any]] = []
    for row in first_rows:
        rows.append({name: cell for name, cell in row.items() if name not in answered})
    return _Table(source, models, frozenset(columns_of(first_rows))), rows


def _groups_by_questions(sources: Iterable[Source], layouts: Mapping[Path, Layout]) -> list[list[_Table]]:
    """Group the tables that have the same questions; tables that cannot be read are left out."""
    groups: list[list[_Table]] = []
    first_rows: list[Sequence[Mapping[str, Any]]] = []  # by group: the rows of its first table, without outputs
    groups_by_cell: dict[int, list[int]] = defaultdict(list)  # by hash of a cell: numbers of groups
    for source in sources:
        try:
            table, rows = _table_and_questions(source, layouts.get(source.path))
        except (BadInput, OSError):
            continue  # the reader of the file gives the reason
        n_shared: Counter[int] = Counter()  # cells shared with each group
        for cell in _cell_hashes(rows[:_N_KEY_ROWS]):
            numbers = groups_by_cell.get(cell, ())
            if len(numbers) <= _MAX_SHARING:
                n_shared.update(numbers)
        likely = [number for number, _ in n_shared.most_common(_MAX_TRIED)]
        number = next((number for number in likely if have_same_questions(first_rows[number], rows)), len(groups))
        if number == len(groups):
            groups.append([])
            first_rows.append(rows)
            for cell in _cell_hashes(rows):
                groups_by_cell[cell].append(number)
        groups[number].append(table)
    return groups


def _cell_hashes(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return hashes by which tables with the same questions are found.

    They hash long texts, the cells of the first row, the first cells of each column, and ids in words.
    """
    texts: set[int] = set()
    for row in rows:
        texts |= {hash(text) for value in row.values() if len(text := str(value)) > _LONG_TEXT}
    first = rows[0] if rows else {}
    names = [name for name in columns_of(rows[:1]) if not last_names(name, "id")]
    hashes = {hash((name, str(first[name]))) for name in names}
    hashes |= {hash((name, *(str(row.get(name)) for row in rows[:_N_KEY_ROWS]))) for name in names}
    return texts | hashes | {hash(("id", cell)) for cell in _bare_ids(rows[:_N_KEY_ROWS])}


def _bare_ids(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of a table without long texts; an empty set if they are only numbers."""
    for row in rows:
        if any(len(str(value)) > _LONG_TEXT for value in row.values()):
            return set()
    column = next((name for name in columns_of(rows[:1]) if last_names(name, "id")), "")
    cells = {str(row.get(column)) for row in rows} if column else set()
    return set() if all(cell.isdecimal() for cell in cells) else cells


def have_same_questions(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the first rows of two tables have the same questions.

    A column of questions or of right answers is equal row by row, or long texts or ids are equal in any order. Numbers,
    constants and a few right answers do not count.
    """
    first_ids, second_ids = _bare_ids(first), _bare_ids(second)
    if min(len(first_ids), len(second_ids)) >= _LEAST_ROWS and _are_alike(first_ids, second_ids):
        return True
    for name in (column for column in columns_of(first) if column in columns_of(second)):
        pairs = [(str(row.get(name)), str(other.get(name))) for row, other in zip(first, second, strict=False)]
        n_equal = sum(cell == other_cell for cell, other_cell in pairs)
        if _share_by_chance(pairs) <= _MAX_BY_CHANCE and n_equal >= _LEAST_ALIKE * len(pairs):
            is_fact = not last_names(name, "id") and len(pairs) >= _LEAST_ROWS and not _counts_rows(pairs)
            if part_of(name) == PROMPT or is_fact:
                return True
        first_texts, second_texts = ({str(row.get(name)) for row in rows} for rows in (first, second))
        if min(map(len, first_texts)) > _LONG_TEXT and _are_alike(first_texts, second_texts):
            return True
    return False


def _are_alike(first: set[str], second: set[str]) -> bool:
    """Tell whether nearly all texts of the smaller set are in the other one."""
    return len(first & second) >= _LEAST_ALIKE * min(len(first), len(second))


def _share_by_chance(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the expected share of equal rows of two columns in random order: 1 for a constant."""
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    return sum(n * second[cell] for cell, n in first.items()) / len(pairs) ** 2


def _counts_rows(pairs: Sequence[tuple[str, str]]) -> bool:
    """Tell whether the first column of the pairs counts its rows."""
    numbers = [int(cell) for cell, _ in pairs if cell.isdecimal()]
    return len(numbers) == len(pairs) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _task_names(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return candidates for the name of the task, the likeliest first: parts of names that all files share."""
    shared = [level[0] for level in zip(*paths, strict=False) if len(set(level)) == 1]
    words = [re.split(r"[_ ]", path[0]) for path in paths]
    beginning = "_".join(level[0] for level in _while_equal(zip(*words, strict=False)))
    return tuple(filter(None, (*shared[:1], beginning, *shared[1:]))) or ("outputs",)


def _labels(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a label per file by which they differ, all "" if none do.

    The name of one folder or the stem if that is enough, else all names that differ.
    """
    n_levels = max(map(len, paths))
    levels = list(zip(*(path + ("",) * (n_levels - len(path)) for path in paths), strict=True))
    n_different = len(set(zip(*levels, strict=True)))
    if n_different == 1:
        return [""] * len(paths)
    for level in (*levels[1:], levels[0]):
        if len(set(level)) == n_different:
            return _without_shared_words(level)
    differing = [_without_shared_words(level) for level in reversed(levels) if len(set(level)) > 1]
    return ["/".join(filter(None, parts)) for parts in zip(*differing, strict=True)]


def _without_shared_words(names: Sequence[str]) -> list[str]:
    """Drop the words with which all names begin or end, but not before a bare letter or number."""
    words = [re.split(r"(?<=[_ ])", name) for name in names]
    # each turn drops words at the beginning and reverses the rest
    for turn in range(2):
        n_shared = sum(1 for _ in _while_equal(zip(*words, strict=False)))
        n_shared = min(n_shared, *(len(name_words) - 1 for name_words in words))
        if turn == 0 and n_shared:
            # a model is called model_a or gpt_4, not "a" or "4"
            ends = [name_words[n_shared].strip("_ ") for name_words in words]
            is_short = any(len(end) == 1 or end.isdigit() for end in ends)
            n_shared -= is_short and is_called(words[0][n_shared - 1], "model")
        words = [name_words[n_shared:][::-1] for name_words in words]
    return ["".join(name_words).strip("_ ") for name_words in words]


def _while_equal(levels: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Return the first levels, up to the first one whose names differ."""
    return takewhile(lambda level: len(set(level)) == 1, levels)
