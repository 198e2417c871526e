"""The tables as declared in schema.sql, the only list of tables, columns and keys."""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

SCHEMA_SQL = Path(__file__).with_name("schema.sql")

# Rules that a COMMENT in schema.sql may state for a table or column.
LAST_ROW, LAST_VALUE, FIRST_VALUE = "last row wins", "last value wins", "first value stays"
SHOWN_BY_ALL, NO_NUMBER = "shown by every study", "changes no number"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    kind: str  # DuckDB's name of its type
    is_nullable: bool
    default: str | None  # SQL, None without a default
    rule: str = ""  # its comment, "" without


@dataclass(frozen=True)
class Table:
    """A table, its columns in the order of schema.sql."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]  # names of the primary key's columns, () without a key
    rules: tuple[str, ...] = ()  # from its comment
    sql: str = ""  # the CREATE statement as DuckDB writes it

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
    def _columns_among(self) -> dict[tuple[str, ...], tuple[list[str], list[str]]]:
        return {}

    def columns_among(self, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return (columns of the table among `names`, those of them that hold JSON). Results are
        cached, because this is called for each of a million rows."""
        if names not in self._columns_among:
            self._columns_among[names] = (
                [name for name in self.names if name in names],
                [name for name in self.json_names if name in names],
            )
        return self._columns_among[names]

    @property
    def changing_columns(self) -> tuple[str, ...]:
        """Columns that a later row with the same key changes; () where the first row stays."""
        if not {LAST_ROW, LAST_VALUE} & set(self.rules):
            return ()
        return tuple(
            column.name
            for column in self.columns
            if column.name not in self.key and column.rule != FIRST_VALUE
        )


def schema_sql() -> str:
    """Return SQL that creates all missing tables, without the comments, which only we read."""
    lines = _text(SCHEMA_SQL).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("COMMENT ON "))


def tables() -> dict[str, Table]:
    """Return name -> table, in the order of schema.sql."""
    return _tables(SCHEMA_SQL)


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tables(path: Path) -> dict[str, Table]:
    """Let DuckDB parse the statements, in a database in memory."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(_text(path))
        table_rows = connection.execute(
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
            name,
            columns=tuple(by_table[name]),
            key=tuple(keys.get(name, ())),
            rules=tuple(comment.split("; ")),
            sql=sql,
        )
        for name, comment, sql in table_rows
    }
