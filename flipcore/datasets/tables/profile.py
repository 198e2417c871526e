"""Steps 1 and 2: what each column holds, and which column follows from which."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flipcore.datasets.tables.coding import DECIMAL_COMMA
from flipcore.datasets.tables.load import Table
from flipcore.datasets.tables.stems import stems

AT_ONCE = 60  # columns of one query
FOLLOWS = 1.01  # distinct pairs per distinct value, up to which a column follows from another
FEW_ROWS = 20_000  # up to which the columns of a table are measured below one another
FEW = 12  # distinct values that are remembered one by one


@dataclass(frozen=True)
class Column:
    """Measures of one column over all rows."""

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
    values: tuple[str, ...] = ()  # all of them where they are few

    @property
    def is_filled(self) -> bool:
        """Tell whether most rows hold a value."""
        return 2 * self.n_filled >= self.n_rows

    @property
    def is_constant(self) -> bool:
        """Tell whether all rows hold one value."""
        return self.n_distinct == 1 and self.n_filled == self.n_rows

    def share(self, n: int) -> float:
        """A count as a share of the filled cells."""
        return n / self.n_filled if self.n_filled else 0.0

    @property
    def is_numeric(self) -> bool:
        """Tell whether nearly all values are numbers."""
        return self.n_filled > 0 and self.share(self.n_numbers) >= 0.98

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
        """Tell whether the values are grades of a maximum: 3/5."""
        return self.n_filled > 0 and self.share(self.n_ratios) >= 0.95


@dataclass
class Profile:
    """The columns of a table, and what follows from what, asked for and remembered.

    Of files that are staged as one table, values of two files are never the same: an id counts
    within its file. What a `Column` says is of all files together.
    """

    table: Table
    columns: dict[str, Column]
    _distinct: dict[frozenset[str], int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    def n_distinct(self, names: Iterable[str]) -> int:
        """Return how many different combinations of values these columns hold."""
        key = frozenset(names)
        if not key:
            return self.table.n_files
        if key not in self._distinct:
            texts = (f"coalesce({self.table.sql(name)}, '')" for name in sorted(key))
            cells = ", ".join([*self.table.file, *texts])
            query = f"SELECT count(DISTINCT hash({cells})) FROM {self.table.relation}"
            self._distinct[key] = self.table.rows(query)[0][0]
        return self._distinct[key]

    def n_values(self, name: str) -> int:
        """Return how many different values a column holds, those of each file counted apart."""
        column = self.columns[name]
        return self.n_distinct([name]) if self.table.file else column.n_distinct

    def n_levels(self, names: Sequence[str]) -> int:
        """Return how many different combinations of values these columns hold over all files."""
        cells = ", ".join(f"coalesce({self.table.sql(name)}, '')" for name in names)
        return self.table.rows(f"SELECT count(DISTINCT hash({cells})) FROM {self.table.relation}")[
            0
        ][0]

    def follows(self, names: Sequence[str], other_name: str) -> bool:
        """Tell whether a column follows from others: one value of it per combination of theirs."""
        return self.n_distinct([*names, other_name]) <= FOLLOWS * self.n_distinct(names)

    def are_same(self, name: str, other_name: str) -> bool:
        """Tell whether two columns part the rows in the same way."""
        return self.follows([name], other_name) and self.follows([other_name], name)

    def cell_sizes(self, names: Sequence[str]) -> dict[int, int]:
        """Return how many combinations of values stand in how many rows."""
        cells = ", ".join([*self.table.file, *(self.table.sql(name) for name in names)])
        groups = f"SELECT count(*) AS n FROM {self.table.relation} GROUP BY {cells}"
        query = f"SELECT n, count(*) FROM ({groups}) GROUP BY n"
        return dict(self.table.rows(query))

    def share_equal(self, name: str, other_name: str) -> float:
        """Return the share of rows in which two columns hold the same text."""
        left, right = self.table.sql(name), self.table.sql(other_name)
        query = (
            f"SELECT avg((lower(trim({left})) = lower(trim({right})))::INT) FROM "
            f"{self.table.relation} "
            f"WHERE {left} IS NOT NULL AND {right} IS NOT NULL"
        )
        return float(self.table.rows(query)[0][0] or 0.0)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that hold anything."""
        return tuple(name for name, column in self.columns.items() if column.n_filled)


def profile(table: Table) -> Profile:
    """Profile all columns of a table, `AT_ONCE` columns per query."""
    columns: dict[str, Column] = {}
    for start in range(0, len(table.names), AT_ONCE):
        batch_names = table.names[start : start + AT_ONCE]
        for name, measures in zip(batch_names, _measured(table, batch_names), strict=True):
            columns[name] = _column(name, table.n_rows, measures)
    few = [name for name, column in columns.items() if 0 < column.n_distinct <= FEW]
    for name in few:
        sql = table.sql(name)
        filled = f"SELECT {sql} FROM {table.relation} WHERE {sql} IS NOT NULL"
        query = f"{filled} GROUP BY 1 ORDER BY count(*) DESC, 1"
        values = tuple(row[0] for row in table.rows(query))
        columns[name] = Column(**{**vars(columns[name]), "values": values})
    return Profile(table, columns)


def _measured(table: Table, names: Sequence[str]) -> list[Sequence]:
    """Return the measures of each of these columns."""
    cells = [table.sql(name) for name in names]
    if 0 < table.n_rows <= FEW_ROWS:
        # To plan the measures of every column takes far longer than to take them of few rows: they
        # are planned once, of all columns below one another.
        query = (
            f"SELECT {_measures('cell')} FROM (SELECT unnest([{', '.join(cells)}]) AS cell, "
            f"unnest(range({len(cells)})) AS place FROM {table.relation}) GROUP BY place ORDER "
            "BY place"
        )
        return list(table.rows(query))
    row = table.rows(f"SELECT {', '.join(map(_measures, cells))} FROM {table.relation}")[0]
    return [row[start : start + _N_MEASURES] for start in range(0, len(row), _N_MEASURES)]


def number_sql(cell: str) -> str:
    """SQL of a cell as a number; a comma is the decimal point where it can be nothing else."""
    has_comma = f"regexp_full_match(trim({cell}), '{DECIMAL_COMMA}')"
    with_point = f"CASE WHEN {has_comma} THEN replace({cell}, ',', '.') ELSE {cell} END"
    return f"TRY_CAST({with_point} AS DOUBLE)"


def _measures(c: str) -> str:
    number = number_sql(f"rtrim({c}, '%')")
    verdicts = sorted(stems("right").words | stems("wrong").words)
    words = ", ".join("'" + word.replace("'", "''") + "'" for word in verdicts)
    parts = [
        f"count({c})",
        f"count(DISTINCT hash({c})) FILTER ({c} IS NOT NULL)",
        f"avg(length({c}))",
        f"max(length({c}))",
        f"count({number})",
        f"count(*) FILTER (regexp_full_match({c}, '-?\\d{{1,15}}'))",
        f"min({number})",
        f"max({number})",
        f"count(*) FILTER (regexp_full_match(trim({c}), '[(]?[A-Z][).:]?'))",
        f"count(*) FILTER ({c} LIKE '[%')",
        f"count(*) FILTER ({c} LIKE '{{%')",
        f"count(*) FILTER (replace(lower(trim({c})), ' ', '_') IN ({words}, '0', '1', '0.0', "
        "'1.0'))",
        f"count(*) FILTER (regexp_full_match({c}, '\\s*\\d+(\\.\\d+)?\\s*/\\s*\\d+\\s*'))",
        f"count(*) FILTER (length({c}) - length(replace({c}, ' ', '')) >= 3)",
    ]
    return ", ".join(parts)


_N_MEASURES = 14


def _column(name: str, n_rows: int, measures: Sequence) -> Column:
    (filled, distinct, mean, longest, numbers, integers, least, most, *more_measures) = measures
    return Column(
        name,
        n_rows,
        filled,
        distinct,
        float(mean or 0),
        longest or 0,
        numbers,
        integers,
        least,
        most,
        *more_measures,
    )
