"""Memory behind a score. A module named after a test defines it; `..._analysis` has the results
that a page shows."""
