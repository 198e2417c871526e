"""The tables as schema.sql declares them, read once: nobody else lists tables, columns or keys."""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

SCHEMA_SQL = Path(__file__).with_name("schema.sql")

# what schema.sql may say of a table or a column in a COMMENT
LAST_ROW, LAST_VALUE, FIRST_VALUE = "last row wins", "last value wins", "first value stays"
SHOWN_BY_ALL, NO_NUMBER = "shown by every study", "changes no number"


@dataclass(frozen=True)
class Column:
    """`kind` is DuckDB's name of the type; `default` is SQL, None where there is none; `rule` is
    its comment, "" for none."""

    name: str
    kind: str
    is_nullable: bool
    default: str | None
    rule: str = ""


@dataclass(frozen=True)
class Table:
    """`columns` in the order of schema.sql; `key` are the names of the primary key, () for a table
    without one; `rules` are in its comment; `sql` is DuckDB's own wording of its statement."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    rules: tuple[str, ...] = ()
    sql: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def kinds(self) -> dict[str, str]:
        return {column.name: column.kind for column in self.columns}

    @cached_property
    def json_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.kind == "JSON")

    @cached_property
    def _among(self) -> dict[tuple[str, ...], tuple[list[str], list[str]]]:
        return {}

    def among(self, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """The names of the columns that are among `names`, and of those that hold JSON; remembered,
        for a million rows ask."""
        if names not in self._among:
            self._among[names] = (
                [name for name in self.names if name in names],
                [name for name in self.json_names if name in names],
            )
        return self._among[names]

    @property
    def changing(self) -> tuple[str, ...]:
        """The columns that a later row with a known key changes; () where the first row stays."""
        if not {LAST_ROW, LAST_VALUE} & set(self.rules):
            return ()
        return tuple(
            column.name
            for column in self.columns
            if column.name not in self.key and column.rule != FIRST_VALUE
        )


def schema_sql() -> str:
    """The statements that create every table which is not there yet. The comments are for this
    module, not for a file."""
    lines = _text(SCHEMA_SQL).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("COMMENT ON "))


def tables() -> dict[str, Table]:
    """Table -> its columns, key and rules, in the order of schema.sql."""
    return _tables(SCHEMA_SQL)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tables(path: Path) -> dict[str, Table]:
    """DuckDB itself reads the statements, in memory."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(_text(path))
        rules = connection.execute(
            "SELECT table_name, coalesce(comment, ''), sql FROM duckdb_tables() ORDER BY table_oid"
        ).fetchall()
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default, "
            "coalesce(comment, '') FROM duckdb_columns() WHERE NOT internal "
            "ORDER BY table_oid, column_index"
        ).fetchall()
        keys = dict(
            connection.execute(
                "SELECT table_name, constraint_column_names FROM duckdb_constraints() "
                "WHERE constraint_type = 'PRIMARY KEY'"
            ).fetchall()
        )
    by_table: dict[str, list[Column]] = {}
    for table, *column in columns:
        by_table.setdefault(table, []).append(Column(*column))
    return {
        name: Table(
            name, tuple(by_table[name]), tuple(keys.get(name, ())), tuple(rule.split("; ")), sql
        )
        for name, rule, sql in rules
    }
