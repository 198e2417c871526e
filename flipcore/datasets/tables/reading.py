"""Read a table: `read_loaded` takes all steps, and lists the questions that they leave open.

Nothing is guessed silently. A reading lists its items, conditions, runs, right answer, scores and
unused columns. The grid has the columns that tell the rows apart: those of items, conditions,
variants and runs. A condition is a column whose values, such as models or settings, are compared.
An arm is one combination of these values. If two readings are possible and the score depends on the
choice, a question offers both, each with its score and the words of `--map` that choose it. At most
`MAX_QUESTIONS` are asked at a time; others follow when these are answered.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

from flipcore.datasets.reading.rows import MAX_SUMS, SUMMARY_ROWS
from flipcore.datasets.tables.coding import Agreement, Coding, agreement, entries_of
from flipcore.datasets.tables.doubts import find_doubts
from flipcore.datasets.tables.grid import (
    LEAST_ITEMS,
    Grid,
    are_reruns,
    find_grid,
    n_with_differing_target,
)
from flipcore.datasets.tables.load import Table, load
from flipcore.datasets.tables.own_columns import bare_column, own_key
from flipcore.datasets.tables.people import labelled_by
from flipcore.datasets.tables.plain_layouts import implied_words
from flipcore.datasets.tables.profile import Profile, profile
from flipcore.datasets.tables.questions import (
    is_answered,
    listed_columns,
    open_questions,
    overall,
    score_sql,
)
from flipcore.datasets.tables.roles import (
    LOOKED_AT,
    OUTPUT,
    READ_OUT,
    Roles,
    find_roles,
    lone_negatives,
    part_of,
    with_output,
)
from flipcore.datasets.tables.shape import Shape, find_shape, reshape
from flipcore.datasets.tables.stems import last_part, lower_is_better, names, words_of
from flipcore.datasets.tables.table_reading import MATCH, Question, TableReading
from flipcore.datasets.tables.turns import PROMPT, RESPONSE
from flipcore.datasets.tables.unexplained import ask_unexplained
from flipcore.datasets.tables.unusual import unusual_parts
from flipcore.text.answers import canonical_number
from flipcore.text.counts import count_of

MAX_QUESTIONS = 3
LEAST_ROWS = 5  # of a table whose last row may sum up the others
# questions about columns come before those that depend on the reply to them
_ORDER = (
    "systems outputs samples output score match target direction percentages negative condition "
    "rows item unused"
).split() + ["failed calls"]
DIFFERENT_ANSWERS = 1.2  # least answers per question that are outputs, if no column is the output
_OF_COLUMNS, _OF_SCALES = ("systems", "outputs"), ("direction", "percentages", "negative")
# words of `--map` that name a column: whoever does so has seen how the table was read
_NAMED = set("score text target prompt options people item sample scorer models".split()) | {
    "model_columns",
    "sample_columns",
    "read",
}
MAX_ARMS = 60  # most arms whose scores are computed
MANY_KEYS = 10  # from so many keys of objects in objects on, a single row is a summary
MAX_SCORED = 20_000  # most rows whose outputs are compared with right answers for the score


def read_table(path: str | Path, map_words: Mapping[str, str] | None = None) -> TableReading:
    """Read a table by its structure; `map_words` are the words of `--map` and their values.

    Raises BadInput for a file without rows.
    """
    map_words = map_words or {}
    table = load(path, map_words.get("sheet", ""))
    with closing(table.connection):
        return read_loaded(table, Path(path).name, map_words)


def read_loaded(table: Table, file: str, map_words: Mapping[str, str]) -> TableReading:
    """Read a loaded table; `file` is its name, `map_words` are the words of `--map`."""
    table_profile = profile(table)
    compared_columns = _compared_pair(table_profile)
    is_one_object = _is_one_object(table)
    has_no_wide_rows = bool(compared_columns) or is_one_object
    is_named = has_no_wide_rows or bool(map_words.keys() & _NAMED)
    implied = {} if is_named else implied_words(table_profile)
    words = {**map_words, **implied}
    shape = Shape() if has_no_wide_rows else _shape(table_profile, words)
    shape = replace(shape, is_plain="model_columns" in implied)
    if shape:
        table_profile = profile(reshape(table, shape))
    roles = _without_model_contexts(find_roles(table_profile), table.names)
    if shape.models:
        roles = _with_own_output(table_profile, roles, table.names)
    if not roles.output:
        roles = _with_output_under_keys(table_profile, roles, shape.models, table.names)
    roles = _with_answers_of_systems(table_profile, roles)
    roles, shared_scores = _without_shared_scores(roles, table.names if shape.models else ())
    roles = _with_mapped_roles(roles, words, table_profile)
    if "text" in implied:
        roles = with_output(table_profile, roles, roles.output)
        answers = (roles.output, roles.target)
        unnamed = tuple(name for name in roles.unnamed_scores if name not in answers)
        roles = replace(roles, unnamed_scores=unnamed)
    grid = find_grid(table_profile, roles, is_wide=bool(shape.models))
    grid = _with_mapped_grid(table_profile, grid, words)
    roles = _without_stimulus(table_profile, roles, grid)
    n_copies = _n_copies(table_profile, grid)
    if n_copies:
        table_profile = profile(_without_copies(table_profile.table))
        grid = replace(grid, n_repeated=0, is_rerun=False)
    roles = _with_group_facts_last(table_profile, roles, grid)
    roles = _without_item_facts(table_profile, roles, grid)
    roles, target_notes = _without_differing_target(table_profile, roles, grid, map_words)
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
    refusal = _refusal(table_profile, reading, words, compared_columns)
    if "item" not in map_words and (summary := _summary_row(table)):
        refusal = (
            f"A row at the end is called {summary}: it sums up the rows above it and is no "
            "question. "
            "Delete it, or name the column that tells questions apart: --map item=COLUMN."
        )
    if is_one_object and not refusal:
        refusal = (
            "The document is one object of settings and totals, without a list of rows: a summary. "
            "Give the file with a row per question."
        )
    if refusal:
        return replace(reading, refusal=refusal)
    reading = _counted(table_profile, reading)
    reading = _scored(table_profile, reading)
    if "reverse" not in map_words:
        graders = (*reading.roles.scores, *reading.roles.judges)
        reading = replace(reading, lower=tuple(filter(lower_is_better, graders)))
    reading = replace(reading, made_from=_made_from(table, reading))
    left_out = _left_out(table_profile, reading, table)
    reading = replace(reading, unused=_unused(table_profile, reading), left_out=left_out)
    notes = [*_notes(table_profile, reading), *target_notes, *_shared_score_notes(shared_scores)]
    reading = replace(reading, notes=tuple(notes))
    questions = open_questions(table_profile, reading) + find_doubts(table_profile, reading)
    questions = [question for question in questions if not is_answered(question, map_words)]
    named = _columns_in(table_profile, map_words.get("score", ""))[:1]
    if named and table_profile[named[0]].is_verdict:
        # whoever names right and wrong as the score has seen its share
        questions = [question for question in questions if question.first.words != ("lower=",)]
    is_explained = bool(map_words.keys() & _NAMED) or map_words.get("unused") == "yes"
    if not questions and not is_explained:
        questions = list(filter(None, [ask_unexplained(table_profile, reading)]))
        questions = questions or unusual_parts(table_profile, reading)
    if any(question.about in _OF_COLUMNS for question in questions):
        # what depends on which columns are systems is asked once they are known
        questions = [question for question in questions if question.about not in _OF_SCALES]
    questions.sort(key=lambda question: _ORDER.index(question.about))
    questions = [_with_ranges(reading, question) for question in questions[:MAX_QUESTIONS]]
    questions = [_with_scales(table_profile, reading, question) for question in questions]
    return replace(reading, questions=tuple(questions))


def _with_ranges(reading: TableReading, question: Question) -> Question:
    """Return a question whose scores by comparison of texts are ranges, from outputs that are the
    right answer to those that contain it: a reader of answers decides where in between."""
    shares = {agreed.coding: agreed.share for agreed in reading.roles.agreements}
    if reading.roles.graders or Coding.TEXT not in shares:
        return question
    score = overall(reading)
    first, second = (
        replace(choice, least=shares[Coding.TEXT]) if choice.score == score else choice
        for choice in question.choices
    )
    return replace(question, first=first, second=second)


def _with_scales(table_profile: Profile, reading: TableReading, question: Question) -> Question:
    """Return a question whose scores are numbers, and no shares, where their scale is no share's:
    a mean of 0.32 between -3 and 3."""
    if question.about in ("percentages", "negative"):
        return question  # one of its readings makes shares of them
    choices = []
    for choice in question.choices:
        words = dict(word.split("=", 1) for word in choice.words)
        named = _columns_in(table_profile, words.get("score", "")) or reading.roles.graders
        columns = [table_profile[name] for name in named[:1]]
        is_wide = any(column.is_numeric and not column.is_unit for column in columns)
        choices.append(replace(choice, is_share=not is_wide))
    return replace(question, first=choices[0], second=choices[1])


def _made_from(table: Table, reading: TableReading) -> dict[str, tuple[str, ...]]:
    """Return what the output and the prompt were made from, where the file has no such column.

    `table` is the table before its rows were split into one per model.
    """
    sources: dict[str, tuple[str, ...]] = {}
    if table.conversation:
        sources[RESPONSE] = (f"the last turn of {table.conversation}",)
        prompt = PROMPT if PROMPT in table.names else table.conversation
        sources[prompt] = (f"{table.conversation} before the last turn",)
    output = reading.roles.output
    columns = []
    for model in reading.shape.models:
        for name in table.names:
            is_bare = name == model and output == bare_column(model)
            if is_bare or own_key(name, model) == output:
                columns.append(name)
    if columns and output not in table.names:
        sources[output] = tuple(columns)
    return sources


def _is_one_object(table: Table) -> bool:
    """Tell whether a document is a single row with many nested keys, such as conditions.base.acc.
    Such a document is a summary."""
    return table.n_rows == 1 and sum(name.count(".") > 1 for name in table.names) >= MANY_KEYS


def _n_copies(table_profile: Profile, grid: Grid) -> int:
    """Count rows that repeat another one word for word, as a resumed run writes them.

    0 unless the row key tells all rows apart once the copies are gone. Also 0 where all keys have
    equally many rows, as reruns have, and where a row id may be the item.
    """
    if not grid.n_repeated or grid.open_item[0] or len(table_profile.cell_sizes(grid.row_key)) == 1:
        return 0
    n_different = table_profile.n_distinct(table_profile.table.names)
    is_key = table_profile.n_distinct(grid.row_key) >= n_different
    return table_profile.n_rows - n_different if is_key else 0


def _without_copies(table: Table) -> Table:
    """Return the table with the first of several equal rows."""
    columns = ", ".join([*table.file, *(table.sql(name) for name in table.names)])
    table.connection.execute(
        f"CREATE TEMP TABLE single AS SELECT min(place) AS place, {columns} FROM {table.relation} "
        f"GROUP BY {columns} ORDER BY place"
    )
    return table.with_relation("single", table.names)


def _shape(table_profile: Profile, map_words: Mapping[str, str]) -> Shape:
    """Return the shape that a user named, or else the one that the columns suggest."""
    if "model_columns" in map_words or "sample_columns" in map_words:
        models = _split(map_words.get("model_columns", ""))
        return Shape(models, _split(map_words.get("sample_columns", "")))
    return find_shape(table_profile)


def _split(word: str) -> tuple[str, ...]:
    return tuple(part for part in word.split(",") if part)


def _columns_in(table_profile: Profile, word: str) -> tuple[str, ...]:
    """Return the columns that the value of a word of `--map` names, without unknown names."""
    return tuple(name for name in _split(word) if name in table_profile.columns)


def _without_model_contexts(roles: Roles, wide_names: Sequence[str]) -> Roles:
    """Drop contexts of which each model has one of its own: they are no part of a question.

    The first of them becomes the output if there is none yet. `wide_names` are the columns of the
    table before its rows were split into one per model.
    """
    model_contexts = [name for name in roles.contexts if name not in wide_names]
    shared_contexts = tuple(name for name in roles.contexts if name in wide_names)
    output = roles.output or next(iter(model_contexts), "")
    return replace(roles, contexts=shared_contexts, output=output)


def _with_own_output(table_profile: Profile, roles: Roles, wide_names: Sequence[str]) -> Roles:
    """Return the roles with a text that each system has of its own as the output, before one text
    that the row has. `wide_names` are the columns before rows were split into one per system.
    """
    own_texts = [name for name in roles.readouts if name not in wide_names]
    own_texts = [name for name in own_texts if table_profile[name].is_text]
    if roles.output not in wide_names or not own_texts:
        return roles
    readouts = tuple(name for name in (*roles.readouts, roles.output) if name != own_texts[0])
    return with_output(table_profile, replace(roles, readouts=readouts), own_texts[0])


def _with_output_under_keys(
    table_profile: Profile, roles: Roles, models: Sequence[str], wide_names: Sequence[str]
) -> Roles:
    """Return the roles with an object of texts as the output: translations.alpha of model alpha.

    `wide_names` are the columns of the table before its rows were split into one per model.
    """
    texts = []
    for name in table_profile.names:
        column = table_profile[name]
        is_key = any(f"{name}.{model}" in wide_names for model in models)
        is_text = not (column.is_numeric or column.is_verdict or column.is_list)
        if is_key and is_text and not names(name, "about"):
            texts.append(name)
    return with_output(table_profile, roles, texts[0]) if len(texts) == 1 else roles


def _with_answers_of_systems(table_profile: Profile, roles: Roles) -> Roles:
    """Return the roles with `answer` as the output, where it differs by a model or a setting.

    Without a further column of outputs it would be the right answer of a list of questions.
    """
    asked = [name for name in table_profile.names if names(last_part(name), "prompt")]
    prompt, answer = next(iter((*roles.prompts, *asked)), ""), roles.target
    is_list_of_items = bool(answer and prompt) and not roles.output
    if not is_list_of_items or roles.graders or names(last_part(answer), "target"):
        return roles
    n_prompts = table_profile.n_distinct([prompt])
    if table_profile.n_distinct([prompt, answer]) < DIFFERENT_ANSWERS * n_prompts:
        return roles
    for name in table_profile.names:
        column = table_profile[name]
        is_level = 2 <= column.n_distinct <= MAX_ARMS and not column.is_text
        if is_level and name not in roles.taken and table_profile.follows([prompt, name], answer):
            return replace(roles, output=answer, target="", agreements=())
    return roles


def _without_shared_scores(
    roles: Roles, wide_names: Sequence[str]
) -> tuple[Roles, tuple[str, ...]]:
    """Drop scores that a row with several systems has as a whole. Return (roles, dropped scores).

    They stay if the systems have no score of their own. `wide_names` are the columns of the table
    before its rows were split into one per system.
    """
    graders = (*roles.scores, *roles.judges)
    shared = tuple(name for name in graders if name in wide_names)
    has_other_score = len(shared) < len(graders) or bool(roles.output and roles.target)
    if not shared or not has_other_score:
        return roles, ()
    scores = tuple(name for name in roles.scores if name not in shared)
    judges = tuple(name for name in roles.judges if name not in shared)
    return replace(roles, scores=scores, judges=judges), shared


def _shared_score_notes(shared: Sequence[str]) -> list[str]:
    if not shared:
        return []
    verb = "is a score" if len(shared) == 1 else "are scores"
    return [
        f"{', '.join(shared)} {verb} of the whole row, and of none of its systems alone: not used."
    ]


def _with_mapped_roles(roles: Roles, map_words: Mapping[str, str], table_profile: Profile) -> Roles:
    """Replace the roles that a user named by `--map`."""
    if "score" in map_words:
        scores = _columns_in(table_profile, map_words["score"])
        roles = replace(roles, scores=scores, judges=(), unnamed_scores=())
        if roles.output in scores:
            roles = replace(roles, output="", agreements=())
    if "people" in map_words:
        people = _columns_in(table_profile, map_words["people"])
        scores = tuple(name for name in roles.scores if name not in people)
        judges = tuple(name for name in roles.judges if name not in people)
        roles = replace(roles, people=people, scores=scores, judges=judges)
    if "missing" in map_words:
        missing = {float(value) for value in _split(map_words["missing"])}
        negatives = lone_negatives(table_profile, roles)
        sentinel = tuple((name, value) for name, value in negatives if value in missing)
        roles = replace(roles, sentinel=sentinel)
    if "text" in map_words:
        output = map_words["text"] if map_words["text"] in table_profile.columns else ""
        roles = replace(roles, output=output, agreements=())
    if "target" in map_words:
        target = map_words["target"] if map_words["target"] in table_profile.columns else ""
        roles = replace(roles, target=target, agreements=())
    if "prompt" in map_words:
        roles = replace(roles, prompts=_columns_in(table_profile, map_words["prompt"]))
    return roles


def _with_mapped_grid(table_profile: Profile, grid: Grid, map_words: Mapping[str, str]) -> Grid:
    """Replace the columns of the grid that a user named by `--map`."""
    if map_words.get("item") == "":
        grid = replace(grid, items=(), open_item=("", ""), is_rerun=False, n_repeated=0)
    if map_words.get("item"):
        items = _columns_in(table_profile, map_words["item"])
        grid = replace(grid, items=items or grid.items, open_item=("", ""))
    if "models" in map_words:
        conditions = _columns_in(table_profile, map_words["models"])
        grid = replace(grid, conditions=conditions, open_condition="")
    if map_words.get("item"):
        grid = replace(grid, is_rerun=are_reruns(table_profile, grid))
    if map_words.get("scorer") in table_profile.columns:
        grid = replace(grid, scorer=map_words["scorer"], open_condition="")
    if map_words.get("sample") in table_profile.columns:
        grid = replace(grid, run=map_words["sample"], open_condition="")
    return grid


def _without_item_facts(table_profile: Profile, roles: Roles, grid: Grid) -> Roles:
    """Drop scores that are the same in all rows of an item: they are facts about the item. All stay
    if none would be left."""
    if not grid.items or len(roles.scores) < 2 or not (grid.conditions or grid.run):
        return roles
    scores = []
    for name in roles.scores:
        is_constant = table_profile[name].n_distinct <= 1
        if is_constant or not table_profile.follows(grid.items, name):
            scores.append(name)
    return replace(roles, scores=tuple(scores) or roles.scores)


def _without_stimulus(table_profile: Profile, roles: Roles, grid: Grid) -> Roles:
    """Make `text` the prompt where it is the same for all systems: it is what they were shown."""
    is_text = roles.output.lower() == "text" and not roles.prompts and not roles.target
    if not is_text or not (grid.items and grid.conditions):
        return roles
    if roles.output in grid.items or not table_profile.follows(grid.items, roles.output):
        return roles
    return replace(roles, output="", prompts=(roles.output,))


def _with_group_facts_last(table_profile: Profile, roles: Roles, grid: Grid) -> Roles:
    """Put scores last that are the same in all rows of a group of questions, as all_correct is."""
    if len(roles.scores) < 2:
        return roles

    def is_of_group(name: str) -> bool:
        is_told = table_profile[name].n_distinct > 1 or words_of(name)[:1] == ("all",)
        groups = grid.clusters if is_told else ()
        return any(table_profile.follows([group], name) for group in groups)

    return replace(roles, scores=tuple(sorted(roles.scores, key=is_of_group)))


def _without_differing_target(
    table_profile: Profile, roles: Roles, grid: Grid, map_words: Mapping[str, str]
) -> tuple[Roles, list[str]]:
    """Drop a right answer that differs between rows of one question, if the table has a score.

    A question is stored with one right answer. The outputs of its other rows, such as those of a
    model whose options were shuffled anew, would be compared with a wrong one.
    """
    n_differing = n_with_differing_target(table_profile, roles, grid)
    if not n_differing or not roles.graders or map_words.get("target"):
        return roles, []
    word = f"item={','.join(grid.items)},{roles.target}"
    note = (
        f"{roles.target} differs between the rows of {count_of(n_differing, 'question')}, so no "
        f"output is compared with it. If each right answer is a question of its own: --map "
        f"{shlex.quote(word)}."
    )
    return replace(roles, target="", agreements=()), [note]


# Refuse tables that hold neither outputs nor scores of questions.


def _refusal(
    table_profile: Profile,
    reading: TableReading,
    map_words: Mapping[str, str],
    compared_columns: tuple[str, str] | None,
) -> str:
    """Say why a table is not read; "" if it is. `compared_columns` are those of two models or
    outputs that a row compares."""
    roles, grid = reading.roles, reading.grid
    first_names = ", ".join(name[:40] for name in table_profile.names[:12])
    columns = f" The columns are {first_names}{' …' if len(table_profile.names) > 12 else ''}."
    named = _columns_in(table_profile, map_words.get("score", ""))
    if letters := _letter_grades(table_profile, named, roles):
        return (
            f"{letters} holds grades in letters, and a score needs numbers. Write them as numbers, "
            "such as 4 for A and 0 for F, or name another column: --map score=COLUMN."
        )
    if map_words.get("score") or map_words.get("text"):
        return ""
    numbers = [name for name in table_profile.names if re.fullmatch(r"-?\d+[.,]\d+", name)]
    if numbers and not any(map(_is_known, table_profile.names)):
        return (
            f"The first line of the table holds values ({first_names}), where the names of its "
            "columns belong. Write a line of names above it."
        )
    if compared_columns and not roles.scores:
        return (
            f"Each row compares two outputs ({' and '.join(compared_columns)}) and names a winner; "
            f"a comparison is no score of either.{columns} Give a table with a score or an output "
            "per row, or name the score: --map score=COLUMN."
        )
    summary_columns = _columns_of_summary(table_profile, reading)
    if summary_columns and not map_words.get("item"):
        value = "value" if len(summary_columns) == 1 else "pair"
        return (
            f"Each row holds one {value} of {' and '.join(summary_columns)}: a ranking of "
            f"means, not of questions.{columns} Give the table with a row per question and "
            f"{summary_columns[0]}. If each of these {value}s is a question: --map item=COLUMN."
        )
    if not roles.graders and (long_score := _score_per_metric(table_profile)):
        metric, value = long_score
        listed = listed_columns(table_profile[metric].values)
        return (
            f"Each row holds the {value} of one {metric}, of {table_profile[metric].n_distinct}"
            f"{f': {listed}' if listed else ''}. If they are scores of one output: --map "
            f"scorer={metric} score={value}. Or give the rows of one {metric}."
        )
    if not (roles.output or roles.readouts or roles.graders):
        return ""  # the message about missing columns comes later, where rows become records
    has_id = any(name in table_profile.columns and names(name, "id") for name in grid.items)
    if table_profile.n_rows < LEAST_ITEMS and not (roles.output or roles.prompts or has_id):
        return (
            f"The table has {count_of(table_profile.n_rows, 'row')} of bare scores; that is a "
            f"summary, and no score has an error bar from it.{columns} Give the table with a row "
            "per question."
        )
    sizes = [name for name in table_profile.names if _is_sample_size(table_profile, name)]
    if sizes and not (roles.output or roles.readouts or roles.prompts):
        return (
            f"Each row is a summary: {sizes[0]} says of how many questions it is.{columns} Give "
            "the table with a row per question."
        )
    metrics = [name for name in table_profile.names if name.lower() in ("metric", "metric_name")]
    metrics = [name for name in metrics if table_profile[name].n_distinct == table_profile.n_rows]
    if metrics and not roles.output:
        return (
            f"Each row is a metric ({metrics[0]}): a summary, not a table of "
            f"questions.{columns} Give the rows behind it."
        )
    return ""


def _letter_grades(table_profile: Profile, named: Sequence[str], roles: Roles) -> str:
    """Return the column of grades from A to F that would be the score; "" for none.

    C and F alone are words for right and wrong.
    """
    unread = [] if named or roles.graders or roles.output else table_profile.names
    for name in named or unread:
        values = {value.strip().upper().rstrip("+-") for value in table_profile[name].values}
        are_grades = len(values & {"A", "B", "D"}) > 1 and values <= set("ABCDEF")
        if are_grades and names(last_part(name), "grade"):
            return name
    return ""


def _is_known(name: str) -> bool:
    """Tell whether a column's name says what the column holds."""
    return bool(part_of(name)) or any(names(name, kind) for kind in ("id", "score", "model"))


def _score_per_metric(table_profile: Profile) -> tuple[str, str] | None:
    """Return the columns `metric` and `value` of a table with a row per metric; None if it has
    none."""
    metrics = [name for name in table_profile.names if name.lower() in ("metric", "metric_name")]
    values = [name for name in table_profile.names if name.lower() in ("value", "metric_value")]
    if not metrics or not values or not table_profile[values[0]].is_numeric:
        return None
    n_metrics = table_profile[metrics[0]].n_distinct
    is_long = 2 <= n_metrics < table_profile.n_rows
    return (metrics[0], values[0]) if is_long else None


def _summary_row(table: Table) -> str:
    """Return what a row at the end is called if it holds means or sums, as in "Average"; "" if
    none is.

    Beside its name it has numbers, remarks, and words that other rows have too, but no text of its
    own.
    """
    if not table.names or table.file or table.n_rows < LEAST_ROWS:
        return ""
    columns = [table.sql(name) for name in table.names]
    query = f"SELECT {', '.join(columns)} FROM {table.relation} WHERE place > ? ORDER BY place DESC"
    last_rows = table.rows(query, [table.n_rows - MAX_SUMS])
    for row in last_rows:
        called = next(filter(None, row), "").strip()
        if SUMMARY_ROWS.fullmatch(called) and _sums_up(table, columns, row):
            return str(called)
    return ""


def _sums_up(table: Table, columns: Sequence[str], row: Sequence[str | None]) -> bool:
    """Tell whether no cell of a row but its name, the first, is a text that no other row has."""
    named = next(column for column, cell in zip(columns, row, strict=True) if cell)
    for name, column, cell in zip(table.names, columns, row, strict=True):
        if cell is None or canonical_number(cell) is not None or names(name, "about"):
            continue
        query = f"SELECT count(*) FROM {table.relation} WHERE {column} = ?"
        is_alone = table.rows(query, [cell])[0][0] == 1
        if is_alone != (column == named):
            return False
    return True


def _columns_of_summary(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    """Return the columns that name a row, if each row holds the mean scores of a system.

    They are one column of models, or the columns of systems and of settings or sets of questions.
    Return () if the rows are about questions.
    """
    roles, items = reading.roles, reading.grid.items
    if roles.output or roles.readouts or roles.prompts or roles.people:
        return ()
    n_rows = table_profile.n_rows
    means = [table_profile[name] for name in roles.graders or table_profile.names]
    if not roles.graders:
        means = [column for column in means if column.is_numeric and not column.is_integer]
    if n_rows < 2 or not means or not all(column.is_numeric for column in means):
        return ()
    models = [name for name in table_profile.names if names(name, "model")]
    models = [name for name in models if table_profile[name].n_distinct == n_rows]
    is_item = bool(models) and len(items) == 1 and _numbers_rows(table_profile, items[0], models[0])
    if models and (items == () or is_item):
        return tuple(models[:1])
    if any(column.is_integer or column.is_verdict for column in means):
        return ()  # right and wrong, or grades of one answer
    parts = [last_part(name) for name in items]
    if not all(names(part, "condition") or _SETS & set(words_of(part)[-1:]) for part in parts):
        return ()  # a column names a question
    conditions = [name for name in reading.grid.conditions if name not in items]
    if not conditions or table_profile.n_distinct([*items, *conditions]) == n_rows:
        return (*conditions, *items) if conditions else ()
    used = {*roles.taken, *items, *conditions}
    for name in table_profile.names:
        if name in used:
            continue
        column = table_profile[name]
        is_level = 2 <= column.n_distinct <= n_rows / 2 and not (column.is_list or column.is_text)
        is_level = is_level and (column.is_integer or not column.is_numeric)
        if is_level and table_profile.n_distinct([*items, *conditions, name]) == n_rows:
            return (*conditions, *items, name)
    return ()


def _numbers_rows(table_profile: Profile, name: str, model: str) -> bool:
    """Tell whether a column is that of the models again, or the index that pandas writes."""
    return name == "Unnamed: 0" or table_profile.share_equal(name, model) == 1


# words for sets of questions: a row per set holds means over its questions
_SETS = set(
    "benchmark benchmarks dataset datasets subset split subject language lang domain".split()
)


def _is_sample_size(table_profile: Profile, name: str) -> bool:
    """Tell whether a column counts the questions behind a row of means: n_claims, num_samples."""
    first, *following_words = words_of(last_part(name)) or ("",)
    column = table_profile[name]
    if not column.is_integer or (column.least or 0) < LEAST_ITEMS:
        return False
    is_called = first in ("n", "num", "number") and len(following_words) == 1
    return is_called and following_words[0] in _COUNTED


_COUNTED = set(
    "claims questions examples items instances problems tasks cases samples prompts rows".split()
)


def _compared_pair(table_profile: Profile) -> tuple[str, str] | None:
    """Return two columns of models or outputs that a row compares, such as model_a and model_b.

    None unless another column is called like the result of a comparison, such as winner, or a
    judge wrote letters into it beside two outputs.
    """
    if not any(names(name, "pairwise") for name in table_profile.names):
        outputs = [name for name in table_profile.names if part_of(name) == OUTPUT]
        texts = [name for name in outputs if table_profile[name].is_text]
        judged = [name for name in table_profile.names if names(name, "judge")]
        has_winner = any(set(table_profile[name].values) >= {"A", "B"} for name in judged)
        # base_response beside ft_response: raw_response is the response, before it was read
        endings = {words_of(name)[-1:] for name in texts if len(words_of(name)) > 1}
        are_twins = len(texts) == 2 and len(endings) == 1 and not any(map(_is_spelling, texts))
        return (texts[0], texts[1]) if has_winner and are_twins else None
    columns_by_beginning: dict[tuple[str, ...], dict[str, str]] = {}
    for name in table_profile.names:
        words = words_of(name)
        side = words[0] if words and words[0] in ("left", "right") else words[-1] if words else ""
        if side in ("left", "right"):
            columns_by_beginning.setdefault(words[1:], {})[side] = name
        is_side = side in ("a", "b", "1", "2")
        if is_side and (names(name, "model") or names(name, "output")):
            columns_by_beginning.setdefault(words[:-1], {})[words[-1]] = name
    for by_ending in columns_by_beginning.values():
        for first, second in (("a", "b"), ("1", "2"), ("left", "right")):
            if first in by_ending and second in by_ending:
                return by_ending[first], by_ending[second]
    return None


def _is_spelling(name: str) -> bool:
    """Tell whether an output is another one before or after it was read: raw_response, response."""
    return len(words_of(name)) < 2 or bool(set(words_of(name)) & READ_OUT)


# Counts and scores.


def _counted(table_profile: Profile, reading: TableReading) -> TableReading:
    """Add what is counted in the table (items, conditions, runs, clusters, missing scores) and what
    is found there (coding, models, columns, people's labels, letters)."""
    grid, roles = reading.grid, reading.roles
    n_items = table_profile.n_distinct(grid.items) if grid.items else table_profile.n_rows
    if not grid.items and reading.shape.models:  # the systems of a row answer one question
        places = f"SELECT DISTINCT {table_profile.table.place} FROM {table_profile.table.relation}"
        n_items = table_profile.table.rows(f"SELECT count(*) FROM ({places})")[0][0]
    conditions = tuple(name for name in grid.conditions if name not in grid.items)
    n_conditions = table_profile.n_levels(conditions) if conditions else 1
    cell = [*grid.items, *conditions, *grid.variants, *filter(None, [grid.scorer])]
    n_cells = table_profile.n_distinct(cell) if grid.items else table_profile.n_rows
    n_runs = 1
    if grid.run or grid.is_rerun:
        n_runs = max(1, round(table_profile.n_rows / max(1, n_cells)))
    most_runs = max(table_profile.cell_sizes(cell)) if n_runs > 1 and grid.items else n_runs
    free_names = [name for name in table_profile.names if name not in roles.taken]
    # At most one column, as a tuple: of `model` and `judge_model` beside a verdict, either may be
    # the one whose answers are graded.
    model_columns = tuple(name for name in free_names if _names_one_model(table_profile, name))
    has_judge = any(names(last_part(name), "judge") for name in model_columns)
    model_columns = model_columns[:1] if roles.output or not has_judge else ()
    is_one_model = bool(model_columns) and not conditions
    model_column = model_columns[0] if is_one_model else ""
    naming_columns = conditions or model_columns
    coding = roles.agreements[0].coding if roles.agreements else None
    return replace(
        reading,
        n_items=n_items,
        n_conditions=n_conditions,
        n_runs=n_runs,
        most_runs=most_runs,
        n_clusters=tuple(table_profile[name].n_distinct for name in grid.clusters),
        coding=coding,
        model=table_profile[model_column].values[0] if model_column else "",
        model_column=model_column,
        columns=table_profile.names,
        named_models=_named_models(table_profile, reading, naming_columns),
        n_files=table_profile.table.n_files,
        models_of_files=_models_of_files(table_profile, reading, naming_columns),
        labelled=labelled_by(table_profile, roles),
        alike=_alike(table_profile, reading, n_items),
        letters=_letters(table_profile, reading, coding),
        n_keys_in_words=_n_keys_in_words(table_profile, reading.roles.target),
        missing={
            name: table_profile.n_rows - table_profile[name].n_filled for name in roles.graders
        },
    )


def _names_one_model(table_profile: Profile, name: str) -> bool:
    """Tell whether a column called like a model, or `system`, names the same model in all rows."""
    column, last = table_profile[name], last_part(name)
    if not column.is_constant or not column.values:
        return False
    if column.is_numeric or column.values[0].lower() in ("true", "false"):
        return False  # llm_clarity is a score, though 0 in every row
    is_word = " " not in column.values[0].strip()  # a text in `system` is a system prompt
    return names(last, "model") or (last.lower() == "system" and is_word)


def _named_models(
    table_profile: Profile, reading: TableReading, columns: Sequence[str]
) -> frozenset[str]:
    """Return the models that the rows name in `columns`; empty for a column per model."""
    if not columns or reading.shape.models:
        return frozenset()
    table = table_profile.table
    query = f"SELECT DISTINCT {_label_sql(table, columns)} FROM {table.relation} LIMIT 1000"
    return frozenset(row[0] for row in table.rows(query))


def _models_of_files(
    table_profile: Profile, reading: TableReading, columns: Sequence[str]
) -> dict[int, frozenset[str]]:
    """Return the models that the rows name, by number of the staged file; {} for one file."""
    table = table_profile.table
    if not columns or reading.shape.models or not table.file:
        return {}
    label = _label_sql(table, columns)
    rows = table.rows(f"SELECT file, list(DISTINCT {label}) FROM {table.relation} GROUP BY file")
    return {number: frozenset(labels) for number, labels in rows}


def _label_sql(table: Table, columns: Sequence[str]) -> str:
    """Return SQL that joins the values of columns to one text; the text is "" without columns."""
    cells = ", ".join(table.sql(name) for name in columns)
    return f"concat_ws(', ', {cells})" if columns else "''"


def _alike(table_profile: Profile, reading: TableReading, n_items: int) -> frozenset[str]:
    """Return the columns that group the rows exactly as the items do, such as the question or
    another id."""
    items = reading.grid.items
    alike = []
    for name in table_profile.names if items else ():
        # a cheap test first: the columns must have nearly as many values
        if abs(table_profile.n_values(name) - n_items) <= 0.01 * n_items + 0.5:
            if table_profile.follows(items, name) and table_profile.follows([name], items[0]):
                alike.append(name)
    return frozenset(alike)


def _letters(
    table_profile: Profile, reading: TableReading, coding: Coding | None
) -> frozenset[str]:
    """Return the short labels that right answers name: "B", "(B)", or a letter beside a text.

    Any one or two characters may be a label, unless right answers are coded as letter or text.
    Then labels are single capital letters. "" stands for right answers without a label.
    """
    target = reading.roles.target
    if target and coding is not Coding.LETTER_OR_TEXT:
        sql = table_profile.table.sql(target)
        label = f"regexp_extract(trim({sql}), '^[(]?([^().:]{{1,2}})[).:]?$', 1)"
        source = f"{table_profile.table.relation} WHERE {sql} IS NOT NULL"
        query = f"SELECT DISTINCT {label} FROM {source} LIMIT 40"
        return frozenset(row[0] for row in table_profile.table.rows(query))
    letters: set[str] = set()
    if coding is Coding.LETTER_OR_TEXT:
        for row in table_profile.table.frame([target], most=LOOKED_AT):
            entries = [entry.strip() for entry in entries_of(row[target])]
            letters.update(entry for entry in entries if len(entry) == 1 and entry.isupper())
    return frozenset(letters)


def _n_keys_in_words(table_profile: Profile, target: str) -> int:
    """Return the number of rows whose right answer holds no digit."""
    if not target:
        return 0
    sql, relation = table_profile.table.sql(target), table_profile.table.relation
    query = f"SELECT count(*) FROM {relation} WHERE NOT regexp_matches({sql}, '\\d')"
    return int(table_profile.table.rows(query)[0][0])


def _scored(table_profile: Profile, reading: TableReading) -> TableReading:
    """Add the mean of each grader per arm, and the share of outputs that agree with the key."""
    conditions = list(reading.grid.conditions)
    roles, table = reading.roles, table_profile.table
    sentinels = dict(roles.sentinel)
    scores: dict[tuple[str, str], float] = {}
    arms: dict[str, None] = {}  # a set in the order of rows
    if roles.graders:
        means = ", ".join(
            f"avg({score_sql(table.sql(name), sentinels.get(name))})" for name in roles.graders
        )
        query = f"SELECT {_label_sql(table, conditions)}, {means} FROM {table.relation}"
        query += f" GROUP BY 1 ORDER BY min(place) LIMIT {MAX_ARMS}"
        for label, *values in table.rows(query):
            arms[label] = None
            for name, value in zip(roles.graders, values, strict=True):
                scores[label, name] = nan if value is None else float(value)
    is_compared = reading.coding is not None and not reading.has_long_key
    is_compared &= MATCH not in roles.graders  # a column of the file has that name
    if roles.output and roles.target and table.is_whole and is_compared:
        columns = list(dict.fromkeys([*conditions, roles.output, roles.target, *roles.options]))
        rows = table.frame(columns, most=MAX_SCORED)
        by_arm: dict[str, list[Mapping[str, str | None]]] = {}
        for row in rows:
            by_arm.setdefault(", ".join(row[name] or "" for name in conditions), []).append(row)
        coding = _best_coding(roles.agreements)
        for label, arm_rows in by_arm.items():
            arms[label] = None
            agreed = agreement(coding, arm_rows, roles.output, roles.target, roles.options)
            scores[label, MATCH] = agreed.share
    return replace(reading, scores=scores, arms=tuple(arms) if conditions else ())


def _best_coding(agreements: Sequence[Agreement]) -> Coding:
    """Return the coding under which most outputs are right, LONG_TEXT only if there is no other."""

    def rank(agreed: Agreement) -> tuple[bool, float]:
        share = 0.0 if isnan(agreed.share) else agreed.share
        return agreed.coding is not Coding.LONG_TEXT, share

    return max(agreements, key=rank).coding


def _unused(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    """Return the columns without a role. A column that names one model in all rows has a role."""
    used = {
        reading.grid.regrade,
        *reading.roles.taken,
        *reading.roles.errors,
        *reading.grid.row_key,
        *reading.grid.clusters,
        *reading.grid.content,
    }
    unused = [name for name in table_profile.names if name not in used]
    without_model = []
    for name in unused:
        if not (names(last_part(name), "model") and table_profile[name].is_constant):
            without_model.append(name)
    return tuple(without_model)


def _left_out(table_profile: Profile, reading: TableReading, loaded: Table) -> tuple[str, ...]:
    """Return phrases about rows that do not count, with the reason."""
    phrases = [f"the row called {name}, which sums up the others" for name in loaded.sums]
    if loaded.n_broken:
        phrases.append(f"{count_of(loaded.n_broken, 'row')} that could not be read")
    if reading.n_copies:
        repeat = "repeats" if reading.n_copies == 1 else "repeat"
        phrases.append(f"{count_of(reading.n_copies, 'row')} that {repeat} another word for word")
    for name, value in reading.roles.sentinel:
        table = table_profile.table
        is_sentinel = f"TRY_CAST({table.sql(name)} AS DOUBLE) = {value}"
        n = table.rows(f"SELECT count(*) FROM {table.relation} WHERE {is_sentinel}")[0][0]
        phrases.append(
            f"{count_of(n, 'row')} of {table_profile.n_rows:,} with {name} {value:g}, which is "
            "no grade"
        )
    return tuple(phrases)


def _notes(table_profile: Profile, reading: TableReading) -> tuple[str, ...]:
    """Return sentences on rows and columns that were read in a way that a user should know."""
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
        stand = "stands" if grid.n_repeated == 1 else "stand"
        notes.append(
            f"{count_of(grid.n_repeated, 'question')} {stand} in several rows that no column tells "
            "apart."
        )
    if grid.is_rated:
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
        # Beside lists with an entry per sample, a single verdict is about all samples together.
        pass_at_k = []
        for name in roles.scores:
            if table_profile[name].is_verdict and name not in reading.shape.lists:
                pass_at_k.append(name)
        if pass_at_k and len(roles.scores) > len(pass_at_k):
            notes.append(
                f"{pass_at_k[0]} says whether any of the samples is right (pass@k); the score is "
                "the mean over samples."
            )
    if roles.people and (roles.scores or roles.judges):
        main_score = (*roles.scores, *roles.judges)[0]
        notes.append(
            f"{roles.people[0]} holds people's labels beside {main_score}: no score of its own. "
            "Another column: --map people=COLUMN."
        )
    return tuple(notes)
