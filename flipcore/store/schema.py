"""The tables as schema.sql declares them, read once: nobody else lists tables, columns or keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

SCHEMA_SQL = Path(__file__).with_name("schema.sql")


@dataclass(frozen=True)
class Column:
    """`kind` is DuckDB's name of the type; `default` is SQL, None where there is none."""

    name: str
    kind: str
    is_nullable: bool
    default: str | None


@dataclass(frozen=True)
class Table:
    """`columns` in the order of schema.sql; `key` are the names of the primary key, () for a table without one."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """Column -> type."""
        return {column.name: column.kind for column in self.columns}

    @property
    def not_in_key(self) -> tuple[str, ...]:
        """What a row says beyond its key."""
        return tuple(name for name in self.names if name not in self.key)


def schema_sql() -> str:
    """The statements that create every table which is not there yet."""
    return SCHEMA_SQL.read_text(encoding="utf-8")


def tables() -> dict[str, Table]:
    """Table -> its columns and key, in the order of schema.sql."""
    return _read(schema_sql())


@cache
def _read(sql: str) -> dict[str, Table]:
    """DuckDB itself reads the statements, in memory."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(sql)
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_oid, column_index"
        ).fetchall()
        keys = dict(
            connection.execute(
                "SELECT table_name, constraint_column_names FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'"
            ).fetchall()
        )
    by_table: dict[str, list[Column]] = {}
    for table, *column in columns:
        by_table.setdefault(table, []).append(Column(*column))
    return {name: Table(name, tuple(columns), tuple(keys.get(name, ()))) for name, columns in by_table.items()}
