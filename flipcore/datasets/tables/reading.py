"""How a table is read: the steps in order, and what they leave open as questions.

Nothing is guessed silently. A reading says its items, conditions, runs, right answer, scores and
what it does not use; where two readings are possible and the score depends on it, both are given
with their scores and the words of `--map` that choose them.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path

from flipcore.datasets.tables.coding import Agreement, Coding, agreement, entries_of
from flipcore.datasets.tables.grid import LEAST_ITEMS, Grid, find_grid, is_rater
from flipcore.datasets.tables.load import Table, load
from flipcore.datasets.tables.own_columns import bare_column, bare_path
from flipcore.datasets.tables.people import labelled_by
from flipcore.datasets.tables.profile import Profile, number_sql, profile
from flipcore.datasets.tables.roles import LOOKED_AT, Roles, find_roles, lone_negatives
from flipcore.datasets.tables.shape import Shape, find_shape, reshape
from flipcore.datasets.tables.stems import lower_is_better, names, stems, words_of
from flipcore.text.counts import count_of

MOST_QUESTIONS = 2
MOST_ARMS = 60
COPIED = 0.995  # agreement of two columns, from which on one is a copy of the other


@dataclass(frozen=True)
class Choice:
    """One of two readings: what it says, the score that it gives, and its words of `--map`."""

    says: str
    words: tuple[str, ...]
    score: float = nan

    @property
    def score_text(self) -> str:
        """The score as a percentage where it is a share."""
        return f"{self.score:.1%}" if 0 <= self.score <= 1 else f"{self.score:.3g}"

    @property
    def text(self) -> str:
        """The reading in one line, its score first where it has one."""
        scored = "" if self.score != self.score else f" Score: {self.score_text}."
        return f"{self.says}{scored} --map {' '.join(self.words)}"


@dataclass(frozen=True)
class Question:
    """What the table does not tell: what was seen, and two readings of it."""

    about: str
    seen: str
    first: Choice
    second: Choice

    @property
    def moves_score(self) -> bool:
        """Whether the two readings give other scores, or only one of them gives any."""
        first, second = self.first.score, self.second.score
        are_none = first != first and second != second
        return not are_none and not abs(first - second) < 1e-9

    @property
    def choices(self) -> tuple[Choice, Choice]:
        """Both readings."""
        return self.first, self.second


@dataclass(frozen=True)
class TableReading:
    """How a table is read. `scores` are means by arm and grader; `refusal` says why it is not read."""

    file: str
    n_rows: int
    shape: Shape
    roles: Roles
    grid: Grid
    n_items: int = 0
    n_conditions: int = 1
    n_runs: int = 1
    n_clusters: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()
    scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    coding: Coding | None = None
    model: str = ""
    model_column: str = ""  # that names one model in every row
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # rows that count nowhere, and why
    questions: tuple[Question, ...] = ()
    refusal: str = ""
    missing: Mapping[str, int] = field(default_factory=dict)
    lower: tuple[str, ...] = ()  # scores of which less is better, by their names
    n_copies: int = 0
    alike: frozenset[str] = frozenset()  # columns that part the rows as the items do
    letters: frozenset[str] = frozenset()  # of a key that is letters, or a letter and a text
    columns: tuple[str, ...] = ()  # those that hold anything, objects as paths
    named_models: frozenset[str] = frozenset()  # by the rows themselves
    n_files: int = 1  # that were staged as one table
    other_sheets: tuple[str, ...] = ()  # of an Excel file, that are not read
    models_of_files: Mapping[int, frozenset[str]] = field(default_factory=dict)  # named models by file
    labelled: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # see `people.labelled_by`

    @property
    def has_long_key(self) -> bool:
        """Whether right answers are long texts that no output repeats: word for word says nothing."""
        agreements = self.roles.agreements
        return self.coding is Coding.LONG_TEXT and not any(found.n_right for found in agreements)

    @property
    def is_open(self) -> bool:
        """Whether a question must be answered before anything is claimed."""
        return bool(self.questions)


MATCH = "match"  # the grader that compares output and key here


def read_table(path: str | Path, words: Mapping[str, str] | None = None) -> TableReading:
    """Read a table by its structure; `words` are what a user said of its columns.

    Raises BadInput for a file without rows.
    """
    table = load(path)
    with closing(table.connection):
        return read_loaded(table, Path(path).name, words or {})


def read_loaded(table: Table, file: str, words: Mapping[str, str]) -> TableReading:
    """Read a table that is loaded already."""
    found = profile(table)
    pair = _pair_of_models(found)
    shape = Shape() if pair else _shape(found, words)
    if shape:
        found = profile(reshape(table, shape))
    roles = _of_each_model(find_roles(found), found, table.names)
    roles, shared = _without_shared_scores(roles, table.names if shape.models else ())
    roles = _as_said(roles, words, found)
    grid = find_grid(found, roles)
    grid = _grid_as_said(found, grid, words)
    n_copies = _n_copies(found, grid)
    if n_copies:
        found = profile(_without_copies(found.table))
        grid = replace(grid, n_repeated=0, is_rerun=False)
    roles = _without_item_facts(found, roles, grid)
    reading = TableReading(
        file, found.n_rows, shape, roles, grid, scores={}, missing={}, n_copies=n_copies, other_sheets=table.other_sheets
    )
    refusal = _refusal(found, reading, words, pair)
    if refusal:
        return replace(reading, refusal=refusal)
    reading = _counted(found, reading)
    reading = _scored(found, reading)
    if "reverse" not in words:
        lower = tuple(name for name in (*reading.roles.scores, *reading.roles.judges) if lower_is_better(name))
        reading = replace(reading, lower=lower)
    left_out = _left_out(found, reading, table.n_broken)
    reading = replace(reading, unused=_unused(found, reading), left_out=left_out)
    reading = replace(reading, notes=(*_notes(found, reading), *_say_shared(shared)))
    questions = [question for question in _questions(found, reading) if not _is_answered(question, words)]
    return replace(reading, questions=tuple(questions[:MOST_QUESTIONS]))


def _n_copies(found: Profile, grid: Grid) -> int:
    """How many rows repeat another word for word, where that alone makes rows alike: a resumed file."""
    if not grid.n_repeated or grid.open_item[0] or len(found.cell_sizes(grid.told_by)) == 1:
        return 0
    n_different = found.n_distinct(found.table.names)
    is_told = found.n_distinct(grid.told_by) >= n_different
    return found.n_rows - n_different if is_told else 0


def _without_copies(table: Table) -> Table:
    columns = ", ".join([*table.file, *(table.sql(name) for name in table.names)])
    table.connection.execute(
        f"CREATE TEMP TABLE single AS SELECT min(place) AS place, {columns} FROM {table.relation} GROUP BY {columns} ORDER BY place"
    )
    return table.with_relation("single", table.names)


def _shape(found: Profile, words: Mapping[str, str]) -> Shape:
    if "model_columns" in words or "sample_columns" in words:
        return Shape(_listed(words.get("model_columns", "")), _listed(words.get("sample_columns", "")))
    return find_shape(found)


def _listed(word: str) -> tuple[str, ...]:
    return tuple(part for part in word.split(",") if part)


def _of_each_model(roles: Roles, found: Profile, before: Sequence[str]) -> Roles:
    """The roles of a table whose rows came apart: what each model has of its own is no part of a question."""
    of_models = [name for name in roles.contexts if name not in before]
    contexts = tuple(name for name in roles.contexts if name in before)
    return replace(roles, contexts=contexts, output=roles.output or next(iter(of_models), ""))


def _without_shared_scores(roles: Roles, before: Sequence[str]) -> tuple[Roles, tuple[str, ...]]:
    """The roles without scores of a whole row that holds the outputs of several systems, and these scores."""
    shared = tuple(name for name in (*roles.scores, *roles.judges) if name in before)
    has_own = len(shared) < len((*roles.scores, *roles.judges)) or bool(roles.output and roles.target)
    if not shared or not has_own:
        return roles, ()
    scores = tuple(name for name in roles.scores if name not in shared)
    judges = tuple(name for name in roles.judges if name not in shared)
    return replace(roles, scores=scores, judges=judges), shared


def _say_shared(shared: Sequence[str]) -> list[str]:
    if not shared:
        return []
    verb = "is a score" if len(shared) == 1 else "are scores"
    return [f"{', '.join(shared)} {verb} of the whole row, and of none of its systems alone: not used."]


def _as_said(roles: Roles, words: Mapping[str, str], found: Profile) -> Roles:
    """The roles with those that a user named."""
    if "score" in words:
        chosen = tuple(name for name in _listed(words["score"]) if name in found.columns)
        roles = replace(roles, scores=chosen, judges=(), unnamed_scores=())
    if "people" in words:
        people = tuple(name for name in _listed(words["people"]) if name in found.columns)
        scores = tuple(name for name in roles.scores if name not in people)
        judges = tuple(name for name in roles.judges if name not in people)
        roles = replace(roles, people=people, scores=scores, judges=judges)
    if "missing" in words:
        missing = {float(value) for value in _listed(words["missing"])}
        negatives = lone_negatives(found, roles)
        roles = replace(roles, sentinel=tuple(pair for pair in negatives if pair[1] in missing))
    if "text" in words:
        roles = replace(roles, output=words["text"] if words["text"] in found.columns else "", agreements=())
    if "target" in words:
        roles = replace(roles, target=words["target"] if words["target"] in found.columns else "", agreements=())
    if "prompt" in words:
        roles = replace(roles, prompts=tuple(name for name in _listed(words["prompt"]) if name in found.columns))
    return roles


def _grid_as_said(found: Profile, grid: Grid, words: Mapping[str, str]) -> Grid:
    if words.get("item"):
        items = tuple(name for name in _listed(words["item"]) if name in found.columns)
        grid = replace(grid, items=items or grid.items, open_item=("", ""))
    if "models" in words:
        conditions = tuple(name for name in _listed(words["models"]) if name in found.columns)
        grid = replace(grid, conditions=conditions, open_condition="")
    if words.get("sample") in found.columns:
        grid = replace(grid, run=words["sample"], open_condition="")
    return grid


def _without_item_facts(found: Profile, roles: Roles, grid: Grid) -> Roles:
    """Drop numbers that the item alone decides, where another score stands beside them."""
    if not grid.items or len(roles.scores) < 2 or not (grid.conditions or grid.run):
        return roles
    kept = tuple(name for name in roles.scores if found[name].n_distinct <= 1 or not found.follows(grid.items, name))
    return replace(roles, scores=kept or roles.scores)


# Step 4: what is no table of outputs or scores.


def _refusal(found: Profile, reading: TableReading, words: Mapping[str, str], pair: tuple[str, str] | None) -> str:
    roles, grid = reading.roles, reading.grid
    columns = f" The columns are {', '.join(name[:40] for name in found.names[:12])}{' …' if len(found.names) > 12 else ''}."
    if words.get("score") or words.get("text"):
        return ""
    if pair and not roles.scores:
        return (
            f"Each row compares two outputs ({pair[0]} and {pair[1]}) and names a winner; a comparison is no score of "
            f"either.{columns} Give a table with a score or an output per row, or name the score: --map score=COLUMN."
        )
    models = [name for name in found.names if names(name, "model") and found[name].n_distinct == found.n_rows > 1]
    means = roles.graders or [name for name in found.names if found[name].is_numeric and not found[name].is_integer]
    is_bare = not (roles.output or roles.readouts or roles.prompts or grid.items) or grid.items == tuple(models[:1])
    if models and means and is_bare and all(found[name].is_numeric for name in means):
        return (
            f"Each row holds one value of {models[0]}: a ranking of means, not of questions.{columns} Give the table with a "
            "row per question and model."
        )
    has_read = bool(roles.output or roles.readouts or roles.graders)
    if not has_read:
        return ""  # the reader of rows says what is missing
    has_id = any(name in found.columns and names(name, "id") for name in grid.items)
    if found.n_rows < LEAST_ITEMS and not (roles.output or roles.prompts or has_id):
        return (
            f"The table has {found.n_rows} row{'' if found.n_rows == 1 else 's'} of bare scores; that is a summary, and no score "
            f"has an error bar from it.{columns} Give the table with a row per question."
        )
    sizes = [name for name in found.names if _is_sample_size(found, name)]
    if sizes and not (roles.output or roles.readouts or roles.prompts):
        return (
            f"Each row is a summary: {sizes[0]} says of how many questions it is.{columns} Give the table with a row "
            "per question."
        )
    metrics = [
        name for name in found.names if name.lower() in ("metric", "metric_name") and found[name].n_distinct == found.n_rows
    ]
    if metrics and not roles.output:
        return f"Each row is a metric ({metrics[0]}): a summary, not a table of questions.{columns} Give the rows behind it."
    return ""


def _is_sample_size(found: Profile, name: str) -> bool:
    """Whether a column says how many questions a row of means is of: n_claims, num_samples."""
    first, *rest = words_of(name.rpartition(".")[2]) or ("",)
    column = found[name]
    is_count = column.is_integer and (column.least or 0) >= LEAST_ITEMS
    return is_count and first in ("n", "num", "number") and len(rest) == 1 and rest[0] in _COUNTED


_COUNTED = set("claims questions examples items instances problems tasks cases samples prompts rows".split())


def _pair_of_models(found: Profile) -> tuple[str, str] | None:
    """The two columns of models or outputs that a row compares, with a column that says who won."""
    if not any(names(name, "pairwise") for name in found.names):
        return None
    ends: dict[tuple[str, ...], dict[str, str]] = {}
    for name in found.names:
        words = words_of(name)
        if words and words[-1] in ("a", "b", "1", "2") and (names(name, "model") or names(name, "output")):
            ends.setdefault(words[:-1], {})[words[-1]] = name
    for several in ends.values():
        for first, second in (("a", "b"), ("1", "2")):
            if first in several and second in several:
                return several[first], several[second]
    return None


# Counts and scores.


def _counted(found: Profile, reading: TableReading) -> TableReading:
    grid, roles = reading.grid, reading.roles
    n_items = found.n_distinct(grid.items) if grid.items else found.n_rows
    conditions = tuple(name for name in grid.conditions if name not in grid.items)
    n_conditions = found.n_levels(conditions) if conditions else 1
    told_by = [*grid.items, *conditions, *grid.variants, *filter(None, [grid.scorer])]
    n_told = found.n_distinct(told_by) if grid.items else found.n_rows
    n_runs = 1
    if grid.run or grid.is_rerun:
        n_runs = max(1, round(found.n_rows / max(1, n_told)))
    named = [name for name in found.names if name not in roles.taken and _names_one_model(found, name)]
    model = found[named[0]].values[0] if named and not conditions and found[named[0]].values else ""
    coding = roles.agreements[0].coding if roles.agreements else None
    return replace(
        reading,
        n_items=n_items,
        n_conditions=n_conditions,
        n_runs=n_runs,
        n_clusters=tuple(found[name].n_distinct for name in grid.clusters),
        coding=coding,
        model=model,
        model_column=named[0] if model else "",
        columns=found.names,
        named_models=_named_models(found, reading, conditions or tuple(named[:1])),
        n_files=found.table.n_files,
        models_of_files=_models_of_files(found, reading, conditions or tuple(named[:1])),
        labelled=labelled_by(found, roles),
        alike=_alike(found, reading, n_items),
        letters=_letters(found, reading, coding),
        missing={name: found.n_rows - found[name].n_filled for name in roles.graders},
    )


def _names_one_model(found: Profile, name: str) -> bool:
    """Whether every row names the same model: in a column called like one, or a word in `system`."""
    column, last = found[name], name.rpartition(".")[2]
    if not column.is_constant or not column.values:
        return False
    is_word = " " not in column.values[0].strip()  # a text there is a system prompt
    return names(last, "model") or (last.lower() == "system" and is_word)


def _named_models(found: Profile, reading: TableReading, columns: Sequence[str]) -> frozenset[str]:
    """Who answered, as the rows of a table without a column per model say it."""
    if not columns or reading.shape.models:
        return frozenset()
    label = f"concat_ws(', ', {', '.join(found.table.sql(name) for name in columns)})"
    return frozenset(row[0] for row in found.table.rows(f"SELECT DISTINCT {label} FROM {found.table.relation} LIMIT 1000"))


def _models_of_files(found: Profile, reading: TableReading, columns: Sequence[str]) -> dict[int, frozenset[str]]:
    """Who answered in each of several files that are staged as one table."""
    if not columns or reading.shape.models or not found.table.file:
        return {}
    label = f"concat_ws(', ', {', '.join(found.table.sql(name) for name in columns)})"
    rows = found.table.rows(f"SELECT file, list(DISTINCT {label}) FROM {found.table.relation} GROUP BY file")
    return {number: frozenset(labels) for number, labels in rows}


def _alike(found: Profile, reading: TableReading, n_items: int) -> frozenset[str]:
    """The columns that part the rows as the items do: other ids, the question."""
    items = reading.grid.items
    near = [name for name in found.names if abs(found.n_values(name) - n_items) <= 0.01 * n_items + 0.5]
    return frozenset(name for name in near if items and found.follows(items, name) and found.follows([name], items[0]))


def _letters(found: Profile, reading: TableReading, coding: Coding | None) -> frozenset[str]:
    target = reading.roles.target
    if target and coding is not Coding.LETTER_OR_TEXT:
        sql = found.table.sql(target)
        label = f"regexp_extract(trim({sql}), '^[(]?([^().:]{{1,2}})[).:]?$', 1)"
        query = f"SELECT DISTINCT {label} FROM {found.table.relation} WHERE {sql} IS NOT NULL LIMIT 40"
        return frozenset(row[0] for row in found.table.rows(query))
    if coding is not Coding.LETTER_OR_TEXT:
        return frozenset()
    cells = found.table.frame([reading.roles.target], most=LOOKED_AT)
    entries = [entry.strip() for row in cells for entry in entries_of(row[reading.roles.target])]
    return frozenset(entry for entry in entries if len(entry) == 1 and entry.isupper())


def score_sql(cell: str, sentinel: float | None = None) -> str:
    """SQL of a score as a number; words for right and wrong in all languages."""
    word = f"replace(lower(trim({cell})), ' ', '_')"
    lists = {}
    for kind in ("right", "wrong"):
        lists[kind] = ", ".join("'" + entry.replace("'", "''") + "'" for entry in sorted(stems(kind).words))
    number = number_sql(cell)
    percent = number_sql(f"rtrim(rtrim({cell}, '%'))")
    if sentinel is not None:
        number = f"nullif({number}, {sentinel})"
    ratio = f"TRY_CAST(split_part({cell}, '/', 1) AS DOUBLE) / nullif(TRY_CAST(split_part({cell}, '/', 2) AS DOUBLE), 0)"
    return (
        f"CASE WHEN {word} IN ({lists['right']}) THEN 1 WHEN {word} IN ({lists['wrong']}) THEN 0 WHEN {cell} LIKE '%/%' THEN {ratio} "
        f"WHEN {cell} LIKE '%\\%' ESCAPE '\\' THEN {percent} / 100 ELSE {number} END"
    )


def _scored(found: Profile, reading: TableReading) -> TableReading:
    """The mean of each grader by arm, and of the outputs that agree with the key."""
    conditions = list(reading.grid.conditions)
    roles, table = reading.roles, found.table
    sentinels = dict(roles.sentinel)
    scores: dict[tuple[str, str], float] = {}
    arm = "concat_ws(', ', " + ", ".join(table.sql(name) for name in conditions) + ")" if conditions else "''"
    arms: dict[str, None] = {}
    if roles.graders:
        means = ", ".join(f"avg({score_sql(table.sql(name), sentinels.get(name))})" for name in roles.graders)
        for label, *values in table.rows(
            f"SELECT {arm}, {means} FROM {table.relation} GROUP BY 1 ORDER BY min(place) LIMIT {MOST_ARMS}"
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
        for label, several in by_arm.items():
            arms[label] = None
            scores[label, MATCH] = _match(roles, several).share
    return replace(reading, scores=scores, arms=tuple(arms) if conditions else ())


def _match(roles: Roles, rows: Sequence[Mapping[str, str | None]]) -> Agreement:
    best = max(
        roles.agreements, key=lambda found: (found.coding is not Coding.LONG_TEXT, found.share == found.share and found.share)
    )
    return agreement(best.coding, rows, roles.output, roles.target, roles.options)


def _unused(found: Profile, reading: TableReading) -> tuple[str, ...]:
    used = {
        reading.grid.regrade,
        *reading.roles.taken,
        *reading.roles.errors,
        *reading.grid.told_by,
        *reading.grid.clusters,
        *reading.grid.content,
    }
    constant = [name for name in found.names if names(name.rpartition(".")[2], "model") and found[name].is_constant]
    return tuple(name for name in found.names if name not in used and name not in constant)


def _left_out(found: Profile, reading: TableReading, n_broken: int) -> tuple[str, ...]:
    """The rows that count nowhere, with the reason."""
    said = []
    if n_broken:
        said.append(f"{count_of(n_broken, 'row')} that could not be read")
    if reading.n_copies:
        repeat = "repeats" if reading.n_copies == 1 else "repeat"
        said.append(f"{count_of(reading.n_copies, 'row')} that {repeat} another word for word")
    for name, value in reading.roles.sentinel:
        sql = found.table.sql(name)
        n = found.table.rows(f"SELECT count(*) FROM {found.table.relation} WHERE TRY_CAST({sql} AS DOUBLE) = {value}")[0][0]
        said.append(f"{count_of(n, 'row')} of {found.n_rows:,} with {name} {value:g}, which is no grade")
    return tuple(said)


def _notes(found: Profile, reading: TableReading) -> tuple[str, ...]:
    """What was seen on the way that a reader should know."""
    roles, grid = reading.roles, reading.grid
    notes = [f"Left out: {rows}." for rows in reading.left_out]
    if reading.has_long_key:
        notes.append(f"{roles.target} holds long texts, which no output repeats word for word; they make no score.")
    for name, n_missing in reading.missing.items():
        if n_missing and name not in roles.people:
            notes.append(f"{name}: {n_missing:,} of {found.n_rows:,} rows hold no score.")
    if grid.is_rerun:
        notes.append(f"No column tells the {reading.n_runs} rows of a question apart; they are read as reruns.")
    elif grid.n_repeated and not grid.open_item[0]:
        notes.append(f"{grid.n_repeated:,} questions stand in several rows that no column tells apart.")
    if grid.run and is_rater(grid.run):
        notes.append(
            f"{grid.run} says who rated: the {reading.n_runs} rows of a question are ratings by several people, and no reruns."
        )
    if grid.regrade:
        notes.append(f"{grid.regrade} counts grades of one output: they are told apart as graders, and are no reruns.")
    if reading.shape.lists:
        any_of = [name for name in roles.scores if found[name].is_verdict and name not in reading.shape.lists]
        if any_of and len(roles.scores) > len(any_of):
            notes.append(f"{any_of[0]} says whether any of the samples is right (pass@k); the score is the mean over samples.")
    if roles.people and (roles.scores or roles.judges):
        beside = (*roles.scores, *roles.judges)[0]
        notes.append(
            f"{roles.people[0]} is people's labels beside {beside}: no score of its own. Another column: --map people=COLUMN."
        )
    return tuple(notes)


# Questions.


def _questions(found: Profile, reading: TableReading) -> list[Question]:
    """What is open, the question that moves the score first."""
    asked = [
        _ask_systems(found, reading) or _ask_score(found, reading),
        _ask_direction(found, reading),
        _ask_percentages(found, reading),
        _ask_negative(found, reading),
        _ask_output(found, reading),
        _ask_condition(found, reading),
        _ask_failed(found, reading),
        _ask_item(found, reading),
    ]
    return [question for question in asked if question]


def _is_answered(question: Question, words: Mapping[str, str]) -> bool:
    keys = {word.partition("=")[0] for choice in question.choices for word in choice.words}
    return any(key in words for key in keys)


def _overall(reading: TableReading) -> float:
    values = [value for value in reading.scores.values() if value == value]
    return sum(values) / len(values) if values else nan


def _ask_item(found: Profile, reading: TableReading) -> Question | None:
    each_row, content = reading.grid.open_item
    if not content:
        return None
    score = _overall(reading)
    if not each_row:
        parts, _, by_id = content.partition(";")
        n, n_ids = found.n_distinct(parts.split(",")), found.n_distinct([by_id])
        return Question(
            "item",
            f"No column counts the questions: {by_id} has {n_ids} values, and {parts} differ together in {n:,} ways.",
            Choice(f"{n:,} questions, told apart by {parts}.", (f"item={parts}",), score),
            Choice(f"{n_ids} questions, one for each value of {by_id}.", (f"item={by_id}",), score),
        )
    n = found.n_distinct(reading.grid.content)
    return Question(
        "item",
        f"{found.n_rows:,} rows have a value of {each_row} each, and only {n:,} different questions stand in {content}.",
        Choice(f"{n:,} questions, each answered {found.n_rows / n:.3g} times.", (f"item={content}",), score),
        Choice(f"{found.n_rows:,} questions.", (f"item={each_row}",), score),
    )


def _ask_condition(found: Profile, reading: TableReading) -> Question | None:
    name = reading.grid.open_condition
    if not name:
        return None
    item = ",".join(reading.grid.items)
    levels = ", ".join(found[name].values[:4])
    return Question(
        "condition",
        f"Each item stands in one row per value of {name} ({levels}).",
        Choice(f"{name} names {found[name].n_distinct} systems or settings; each has a score of its own.", (f"models={name}",)),
        Choice(f"{name} is part of the question.", (f"item={item},{name}",), _overall(reading)),
    )


def _ask_systems(found: Profile, reading: TableReading) -> Question | None:
    """Columns of scores that are called like systems, without any output: systems, or graders of one system."""
    roles = reading.roles
    if reading.shape or roles.output or roles.people or roles.scores:
        return None
    graded = {*roles.judges, *roles.unnamed_scores}
    systems = [
        name
        for name in found.names
        if name in graded and "," not in name and (names(name, "model") or names(name, "condition"))
    ]
    if len(systems) < 2:
        return None
    listed = ",".join(systems)
    return Question(
        "systems",
        f"{', '.join(systems[:4])}{' …' if len(systems) > 4 else ''} hold scores, and no column holds an output.",
        Choice(
            f"They are {len(systems)} systems; each has a score of its own.",
            (f"model_columns={listed}", f"score={bare_column(systems[0])}"),
        ),
        Choice(f"They grade one system; {systems[0]} leads.", (f"score={listed}",), _mean(found, systems[0])),
    )


def _ask_score(found: Profile, reading: TableReading) -> Question | None:
    """Unnamed numbers that could be scores, where nothing else is read."""
    roles = reading.roles
    has_match = bool(roles.output and roles.target)
    if roles.graders or has_match or not roles.unnamed_scores:
        return None
    name, *more = roles.unnamed_scores
    mean = _mean(found, name)
    if more:
        second = Choice(f"{more[0]} is the score.", (f"score={more[0]}",), _mean(found, more[0]))
    else:
        second = Choice("It is no score; no row has one.", ("score=",))
    least, most = found[name].least, found[name].most
    span = f"from {least:g} to {most:g}" if least is not None and most is not None else "of right and wrong"
    return Question(
        "score",
        f"No column is called like a score; {name} holds values {span}.",
        Choice(f"{name} is the score.", (f"score={name}",), mean),
        second,
    )


def _ask_direction(found: Profile, reading: TableReading) -> Question | None:
    """A leading score from 0 to 1 that is called like something bad: is 1 good or bad?"""
    name = next(iter((*reading.roles.scores, *reading.roles.judges)), "")
    if not name or not lower_is_better(name):
        return None
    column = found[name]
    is_unit = column.least is not None and column.most is not None and 0 <= column.least <= column.most <= 1
    if not (column.is_verdict or column.is_ratio or is_unit):
        return None  # called "lower is better" wherever it is shown
    mean, path = _mean(found, name), bare_path(name)
    return Question(
        "direction",
        f"{name} is called like something of which less is better; its mean is {mean:.3g}.",
        Choice(f"1 is bad: the score is 1 less {name}.", (f"reverse={path}",), 1 - mean),
        Choice("1 is good: the score stays as it is.", ("reverse=",), mean),
    )


def _ask_percentages(found: Profile, reading: TableReading) -> Question | None:
    """Shares and percentages in one column: half of the values up to 1, half from 50 on."""
    for name in reading.roles.scores:
        if found[name].n_numbers < found[name].n_filled or (found[name].most or 0) <= 1:
            continue
        value = f"TRY_CAST({found.table.sql(name)} AS DOUBLE)"
        query = (
            f"SELECT count({value}), count(*) FILTER ({value} BETWEEN 0 AND 1), count(*) FILTER ({value} BETWEEN 50 AND 100), "
            f"avg({value}), avg(CASE WHEN {value} > 1 THEN {value} / 100 ELSE {value} END) FROM {found.table.relation}"
        )
        n, n_shares, n_percent, mean, mean_of_shares = found.table.rows(query)[0]
        if n and min(n_shares, n_percent) >= 0.3 * n and n_shares + n_percent >= 0.95 * n:
            return Question(
                "percentages",
                f"{name} holds {n_shares:,} values from 0 to 1 and {n_percent:,} from 50 to 100.",
                Choice("Values above 1 are percentages.", (f"percent={name}",), float(mean_of_shares)),
                Choice("All values are on one scale.", ("percent=",), float(mean)),
            )
    return None


def _ask_negative(found: Profile, reading: TableReading) -> Question | None:
    """A -1 beside scores from 0 to 1: no grade, or the lower end of the scale."""
    table = found.table
    for name, value in lone_negatives(found, reading.roles):
        if (found[name].most or 0) > 1:
            continue
        number = f"TRY_CAST({table.sql(name)} AS DOUBLE)"
        query = f"SELECT count(*) FILTER ({number} = {value}), avg({number}), avg({number}) FILTER ({number} <> {value})"
        n_negative, mean, mean_without = table.rows(f"{query} FROM {table.relation}")[0]
        return Question(
            "negative",
            f"{name} is {value:g} in {count_of(n_negative, 'row')} and from 0 to 1 in all others.",
            Choice(f"{value:g} is no grade; those rows count nowhere.", (f"missing={value:g}",), float(mean_without)),
            Choice(f"{value:g} is a grade, the lowest of the scale.", ("missing=",), float(mean)),
        )
    return None


def _mean(found: Profile, name: str) -> float:
    value = found.table.rows(f"SELECT avg({score_sql(found.table.sql(name))}) FROM {found.table.relation}")[0][0]
    return nan if value is None else float(value)


def _ask_output(found: Profile, reading: TableReading) -> Question | None:
    """Two columns of labels that agree often: which is the output, and which is right?"""
    roles = reading.roles
    if roles.output or roles.graders or roles.unnamed_scores or not found.table.is_whole:
        return None
    labels = [
        name
        for name in found.names
        if 2 <= found[name].n_distinct <= 60
        and not found[name].is_text
        and name not in (*roles.prompts, *roles.options, *reading.grid.told_by)
        and not (names(name, "configuration") or names(name, "about"))
    ]
    for i, name in enumerate(labels):
        for other in labels[i + 1 :]:
            share = found.share_equal(name, other)
            if 0.05 <= share < COPIED and set(found[name].values) & set(found[other].values):
                return Question(
                    "output",
                    f"{name} and {other} hold the same labels and agree in {share:.0%} of the rows.",
                    Choice(f"{name} is the output and {other} is right.", (f"text={name}", f"target={other}"), share),
                    Choice(f"{other} is the output and {name} is right.", (f"text={other}", f"target={name}"), share),
                )
    return None


def _ask_failed(found: Profile, reading: TableReading) -> Question | None:
    """Empty outputs of failed calls that a score counts as wrong."""
    roles, table = reading.roles, found.table
    if not (roles.output and roles.errors and roles.scores):
        return None
    score, error = roles.scores[0], roles.errors[0]
    output, value = table.sql(roles.output), score_sql(table.sql(score))
    failed = f"({output} IS NULL AND {table.sql(error)} IS NOT NULL)"
    query = f"SELECT count(*) FILTER ({failed} AND {value} = 0), avg({value}), avg({value}) FILTER (NOT {failed}) FROM {table.relation}"
    n_failed, mean, mean_without = table.rows(query)[0]
    if not n_failed or mean is None or mean_without is None or found[error].n_filled == found.n_rows:
        return None
    return Question(
        "failed calls",
        f"{n_failed:,} rows have no output, an entry in {error}, and the score 0.",
        Choice("Failed calls count as wrong.", ("failed=wrong",), float(mean)),
        Choice("Failed calls are left out.", ("failed=out",), float(mean_without)),
    )
