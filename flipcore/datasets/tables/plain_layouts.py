"""Find layouts that mean one thing, whatever else the columns are called.

Right and wrong under gpt-4o, claude and llama belong to three systems, and under run_1 to run_5 to
five runs of one; rater_1 and rater_2 rate together, and Q1 to Q12 are items. A row per metric, with
its name and its value, holds one of several scores of an output. What guards flagged is compared
with what is an attack, and an old and a new score belong to two systems.

A table that also has an output or a score of another kind is left to the other steps, and so is one
where right and wrong stand under a name that says neither.
"""

import re
from collections import Counter
from collections.abc import Sequence

from flipcore.datasets.tables.grid import counts_runs, crosses
from flipcore.datasets.tables.own_columns import (
    OF_ITEM,
    OF_RATER,
    OF_SAMPLE,
    bare_column,
    label_columns,
    numbered_parts,
)
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import OUTPUT, TARGET, part_of
from flipcore.datasets.tables.shape import CONTRASTED
from flipcore.datasets.tables.stems import last_names, last_part, lower_is_better, names, words_of

LEAST_ROWS = 5
LEAST_FILLED = 0.8  # share of rows; a column of remarks is emptier
MIN_GRADED = 3  # systems whose grades are no judges'
MAX_GRADE = 10  # the largest number that is a grade of one run
# kinds of words that are in no system's name
_OF_GRADERS = "score people lower about error target pairwise configuration vote".split()
# kinds of columns that may hold right and wrong about the question
_FACTS = "about id configuration context error subject cluster task".split()
_METRIC_NAMES = "name metric metric_name score_name criterion evaluator scorer measure".split()
_METRIC_VALUES = "value score metric_value score_value".split()
MAX_METRICS = 12
_LETTERED = re.compile(r"(?i)(prompt|variant|version|setup|config) ?([a-h]|v?\d+)\b")
_VERSION = re.compile(r"(?i)v?\d+(\.\d+)*")


def implied_words(profile: Profile) -> dict[str, str]:
    """Return the words of `--map` for a table of such a layout; {} for any other table."""
    if profile.n_rows < LEAST_ROWS and not _numbered(profile, OF_ITEM):
        return {}
    if words := _row_per_metric(profile):
        return words
    if words := _flags(profile):
        return words
    keys = [name for name in profile.names if part_of(name) == TARGET]
    runs = _runs(profile)
    if runs and keys and not any(map(_is_score, profile.names)):
        return {"model_columns": ",".join(runs)}
    has_score = any(map(_is_score, profile.names))
    columns = _stages(profile)
    if not columns and not has_score:
        columns = [name for name in runs if all(_is_grade(profile, run) for run in runs)]
        columns = columns or _raters(profile) or _items(profile)
        # 0 and 1 beside such right answers may be answers
        are_answers = any(profile[name].is_verdict for name in keys)
        columns = columns or ([] if are_answers else _systems(profile))
    if not columns:
        return {}
    words = {"model_columns": ",".join(columns), "score": bare_column(columns[0])}
    if label_columns(columns) == (OF_ITEM,):
        words |= {"item": OF_ITEM, "models": ",".join(_columns_of_systems(profile))}
    return words


def _is_score(name: str) -> bool:
    is_plain = numbered_parts(name) is None and not names(name, "model")
    return is_plain and names(last_part(name), "score")


def _stages(profile: Profile) -> list[str]:
    """Return the two scores of an old and a new system, called alike but for that; [] for none."""
    scores = [name for name in profile.names if names(last_part(name), "score")]
    words = [{word for word in words_of(name) if not word.isdigit()} for name in scores]
    stages = [set_of_words & CONTRASTED for set_of_words in words]
    are_alike = len(scores) == 2 and words[0] - stages[0] == words[1] - stages[1]
    if not are_alike or not all(stages) or stages[0] == stages[1] or "," in "".join(scores):
        return []
    has_other = any(
        part_of(name) == OUTPUT or _is_called_system(last_part(name)) for name in profile.names
    )
    are_numbers = all(profile[name].is_numeric or profile[name].is_verdict for name in scores)
    return scores if are_numbers and not has_other else []


def _row_per_metric(profile: Profile) -> dict[str, str]:
    """Return the words for rows with the name and the value of a metric each, several per item."""
    metrics = [name for name in profile.names if name.lower() in _METRIC_NAMES]
    values = [name for name in profile.names if name.lower() in _METRIC_VALUES]
    if len(metrics) != 1 or len(values) != 1:
        return {}
    (metric,), (value,) = metrics, values
    names_of_metrics = profile[metric].values
    is_value = profile[value].is_numeric or profile[value].is_verdict
    if not 2 <= len(names_of_metrics) <= MAX_METRICS or not is_value:
        return {}
    if any(map(lower_is_better, names_of_metrics)):
        return {}  # of some less is better, and of others more
    for name in profile.names:
        n_items = profile[name].n_distinct
        is_id = last_names(last_part(name), "id") and LEAST_ROWS <= n_items < profile.n_rows
        if is_id and crosses(profile, [name], metric):
            words = {"scorer": metric, "score": value}
            return words | {"item": name} if counts_runs(last_part(name)) else words
    return {}


def _flags(profile: Profile) -> dict[str, str]:
    """Return the words for what one or more guards flagged, beside what is an attack: is_attack and
    flagged_v1; {} for a table with any other right and wrong."""
    flags, labels = [], []
    for name in profile.names:
        words = set(words_of(last_part(name)))
        if not profile[name].is_verdict or profile[name].n_distinct < 2 or "," in name:
            continue
        if words & _FLAGGED:
            flags.append(name)
        elif words_of(name)[:1] in (("is",), ("should",)) and not words & _SAID:
            labels.append(name)
        else:
            return {}
    if len(labels) != 1 or not flags or any(part_of(name) for name in labels):
        return {}
    if len(flags) == 1:
        return {"text": flags[0], "target": labels[0]}
    columns = {"model_columns": ",".join(flags), "target": labels[0]}
    return columns | {"text": bare_column(flags[0])}


_FLAGGED = frozenset("flag flagged blocked detected caught".split())
_SAID = frozenset("correct right passed ok accurate wrong incorrect".split())


def _runs(profile: Profile) -> list[str]:
    """Return the columns of numbered runs, two or more in a table without other outputs."""
    runs = _numbered(profile, OF_SAMPLE)
    has_output = any(part_of(name) == OUTPUT for name in profile.names if name not in runs)
    return [] if has_output else runs


def _raters(profile: Profile) -> list[str]:
    """Return the columns of numbered raters, if nobody and nothing else graded; [] for none."""
    raters = _numbered(profile, OF_RATER)
    grades = [profile[name] for name in raters]
    unrated = [last_part(name) for name in profile.names if name not in raters]
    has_other = any(names(last, "judge") or names(last, "people") for last in unrated)
    are_ratings = all(column.is_integer and not column.is_verdict for column in grades)
    share_scale = {column.is_unit for column in grades} == {False}
    return raters if share_scale and are_ratings and not has_other else []


def _items(profile: Profile) -> list[str]:
    """Return the columns of items, Q1_1, Q1_2 and so on, with a grade each, where the rows are of
    systems; [] for none."""
    items = _numbered(profile, OF_ITEM)
    has_output = any(part_of(name) == OUTPUT for name in profile.names)
    are_grades = all(_is_grade(profile, name) for name in items)
    return items if _columns_of_systems(profile) and are_grades and not has_output else []


def _columns_of_systems(profile: Profile) -> list[str]:
    """Return the columns that name the system of a row, several rows per system."""
    return [
        name
        for name in profile.names
        if (_is_called_system(last_part(name)) or name.lower() in ("source", "agent"))
        and 2 <= profile[name].n_distinct <= profile.n_rows
    ]


def _numbered(profile: Profile, label: str) -> list[str]:
    """Return the columns that are numbered by runs, raters or items, filled in most rows; [] for
    one or none."""
    columns = []
    for name in profile.names:
        parts = numbered_parts(name)
        if parts and parts[1] == label and "," not in name:
            columns.append(name)
    added = label_columns(columns)
    if len(columns) < 2 or label not in added or not set(added).isdisjoint(profile.names):
        return []
    profiles = [profile[name] for name in columns]
    are_filled = all(column.n_filled >= LEAST_FILLED * profile.n_rows for column in profiles)
    are_cells = not any(column.is_list or column.is_object for column in profiles)
    return columns if are_filled and are_cells else []


def _is_grade(profile: Profile, name: str) -> bool:
    """Tell whether a column holds right and wrong, or whole numbers up to MAX_GRADE."""
    column = profile[name]
    is_small = 0 <= (column.least or 0) and (column.most or 0) <= MAX_GRADE
    return column.is_verdict or (column.is_integer and is_small)


def _systems(profile: Profile) -> list[str]:
    """Return the columns of right and wrong, or of grades of three systems or more, if each is
    called like a system; [] if one is not."""
    systems = []
    for name in profile.names:
        column, last = profile[name], last_part(name)
        words = words_of(last)
        is_fact = any(names(last, kind) for kind in _FACTS) or words[:1] in (("is",), ("has",))
        is_called = "," not in name and (_is_language(name) or _is_system(name))
        if part_of(name) == OUTPUT or names(last, "people"):
            return []
        is_number = bool(_LETTERED.match(name)) and column.is_numeric
        if is_called and (is_number or _is_grade(profile, name)):
            systems.append(name)
        elif column.is_verdict and not is_fact:
            return []
        elif not column.is_verdict and _is_called_system(last):
            return []  # the systems stand in the rows
    if _are_crossed(systems):
        return []  # several grades of each system
    columns = [profile[name] for name in systems]
    are_filled = all(column.n_filled >= LEAST_FILLED * profile.n_rows for column in columns)
    are_verdicts = all(column.is_verdict for column in columns)
    n_languages = sum(map(_is_language, systems))
    if len(systems) < (2 if are_verdicts and not n_languages else MIN_GRADED) or not are_filled:
        return []
    return systems if n_languages in (0, len(systems)) else []


def _are_crossed(names_of_columns: Sequence[str]) -> bool:
    """Tell whether names share beginnings and endings, as Model X Style and Model Y Style do beside
    Model X Logic."""
    words = [words_of(name) for name in names_of_columns]
    beginnings = Counter(name_words[:-1] for name_words in words)
    endings = Counter(name_words[-1:] for name_words in words)
    return max(beginnings.values(), default=0) > 1 and max(endings.values(), default=0) > 1


def _is_language(name: str) -> bool:
    return name.lower() in _LANGUAGES


_LANGUAGES = frozenset(
    "ar bg bn cs da de el en es et fa fi fr hi hr hu id it ja ko lt lv ms nb nl no pl "
    "pt ro ru sk sl sr sv sw ta te th tr uk ur vi zh".split()
)


def _is_called_system(last: str) -> bool:
    return names(last, "model") or names(last, "condition")


def _is_system(name: str) -> bool:
    """Tell whether a name is that of a model, of its stored weights, of a way of asking, or of a
    numbered system."""
    words = [word for word in words_of(name) if not (word.isdigit() or len(word) < 2)]
    if _LETTERED.match(name) or (words and all(names(word, "strategy") for word in words)):
        return True
    judges = [word for word in words if names(word, "judge") and not names(word, "model")]
    if judges or any(any(names(word, kind) for kind in _OF_GRADERS) for word in words):
        return False
    if names(name, "model"):
        return True
    are_kinds = all(names(word, "stored") or names(word, "condition") for word in words)
    return bool(words) and bool(_VERSION.search(name)) and are_kinds
