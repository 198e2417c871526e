"""Results of the estimators on small inputs, all of them compared with files: a change of a result is
a decision, and never an accident.

`python -m tests.stats.pinned` says which results differ from the files, and `--write` writes the
files again: look at what changed before committing it. Inputs stand in the modules of this package,
by estimator.
"""
