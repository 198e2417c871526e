"""Steps 1 and 2: measure what each column holds, and which column follows from which."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from flipcore.datasets.tables.coding import DECIMAL_COMMA
from flipcore.datasets.tables.load import Table
from flipcore.datasets.tables.stems import stems

AT_ONCE = 60  # most columns in one query
FOLLOWS = 1.01  # most distinct pairs per distinct value, where a column follows from another
FEW_ROWS = 20_000  # most rows of a table whose columns are measured as one long column
FEW = 12  # most distinct values of a column whose values are listed
MAX_KEPT = 20_000_000  # most hashes of cells that are kept
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number: (a, b) and (b, a) have different hashes


@dataclass(frozen=True)
class Column:
    """Measures of one column over all rows: `n_…` count rows, lengths are in characters."""

    name: str
    n_rows: int
    n_filled: int
    n_distinct: int
    mean_length: float
    longest: int
    n_numbers: int
    n_integers: int
    least: float | None
    most: float | None
    n_letters: int
    n_lists: int
    n_objects: int
    n_verdicts: int
    n_ratios: int
    n_sentences: int
    values: tuple[str, ...] = ()  # all different values if they are few, the commonest first

    @property
    def is_filled(self) -> bool:
        """Tell whether most rows hold a value."""
        return 2 * self.n_filled >= self.n_rows

    @property
    def is_constant(self) -> bool:
        """Tell whether all rows hold one value."""
        return self.n_distinct == 1 and self.n_filled == self.n_rows

    def share(self, n: int) -> float:
        """Return a count as a share of the filled cells."""
        return n / self.n_filled if self.n_filled else 0.0

    @property
    def is_numeric(self) -> bool:
        """Tell whether nearly all values are numbers."""
        return self.n_filled > 0 and self.share(self.n_numbers) >= 0.98

    @property
    def is_unit(self) -> bool:
        """Tell whether there are numbers, all of them from 0 to 1."""
        return (
            self.least is not None and self.most is not None and 0 <= self.least <= self.most <= 1
        )

    @property
    def is_integer(self) -> bool:
        """Tell whether all values are whole numbers."""
        return self.n_filled > 0 and self.n_integers == self.n_filled

    @property
    def is_letter(self) -> bool:
        """Tell whether nearly all values are single capital letters."""
        return self.n_filled > 0 and self.share(self.n_letters) >= 0.95

    @property
    def is_text(self) -> bool:
        """Tell whether most values are sentences or long texts."""
        return self.share(self.n_sentences) > 0.5 or self.mean_length > 60

    @property
    def is_list(self) -> bool:
        """Tell whether nearly all values are lists."""
        return self.n_filled > 0 and self.share(self.n_lists) >= 0.9

    @property
    def is_object(self) -> bool:
        """Tell whether nearly all values are objects."""
        return self.n_filled > 0 and self.share(self.n_objects) >= 0.9

    @property
    def is_verdict(self) -> bool:
        """Tell whether the values are words for right and wrong, in any of the languages."""
        return self.n_filled > 0 and self.n_verdicts == self.n_filled and self.n_distinct <= 4

    @property
    def is_ratio(self) -> bool:
        """Tell whether nearly all values are points out of a maximum: 3/5."""
        return self.n_filled > 0 and self.share(self.n_ratios) >= 0.95


@dataclass
class Profile:
    """The columns of a table, and counts of their combinations, which are cached.

    If several files are staged as one table, an id counts within its file: values of two files are
    never the same. A `Column` measures all files together.
    """

    table: Table
    columns: dict[str, Column]
    _distinct: dict[frozenset[str], int] = field(default_factory=dict)
    _hashes: dict[str, np.ndarray] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    def keys(self, names: Iterable[str], *, over_files: bool = False) -> np.ndarray:
        """Return a hash per row, shape (n_rows,): equal where all of these columns are equal.

        Empty cells are equal. Cells of two files are different unless `over_files`.
        """
        parts = [*(() if over_files else self.table.file), *map(self.table.sql, names)]
        if missing := [part for part in parts if part not in self._hashes]:
            if (len(self._hashes) + len(missing)) * self.n_rows > MAX_KEPT:
                self._hashes.clear()
                missing = parts
            elif len(self.table.names) <= AT_ONCE and self.n_rows <= FEW_ROWS:
                missing = [*self.table.file, *map(self.table.sql, self.table.names)]
            self._hashes |= self.table.hashes(missing)
        keys = np.zeros(self.n_rows, np.uint64)
        for part in parts:
            keys = (keys ^ (keys >> np.uint64(29))) * _SPREAD + self._hashes[part]
        return keys

    def filled_rows(self, name: str) -> np.ndarray:
        """Tell which cells of a column are filled, shape (n_rows,)."""
        return self.keys([name], over_files=True) != 0

    def n_distinct(self, names: Iterable[str]) -> int:
        """Count the different combinations of values in these columns."""
        key = frozenset(names)
        if not key:
            return self.table.n_files
        if key not in self._distinct:
            self._distinct[key] = _n_different(self.keys(sorted(key)))
        return self._distinct[key]

    def n_values(self, name: str) -> int:
        """Count the different values of a column, separately for each file."""
        column = self.columns[name]
        return self.n_distinct([name]) if self.table.file else column.n_distinct

    def n_levels(self, names: Sequence[str]) -> int:
        """Count the different combinations of values in these columns over all files."""
        return _n_different(self.keys(names, over_files=True))

    def follows(self, names: Sequence[str], second: str) -> bool:
        """Tell whether a column follows from others: one value of it per combination of theirs."""
        return self.n_distinct([*names, second]) <= FOLLOWS * self.n_distinct(names)

    def are_same(self, name: str, second: str) -> bool:
        """Tell whether two columns divide the rows into the same groups."""
        return self.follows([name], second) and self.follows([second], name)

    def cell_sizes(self, names: Sequence[str]) -> dict[int, int]:
        """Return {number of rows: how many combinations of values have so many rows}."""
        sizes = np.unique(self.keys(names), return_counts=True)[1]
        n_rows, n_combinations = np.unique(sizes, return_counts=True)
        return dict(zip(n_rows.tolist(), n_combinations.tolist(), strict=True))

    def n_repeated(self, names: Sequence[str], row_key: Sequence[str]) -> int:
        """Count combinations of `names` with several rows that agree in all of `row_key`, which
        includes `names`."""
        _, group_of_row, sizes = np.unique(
            self.keys(row_key), return_inverse=True, return_counts=True
        )
        return _n_different(self.keys(names)[sizes[group_of_row] > 1])

    def share_equal(self, name: str, second: str) -> float:
        """Return the share of rows in which two columns hold the same text, or the same number."""
        left, right = self.table.sql(name), self.table.sql(second)
        query = (
            f"SELECT avg(({_plain_sql(left)} = {_plain_sql(right)})::INT) FROM "
            f"{self.table.relation} WHERE {left} IS NOT NULL AND {right} IS NOT NULL"
        )
        return float(self.table.rows(query)[0][0] or 0.0)

    def share_in(self, name: str, second: str) -> float:
        """Return the share of filled cells of a column that are values of a second column."""
        cell, value = self.table.sql(name), self.table.sql(second)
        values = f"SELECT {_plain_sql(value)} FROM {self.table.relation} WHERE {value} IS NOT NULL"
        query = (
            f"SELECT avg(({_plain_sql(cell)} IN ({values}))::INT) FROM {self.table.relation} "
            f"WHERE {cell} IS NOT NULL"
        )
        return float(self.table.rows(query)[0][0] or 0.0)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns with at least one filled cell."""
        return tuple(name for name, column in self.columns.items() if column.n_filled)


def _n_different(keys: np.ndarray) -> int:
    # np.unique would find them in a hash table, which takes many times as long as to sort them.
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(keys))


def profile(table: Table) -> Profile:
    """Profile all columns of a table, `AT_ONCE` columns per query."""
    columns: dict[str, Column] = {}
    for start in range(0, len(table.names), AT_ONCE):
        batch_names = table.names[start : start + AT_ONCE]
        for name, measures in zip(batch_names, _measured(table, batch_names), strict=True):
            columns[name] = _column(name, table.n_rows, measures)
    few = [name for name, column in columns.items() if 0 < column.n_distinct <= FEW]
    for name, values in _listed(table, few).items():
        columns[name] = Column(**{**vars(columns[name]), "values": values})
    return Profile(table, columns)


def _listed(table: Table, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return {column: its different values, the commonest first}."""
    values: dict[str, list[str]] = {name: [] for name in names}
    if names and table.n_rows <= FEW_ROWS:
        query = (
            f"SELECT place, cell FROM {_long_column(table, names)} WHERE cell IS NOT NULL "
            "GROUP BY ALL ORDER BY place, count(*) DESC, cell"
        )
        for place, value in table.rows(query):
            values[names[place]].append(value)
    else:
        for name in names:
            sql = table.sql(name)
            filled = f"SELECT {sql} FROM {table.relation} WHERE {sql} IS NOT NULL"
            rows = table.rows(f"{filled} GROUP BY 1 ORDER BY count(*) DESC, 1")
            values[name] = [row[0] for row in rows]
    return {name: tuple(entries) for name, entries in values.items()}


def _long_column(table: Table, names: Sequence[str]) -> str:
    """Return the SQL of all columns as one, `cell`, beside the `place` of each among `names`.

    To plan something of each column takes DuckDB far longer than to find it in few rows.
    """
    cells = ", ".join(map(table.sql, names))
    return (
        f"(SELECT unnest([{cells}]) AS cell, unnest(range({len(names)})) AS place "
        f"FROM {table.relation})"
    )


def _measured(table: Table, names: Sequence[str]) -> list[Sequence]:
    """Return the measures of each of these columns."""
    cells = [table.sql(name) for name in names]
    if 0 < table.n_rows <= FEW_ROWS:
        numbers = f"SELECT *, {_number_sql('cell')} AS number FROM {_long_column(table, names)}"
        measured = f"SELECT {_measures('cell', 'number')} FROM ({numbers})"
        return list(table.rows(f"{measured} GROUP BY place ORDER BY place"))
    measures = ", ".join(_measures(cell, _number_sql(cell)) for cell in cells)
    row = table.rows(f"SELECT {measures} FROM {table.relation}")[0]
    return [row[start : start + _N_MEASURES] for start in range(0, len(row), _N_MEASURES)]


def _number_sql(cell: str) -> str:
    # Few texts begin like a number, and to try the others takes ten times as long.
    may_be_number = f"regexp_matches({cell}, '^[\\pZ\\t-\\r]*[-+.\\diInN]')"
    number = number_sql(f"rtrim({cell}, '%')")
    return f"CASE WHEN {may_be_number} THEN {number} END"


def number_sql(cell: str) -> str:
    """Return the SQL of a cell as a number; an unambiguous decimal comma counts as a point."""
    has_comma = _trimmed_match(cell, DECIMAL_COMMA)
    with_point = f"CASE WHEN {has_comma} THEN replace({cell}, ',', '.') ELSE {cell} END"
    return f"TRY_CAST({with_point} AS DOUBLE)"


def _plain_sql(cell: str) -> str:
    """Return the SQL of a cell as it is compared: 20.0, as pandas writes 20, is 20."""
    return f"regexp_replace(lower(trim({cell})), '^(-?\\d+)\\.0+$', '\\1')"


def is_word_sql(cell: str, *kinds: str) -> str:
    """Return SQL that tells whether a cell is a word of one of the lists of `stems.toml`."""
    # One pattern is planned in a tenth of the time that IN takes with as many constants.
    words = sorted(frozenset().union(*(stems(kind).words for kind in kinds)))
    pattern = "|".join(map(re.escape, words)).replace("'", "''").replace("_", "[ _]")
    return _trimmed_match(f"lower({cell})", f"(?:{pattern})")


def _trimmed_match(text: str, pattern: str) -> str:
    # To trim a long text takes several times as long as to see that it does not match.
    return f"regexp_full_match({text}, '\\p{{Zs}}*{pattern}\\p{{Zs}}*')"


def _measures(c: str, number: str) -> str:
    """Return the SQL of the measures of one cell, in the order of the fields of `Column`."""
    is_verdict = f"{is_word_sql(c, 'right', 'wrong')} OR {_trimmed_match(c, '[01](?:[.]0)?')}"
    parts = [
        f"count({c})",
        f"count(DISTINCT hash({c})) FILTER ({c} IS NOT NULL)",
        f"avg(length({c}))",
        f"max(length({c}))",
        f"count({number})",
        f"count(*) FILTER (regexp_full_match({c}, '-?\\d{{1,20}}'))",
        f"min({number})",
        f"max({number})",
        f"count(*) FILTER ({_trimmed_match(c, '[(]?[A-Z][).:]?')})",
        f"count(*) FILTER ({c} LIKE '[%')",
        f"count(*) FILTER ({c} LIKE '{{%')",
        f"count(*) FILTER ({is_verdict})",
        f"count(*) FILTER (regexp_full_match({c}, '\\s*\\d+(\\.\\d+)?\\s*/\\s*\\d+\\s*'))",
        f"count(*) FILTER (length({c}) - length(replace({c}, ' ', '')) >= 3)",
    ]
    return ", ".join(parts)


_N_MEASURES = 14


def _column(name: str, n_rows: int, measures: Sequence) -> Column:
    n_filled, n_distinct, mean_length, longest, *more_measures = measures
    lengths = float(mean_length or 0), longest or 0
    return Column(name, n_rows, n_filled, n_distinct, *lengths, *more_measures)
