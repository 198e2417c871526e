"""Is the score memory? A module named after a test defines it; `..._analysis` is what a page shows of it."""
