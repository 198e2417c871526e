"""Queries on the store, one module per page or purpose. They return rows."""
