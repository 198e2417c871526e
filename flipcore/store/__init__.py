"""One DuckDB file: its schema, its connection, its writer, and every query."""
