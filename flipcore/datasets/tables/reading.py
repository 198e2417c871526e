"""A table's reading: the steps in order, and what they leave open as questions.

Nothing is guessed silently. A reading says its items, conditions, runs, right answer, scores and
what it does not use; where two readings are possible and the score depends on it, both are given
with their scores and the words of `--map` that choose them.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from math import nan
from pathlib import Path

from flipcore.datasets.tables.coding import Agreement, Coding, agreement, entries_of
from flipcore.datasets.tables.doubts import find_doubts
from flipcore.datasets.tables.grid import LEAST_ITEMS, Grid, find_grid, is_rater
from flipcore.datasets.tables.load import Table, load
from flipcore.datasets.tables.people import labelled_by
from flipcore.datasets.tables.profile import Profile, profile
from flipcore.datasets.tables.questions import is_answered, open_questions, score_sql
from flipcore.datasets.tables.roles import LOOKED_AT, Roles, find_roles, lone_negatives
from flipcore.datasets.tables.shape import Shape, find_shape, reshape
from flipcore.datasets.tables.stems import last_part, lower_is_better, names, words_of
from flipcore.datasets.tables.table_reading import MATCH, TableReading
from flipcore.text.counts import count_of

MOST_QUESTIONS = 3
# questions about columns come before those that hang on the answer
_ORDER = (
    "systems outputs samples output score match target direction percentages negative condition "
    "rows item"
).split() + ["failed calls"]
MOST_ARMS = 60


def read_table(path: str | Path, words: Mapping[str, str] | None = None) -> TableReading:
    """Read a table by its structure; `words` are what a user said of its columns.

    Raises BadInput for a file without rows.
    """
    words = words or {}
    table = load(path, words.get("sheet", ""))
    with closing(table.connection):
        return read_loaded(table, Path(path).name, words)


def read_loaded(table: Table, file: str, words: Mapping[str, str]) -> TableReading:
    """Read a table that is loaded already."""
    table_profile = profile(table)
    pair = _pair_of_models(table_profile)
    shape = Shape() if pair else _shape(table_profile, words)
    if shape:
        table_profile = profile(reshape(table, shape))
    roles = _of_each_model(find_roles(table_profile), table_profile, table.names)
    roles, shared = _without_shared_scores(roles, table.names if shape.models else ())
    roles = _as_said(roles, words, table_profile)
    grid = find_grid(table_profile, roles)
    grid = _grid_as_said(table_profile, grid, words)
    n_copies = _n_copies(table_profile, grid)
    if n_copies:
        table_profile = profile(_without_copies(table_profile.table))
        grid = replace(grid, n_repeated=0, is_rerun=False)
    roles = _without_item_facts(table_profile, roles, grid)
    reading = TableReading(
        file,
        table_profile.n_rows,
        shape,
        roles,
        grid,
        scores={},
        missing={},
        n_copies=n_copies,
        other_sheets=table.other_sheets,
    )
    refusal = _refusal(table_profile, reading, words, pair)
    if refusal:
        return replace(reading, refusal=refusal)
    reading = _counted(table_profile, reading)
    reading = _scored(table_profile, reading)
    if "reverse" not in words:
        lower = tuple(
            name for name in (*reading.roles.scores, *reading.roles.judges) if lower_is_better(name)
        )
        reading = replace(reading, lower=lower)
    left_out = _left_out(table_profile, reading, table.n_broken)
    reading = replace(reading, unused=_unused(table_profile, reading), left_out=left_out)
    reading = replace(reading, notes=(*_notes(table_profile, reading), *_say_shared(shared)))
    questions = [
        question
        for question in (
            *open_questions(table_profile, reading),
            *find_doubts(table_profile, reading),
        )
        if not is_answered(question, words)
    ]
    questions.sort(key=lambda question: _ORDER.index(question.about))
    return replace(reading, questions=tuple(questions[:MOST_QUESTIONS]))


def _n_copies(table_profile: Profile, grid: Grid) -> int:
    """Count rows that repeat another word for word, where that alone makes rows alike.

    A run that was resumed writes them.
    """
    if not grid.n_repeated or grid.open_item[0] or len(table_profile.cell_sizes(grid.told_by)) == 1:
        return 0
    n_different = table_profile.n_distinct(table_profile.table.names)
    is_told = table_profile.n_distinct(grid.told_by) >= n_different
    return table_profile.n_rows - n_different if is_told else 0


def _without_copies(table: Table) -> Table:
    columns = ", ".join([*table.file, *(table.sql(name) for name in table.names)])
    table.connection.execute(
        f"CREATE TEMP TABLE single AS SELECT min(place) AS place, {columns} FROM {table.relation} "
        f"GROUP BY {columns} ORDER BY place"
    )
    return table.with_relation("single", table.names)


def _shape(table_profile: Profile, words: Mapping[str, str]) -> Shape:
    if "model_columns" in words or "sample_columns" in words:
        return Shape(
            _listed(words.get("model_columns", "")), _listed(words.get("sample_columns", ""))
        )
    return find_shape(table_profile)


def _listed(word: str) -> tuple[str, ...]:
    return tuple(part for part in word.split(",") if part)


def _of_each_model(roles: Roles, table_profile: Profile, before: Sequence[str]) -> Roles:
    """The roles of a table whose rows came apart: what each model has of its own is no part of a
    question.
    """
    of_models = [name for name in roles.contexts if name not in before]
    contexts = tuple(name for name in roles.contexts if name in before)
    return replace(roles, contexts=contexts, output=roles.output or next(iter(of_models), ""))


def _without_shared_scores(roles: Roles, before: Sequence[str]) -> tuple[Roles, tuple[str, ...]]:
    """The roles without scores of a whole row that holds the outputs of several systems, and these
    scores.
    """
    shared = tuple(name for name in (*roles.scores, *roles.judges) if name in before)
    has_own = len(shared) < len((*roles.scores, *roles.judges)) or bool(
        roles.output and roles.target
    )
    if not shared or not has_own:
        return roles, ()
    scores = tuple(name for name in roles.scores if name not in shared)
    judges = tuple(name for name in roles.judges if name not in shared)
    return replace(roles, scores=scores, judges=judges), shared


def _say_shared(shared: Sequence[str]) -> list[str]:
    if not shared:
        return []
    verb = "is a score" if len(shared) == 1 else "are scores"
    return [
        f"{', '.join(shared)} {verb} of the whole row, and of none of its systems alone: not used."
    ]


def _as_said(roles: Roles, words: Mapping[str, str], table_profile: Profile) -> Roles:
    """The roles with those that a user named."""
    if "score" in words:
        chosen = tuple(name for name in _listed(words["score"]) if name in table_profile.columns)
        roles = replace(roles, scores=chosen, judges=(), unnamed_scores=())
    if "people" in words:
        people = tuple(name for name in _listed(words["people"]) if name in table_profile.columns)
        scores = tuple(name for name in roles.scores if name not in people)
        judges = tuple(name for name in roles.judges if name not in people)
        roles = replace(roles, people=people, scores=scores, judges=judges)
    if "missing" in words:
        missing = {float(value) for value in _listed(words["missing"])}
        negatives = lone_negatives(table_profile, roles)
        roles = replace(roles, sentinel=tuple(pair for pair in negatives if pair[1] in missing))
    if "text" in words:
        roles = replace(
            roles,
            output=words["text"] if words["text"] in table_profile.columns else "",
            agreements=(),
        )
    if "target" in words:
        roles = replace(
            roles,
            target=words["target"] if words["target"] in table_profile.columns else "",
            agreements=(),
        )
    if "prompt" in words:
        roles = replace(
            roles,
            prompts=tuple(
                name for name in _listed(words["prompt"]) if name in table_profile.columns
            ),
        )
    return roles


def _grid_as_said(table_profile: Profile, grid: Grid, words: Mapping[str, str]) -> Grid:
    if words.get("item") == "":
        grid = replace(grid, items=(), open_item=("", ""), is_rerun=False, n_repeated=0)
    if words.get("item"):
        items = tuple(name for name in _listed(words["item"]) if name in table_profile.columns)
        grid = replace(grid, items=items or grid.items, open_item=("", ""))
    if "models" in words:
        conditions = tuple(
            name for name in _listed(words["models"]) if name in table_profile.columns
        )
        grid = replace(grid, conditions=conditions, open_condition="")
    if words.get("sample") in table_profile.columns:
        grid = replace(grid, run=words["sample"], open_condition="")
    return grid


def _without_item_facts(table_profile: Profile, roles: Roles, grid: Grid) -> Roles:
    """Drop numbers that the item alone decides, where another score stands beside them."""
    if not grid.items or len(roles.scores) < 2 or not (grid.conditions or grid.run):
        return roles
    kept = tuple(
        name
        for name in roles.scores
        if table_profile[name].n_distinct <= 1 or not table_profile.follows(grid.items, name)
    )
    return replace(roles, scores=kept or roles.scores)


# Step 4: what is no table of outputs or scores.


def _refusal(
    table_profile: Profile,
    reading: TableReading,
    words: Mapping[str, str],
    pair: tuple[str, str] | None,
) -> str:
    roles, grid = reading.roles, reading.grid
    named = ", ".join(name[:40] for name in table_profile.names[:12])
    columns = f" The columns are {named}{' …' if len(table_profile.names) > 12 else ''}."
    if words.get("score") or words.get("text"):
        return ""
    if pair and not roles.scores:
        return (
            f"Each row compares two outputs ({pair[0]} and {pair[1]}) and names a winner; a "
            "comparison is no score of "
            f"either.{columns} Give a table with a score or an output per row, or name the "
            "score: --map score=COLUMN."
        )
    systems = _systems_of_means(table_profile, reading)
    if systems and not words.get("item"):
        value, plural = ("value", "values") if len(systems) == 1 else ("pair", "pairs")
        return (
            f"Each row holds one {value} of {' and '.join(systems)}: a ranking of "
            f"means, not of questions.{columns} Give the table with a row per question and "
            f"{systems[0]}. If each of these {plural} is a question: --map item=COLUMN."
        )
    has_read = bool(roles.output or roles.readouts or roles.graders)
    if not has_read:
        return ""  # the reader of rows says what is missing
    has_id = any(name in table_profile.columns and names(name, "id") for name in grid.items)
    if table_profile.n_rows < LEAST_ITEMS and not (roles.output or roles.prompts or has_id):
        return (
            f"The table has {table_profile.n_rows} row{'' if table_profile.n_rows == 1 else 's'} "
            "of bare scores; that is a summary, and no score "
            f"has an error bar from it.{columns} Give the table with a row per question."
        )
    sizes = [name for name in table_profile.names if _is_sample_size(table_profile, name)]
    if sizes and not (roles.output or roles.readouts or roles.prompts):
        return (
            f"Each row is a summary: {sizes[0]} says of how many questions it is.{columns} Give "
            "the table with a row "
            "per question."
        )
    metrics = [
        name
        for name in table_profile.names
        if name.lower() in ("metric", "metric_name")
        and table_profile[name].n_distinct == table_profile.n_rows
    ]
    if metrics and not roles.output:
        return (
            f"Each row is a metric ({metrics[0]}): a summary, not a table of "
            f"questions.{columns} Give the rows behind it."
        )
    return ""


def _systems_of_means(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    """The columns of which each row is one value, where its scores are means of that system.

    Such are one column of models, or systems under several settings or on several sets of
    questions, where no column names a question.
    """
    roles, items = reading.roles, reading.grid.items
    if roles.output or roles.readouts or roles.prompts or roles.people:
        return ()
    n_rows = table_profile.n_rows
    means = [
        table_profile[name]
        for name in roles.graders or table_profile.names
        if name in roles.graders
        or (table_profile[name].is_numeric and not table_profile[name].is_integer)
    ]
    if n_rows < 2 or not means or not all(column.is_numeric for column in means):
        return ()
    models = [name for name in table_profile.names if names(name, "model")]
    models = [name for name in models if table_profile[name].n_distinct == n_rows]
    if models and items in ((), tuple(models[:1])):
        return tuple(models[:1])
    if any(column.is_integer or column.is_verdict for column in means):
        return ()  # right and wrong, or grades of one answer
    parts = [last_part(name) for name in items]
    if not all(names(part, "condition") or _SETS & set(words_of(part)[-1:]) for part in parts):
        return ()  # a column names a question
    conditions = [name for name in reading.grid.conditions if name not in items]
    if not conditions or table_profile.n_distinct([*items, *conditions]) == n_rows:
        return (*conditions, *items) if conditions else ()
    names_in_use = {*roles.taken, *items, *conditions}
    for name in (name for name in table_profile.names if name not in names_in_use):
        column = table_profile[name]
        is_level = 2 <= column.n_distinct <= n_rows / 2 and not (column.is_list or column.is_text)
        if is_level and table_profile.n_distinct([*items, *conditions, name]) == n_rows:
            return (*conditions, *items, name)
    return ()


# sets of questions, whose rows are means over them
_SETS = set(
    "benchmark benchmarks dataset datasets subset split subject language lang domain".split()
)


def _is_sample_size(table_profile: Profile, name: str) -> bool:
    """Tell whether a column says how many questions a row of means is of: n_claims, num_samples."""
    first, *column_words = words_of(last_part(name)) or ("",)
    column = table_profile[name]
    is_count = column.is_integer and (column.least or 0) >= LEAST_ITEMS
    return (
        is_count
        and first in ("n", "num", "number")
        and len(column_words) == 1
        and column_words[0] in _COUNTED
    )


_COUNTED = set(
    "claims questions examples items instances problems tasks cases samples prompts rows".split()
)


def _pair_of_models(table_profile: Profile) -> tuple[str, str] | None:
    """The two columns of models or outputs that a row compares, with a column that says who won."""
    if not any(names(name, "pairwise") for name in table_profile.names):
        return None
    ends: dict[tuple[str, ...], dict[str, str]] = {}
    for name in table_profile.names:
        words = words_of(name)
        if (
            words
            and words[-1] in ("a", "b", "1", "2")
            and (names(name, "model") or names(name, "output"))
        ):
            ends.setdefault(words[:-1], {})[words[-1]] = name
    for arm_rows in ends.values():
        for first, second in (("a", "b"), ("1", "2")):
            if first in arm_rows and second in arm_rows:
                return arm_rows[first], arm_rows[second]
    return None


# Counts and scores.


def _counted(table_profile: Profile, reading: TableReading) -> TableReading:
    grid, roles = reading.grid, reading.roles
    n_items = table_profile.n_distinct(grid.items) if grid.items else table_profile.n_rows
    conditions = tuple(name for name in grid.conditions if name not in grid.items)
    n_conditions = table_profile.n_levels(conditions) if conditions else 1
    told_by = [*grid.items, *conditions, *grid.variants, *filter(None, [grid.scorer])]
    n_told = table_profile.n_distinct(told_by) if grid.items else table_profile.n_rows
    n_runs = 1
    if grid.run or grid.is_rerun:
        n_runs = max(1, round(table_profile.n_rows / max(1, n_told)))
    named = [
        name
        for name in table_profile.names
        if name not in roles.taken and _names_one_model(table_profile, name)
    ]
    model = (
        table_profile[named[0]].values[0]
        if named and not conditions and table_profile[named[0]].values
        else ""
    )
    coding = roles.agreements[0].coding if roles.agreements else None
    return replace(
        reading,
        n_items=n_items,
        n_conditions=n_conditions,
        n_runs=n_runs,
        n_clusters=tuple(table_profile[name].n_distinct for name in grid.clusters),
        coding=coding,
        model=model,
        model_column=named[0] if model else "",
        columns=table_profile.names,
        named_models=_named_models(table_profile, reading, conditions or tuple(named[:1])),
        n_files=table_profile.table.n_files,
        models_of_files=_models_of_files(table_profile, reading, conditions or tuple(named[:1])),
        labelled=labelled_by(table_profile, roles),
        alike=_alike(table_profile, reading, n_items),
        letters=_letters(table_profile, reading, coding),
        missing={
            name: table_profile.n_rows - table_profile[name].n_filled for name in roles.graders
        },
    )


def _names_one_model(table_profile: Profile, name: str) -> bool:
    """Tell whether every row names the same model: in a column called like one, or a word in
    `system`.
    """
    column, last = table_profile[name], last_part(name)
    if not column.is_constant or not column.values:
        return False
    is_word = " " not in column.values[0].strip()  # a text there is a system prompt
    return names(last, "model") or (last.lower() == "system" and is_word)


def _named_models(
    table_profile: Profile, reading: TableReading, columns: Sequence[str]
) -> frozenset[str]:
    """Models that answered, by the rows of a table without a column per model."""
    if not columns or reading.shape.models:
        return frozenset()
    label = f"concat_ws(', ', {', '.join(table_profile.table.sql(name) for name in columns)})"
    return frozenset(
        row[0]
        for row in table_profile.table.rows(
            f"SELECT DISTINCT {label} FROM {table_profile.table.relation} LIMIT 1000"
        )
    )


def _models_of_files(
    table_profile: Profile, reading: TableReading, columns: Sequence[str]
) -> dict[int, frozenset[str]]:
    """Models that answered in each of several files that are staged as one table."""
    if not columns or reading.shape.models or not table_profile.table.file:
        return {}
    label = f"concat_ws(', ', {', '.join(table_profile.table.sql(name) for name in columns)})"
    rows = table_profile.table.rows(
        f"SELECT file, list(DISTINCT {label}) FROM {table_profile.table.relation} GROUP BY file"
    )
    return {number: frozenset(labels) for number, labels in rows}


def _alike(table_profile: Profile, reading: TableReading, n_items: int) -> frozenset[str]:
    """The columns that part the rows as the items do: other ids, the question."""
    items = reading.grid.items
    near = [
        name
        for name in table_profile.names
        if abs(table_profile.n_values(name) - n_items) <= 0.01 * n_items + 0.5
    ]
    return frozenset(
        name
        for name in near
        if items and table_profile.follows(items, name) and table_profile.follows([name], items[0])
    )


def _letters(
    table_profile: Profile, reading: TableReading, coding: Coding | None
) -> frozenset[str]:
    target = reading.roles.target
    if target and coding is not Coding.LETTER_OR_TEXT:
        sql = table_profile.table.sql(target)
        label = f"regexp_extract(trim({sql}), '^[(]?([^().:]{{1,2}})[).:]?$', 1)"
        source = f"{table_profile.table.relation} WHERE {sql} IS NOT NULL"
        query = f"SELECT DISTINCT {label} FROM {source} LIMIT 40"
        return frozenset(row[0] for row in table_profile.table.rows(query))
    if coding is not Coding.LETTER_OR_TEXT:
        return frozenset()
    cells = table_profile.table.frame([reading.roles.target], most=LOOKED_AT)
    letters: set[str] = set()
    for row in cells:
        entries = [entry.strip() for entry in entries_of(row[reading.roles.target])]
        letters.update(entry for entry in entries if len(entry) == 1 and entry.isupper())
    return frozenset(letters)


def _scored(table_profile: Profile, reading: TableReading) -> TableReading:
    """The mean of each grader by arm, and of the outputs that agree with the key."""
    conditions = list(reading.grid.conditions)
    roles, table = reading.roles, table_profile.table
    sentinels = dict(roles.sentinel)
    scores: dict[tuple[str, str], float] = {}
    arm = (
        "concat_ws(', ', " + ", ".join(table.sql(name) for name in conditions) + ")"
        if conditions
        else "''"
    )
    arms: dict[str, None] = {}
    if roles.graders:
        means = ", ".join(
            f"avg({score_sql(table.sql(name), sentinels.get(name))})" for name in roles.graders
        )
        for label, *values in table.rows(
            f"SELECT {arm}, {means} FROM {table.relation} GROUP BY 1 ORDER BY min(place) LIMIT "
            f"{MOST_ARMS}"
        ):
            arms[label] = None
            for name, value in zip(roles.graders, values, strict=True):
                scores[label, name] = nan if value is None else float(value)
    is_compared = reading.coding is not None and not reading.has_long_key
    if roles.output and roles.target and table.is_whole and is_compared:
        columns = list(dict.fromkeys([*conditions, roles.output, roles.target, *roles.options]))
        rows = table.frame(columns, most=max(LOOKED_AT, 20_000))
        by_arm: dict[str, list[Mapping[str, str | None]]] = {}
        for row in rows:
            by_arm.setdefault(", ".join(row[name] or "" for name in conditions), []).append(row)
        for label, arm_rows in by_arm.items():
            arms[label] = None
            scores[label, MATCH] = _match(roles, arm_rows).share
    return replace(reading, scores=scores, arms=tuple(arms) if conditions else ())


def _match(roles: Roles, rows: Sequence[Mapping[str, str | None]]) -> Agreement:
    best = max(
        roles.agreements,
        key=lambda agreed: (
            agreed.coding is not Coding.LONG_TEXT,
            agreed.share == agreed.share and agreed.share,
        ),
    )
    return agreement(best.coding, rows, roles.output, roles.target, roles.options)


def _unused(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    used = {
        reading.grid.regrade,
        *reading.roles.taken,
        *reading.roles.errors,
        *reading.grid.told_by,
        *reading.grid.clusters,
        *reading.grid.content,
    }
    constant = [
        name
        for name in table_profile.names
        if names(last_part(name), "model") and table_profile[name].is_constant
    ]
    return tuple(name for name in table_profile.names if name not in used and name not in constant)


def _left_out(table_profile: Profile, reading: TableReading, n_broken: int) -> tuple[str, ...]:
    """The rows that count nowhere, with the reason."""
    said = []
    if n_broken:
        said.append(f"{count_of(n_broken, 'row')} that could not be read")
    if reading.n_copies:
        repeat = "repeats" if reading.n_copies == 1 else "repeat"
        said.append(f"{count_of(reading.n_copies, 'row')} that {repeat} another word for word")
    for name, value in reading.roles.sentinel:
        sql = table_profile.table.sql(name)
        n = table_profile.table.rows(
            f"SELECT count(*) FROM {table_profile.table.relation} WHERE TRY_CAST({sql} AS "
            f"DOUBLE) = {value}"
        )[0][0]
        said.append(
            f"{count_of(n, 'row')} of {table_profile.n_rows:,} with {name} {value:g}, which is "
            "no grade"
        )
    return tuple(said)


def _notes(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    """Sentences on what was seen on the way."""
    roles, grid = reading.roles, reading.grid
    notes = [f"Left out: {rows}." for rows in reading.left_out]
    if reading.has_long_key:
        notes.append(
            f"{roles.target} holds long texts, which no output repeats word for word; they make "
            "no score."
        )
    for name, n_missing in reading.missing.items():
        if n_missing and name not in roles.people:
            notes.append(f"{name}: {n_missing:,} of {table_profile.n_rows:,} rows hold no score.")
    if grid.is_rerun:
        notes.append(
            f"No column tells the {reading.n_runs} rows of a question apart; they are read as "
            "reruns."
        )
    elif grid.n_repeated and not grid.open_item[0]:
        notes.append(
            f"{grid.n_repeated:,} questions stand in several rows that no column tells apart."
        )
    if grid.run and is_rater(grid.run):
        notes.append(
            f"{grid.run} says who rated: the {reading.n_runs} rows of a question are ratings by "
            "several people, and no reruns."
        )
    if grid.regrade:
        notes.append(
            f"{grid.regrade} counts grades of one output: they are told apart as graders, and "
            "are no reruns."
        )
    if reading.shape.lists:
        any_of = [
            name
            for name in roles.scores
            if table_profile[name].is_verdict and name not in reading.shape.lists
        ]
        if any_of and len(roles.scores) > len(any_of):
            notes.append(
                f"{any_of[0]} says whether any of the samples is right (pass@k); the score is "
                "the mean over samples."
            )
    if roles.people and (roles.scores or roles.judges):
        main_score = (*roles.scores, *roles.judges)[0]
        notes.append(
            f"{roles.people[0]} is people's labels beside {main_score}: no score of its own. "
            "Another column: --map people=COLUMN."
        )
    return tuple(notes)
