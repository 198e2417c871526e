"""Ask about readings that are not of an ordinary kind.

Of tables that people made by hand, about a quarter of those that raised no doubt were read wrongly.
Nearly all of these had one of a few marks: several scores of different kinds, a score that is the
same in all rows, systems in columns that nobody knows as systems, entries of lists as runs. A table
without these marks is read without a question; a table with one is asked about, even if nothing in
it contradicts the reading. It is asked last, and not of a user who named a column.
"""

from collections.abc import Iterator

from flipcore.datasets.tables.grid import is_rater
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.questions import arm_scores, listed_columns, mean_of, overall
from flipcore.datasets.tables.roles import SHARES, STEPS_BEFORE
from flipcore.datasets.tables.shape import CONTRASTED
from flipcore.datasets.tables.stems import last_part, names, names_right, words_of
from flipcore.datasets.tables.table_reading import Choice, Question, TableReading

SURPRISING = 5  # rows; in so many, it is surprising if all are right
MAX_SCALE = 100  # the largest number of an ordinary grade
COARSER = 0.9  # most values per question of an id that may count the questions instead
MAX_PER_ID = 20  # questions; an id of more counts groups of them


def unusual_parts(table_profile: Profile, reading: TableReading) -> list[Question]:
    """List questions about the parts of a reading that are not of an ordinary kind."""
    if not reading.scores:
        return []  # no number is claimed
    return list(_unusual(table_profile, reading))


def _unusual(table_profile: Profile, reading: TableReading) -> Iterator[Question]:
    for ask in (
        _ask_columns,
        _ask_outputs,
        _ask_lists,
        _ask_lead,
        _ask_scale,
        _ask_items,
        _ask_run,
    ):
        if question := ask(table_profile, reading):
            yield question


def _ask_columns(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether columns belong to systems, if no list knows these systems."""
    models = reading.shape.models
    has_scores = bool(reading.roles.output and reading.roles.graders)  # of each system
    if not models or has_scores or reading.shape.is_plain or any(map(_is_known, models)):
        return None
    outputs = reading.made_from.get(reading.roles.output, ())
    words = ("model_columns=", *(f"text={name}" for name in outputs[:1]))
    none = f"There is one system; {outputs[0]} is its output." if outputs else "They are none."
    return Question(
        "systems",
        f"Columns are read as those of {len(models)} systems, {listed_columns(models)}.",
        Choice(
            f"They are {len(models)} systems.",
            (f"model_columns={','.join(models)}",),
            overall(reading),
        ),
        Choice(none, words),
    )


def _ask_outputs(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether outputs under the keys of one object are of several systems."""
    roles = reading.roles
    if not roles.output or reading.shape:
        return None
    outputs = [roles.output, *roles.readouts]
    parents = {name.rpartition(".")[0] for name in outputs}
    parent = parents.pop()
    if len(outputs) < 2 or parents or not names(parent, "output"):
        return None
    lasts = [last_part(name) for name in outputs]
    if any(names(last, "readout") or names(last, "answer") for last in lasts):
        return None
    keys = [name.rpartition(".")[2] for name in outputs]
    return Question(
        "outputs",
        f"{parent} holds {len(outputs)} outputs, {listed_columns(keys)}.",
        Choice(
            f"They are of {len(outputs)} systems; each has a score of its own.",
            (f"model_columns={','.join(outputs)}",),
        ),
        Choice(f"{roles.output} is the output.", (f"text={roles.output}",), overall(reading)),
    )


def _is_known(system: str) -> bool:
    """Tell whether a name is that of a system: a model, a method, or one side of a contrast."""
    is_listed = any(names(system, kind) for kind in ("model", "condition", "setting"))
    # organisation/model
    return is_listed or "/" in system or not CONTRASTED.isdisjoint(words_of(system))


def _ask_lists(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether entries of lists are runs, unless the list is called after runs or outputs."""
    lists = reading.shape.lists
    kinds = ("run", "output", "answer")
    known_kinds = [kind for kind in kinds if any(names(name, kind) for name in lists)]
    if not lists or known_kinds:
        return None
    return Question(
        "samples",
        f"Entries of {listed_columns(lists)} are read as runs.",
        Choice(
            "Each entry is another run of its row.",
            (f"sample_columns={','.join(lists)}",),
            overall(reading),
        ),
        Choice("The entries are no runs.", ("sample_columns=",)),
    )


def _ask_lead(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask which of several kinds of scores leads, unless the leading one says what is right."""
    graders = reading.roles.graders
    if len(graders) < 2 or reading.roles.people:
        return None
    if all(names(last_part(name), "likeness") for name in graders):
        return None  # the first of them leads, and is named wherever it does
    lead, lead_scale = graders[0], _scale(table_profile, graders[0])
    if table_profile[lead].is_verdict and any(map(names_right, lead.split("."))):
        return None
    other_scores = [
        name
        for name in graders[1:]
        if (names_right(name) and table_profile[name].is_verdict)
        or _scale(table_profile, name) != lead_scale
        or (_is_about_search(lead) and not _is_about_search(name))
    ]
    if not other_scores:
        return None
    return Question(
        "score",
        f"{listed_columns(graders)} are scores of several kinds.",
        Choice(f"{lead} leads.", (f"score={','.join(graders)}",), overall(reading)),
        Choice(
            f"{other_scores[0]} is the score.",
            (f"score={other_scores[0]}",),
            mean_of(table_profile, other_scores[0]),
        ),
    )


def _scale(table_profile: Profile, name: str) -> str:
    column = table_profile[name]
    return "0 to 1" if column.is_verdict or column.is_unit else "more"


def _is_about_search(name: str) -> bool:
    """Tell whether a score is called after what a search returned, and not after the output."""
    return not _OF_SEARCH.isdisjoint(words_of(name))


_CODED = (("verdict",), ("outcome",), ("status",), ("result",), ("label",), ("judgement",))
MAX_CODES = 5
_LIKENESS = frozenset("similarity sim distance cosine overlap".split())
_OF_SEARCH = STEPS_BEFORE | SHARES | {"retrieved"}


def _ask_scale(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about a leading score that is 1 in all rows, that people gave to no output, or whose
    numbers are no ordinary grades."""
    roles, lead = reading.roles, next(iter(reading.roles.graders), "")
    if not lead:
        return None
    column, mean = table_profile[lead], mean_of(table_profile, lead)
    is_same = column.is_verdict and mean == 1 and not names_right(lead)
    is_grade = -1 <= (column.least or 0) <= (column.most or 0) <= MAX_SCALE
    has_systems = bool(roles.output or reading.grid.conditions or reading.shape)
    is_likeness = not _LIKENESS.isdisjoint(words_of(last_part(lead))) and not roles.target
    is_of_items = lead in roles.people and not has_systems
    is_code = words_of(last_part(lead))[-1:] in _CODED and column.is_integer
    if is_code and not column.is_verdict and 3 <= column.n_distinct <= MAX_CODES:
        return Question(
            "score",
            f"{lead} holds {', '.join(sorted(column.values))}, and nothing says what they mean.",
            Choice("They are grades, and more is better.", (f"score={lead}",), mean),
            Choice(
                "They are codes: nothing is read until they are right, wrong or a number.",
                ("score=",),
            ),
        )
    if is_same and table_profile.n_rows >= SURPRISING:
        seen = f"{lead} is the score, and it is 1 in every row."
    elif is_of_items:
        seen = f"{lead} is the score by its name, and no column holds an output or a system."
    elif is_likeness:
        seen = f"{lead} is the score, and no column holds what an output would be similar to."
    elif not (column.is_verdict or is_grade):
        seen = f"{lead} is the score, with numbers from {column.least:g} to {column.most:g}."
    else:
        return None
    return Question(
        "score",
        seen,
        Choice(f"{lead} is the score.", (f"score={lead}",), mean),
        Choice(f"{lead} is no score.", ("score=", "people=") if roles.people else ("score=",)),
    )


def _ask_items(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether an id that several questions have in common counts the questions."""
    items = reading.grid.items
    if reading.shape or any(names(last_part(name), "id") for name in items):
        return None
    for name in reading.unused:
        n_ids = table_profile[name].n_distinct
        is_count = words_of(last_part(name))[:1] in (("n",), ("num",), ("count",))
        is_id = (
            names(last_part(name), "id") and not is_count and 1 < n_ids <= COARSER * reading.n_items
        )
        target = reading.roles.target
        if is_id and target and not table_profile.follows([name], target):
            continue  # ids that begin anew: other questions with other right answers
        if is_id and _is_id_of_parts(table_profile, reading, name):
            continue
        if is_id and not names(name, "about") and n_ids > reading.n_items / MAX_PER_ID:
            return Question(
                "item",
                f"{reading.n_items:,} questions differ in {listed_columns(items)}, and {name} has "
                f"{n_ids:,} values.",
                Choice(f"{reading.n_items:,} questions.", (f"item={','.join(items)}",)),
                Choice(f"{n_ids:,} questions, one for each {name}.", (f"item={name}",)),
            )
    return None


def _is_id_of_parts(table_profile: Profile, reading: TableReading, name: str) -> bool:
    """Tell whether an id counts the systems, or begins anew in each document of the items."""
    grid = reading.grid
    if grid.conditions and table_profile.follows(grid.conditions, name):
        return True
    within = [[part, name] for part in grid.items if len(grid.items) > 1]
    return any(table_profile.n_distinct(pair) >= reading.n_items for pair in within)


def _ask_run(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether whole numbers count reruns, unless their name says so."""
    grid = reading.grid
    run, last = grid.run, last_part(grid.run)
    if run not in table_profile.columns or grid.regrade or not table_profile[run].is_integer:
        return None
    if names(last, "run") or names(last, "judge") or is_rater(run) or "order" in words_of(last):
        return None
    column = table_profile[run]
    return Question(
        "condition",
        f"Rows of one question differ in {run} ({', '.join(column.values[:4])}).",
        Choice(f"{run} counts reruns of one system.", (f"sample={run}",), overall(reading)),
        Choice(
            f"{run} names {column.n_distinct} systems or settings"
            f"{arm_scores(table_profile, reading, run)}.",
            (f"models={','.join([*grid.conditions, run])}",),
        ),
    )
