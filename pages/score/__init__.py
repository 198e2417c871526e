"""The Score page: the board, and the tables under it."""
