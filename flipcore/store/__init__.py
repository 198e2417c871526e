"""One DuckDB file: the schema, the one connection, the one writer, and every question that is asked
of it."""
