"""The New study page and its steps."""
