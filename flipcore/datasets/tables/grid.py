"""Steps 6, 7 and 10: find the columns of items, of conditions and runs, and of clusters.

Columns "tell rows apart" if no two rows have the same values in all of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from flipcore.datasets.tables.coding import entries_of
from flipcore.datasets.tables.own_columns import RATERS
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import OUTPUT, Roles, is_label_beside_another, part_of
from flipcore.datasets.tables.shape import OF_ROW, OF_VERSION
from flipcore.datasets.tables.stems import last_names, last_part, names, stems, words_of

EVEN = 0.7  # least share of rows in cells of the commonest size, for a condition
RAISES = 1.005  # least factor of distinct questions by which a context is part of the question
FINER = 1.1  # most ids per distinct prompt, where repeats of a prompt are repeats of its item
NAMED_RUN = 0.85  # least share of rows that a column called a run tells apart
MAX_LEVELS = 200  # values of a condition
MIN_CELLS = 12  # combinations of two settings that are questions
MIN_CLUSTERS = 10  # with fewer there is no error bar, and each item counts alone
LEAST_ITEMS = 5
LEAST_LEVELS = 3  # values of each of two settings that make up a question together
MAX_FRACTIONS = 12  # values of a setting such as the temperature; more are measurements
MIN_TEXT = 20  # characters; a column without a role that is shorter holds no outputs
MIN_OUTPUT = 8  # characters; shorter outputs may be equal by chance
MANY = 10  # rows per value of an id, from which on the id is none of the question
MAX_PARTS = 6  # columns that make a question together
DIFFERING = 0.05  # of the questions, above which right answers that differ are no mistakes


@dataclass(frozen=True)
class Grid:
    """The columns of items × conditions × runs.

    `open_item` and `open_condition` are candidates that the table does not decide between: a user
    is asked. `open_item` is (row id, column of the question), or ("", "parts;id").
    """

    items: tuple[str, ...] = ()
    content: tuple[str, ...] = ()  # the columns of the question: prompt, key, options, contexts
    conditions: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    run: str = ""
    regrade: str = ""  # the column that counts several grades of one output
    clusters: tuple[str, ...] = ()
    scorer: str = ""  # the column that names the scorer, where rows hold one score each
    open_item: tuple[str, str] = ("", "")
    open_condition: str = ""
    is_rated: bool = False  # whether runs are ratings of one output by several people
    is_rerun: bool = False  # whether rows that no column tells apart are reruns
    n_repeated: int = 0  # items with several rows that agree in all of `row_key`

    @property
    def row_key(self) -> tuple[str, ...]:
        """The columns that tell rows apart."""
        columns = (*self.items, *self.conditions, *self.variants, self.scorer, self.run)
        return tuple(filter(None, columns))


def find_grid(profile: Profile, roles: Roles, *, is_wide: bool = False) -> Grid:
    """Find what an item is, then what tells its rows apart.

    `is_wide` is True if a row of the file held several systems: its id is that of a question.
    """
    if OF_VERSION in profile.columns and OF_ROW in profile.columns:
        return Grid(items=(OF_ROW,), variants=(OF_VERSION,))
    grid = Grid(content=_content(profile, roles))
    grid = _with_made_items(profile, roles, _with_items(profile, roles, grid, is_wide=is_wide))
    grid = _with_scorer(profile, roles, _with_conditions(profile, roles, grid))
    grid = _with_regrades(profile, roles, _with_runs(profile, roles, grid))
    grid = replace(grid, is_rated=_is_rated(profile, roles, grid))
    grid = _with_repeated_ids(profile, roles, grid)
    return replace(grid, clusters=_clusters(profile, roles, grid))


def _content(profile: Profile, roles: Roles) -> tuple[str, ...]:
    """Return the prompt, and further columns that raise the number of distinct questions."""
    if not roles.prompts:
        return ()
    content = [roles.prompts[0], *_deciding_text(profile, roles)]
    target = [roles.target] if roles.target else []
    systems = _named_conditions(profile, roles)
    if target and _has_slips(profile, roles):
        target = []
    for name in (*roles.prompts[1:], *target, *roles.options, *roles.contexts):
        raises = profile.n_distinct([*content, name]) > RAISES * profile.n_distinct(content)
        if raises and not _is_of_system(profile, content, systems, name):
            content.append(name)
    return tuple(content)


def _has_slips(profile: Profile, roles: Roles) -> bool:
    """Tell whether few questions have several right answers, and an id counts the questions."""
    n_prompts = profile.n_distinct(roles.prompts[:1])
    if profile.n_distinct([roles.prompts[0], roles.target]) > (1 + DIFFERING) * n_prompts:
        return False
    return any(profile.are_same(name, roles.prompts[0]) for name in _ids(profile, roles))


def _is_of_system(
    profile: Profile, content: Sequence[str], systems: Sequence[str], name: str
) -> bool:
    """Tell whether each system has its own text in a column, such as the passage that it found."""
    n_content, with_systems = profile.n_distinct(content), [*content, *systems]
    if not systems or profile.n_distinct(with_systems) <= FINER * n_content:
        return False
    has_more = profile.n_distinct([*content, name]) > FINER * n_content
    return has_more and profile.follows(with_systems, name)


def _deciding_text(profile: Profile, roles: Roles) -> list[str]:
    """Return the text that a question is about, if both decide the right answer; [] for none."""
    if not roles.target:
        return []
    tasks = [name for name in profile.names if names(name, "task") and name not in roles.taken]
    asking = [roles.prompts[0], *tasks]
    if profile.n_distinct([*asking, roles.target]) <= FINER * profile.n_distinct(asking):
        return []
    deciding = [name for name in roles.contexts if profile.follows([*asking, name], roles.target)]
    return deciding[:1]


def _ids(profile: Profile, roles: Roles) -> list[str]:
    """Return the columns called like an id, one of those that divide the rows in the same way."""
    ids: list[str] = []
    for name in profile.names:
        column = profile[name]
        last = last_part(name)
        is_numbered_prompt = (
            names(last, "prompt") and column.is_integer and not _MEASURED & set(words_of(last))
        )
        is_id = (
            is_numbered_prompt
            or last_names(last, "id")
            or words_of(last)[:1] in (("id",), ("qid",), ("doc",))
            or name.lower() in ("index", "unnamed: 0", "test", "test_case", "testcase")
            or (name.lower() == "sample" and not roles.prompts and column.n_distinct >= MANY)
        )
        is_of_other = any(names(last, kind) for kind in ("condition", "model")) and not names(
            last, "prompt"
        )
        if not is_id or is_of_other or name in roles.taken or column.n_distinct < 2:
            continue
        if counts_runs(last) and (column.n_distinct < LEAST_ITEMS or _has_other_id(profile, name)):
            continue
        if (column.is_numeric and not column.is_integer) or column.is_list or column.is_object:
            continue
        if any(profile.are_same(name, other_id) for other_id in ids):
            continue
        ids.append(name)
    # a row's number is no id where another id has several rows per value, equally many each
    ids_of_items = [name for name in ids if not _numbers_rows(profile, name)]
    for name in ids_of_items:
        if LEAST_ITEMS <= profile[name].n_distinct and _is_even(profile, [name]):
            return ids_of_items
    return ids


def _numbers_rows(profile: Profile, name: str) -> bool:
    """Tell whether a column called row or index counts the rows."""
    is_called = {"row", "index", "unnamed"} & set(words_of(last_part(name)))
    is_count = bool(is_called) and _counts(profile, name)
    return is_count and profile.n_values(name) == profile.n_rows


def _has_other_id(profile: Profile, run: str) -> bool:
    """Tell whether another column names the item of a row; then runId counts runs."""
    for name in profile.names:
        last = last_part(name)
        words = set(words_of(last))
        is_of_item = words & _ITEM_WORDS or last_names(last, "id")
        is_other = counts_runs(last) or names(last, "condition") or bool(words & _MEASURED)
        is_id = is_of_item and not is_other and not names(last, "run")
        if name != run and is_id and LEAST_ITEMS <= profile[name].n_distinct < profile.n_rows:
            return True
    return False


def counts_runs(name: str) -> bool:
    """Tell whether a name is that of a run or of one call: runId, trial, trace_id."""
    words = set(words_of(name))
    # sample_id is the id of an item as often as that of a run
    is_sample = any(word.startswith("sample") for word in words)
    return (names(name, "run") and not is_sample) or bool(_CALL_WORDS & words)


# ids of calls, which a log gives anew to each attempt
_CALL_WORDS = set("trace span session request attempt".split())
_ITEM_WORDS = set(
    "task item case example instance problem question scenario prompt sample doc".split()
)


def _with_items(profile: Profile, roles: Roles, grid: Grid, *, is_wide: bool) -> Grid:
    """Find the columns of items: an id, an id with further columns, or the question itself."""
    ids, content = _ids(profile, roles), grid.content
    systems = _named_conditions(profile, roles)
    if not content:
        return replace(grid, items=_items_by_id(profile, roles, ids, systems))
    n_content = profile.n_distinct(content)
    for name in (name for name in ids if profile.follows([name], content[0])):
        # if the column that varies most within an id follows from it, all columns do
        most_varied = max(content, key=lambda column: profile.n_distinct([name, column]))
        if profile.follows([name], most_varied):
            return _with_id_of_content(profile, roles, systems, grid, name)
    for name in ids if systems else ():
        # prompts that contain the model's output differ by model; the question has one id
        if (
            (is_wide or _is_specific(name))
            and crosses(profile, [name], systems[0])
            and profile.follows([name, *systems, *_runs_and_turns(profile)], content[0])
        ):
            return replace(grid, items=(name,))
    for name in ids:
        setting = _crossing_setting(profile, roles, name, content)
        is_one_question = not roles.target or profile.follows([name], roles.target)
        if setting and (is_one_question or names(setting, "variant")):
            return replace(grid, items=(name,), variants=(setting,))
    for name in ids:
        shuffled = _shuffled_options(profile, roles, name)
        if shuffled:
            return replace(grid, items=(name,), variants=(shuffled,))
    if n_content >= profile.n_rows or (is_wide and _is_told(profile, [*content, *systems])):
        return replace(grid, items=content)
    for name in ids:
        items = _smallest_set(profile, roles, name, content)
        if items:
            return replace(grid, items=items)
    is_even = n_content >= LEAST_ITEMS and _is_even(profile, content)
    has_copies = n_content >= profile.n_distinct(profile.table.names)
    if not (systems or has_copies or is_even) and 2 * n_content > profile.n_rows:
        return grid  # questions repeat by chance: each row is an item
    return replace(grid, items=content)


def _with_id_of_content(
    profile: Profile, roles: Roles, systems: Sequence[str], grid: Grid, name: str
) -> Grid:
    """Decide between an id from which the question follows, and the question itself."""
    content, n_ids = grid.content, profile.n_values(name)
    n_content = profile.n_distinct(content)
    if n_ids <= FINER * n_content:
        return replace(grid, items=(name,))
    for system in systems:
        # an id of rows: each system has its own ones, unlike the id of a question
        is_finest = profile.n_distinct([*content, system]) >= 0.99 * n_ids
        if is_finest and not crosses(profile, [name], system):
            return replace(grid, items=content)
    for run in _runs_and_turns(profile):
        # each row has an id, and a seed tells the rows of one question apart
        is_told = n_ids == profile.n_rows == profile.n_distinct([*content, run])
        if is_told and n_content < n_ids and crosses(profile, content, run):
            return replace(grid, items=content)
    if not _has_differing_part(profile, roles, content, name) and n_ids == profile.n_rows:
        if n_content <= n_ids / FINER and _is_even(profile, content):
            return replace(grid, items=content, open_item=(name, content[0]))
    return replace(grid, items=(name,))


def _runs_and_turns(profile: Profile) -> list[str]:
    """Return the columns that are called like runs or turns and have several values."""
    runs = [run for run in profile.names if names(last_part(run), "run") or "turn" in words_of(run)]
    return [run for run in runs if 2 <= profile[run].n_distinct <= MAX_LEVELS]


def _has_differing_part(
    profile: Profile, roles: Roles, content: Sequence[str], row_id: str
) -> bool:
    """Tell whether the ids of one question differ in another column, such as an image."""
    for name in profile.names:
        column = profile[name]
        is_other = names(name, "run") or names(name, "id") or name in (row_id, *roles.taken)
        if is_other or column.is_numeric or column.n_distinct < 2:
            continue
        n_parts = profile.n_distinct([*content, name])
        if n_parts >= 0.9 * profile.n_values(row_id) and profile.follows([row_id], name):
            return True
    return False


def _crossing_setting(profile: Profile, roles: Roles, item: str, content: Sequence[str]) -> str:
    """Return a column of wordings or settings that each id has equally often; "" for none."""
    for name in profile.names:
        is_free = name not in roles.taken and name != item
        is_named = names(name, "variant") or names(name, "setting")
        # versions of a question with one right answer are wordings of it
        is_named |= words_of(last_part(name)) == ("version",) and bool(roles.target)
        if not is_free or not is_named or not 2 <= profile[name].n_distinct <= MAX_LEVELS:
            continue
        if profile.follows([item, name], content[0]) and crosses(profile, [item], name):
            return name
    return ""


def _shuffled_options(profile: Profile, roles: Roles, item: str) -> str:
    """Return a column with the same options per id in another order in each row; "" for none."""
    if not _is_even(profile, [item]):
        return ""
    for name in profile.names:
        is_list = profile[name].is_list and name not in (item, roles.target, roles.output)
        if not is_list or not _is_told(profile, [item, name]):
            continue
        option_sets: dict[str | None, set[tuple[str, ...]]] = {}
        for row in profile.table.frame([item, name], most=500):
            options = tuple(sorted(entries_of(row[name])))
            option_sets.setdefault(row[item], set()).add(options)
        if all(len(sets) == 1 and len(next(iter(sets))) > 1 for sets in option_sets.values()):
            return name
    return ""


def _smallest_set(
    profile: Profile, roles: Roles, item: str, content: Sequence[str]
) -> tuple[str, ...]:
    """Return the id and one or two more columns that decide the question; () for none."""
    candidates = []
    for name in profile.names:
        column = profile[name]
        is_free = name not in roles.taken and name != item
        is_plain = column.mean_length <= 60 and not (column.is_list or column.is_object)
        is_count = not column.is_numeric or column.is_integer
        is_other = names(name, "condition") or names(name, "run")
        if not (is_free and is_plain and is_count) or is_other or column.n_distinct < 2:
            continue
        is_named = any(names(name, kind) for kind in ("id", "cluster", "context"))
        if is_named or 2 * column.n_distinct <= profile.n_rows:
            candidates.append(name)
    n_content = profile.n_distinct(content)
    singles_and_pairs = chain(combinations(candidates[:12], 1), combinations(candidates[:12], 2))
    for parts in singles_and_pairs:
        items = (item, *parts)
        is_small = profile.n_distinct(items) <= 2 * n_content + LEAST_ITEMS
        if is_small and all(profile.follows(items, column) for column in content):
            return items
    return ()


# texts about an answer, which tell rows apart and are no questions
_REMARKS = frozenset(
    "reason reasons explanation rationale feedback comment comments note notes remark".split()
)


def _items_by_id(
    profile: Profile, roles: Roles, ids: Sequence[str], systems: Sequence[str]
) -> tuple[str, ...]:
    """Find the items of a table without prompts: an id, an id within a task, a task, or a text."""
    tasks = [name for name in profile.names if _is_task(profile, roles, name)]
    best: tuple[str, ...] = ()
    for name in sorted(ids, key=lambda candidate: not _is_specific(candidate)):
        if not best:
            best = (name,)
        is_row_number = profile.n_values(name) == profile.n_rows and _is_specific(best[0])
        n_best = profile.n_distinct([*best, *systems])
        if profile.n_distinct([name, *systems]) > 1.01 * n_best and not is_row_number:
            best = (name,)
    if best and systems and _is_told(profile, [*best, *systems]):
        return best  # a category that differs by model is no part of the question
    if best:
        for task in tasks:
            # Ids count within a task. A column called task is never a system, even if it crosses
            # all ids.
            is_task = bool(_ALWAYS_TASKS & set(words_of(task))) or not crosses(profile, best, task)
            if is_task and profile.n_distinct([*best, task]) > 1.05 * profile.n_distinct(best):
                best = (*best, task)
        return best
    crossed = _tasks_of_all_systems(profile, roles, tasks, systems)
    if crossed:
        return (crossed,)
    runs = [name for name in profile.names if is_rater(name) or names(name, "run")]
    runs = [name for name in runs if name not in systems]
    for name in profile.names:
        column, last = profile[name], last_part(name)
        is_other = counts_runs(last) or names(last, "configuration")
        is_other = is_other or bool(set(words_of(last)) & _REMARKS) or part_of(name) == OUTPUT
        is_taken = name in roles.taken and name not in roles.contexts  # such as `dialogue: d1`
        if is_taken or is_other or column.is_numeric or column.n_distinct < LEAST_ITEMS:
            continue
        run = [run for run in runs if run != name][:1]
        if profile.n_distinct([name, *systems, *run]) >= 0.95 * profile.n_rows:
            return (name,)
        for setting in [] if column.is_text else _compared_columns(profile, roles):
            key = [name, *systems]
            if _is_told(profile, [*key, setting]) and crosses(profile, key, setting):
                return (name,)
    return _crossed_settings(profile, roles, systems)


def _compared_columns(profile: Profile, roles: Roles) -> list[str]:
    """Return the columns called after a release, a version or a setting, with a few values."""
    return [
        name
        for name in profile.names
        if 2 <= profile[name].n_distinct <= LEAST_ITEMS
        and (_is_compared(profile, roles, name) or names(last_part(name), "setting"))
        and name not in roles.taken
    ]


def _crossed_settings(profile: Profile, roles: Roles, systems: Sequence[str]) -> tuple[str, ...]:
    """Return the settings that make up a question where each system stood before all of their
    combinations, such as the length of a text and the depth at which a needle lies; () for none."""
    levels = [
        name
        for name in profile.names
        if name not in (*systems, *roles.taken)
        and LEAST_LEVELS <= profile[name].n_distinct <= profile.n_rows / LEAST_LEVELS
        and not (profile[name].is_text or profile[name].is_list or counts_runs(name))
    ]
    n_systems = profile.n_distinct(systems) if systems else 0
    for pair in combinations(levels[:12], 2) if n_systems > 1 else ():
        n_cells = profile.n_distinct(pair)
        is_full = n_cells == profile[pair[0]].n_distinct * profile[pair[1]].n_distinct
        if is_full and n_cells >= MIN_CELLS and n_cells * n_systems == profile.n_rows:
            if _is_told(profile, [*pair, *systems]):
                return pair
    return ()


def _with_made_items(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Combine several columns into the item, where the only id has a few values.

    Stimuli made from their settings have no id: a size and two colors under each of two prompts.
    A user is asked which of the columns are settings of the question.
    """
    row_key = [*grid.items, *_named_conditions(profile, roles)]
    n_items = profile.n_distinct(grid.items)
    if grid.content or len(grid.items) != 1 or n_items >= LEAST_ITEMS or not roles.graders:
        return grid
    if profile.n_rows < MANY * profile.n_distinct(row_key):
        return grid
    candidates = [
        name for name in profile.names if name not in row_key and _may_be_part(profile, roles, name)
    ]
    parts: list[str] = []
    while candidates and len(parts) < MAX_PARTS and not _is_nearly_told(profile, row_key):
        best = max(candidates, key=lambda name: profile.n_distinct([*row_key, name]))
        if profile.n_distinct([*row_key, best]) <= profile.n_distinct(row_key):
            break
        parts.append(best)
        row_key = [*row_key, best]
        candidates.remove(best)
    if profile.n_distinct(parts) < LEAST_ITEMS:
        return grid
    parts.sort(key=profile.names.index)
    open_item = ("", f"{','.join(parts)};{grid.items[0]}")
    return replace(grid, items=tuple(parts), open_item=open_item)


def _may_be_part(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column may hold a setting of the question: few plain values."""
    column, last = profile[name], last_part(name)
    kinds = ("about", "error", "run", "configuration", "score")
    if name in roles.taken or "," in name or any(names(last, kind) for kind in kinds):
        return False
    is_plain = not (column.is_list or column.is_object or column.is_text)
    return is_plain and 2 <= column.n_distinct <= MAX_LEVELS


def _is_nearly_told(profile: Profile, columns: Sequence[str]) -> bool:
    """Tell whether columns tell nearly all rows apart."""
    return profile.n_distinct(columns) >= 0.99 * profile.n_rows


def _tasks_of_all_systems(
    profile: Profile, roles: Roles, tasks: Sequence[str], systems: Sequence[str]
) -> str:
    """Return a column of tasks that all systems share, or one that numbers them; "" for none."""
    if not systems:
        return ""
    for name in tasks:
        # some tasks may have been tried more often than others
        n_cells = profile.n_distinct([name, systems[0]])
        n_most = profile[name].n_distinct * profile[systems[0]].n_distinct
        if profile[name].n_distinct >= LEAST_ITEMS and n_cells >= EVEN * n_most:
            return name
    for name in profile.names:
        column = profile[name]
        is_count = column.is_integer and _counts(profile, name) and column.n_distinct >= LEAST_ITEMS
        is_free = name not in roles.taken and not names(last_part(name), "run")
        is_key = is_free and is_count and _is_told(profile, [name, *systems])
        if is_key and crosses(profile, systems[:1], name):
            return name
    return ""


_ALWAYS_TASKS = {"task", "dataset", "benchmark"}
_TASKS = _ALWAYS_TASKS | set("set subset sheet split subject topic category domain eval".split())


def _is_specific(name: str) -> bool:
    """Tell whether an id says what it numbers: question_id and item, unlike id and index."""
    words = {"item", "example", "instance", "doc", "task", "case"}
    return names(name, "prompt") or bool(words & set(words_of(name)))


def _is_task(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column is called like a task or a set of questions, with several rows each."""
    is_named = bool(_TASKS & set(words_of(name))) and not names(name, "score")
    n_distinct = profile[name].n_distinct
    return is_named and name not in roles.taken and 2 <= n_distinct <= profile.n_rows / 2


def _named_conditions(profile: Profile, roles: Roles) -> list[str]:
    """Return the columns called model, arm, method or system, models first.

    A column that follows from another one is left out.
    """
    candidates = [
        name
        for name in profile.names
        if _may_be_condition(profile, roles, name)
        and _is_condition(last_part(name))
        and not is_label_beside_another(profile, name)
    ]
    candidates.sort(key=lambda name: (not names(last_part(name), "model"), len(words_of(name))))
    conditions: list[str] = []
    for name in candidates:
        if not _follows_from_one(profile, roles, conditions, name):
            conditions.append(name)
    return conditions


def _follows_from_one(profile: Profile, roles: Roles, conditions: Sequence[str], name: str) -> bool:
    """Tell whether a column follows from one of the conditions in all rows with an output.

    A failed call may not say the full name of its model.
    """
    if any(profile.follows([condition], name) for condition in conditions):
        return True
    if not roles.output or profile[name].n_filled == profile.n_rows:
        return False
    table = profile.table
    sql, output = table.sql(name), table.sql(roles.output)
    n_unsaid = f"count(*) FILTER ({sql} IS NULL AND {output} IS NOT NULL)"
    for condition in conditions:
        query = (
            f"SELECT 1 FROM {table.relation} GROUP BY {table.sql(condition)} "
            f"HAVING count(DISTINCT {sql}) > 1 OR {n_unsaid} > 0 LIMIT 1"
        )
        if not table.rows(query):
            return True
    return False


def _is_condition(name: str) -> bool:
    """Tell whether a name is that of a system: model_name and arm, unlike llm_action."""
    if not names(name, "condition"):
        return False
    words = words_of(name)
    if "_".join(words) in stems("condition").words:
        return True  # reply_from
    deciding = [word for word in words if word not in _NEUTRAL_WORDS and not word.isdigit()]
    return not deciding or names(deciding[-1], "condition")


# words that may stand beside "model" in the name of a column of models
_NEUTRAL_WORDS = set("name id type version slug label key path family provider size a b".split())


# `output_token_method` says how tokens were counted, and names no system
_MEASURED = {"token", "tokens", "time", "latency", "cost", "duration", "count"}


_GRADED_SYSTEMS = (("model",), ("bot",), ("agent",), ("assistant",))


def _may_be_condition(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column has few plain values, each in several rows, and no other role."""
    column = profile[name]
    if (
        name in roles.taken
        or _MEASURED & set(words_of(name)[:-1])
        or name in roles.errors
        or not 2 <= column.n_distinct <= MAX_LEVELS
        or column.is_list
        or column.is_object
        or (column.is_numeric and not column.is_integer and column.n_distinct > MAX_FRACTIONS)
    ):
        return False
    last = last_part(name)
    # rated_model names the model that was graded, and is no grade
    is_graded_model = words_of(last)[-1:] in _GRADED_SYSTEMS and not names(last, "judge")
    is_grade = any(names(last, kind) for kind in ("people", "judge", "score"))
    if (is_grade and not is_graded_model) or column.mean_length > 80:
        return False
    is_model = names(last_part(name), "model") and column.n_distinct < profile.n_rows
    return is_model or 2 * column.n_distinct <= profile.n_rows


def _with_conditions(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Add named conditions that divide the items, then settings and variants that cross them."""
    items = grid.items
    if not items:
        return replace(grid, conditions=tuple(_named_conditions(profile, roles)[:1]))
    conditions: list[str] = []
    n_items = profile.n_distinct(items)
    for name in _named_conditions(profile, roles):
        if name in items:
            continue
        row_key = [*items, *conditions]
        divides_items = profile.n_distinct([*items, name]) > 1.01 * n_items
        divides_cells = profile.n_distinct([*row_key, name]) > 1.01 * profile.n_distinct(row_key)
        if names(last_part(name), "model") or (divides_items and divides_cells):
            conditions.append(name)
    variants = list(grid.variants)
    for kind in ("condition", "setting", "variant", "prompt", "compared"):
        for name in profile.names:
            row_key = [*items, *conditions, *variants]
            if _is_told(profile, row_key):
                break
            if (
                (names(last_part(name), kind) or kind == "compared")
                and (kind != "prompt" or _names_strategies(profile, name))
                and (kind != "compared" or _is_compared(profile, roles, name))
                and name not in row_key
                and _may_be_condition(profile, roles, name)
                and not _follows_from_one(profile, roles, conditions, name)
                and not _follows_from_finer(profile, roles, row_key, name)
                and crosses(profile, row_key, name)
            ):
                is_wording = kind == "variant" and not (
                    _names_strategies(profile, name) or _names_systems(profile, items, name)
                )
                (variants if is_wording else conditions).append(name)
    return replace(grid, conditions=tuple(conditions), variants=tuple(variants))


def _is_compared(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column that crosses the items names what is compared: a product, a version, a
    step of training, or models by their names."""
    column, last = profile[name], last_part(name)
    if name in roles.taken or any(names(last, kind) for kind in ("judge", "people", "scorer")):
        return False
    words = [word for word in words_of(last) if word not in ("name", "id", "prompt")]
    if words and all(names(word, "compared") for word in words):
        # the steps of an agent are counted from 0 or 1
        return not (column.is_integer and _counts(profile, name))
    return bool(column.values) and all(names(value, "model") for value in column.values)


def _names_strategies(profile: Profile, name: str) -> bool:
    """Tell whether values name ways of asking, such as cot and few_shot, and no wordings."""
    values = profile[name].values
    named = [value for value in values if all(map(stems("strategy").has, _words_in(value)))]
    return 2 * len(named) > len(values)


def _names_systems(profile: Profile, items: Sequence[str], name: str) -> bool:
    """Tell whether variants of what is not asked in several wordings are systems: base, rlhf."""
    values = profile[name].values
    has_base = any(set(words_of(value)) <= _BASES for value in values)
    texts = [text for text in profile.names if profile[text].is_text and part_of(text) != OUTPUT]
    asked = [text for text in texts if profile[text].n_distinct > 1 and text not in items]
    return has_base and bool(asked) and all(profile.follows(items, text) for text in asked)


_BASES = frozenset("base baseline control tuned finetuned".split())


def _words_in(value: str) -> list[str]:
    return [word for word in words_of(value) if not word.isdigit()]


def _follows_from_finer(profile: Profile, roles: Roles, row_key: Sequence[str], name: str) -> bool:
    """Tell whether a setting follows from one with more values that crosses the items too."""
    for finer in profile.names:
        if finer in (*row_key, name):
            continue
        is_key = not names(last_part(finer), "run") and _is_told(profile, [*row_key, finer])
        if not (is_key or names(last_part(finer), "setting")):
            continue
        has_more = profile[finer].n_distinct > profile[name].n_distinct
        is_condition = has_more and _may_be_condition(profile, roles, finer)
        if is_condition and profile.follows([finer], name) and crosses(profile, row_key, finer):
            return True
    return False


def _with_scorer(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Add the column that names the scorer, where each row holds one scorer's score."""
    row_key = list(grid.row_key)
    if not grid.items or len(roles.graders) != 1 or _is_told(profile, row_key):
        return grid
    for name in profile.names:
        column = profile[name]
        is_name = (
            names(last_part(name), "scorer")
            and not column.is_numeric
            and 2 <= column.n_distinct <= MAX_LEVELS
        )
        if not is_name or name in (*row_key, *roles.taken):
            continue
        # not every judge has to have graded every output
        is_judge = names(last_part(name), "judge")
        is_judge = is_judge and _is_nearly_told(profile, [*row_key, name])
        if is_judge or crosses(profile, row_key, name):
            return replace(grid, scorer=name)
    return grid


def _with_runs(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Find what tells rows apart beside items and conditions.

    A further part of the question, a column called a run, a column that counts runs, a column
    without a known name (`open_condition`), or nothing (`is_rerun`).
    """
    row_key = list(grid.row_key)
    if not grid.items or _is_told(profile, row_key):
        return grid
    unassigned = [name for name in profile.names if name not in row_key and name not in roles.taken]
    free = [name for name in unassigned if name not in roles.errors]
    free = [name for name in free if 2 <= profile[name].n_distinct < profile.n_rows]
    for name in free:
        # a figure or a passage that tells the rows of an id apart is part of the question
        is_part = names(name, "context") or "turn" in words_of(name)
        is_part |= names(last_part(name), "field")
        if is_part and _is_nearly_told(profile, [*row_key, name]):
            return replace(grid, items=(*grid.items, name))
    for name in free:
        is_run = names(last_part(name), "run") or "order" in words_of(name) or is_rater(name)
        if is_rater(name) and any(names(value, "model") for value in profile[name].values):
            # models, and people beside them, who each answered rather than rated
            return replace(grid, conditions=(*grid.conditions, name))
        is_run = is_run and profile[name].n_filled == profile.n_rows
        if is_run and profile.n_distinct([*row_key, name]) >= NAMED_RUN * profile.n_rows:
            if _holds_names(profile, name):
                return replace(grid, open_condition=name)
            return replace(grid, run=name)
    for name in free:
        is_key = _is_nearly_told(profile, [*row_key, name])
        if not is_key or not crosses(profile, row_key, name):
            continue
        if profile[name].is_integer and _counts(profile, name):
            # numbers that have names are levels: pressure_level_id beside pressure_name
            if _has_names(profile, roles, name):
                return replace(grid, open_condition=name)
            return replace(grid, run=name)
        if profile[name].n_distinct <= MAX_LEVELS and not profile[name].is_text:
            if grid.conditions and _begins_anew(profile, grid.items, name):
                return replace(grid, items=(*grid.items, name))
            return replace(grid, open_condition=name)
    n_repeated = profile.n_repeated(grid.items, row_key)
    is_even = are_reruns(profile, grid)
    ids = [name for name in unassigned if last_names(last_part(name), "id")]
    row_ids = [name for name in ids if profile.n_values(name) == profile.n_rows]
    open_item = grid.open_item
    if is_even and row_ids and not open_item[0]:
        open_item = (row_ids[0], grid.items[0])
    return replace(grid, is_rerun=is_even, n_repeated=n_repeated, open_item=open_item)


def _begins_anew(profile: Profile, items: Sequence[str], name: str) -> bool:
    """Tell whether numbers of questions begin anew with each value of a column and end elsewhere:
    1 to 6 in one site, and 1 to 4 in another."""
    column = profile[items[0]]
    if len(items) > 1 or not column.is_integer or not _counts(profile, items[0]):
        return False
    table = profile.table
    number = f"TRY_CAST({table.sql(items[0])} AS DOUBLE)"
    query = (
        f"SELECT min({number}), max({number}), count(DISTINCT {number}) FROM {table.relation} "
        f"WHERE {table.sql(name)} IS NOT NULL GROUP BY {table.sql(name)}"
    )
    spans = table.rows(query)
    are_counted = all(most - least + 1 == n for least, most, n in spans)
    return are_counted and len({most for _, most, _ in spans}) > 1


def _with_repeated_ids(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Add the right answer to ids of which a few stand in two rows with different right answers.

    Two questions got one id. Without a prompt nothing else tells them apart.
    """
    if not grid.n_repeated or not roles.target or roles.prompts or roles.target in grid.row_key:
        return grid
    n_parted = profile.n_repeated(grid.items, [*grid.row_key, roles.target])
    if 2 * n_parted > grid.n_repeated:
        return grid
    return replace(grid, items=(*grid.items, roles.target), n_repeated=n_parted)


def are_reruns(profile: Profile, grid: Grid) -> bool:
    """Tell whether the row key leaves several rows per question, equally many for most of them."""
    n_cells = sum(profile.cell_sizes(grid.row_key).values())
    return n_cells >= LEAST_ITEMS and _is_even(profile, grid.row_key)


def _holds_names(profile: Profile, name: str) -> bool:
    """Tell whether a column called a run holds few words without a number: greedy, beam."""
    column = profile[name]
    is_few = names(last_part(name), "run") and bool(column.values) and not is_rater(name)
    return is_few and not any(re.search(r"\d", value) for value in column.values)


def _has_names(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether another column holds a word for each number of this one."""
    for word_column in profile.names:
        column = profile[word_column]
        is_named = not column.is_numeric and column.n_distinct == profile[name].n_distinct
        if is_named and word_column not in roles.taken and profile.are_same(name, word_column):
            return True
    return False


def is_rater(name: str) -> bool:
    """Tell whether a column says which person rated a row: worker_id, annotator."""
    words = set(words_of(last_part(name)))
    return bool(RATERS & words) and not words & {"bot", "agent", "llm", "model", "ai"}


def _with_regrades(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Read runs as grades of one output, where its text is the same in all of them."""
    row_key = [*grid.items, *grid.conditions, *grid.variants]
    graders = (*roles.scores, *roles.judges)
    if not (grid.run and roles.output and graders) or is_rater(grid.run):
        return grid
    if profile[roles.output].mean_length < MIN_OUTPUT:
        return grid
    if profile.follows(row_key, roles.output) and not profile.follows(row_key, graders[0]):
        return replace(grid, run="", regrade=grid.run)
    return grid


def _is_rated(profile: Profile, roles: Roles, grid: Grid) -> bool:
    """Tell whether several people rated the same output, so that their rows are no reruns.

    People who each asked the system themselves have outputs of their own.
    """
    if not (grid.run and is_rater(grid.run)):
        return False
    row_key = [*grid.items, *grid.conditions, *grid.variants]
    for name in profile.names:
        column, last = profile[name], last_part(name)
        is_remark = names(last, "about") or bool(set(words_of(last)) & _REMARKS)
        is_text = name == roles.output or (not column.is_numeric and column.mean_length >= MIN_TEXT)
        if is_text and not is_remark and not profile.follows(row_key, name):
            return False
    return True


def _is_told(profile: Profile, columns: Sequence[str]) -> bool:
    """Tell whether columns tell all rows apart."""
    return profile.n_distinct(columns) >= profile.n_rows


def _is_even(profile: Profile, columns: Sequence[str]) -> bool:
    """Tell whether most combinations of values have the same number of rows, above one."""
    sizes = profile.cell_sizes(columns)
    commonest = max(sizes, key=lambda size: size * sizes[size])
    return commonest > 1 and commonest * sizes[commonest] >= EVEN * profile.n_rows


def n_with_differing_target(profile: Profile, roles: Roles, grid: Grid) -> int:
    """Count questions whose rows have several right answers with equal prompts and options.

    0 below a share of `DIFFERING`: a few are mistakes of the table, which an audit names.
    """
    if not grid.items or not roles.target or roles.target in grid.items:
        return 0
    asked = tuple(dict.fromkeys((*grid.items, *grid.variants, *roles.prompts, *roles.options)))
    is_filled = profile.filled_rows(roles.target)
    questions = profile.keys(asked)[is_filled]
    pairs = profile.keys([*asked, roles.target])[is_filled]
    question_of_pair = questions[np.unique(pairs, return_index=True)[1]]
    n_targets = np.unique(question_of_pair, return_counts=True)[1]
    n_questions, n_differing = len(n_targets), int(np.sum(n_targets > 1))
    return n_differing if n_differing > max(1, DIFFERING * n_questions) else 0


def crosses(profile: Profile, items: Sequence[str], name: str) -> bool:
    """Tell whether nearly every item has each value of a column, equally often."""
    n_cells = profile.n_distinct([*items, name])
    if n_cells < EVEN * profile.n_distinct(items) * profile[name].n_distinct:
        return False
    sizes = profile.cell_sizes([*items, name])
    commonest = max(sizes, key=lambda size: size * sizes[size])
    return commonest * sizes[commonest] >= EVEN * profile.n_rows


def _counts(profile: Profile, name: str) -> bool:
    """Tell whether whole numbers start at 0 or 1 and have no gap."""
    column = profile[name]
    if column.least is None or column.most is None:
        return False
    return column.least in (0, 1) and column.most - column.least + 1 == column.n_distinct


def _clusters(profile: Profile, roles: Roles, grid: Grid) -> tuple[str, ...]:
    """Return the columns that follow from the item and have several items per value."""
    if not grid.items:
        return ()
    n_items = profile.n_distinct(grid.items)
    used = {roles.output, roles.target, *roles.prompts[:1], *roles.scores, *roles.options}
    used.update(grid.row_key)
    clusters = []
    for name in profile.names:
        last = last_part(name)
        # document_word_count is a measurement
        is_called = names(last, "cluster") and not names(last, "configuration")
        if not is_called or name in used or not 2 <= profile[name].n_distinct <= n_items / 2:
            continue
        if profile.follows(grid.items, name):
            clusters.append(name)
    return tuple(clusters)
