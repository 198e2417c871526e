"""Questions that a table leaves open: two readings, their scores, and the words of `--map`.

These questions are about what the steps cannot decide. `doubts.py` asks about decisions that the
steps made without a clear reason.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import nan

from flipcore.datasets.tables.coding import agreement
from flipcore.datasets.tables.own_columns import bare_column, bare_path
from flipcore.datasets.tables.profile import Profile, is_word_sql, number_sql
from flipcore.datasets.tables.roles import LOOKED_AT, lone_negatives
from flipcore.datasets.tables.stems import last_part, lower_is_better, names, names_right, words_of
from flipcore.datasets.tables.table_reading import MATCH, Choice, Question, TableReading, score_text
from flipcore.text.counts import count_of

MAX_NAMED = 4  # columns in a question; it ends with "…" if there are more
MAX_GRADE = 10
SAME_NUMBERS = 0.25  # least share of rows in which a count and the true one are equal
_NO_GRADES = ("id", "run", "about", "configuration", "error")
COPIED = 0.995  # least agreement of two columns of which one is a copy of the other


def open_questions(table_profile: Profile, reading: TableReading) -> list[Question]:
    """List the questions about what the reading could not decide."""
    questions = [
        _ask_systems(table_profile, reading) or _ask_score(table_profile, reading),
        _ask_direction(table_profile, reading),
        _ask_percentages(table_profile, reading),
        _ask_negative(table_profile, reading),
        _ask_output(table_profile, reading),
        _ask_condition(table_profile, reading),
        _ask_failed(table_profile, reading),
        _ask_item(table_profile, reading),
    ]
    return [question for question in questions if question]


def is_answered(question: Question, words: Mapping[str, str]) -> bool:
    """Tell whether the words of `--map` answer a question."""
    choice_words = chain.from_iterable(choice.words for choice in question.choices)
    return any(word.partition("=")[0] in words for word in choice_words)


def listed_columns(columns: Sequence[str]) -> str:
    """Return the first names of columns, with "…" if there are more."""
    return f"{', '.join(columns[:MAX_NAMED])}{' …' if len(columns) > MAX_NAMED else ''}"


def overall(reading: TableReading) -> float:
    """Return the mean of the leading score over the arms of a reading; NaN if no arm has it."""
    lead = next(iter(reading.roles.graders), MATCH)
    values = [value for (_, grader), value in reading.scores.items() if grader == lead]
    values = [value for value in values if value == value]
    return sum(values) / len(values) if values else nan


def _ask_item(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask what an item is, where `open_item` names two columns, or "parts;id" as its second."""
    row_id, content = reading.grid.open_item
    if not content:
        return None
    score = overall(reading)
    if not row_id:
        parts, _, by_id = content.partition(";")
        n, n_ids = table_profile.n_distinct(parts.split(",")), table_profile.n_distinct([by_id])
        return Question(
            "item",
            f"No column counts the questions: {by_id} has {n_ids} values, and {parts} differ "
            f"together in {n:,} ways.",
            Choice(f"{n:,} questions, told apart by {parts}.", (f"item={parts}",), score),
            Choice(f"{n_ids} questions, one for each value of {by_id}.", (f"item={by_id}",), score),
        )
    items = ",".join(reading.grid.items)
    n = table_profile.n_distinct(reading.grid.items)
    return Question(
        "item",
        f"{table_profile.n_rows:,} rows have a value of {row_id} each, and only "
        f"{count_of(n, 'different question')} {'stands' if n == 1 else 'stand'} in {items}.",
        Choice(
            f"{count_of(n, 'question')}, each answered {table_profile.n_rows / n:.3g} times.",
            (f"item={items}",),
            score,
        ),
        Choice(f"{table_profile.n_rows:,} questions.", (f"item={row_id}",), score),
    )


def _ask_condition(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether an unnamed column that crosses the items names systems."""
    name = reading.grid.open_condition
    if not name:
        return None
    item = ",".join(reading.grid.items)
    conditions = ",".join([*reading.grid.conditions, name])
    levels = ", ".join(table_profile[name].values[:4])
    shown = f" ({levels})" if levels else ""  # of many values none is shown
    seen = f"Each item stands in one row per value of {name}{shown}."
    lead = next(iter(reading.roles.graders), "")
    if lead and names(last_part(name), "scorer"):
        return Question(
            "condition",
            seen,
            Choice(
                f"{name} names {table_profile[name].n_distinct} scores of one output.",
                (f"scorer={name}", f"score={lead}"),
            ),
            Choice(f"{name} is part of the question.", (f"item={item},{name}",), overall(reading)),
        )
    return Question(
        "condition",
        seen,
        Choice(
            f"{name} names {table_profile[name].n_distinct} systems or settings"
            f"{arm_scores(table_profile, reading, name)}.",
            (f"models={conditions}",),
        ),
        Choice(f"{name} is part of the question.", (f"item={item},{name}",), overall(reading)),
    )


def _ask_systems(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether scores that are called like systems belong to systems or to graders."""
    roles = reading.roles
    if reading.shape or roles.output or roles.scores:
        return None
    graded = {*roles.judges, *roles.unnamed_scores}
    models = [name for name in graded if names(name, "model")]
    if roles.people and len(models) < 2:
        return None
    if len(models) > 1:  # a third may have numbers of another kind
        unused = [name for name in reading.unused if names(name, "model")]
        graded.update(name for name in unused if table_profile[name].is_numeric)
    plain = [name for name in table_profile.names if name in graded and "," not in name]
    systems = [name for name in plain if names(name, "model") or names(name, "condition")]
    if systems and all(table_profile[name].is_verdict for name in systems):
        # right and wrong beside a model's own are another model's: no list knows all models
        systems = [name for name in plain if table_profile[name].is_verdict]
    if not systems and not roles.judges:
        # nor is Fine-tuned: right and wrong in each of the columns
        are_verdicts = all(table_profile[name].is_verdict for name in plain)
        are_properties = any(words_of(name)[:1] in (("is",), ("has",)) for name in plain)
        systems = plain if are_verdicts and not are_properties else []
    if systems and all({"judge", "grader"} & set(words_of(name)) for name in systems):
        return None  # judge_gpt4o and judge_claude grade one output
    if len(systems) < 2:
        systems = _grades_of_systems(table_profile, reading)
    if len(systems) < 2:
        return None
    listed = ",".join(systems)
    are_named_scores = any(names_right(name) for name in systems)
    if roles.target and table_profile[roles.target].is_verdict and not are_named_scores:
        return Question(
            "systems",
            f"{listed_columns(systems)} and {roles.target} hold "
            "right and wrong, and no column holds an output.",
            Choice(
                f"They are answers of {len(systems)} systems, compared with {roles.target}.",
                (f"model_columns={listed}",),
            ),
            Choice(
                f"They say which answers are right; {systems[0]} leads.",
                (f"score={listed}", "target="),
                mean_of(table_profile, systems[0]),
            ),
        )
    return Question(
        "systems",
        f"{listed_columns(systems)} hold scores, and no column holds an output.",
        Choice(
            f"They are {len(systems)} systems; each has a score of its own.",
            (f"model_columns={listed}", f"score={bare_column(systems[0])}"),
        ),
        Choice(
            f"They grade one system; {systems[0]} leads.",
            (f"score={listed}",),
            mean_of(table_profile, systems[0]),
        ),
    )


def _grades_of_systems(table_profile: Profile, reading: TableReading) -> list[str]:
    """Return columns of whole numbers up to MAX_GRADE, some of them called like systems."""
    grades = []
    for name in table_profile.names:
        column, is_free = table_profile[name], name not in reading.roles.taken
        is_grade = column.is_integer and column.n_distinct > 1 and column.is_filled
        has_role = name in reading.grid.row_key or any(names(name, kind) for kind in _NO_GRADES)
        has_role |= not words_of(name)  # "#" counts the rows
        if is_free and is_grade and not has_role:
            if 0 <= (column.least or 0) and (column.most or 0) <= MAX_GRADE:
                grades.append(name)
    are_called = any(names(name, "model") or names(name, "condition") for name in grades)
    are_graded = any(table_profile[name].n_distinct > 2 for name in grades)
    return grades if are_called and are_graded else []


def _ask_score(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether numbers without a score's name are the score, where there is no other score."""
    roles = reading.roles
    has_match = bool(roles.output and roles.target)
    if roles.people and not (roles.output or roles.scores or roles.judges):
        return _ask_people(table_profile, reading)
    if roles.graders or has_match:
        return None
    # what follows from the system alone, as is_mock does, grades no output
    conditions = reading.grid.conditions
    candidates = [
        name
        for name in roles.unnamed_scores
        if not (conditions and table_profile.follows(conditions, name))
    ]
    if not candidates:
        return None
    name, *more = candidates
    mean = mean_of(table_profile, name)
    if len(more) > 1:
        listed = f"{more[0]}, {more[1]}{' …' if len(more) > 2 else ''}"
        second = Choice(
            f"It is no score. If another is, as {listed}: --map score=COLUMN.", ("score=",)
        )
    elif more:
        second = Choice(
            f"{more[0]} is the score.", (f"score={more[0]}",), mean_of(table_profile, more[0])
        )
    else:
        second = Choice("It is no score; no row has one.", ("score=",))
    least, most = table_profile[name].least, table_profile[name].most
    span = "of right and wrong" if least is None or most is None else f"from {least:g} to {most:g}"
    return Question(
        "score",
        f"No column is called like a score; {name} holds values {span}.",
        Choice(f"{name} is the score.", (f"score={name}",), mean),
        second,
    )


def _ask_people(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether people grade outputs, or how well they answered themselves: human_accuracy, or
    human beside the numbers that they should have said."""
    name = reading.roles.people[0]
    for key in filter(lambda key: table_profile[key].is_numeric, reading.unused):
        # of few values many would be equal by chance
        is_count = min(table_profile[name].n_distinct, table_profile[key].n_distinct) > MAX_GRADE
        if is_count and table_profile.share_equal(name, key) >= SAME_NUMBERS:
            words = (f"text={name}", f"target={key}", "score=", "people=")
            return Question(
                "score",
                f"{name} and {key} hold the same number in many rows.",
                Choice(f"{name} is an answer, and {key} is right.", words),
                Choice(f"{name} is a grade.", (f"score={name}",), mean_of(table_profile, name)),
            )
    if not set(words_of(name)) & _OWN_SCORES:
        return None
    return Question(
        "score",
        f"{name} is the only score, and no column holds an output.",
        Choice("People grade a model by it.", (f"score={name}",), mean_of(table_profile, name)),
        Choice("It says how well people answered; no row has a score.", ("score=", "people=")),
    )


_OWN_SCORES = {"accuracy", "acc", "performance", "baseline"}


def _ask_direction(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether 1 is good or bad, where the leading score is called like something bad."""
    name = next(iter((*reading.roles.scores, *reading.roles.judges)), "")
    if not name or not lower_is_better(name) or names(last_part(name), "error_rate"):
        return None
    column = table_profile[name]
    if not (column.is_verdict or column.is_ratio or column.is_unit):
        return None  # called "lower is better" wherever it is shown
    mean, path = mean_of(table_profile, name), bare_path(name)
    return Question(
        "direction",
        f"{name} is called like something of which less is better; its mean is {mean:.3g}.",
        Choice(f"1 is bad: the score is 1 less {name}.", (f"reverse={path}",), 1 - mean),
        Choice("1 is good: the score stays as it is.", ("reverse=",), mean),
    )


def _ask_percentages(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask about a column that seems to hold shares and percentages, many up to 1 and from 50 on."""
    for name in reading.roles.scores:
        column = table_profile[name]
        if column.n_numbers < column.n_filled or (column.most or 0) <= 1:
            continue
        value = f"TRY_CAST({table_profile.table.sql(name)} AS DOUBLE)"
        query = (
            f"SELECT count({value}), count(*) FILTER ({value} BETWEEN 0 AND 1), count(*) FILTER "
            f"({value} BETWEEN 50 AND 100), "
            f"avg({value}), avg(CASE WHEN {value} > 1 THEN {value} / 100 ELSE {value} END) FROM "
            f"{table_profile.table.relation}"
        )
        n, n_shares, n_percent, mean, mean_of_shares = table_profile.table.rows(query)[0]
        if n and min(n_shares, n_percent) >= 0.3 * n and n_shares + n_percent >= 0.95 * n:
            return Question(
                "percentages",
                f"{name} holds {n_shares:,} values from 0 to 1 and {n_percent:,} from 50 to 100.",
                Choice(
                    "Values above 1 are percentages.", (f"percent={name}",), float(mean_of_shares)
                ),
                Choice("All values are on one scale.", ("percent=",), float(mean)),
            )
    return None


def _ask_negative(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether -1 beside scores from 0 to 1 is no grade, or the lower end of the scale."""
    table = table_profile.table
    for name, value in lone_negatives(table_profile, reading.roles):
        if (table_profile[name].most or 0) > 1:
            continue
        number = f"TRY_CAST({table.sql(name)} AS DOUBLE)"
        query = (
            f"SELECT count(*) FILTER ({number} = {value}), avg({number}), "
            f"avg({number}) FILTER ({number} <> {value})"
        )
        n_negative, mean, mean_without = table.rows(f"{query} FROM {table.relation}")[0]
        return Question(
            "negative",
            f"{name} is {value:g} in {count_of(n_negative, 'row')} and from 0 to 1 in all others.",
            Choice(
                f"{value:g} is no grade; those rows count nowhere.",
                (f"missing={value:g}",),
                float(mean_without),
            ),
            Choice(f"{value:g} is a grade, the lowest of the scale.", ("missing=",), float(mean)),
        )
    return None


def mean_of(table_profile: Profile, name: str) -> float:
    """Return the mean of a column as scores; NaN if it has none."""
    table = table_profile.table
    mean = table.rows(f"SELECT avg({score_sql(table.sql(name))}) FROM {table.relation}")[0][0]
    return nan if mean is None else float(mean)


def is_held_by(table_profile: Profile, part: str, text_column: str) -> bool:
    """Tell whether most texts of the column `part` are contained in those of another column."""
    rows = table_profile.table.frame([part, text_column], most=200)
    pairs = [(row[part], row[text_column]) for row in rows if row[part] and row[text_column]]
    n_held = sum(str(inner).strip() in str(text) for inner, text in pairs)
    return not pairs or 2 * n_held > len(pairs)


def means_by(
    table_profile: Profile, reading: TableReading, name: str
) -> dict[str, tuple[float, int, float]]:
    """Return {value: (mean, number, variance) of the leading score in its rows} for a column.

    Without a score, outputs are compared with right answers; {} if that is not possible.
    """
    roles, table = reading.roles, table_profile.table
    lead = next(iter((*roles.scores, *roles.judges)), "")
    if lead:
        value = score_sql(table.sql(lead))
        query = (
            f"SELECT {table.sql(name)}, avg({value}), count({value}), var_pop({value}) FROM "
            f"{table.relation} WHERE {table.sql(name)} IS NOT NULL GROUP BY 1 ORDER BY min(place)"
        )
        rows = [row for row in table.rows(query) if row[2]]
        return {level: (float(mean), n, float(variance)) for level, mean, n, variance in rows}
    if not any(grader == MATCH for _, grader in reading.scores) or not reading.coding:
        return {}
    columns = dict.fromkeys((name, roles.output, roles.target, *roles.options))
    by_level: dict[str, list[Mapping[str, str | None]]] = {}
    for cells in table.frame(list(columns), most=LOOKED_AT):
        by_level.setdefault(cells[name] or "", []).append(cells)
    means = {}
    for level, level_rows in by_level.items():
        agreed = agreement(reading.coding, level_rows, roles.output, roles.target, roles.options)
        if agreed.n:
            means[level] = (agreed.share, agreed.n, agreed.share * (1 - agreed.share))
    return means


MAX_LISTED = 3  # scores in a sentence; of more, the lowest and the highest


def arm_scores(table_profile: Profile, reading: TableReading, name: str) -> str:
    """Return the leading score per value of a column, as ": 52%, 61% and 90%"; "" below two."""
    if name not in table_profile.columns:
        return ""
    values = [mean for mean, *_ in means_by(table_profile, reading, name).values()]
    if len(values) < 2:
        return ""
    if len(values) > MAX_LISTED:
        return f", from {score_text(min(values))} to {score_text(max(values))}"
    *first_means, last_mean = map(score_text, values)
    return f": {', '.join(first_means)} and {last_mean}"


def _ask_output(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask which of two columns of labels that agree often is the output, and which is right."""
    roles = reading.roles
    if roles.output or roles.graders or roles.unnamed_scores or not table_profile.table.is_whole:
        return None
    labels = [
        name
        for name in table_profile.names
        if 2 <= table_profile[name].n_distinct <= 60
        and not table_profile[name].is_text
        and (not table_profile[name].is_numeric or table_profile[name].n_distinct == 2)
        and name not in (*roles.prompts, *roles.options, *reading.grid.row_key)
        and not (names(name, "configuration") or names(name, "about"))
    ]
    for first, second in combinations(labels, 2):
        share = table_profile.share_equal(first, second)
        shared_values = set(table_profile[first].values) & set(table_profile[second].values)
        if names(first, "people") and not names(second, "people"):
            first, second = second, first  # what people said is right
        if 0.05 <= share < COPIED and shared_values:
            return Question(
                "output",
                f"{first} and {second} hold the same labels and agree in {share:.0%} of the rows.",
                Choice(
                    f"{first} is the output and {second} is right.",
                    (f"text={first}", f"target={second}"),
                    share,
                ),
                Choice(
                    f"{second} is the output and {first} is right.",
                    (f"text={second}", f"target={first}"),
                    share,
                ),
            )
    return None


def _ask_failed(table_profile: Profile, reading: TableReading) -> Question | None:
    """Ask whether failed calls count, where their empty outputs have the score 0."""
    roles, table = reading.roles, table_profile.table
    if not (roles.output and roles.errors and roles.scores):
        return None
    score, error = roles.scores[0], roles.errors[0]
    is_empty = f"({table.sql(roles.output)} IS NULL AND {table.sql(error)} IS NOT NULL)"
    is_graded_0 = f"{score_sql(table.sql(score))} = 0"
    n_failed, mean, mean_without = failed_means(table_profile, score, is_empty, is_graded_0)
    is_always_filled = table_profile[error].n_filled == table_profile.n_rows
    if not n_failed or mean is None or mean_without is None or is_always_filled:
        return None
    return Question(
        "failed calls",
        f"{n_failed:,} rows have no output, an entry in {error}, and the score 0.",
        Choice("Failed calls count as wrong.", ("failed=wrong",), float(mean)),
        Choice("Failed calls are left out.", ("failed=out",), float(mean_without)),
    )


def failed_means(
    table_profile: Profile, score: str, has_failed: str, is_graded: str
) -> tuple[int, float | None, float | None]:
    """Return how many failed calls are graded, and the mean score with and without failed calls.

    `has_failed` and `is_graded` are conditions in SQL. A mean of no score is None, and so are both
    means where no call failed.
    """
    table = table_profile.table
    # a score takes DuckDB long to plan, and in most tables no call failed
    if not table.rows(f"SELECT 1 FROM {table.relation} WHERE {has_failed} LIMIT 1"):
        return 0, None, None
    value = score_sql(table.sql(score))
    query = (
        f"SELECT count(*) FILTER ({has_failed} AND {is_graded}), avg({value}), "
        f"avg({value}) FILTER (NOT {has_failed}) FROM {table.relation}"
    )
    return table.rows(query)[0]


def score_sql(cell: str, sentinel: float | None = None) -> str:
    """Return the SQL of a score as a number: words for right and wrong, k/n, %, numbers.

    A number equal to `sentinel` becomes NULL.
    """
    number = number_sql(cell)
    percent = number_sql(f"rtrim(rtrim({cell}, '%'))")
    if sentinel is not None:
        number = f"nullif({number}, {sentinel})"
    part, of_all = (f"TRY_CAST(split_part({cell}, '/', {place}) AS DOUBLE)" for place in (1, 2))
    ratio = f"{part} / nullif({of_all}, 0)"
    return (
        f"CASE WHEN {is_word_sql(cell, 'right')} THEN 1 "
        f"WHEN {is_word_sql(cell, 'wrong')} THEN 0 "
        f"WHEN {cell} LIKE '%/%' THEN {ratio} "
        f"WHEN {cell} LIKE '%\\%' ESCAPE '\\' THEN {percent} / 100 ELSE {number} END"
    )
