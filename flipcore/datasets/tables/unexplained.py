"""Ask about columns that a reading leaves without a role and that could change a number.

The other questions name a second reading of which there are signs. This one needs no sign: a table
has one obvious reading only if nothing else in it looks like a score, a system, an output or a
right answer. It is asked last, and not of a user who named a column: whoever does so has seen how
the table was read.
"""

import re
from itertools import chain
from math import nan

from flipcore.datasets.tables.coding import Coding
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.questions import (
    arm_scores,
    is_held_by,
    listed_columns,
    mean_of,
    overall,
)
from flipcore.datasets.tables.roles import OUTPUT, PROMPT, TARGET, is_overall, part_of
from flipcore.datasets.tables.shape import KEY_VALUES
from flipcore.datasets.tables.stems import is_known_word, last_names, last_part, names, words_of
from flipcore.datasets.tables.table_reading import Choice, Question, TableReading

# kinds of names whose columns change no number: remarks, settings, what the item is about
HARMLESS = (
    "about id run error configuration subject cluster task part context options scorer surroundings"
).split()
_COUNTS = frozenset("n c k".split())
_PASS_AT_K = re.compile(r"pass(@|_at_)\d+")
MAX_LEVELS = 12  # values of a column in words that may be systems or settings
MAX_GRADE = 10  # a whole number up to this may be a grade
# right answers that a comparison finds without doubt
PLAIN_CODINGS = (Coding.LETTER, Coding.LETTERS, Coding.SAME_VALUE, Coding.LABEL, Coding.NUMBER)


def ask_unexplained(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether columns without a role have none. None if there are no such columns."""
    if question := _ask_further_systems(table_profile, reading):
        return question
    roles_by_name: dict[str, str] = {}  # column -> the role that it might have
    for name in dict.fromkeys((*reading.roles.unnamed_scores, *reading.unused)):
        role = "" if _is_explained(table_profile, reading, name) else _role(table_profile, name)
        if not role and _is_last_resort(table_profile, reading, name):
            role = "score"
        if role and _could_matter(table_profile, reading, role):
            roles_by_name[name] = role
    if not roles_by_name:
        return None
    first = min(roles_by_name, key=lambda name: _ROLES.index(roles_by_name[name]))
    role = roles_by_name[first]
    says = {
        "score": f"{first} is the score.",
        "target": f"{first} is the right answer.",
        "text": f"{first} is the output.",
        "prompt": f"{first} is the question.",
        "models": f"{first} names systems or settings{arm_scores(table_profile, reading, first)}.",
    }[role]
    score = mean_of(table_profile, first) if role == "score" else nan
    verb = "has" if len(roles_by_name) == 1 else "have"
    if role == "score" and not reading.scores:
        return Question(
            "score",
            f"No column is called like a score; {first} may be one.",
            Choice(says, (f"{role}={first}",), score),
            Choice("It is no score; no row has one.", ("unused=yes",)),
        )
    return Question(
        "unused",
        f"{listed_columns(list(roles_by_name))} {verb} no role in this reading.",
        Choice("The reading above is right.", ("unused=yes",), overall(reading)),
        Choice(says, (f"{role}={first}",), score),
    )


_ROLES = ("score", "target", "text", "prompt", "models")  # what matters most comes first


def _ask_further_systems(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether columns like those of systems, values of right answers or texts, are systems."""
    models, target = reading.shape.models, reading.roles.target
    if not models or not table_profile.table.is_whole:
        return None
    if set(models) != set(reading.made_from.get(reading.roles.output, ())):
        return None  # a system has several columns, and another one would have them too
    further = []
    for name in reading.unused:
        if "," in name or table_profile[name].n_distinct < 2:
            continue
        if target and table_profile.share_in(name, target) >= KEY_VALUES:
            further.append(name)
        elif not target and _is_another_text(table_profile, reading, name):
            further.append(name)
    if not further:
        return None
    alike = f"values of {target}" if target else "texts"
    hold = "holds" if len(further) == 1 else "hold"
    all_models = ",".join([*models, *further])
    n_systems = len(models) + len(further)
    return Question(
        "unused",
        f"{listed_columns(further)} {hold} {alike} too.",
        Choice(f"There are {len(models)} systems.", ("unused=yes",), overall(reading)),
        Choice(f"There are {n_systems} systems.", (f"model_columns={all_models}",)),
    )


def _is_another_text(table_profile: Profile, reading: TableReading, name: str) -> bool:
    """Tell whether a column holds texts, and has a word in common with a system's name."""
    words = set(chain.from_iterable(map(words_of, reading.shape.models)))
    is_called = any(names(name, kind) for kind in (*HARMLESS, "prompt", "people", "judge"))
    has_common_word = not words.isdisjoint(words_of(name)) and not is_called
    return has_common_word and table_profile[name].is_text and not part_of(name)


def _is_last_resort(table_profile: Profile, reading: TableReading, name: str) -> bool:
    """Tell whether a column holds numbers, in a table without scores and outputs to compare."""
    column, last = table_profile[name], last_part(name)
    if reading.scores or reading.roles.target or not column.is_numeric or column.n_distinct < 3:
        return False
    return not (_is_explained(table_profile, reading, name) or names(last, "certainty"))


def _could_matter(table_profile: Profile, reading: TableReading, role: str) -> bool:
    """Tell whether a column of a role could change what the reading claims."""
    if role == "score":
        return not _has_plain_score(table_profile, reading)
    if role == "models":
        return bool(reading.scores)
    return True


def _has_plain_score(table_profile: Profile, reading: TableReading) -> bool:
    """Tell whether the score is right or wrong by its name, or compares answers of few words."""
    lead = next(iter(reading.roles.graders), "")
    if not lead:
        return bool(reading.scores) and reading.coding in PLAIN_CODINGS
    if is_overall(lead) or ("/" in lead and table_profile[lead].is_ratio):
        return True
    if last_names(last_part(lead), "error_rate"):
        return True
    return table_profile[lead].is_verdict and all(map(is_known_word, words_of(last_part(lead))))


def _is_explained(table_profile: Profile, reading: TableReading, name: str) -> bool:
    """Tell whether a column says nothing new: by its name, or since it follows from others."""
    column, grid, roles = table_profile[name], reading.grid, reading.roles
    last = last_part(name)
    if column.n_distinct <= 1 or "," in name or column.is_list or column.is_object:
        return True
    lead = next(iter(roles.graders), "")
    if lead and table_profile[lead].is_verdict and not column.is_numeric:
        if not column.is_verdict and table_profile.follows([name], lead):
            return True  # how it was right or wrong: "passed", "timed out"
    if last in _COUNTS and any(map(_PASS_AT_K.match, roles.graders)):
        return True  # of n samples, c are right
    is_detail = "." in name and names(name.rpartition(".")[0], "about")
    if is_detail or any(names(last, kind) for kind in HARMLESS) or last.lower().endswith("_at"):
        return True
    if column.is_integer and column.n_distinct == table_profile.n_rows:
        return True  # it numbers the rows
    parts = grid.items if len(grid.items) > 1 else ()
    if any(table_profile.follows([part], name) for part in parts):
        return True  # a fact about the document that a field was extracted from
    if grid.items and reading.n_items < table_profile.n_rows and not reading.shape.lists:
        if table_profile.follows(grid.items, name):
            return True  # a fact about the question
        if grid.conditions and table_profile.follows(grid.conditions, name):
            return True  # a fact about the system
    sources = [source for source in (roles.output, roles.target, *roles.prompts[:1]) if source]
    for source in sources:
        repeats = 2 * table_profile[source].n_distinct <= table_profile.n_rows
        if repeats and table_profile.follows([source], name):
            return True  # another spelling of it
        if column.is_numeric:
            continue
        if is_held_by(table_profile, name, source) or is_held_by(table_profile, source, name):
            return True
    return False


def _role(table_profile: Profile, name: str) -> str:
    """Return the role that a column might have as a key of `--map`; "" for none."""
    column = table_profile[name]
    is_grade = (
        column.is_integer
        and column.least is not None
        and 0 <= column.least
        and column.most is not None
        and column.most <= MAX_GRADE
    )
    is_number = column.is_numeric and (column.is_unit or is_grade or names(name, "score"))
    if column.is_verdict or column.is_ratio or is_number:
        return "score"
    if column.is_numeric:
        return ""
    part = part_of(name)
    if part in (TARGET, OUTPUT, PROMPT):
        return {TARGET: "target", OUTPUT: "text", PROMPT: "prompt"}[part]
    if words_of(name)[-1:] in (("severity",), ("priority",), ("urgency",)):
        return ""  # of what a question or an output is about
    is_level = 2 <= column.n_distinct <= min(MAX_LEVELS, table_profile.n_rows / 2)
    return "models" if is_level and not column.is_text else ""
