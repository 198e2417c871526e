"""Exports: a report in one file, and a study as a dataset. Read from a closed or open
store, written nowhere else."""
