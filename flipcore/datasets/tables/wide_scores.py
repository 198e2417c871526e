"""Find columns that each hold the scores of one system, or of one run, beside no output.

Right and wrong under gpt-4o, claude and llama belong to three systems, and under run_1 to run_5 to
five runs of one. A table that also has an output, a score or a system in its rows is left to the
other steps, and so is one where right and wrong stand under a name that says neither.
"""

import re

from flipcore.datasets.tables.own_columns import OF_SAMPLE, bare_column, label_of
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import OUTPUT, TARGET, part_of
from flipcore.datasets.tables.stems import last_part, names, words_of

LEAST_ROWS = 5
LEAST_FILLED = 0.8  # share of rows; a column of remarks is emptier
MAX_GRADE = 10  # the largest number that is a grade of one run
# kinds of words that are in no system's name
_OF_GRADERS = "score judge people lower about error target pairwise configuration vote".split()
# kinds of columns that may hold right and wrong about the question
_FACTS = "about id configuration context error subject cluster task".split()
_VERSION = re.compile(r"(?i)v?\d+(\.\d+)*")


def implied_words(profile: Profile) -> dict[str, str]:
    """Return the words of `--map` that split such a table; {} for any other table."""
    if profile.n_rows < LEAST_ROWS or any(map(_is_score, profile.names)):
        return {}
    keys = [name for name in profile.names if part_of(name) == TARGET]
    runs = _runs(profile)
    if runs and (keys or all(_is_grade(profile, name) for name in runs)):
        words = {"model_columns": ",".join(runs)}
        return words if keys else words | {"score": bare_column(runs[0])}
    systems = [] if keys else _systems(profile)
    return {"model_columns": ",".join(systems), "score": bare_column(systems[0])} if systems else {}


def _is_score(name: str) -> bool:
    return (
        names(last_part(name), "score")
        and label_of([name]) != OF_SAMPLE
        and not names(name, "model")
    )


def _runs(profile: Profile) -> list[str]:
    """Return the columns of numbered runs, two or more in a table without other outputs."""
    runs = [name for name in profile.names if "," not in name and label_of([name]) == OF_SAMPLE]
    other_names = [name for name in profile.names if name not in runs]
    beginnings = {re.sub(r"\d+$", "", name) for name in runs}
    if len(runs) < 2 or len(beginnings) > 1 or any(part_of(name) == OUTPUT for name in other_names):
        return []
    columns = [profile[name] for name in runs]
    are_filled = all(column.n_filled >= LEAST_FILLED * profile.n_rows for column in columns)
    are_cells = not any(column.is_list or column.is_object for column in columns)
    return runs if are_filled and are_cells else []


def _is_grade(profile: Profile, name: str) -> bool:
    """Tell whether a column holds right and wrong, or whole numbers up to MAX_GRADE."""
    column = profile[name]
    is_small = 0 <= (column.least or 0) and (column.most or 0) <= MAX_GRADE
    return column.is_verdict or (column.is_integer and is_small)


def _systems(profile: Profile) -> list[str]:
    """Return the columns of right and wrong, if each is called like a system; [] if one is not."""
    systems = []
    for name in profile.names:
        column, last = profile[name], last_part(name)
        is_fact = any(names(last, kind) for kind in _FACTS) or words_of(last)[:1] in (
            ("is",),
            ("has",),
        )
        if part_of(name) == OUTPUT or names(last, "people"):
            return []
        if not column.is_verdict:
            if _names_systems(last):
                return []  # the systems stand in the rows
            continue
        is_filled = column.n_filled >= LEAST_FILLED * profile.n_rows
        if is_filled and "," not in name and _is_system(name):
            systems.append(name)
        elif not is_fact:
            return []
    return systems if len(systems) > 1 else []


def _names_systems(last: str) -> bool:
    return names(last, "model") or names(last, "condition")


def _is_system(name: str) -> bool:
    """Tell whether a name is that of a model, of its stored weights, or of a numbered system."""
    words = [word for word in words_of(name) if not (word.isdigit() or len(word) < 2)]
    judges = [word for word in words if names(word, "judge") and not names(word, "model")]
    if judges or any(
        names(word, kind) for word in words for kind in _OF_GRADERS if kind != "judge"
    ):
        return False
    if names(name, "model"):
        return True
    is_numbered = bool(_VERSION.search(name))
    return (
        bool(words)
        and is_numbered
        and all(names(word, "stored") or names(word, "condition") for word in words)
    )
