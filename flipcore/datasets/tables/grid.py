"""Steps 6, 7 and 10: what an item is, which columns are conditions and runs, which are clusters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from flipcore.datasets.tables.coding import entries_of
from flipcore.datasets.tables.profile import Profile
from flipcore.datasets.tables.roles import Roles
from flipcore.datasets.tables.shape import OF_ROW, OF_VERSION
from flipcore.datasets.tables.stems import last_names, last_part, names, words_of

EVEN = 0.7  # of the rows stand in cells of the commonest size, if a column is a condition
RAISES = 1.005  # distinct prompts, from which on a context is part of the question
FINER = 1.1  # ids per distinct prompt, up to which repeats are repeats
NAMED_RUN = (
    0.85  # of the rows are told apart by a column that is called a run; the others repeat it
)
MOST_LEVELS = 200  # of a condition
FEWEST_CLUSTERS = 10  # fewer have no error bar, and each item counts alone
LEAST_ITEMS = 5
MOST_FRACTIONS = 12  # of a setting such as the temperature; more are measures
MIN_OUTPUT = 8  # characters: shorter outputs are alike by chance


@dataclass(frozen=True)
class Grid:
    """Items × conditions × runs. `open_item` and `open_condition` are what nothing decides."""

    items: tuple[str, ...] = ()
    content: tuple[
        str, ...
    ] = ()  # the columns that make the question: prompt, key, options, contexts
    conditions: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    run: str = ""
    regrade: str = ""  # the column that counts several grades of one output
    clusters: tuple[str, ...] = ()
    scorer: str = ""  # the column that names the scorer, where rows hold one score each
    open_item: tuple[str, str] = ("", "")
    open_condition: str = ""
    is_rerun: bool = False
    n_repeated: int = 0
    notes: tuple[str, ...] = ()

    @property
    def told_by(self) -> tuple[str, ...]:
        """The columns that tell rows apart."""
        return tuple(
            filter(None, (*self.items, *self.conditions, *self.variants, self.scorer, self.run))
        )


def find_grid(profile: Profile, roles: Roles) -> Grid:
    """Find what an item is, then what tells its rows apart."""
    if OF_VERSION in profile.columns and OF_ROW in profile.columns:
        return Grid(items=(OF_ROW,), variants=(OF_VERSION,))
    grid = Grid(content=_content(profile, roles))
    grid = _with_telling_set(profile, roles, _with_items(profile, roles, grid))
    grid = _with_scorer(profile, roles, _with_conditions(profile, roles, grid))
    grid = _with_regrades(profile, roles, _with_runs(profile, roles, grid))
    return replace(grid, clusters=_clusters(profile, roles, grid))


def _content(profile: Profile, roles: Roles) -> tuple[str, ...]:
    """Prompt, key, options, and every context that raises the number of distinct questions."""
    if not roles.prompts:
        return ()
    content = [roles.prompts[0], *_told_by_text(profile, roles)]
    more = [
        *roles.prompts[1:],
        *([roles.target] if roles.target else []),
        *roles.options,
        *roles.contexts,
    ]
    named = _named_conditions(profile, roles)
    for name in more:
        raises = profile.n_distinct([*content, name]) > RAISES * profile.n_distinct(content)
        if raises and not _is_of_system(profile, content, named, name):
            content.append(name)
    return tuple(content)


def _is_of_system(
    profile: Profile, content: Sequence[str], named: Sequence[str], name: str
) -> bool:
    """Tell whether each system has its own text in a column: the passage that it found, the key as
    it writes it.
    """
    n_content, n_asked = profile.n_distinct(content), profile.n_distinct([*content, *named])
    is_even = (
        bool(named) and n_asked > FINER * n_content and profile.follows([*content, *named], name)
    )
    return is_even and profile.n_distinct([*content, name]) > FINER * n_content


def _told_by_text(profile: Profile, roles: Roles) -> list[str]:
    """The text that a question is asked of, where its right answer follows from both alone."""
    if not roles.target:
        return []
    asked = [
        roles.prompts[0],
        *(name for name in profile.names if names(name, "task") and name not in roles.taken),
    ]
    if profile.n_distinct([*asked, roles.target]) <= FINER * profile.n_distinct(asked):
        return []
    telling = [name for name in roles.contexts if profile.follows([*asked, name], roles.target)]
    return telling[:1]


def _ids(profile: Profile, roles: Roles) -> list[str]:
    """The columns that are named like an id, of which each way of parting rows stands once."""
    fitting: list[str] = []
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
        )
        is_of_other = any(names(last, kind) for kind in ("condition", "model")) and not names(
            last, "prompt"
        )
        if not is_id or is_of_other or name in roles.taken or column.n_distinct < 2:
            continue
        if _counts_runs(last) and (column.n_distinct < LEAST_ITEMS or _has_other_id(profile, name)):
            continue
        if (column.is_numeric and not column.is_integer) or column.is_list or column.is_object:
            continue
        if any(profile.are_same(name, other_name) for other_name in fitting):
            continue
        fitting.append(name)
    # a row's number is no id where another id has several rows each, all of them equally many
    counters = [name for name in fitting if _numbers_rows(profile, name)]
    has_ids = any(
        LEAST_ITEMS <= profile[name].n_distinct and _is_even(profile, [name])
        for name in fitting
        if name not in counters
    )
    return [name for name in fitting if name not in counters] if has_ids else fitting


def _numbers_rows(profile: Profile, name: str) -> bool:
    """Tell whether a column called row or index counts the rows."""
    words = set(words_of(last_part(name)))
    is_called = bool(words & {"row", "index", "unnamed"})
    return is_called and _counts(profile, name) and profile.n_values(name) == profile.n_rows


def _has_other_id(profile: Profile, run: str) -> bool:
    """Tell whether another column says which item a row is about: then runId and run_index count
    runs.
    """
    for name in profile.names:
        words = set(words_of(last_part(name)))
        is_id = (
            bool(words & _OF_ITEMS) and not names(last_part(name), "run") and not words & _MEASURED
        )
        if name != run and is_id and LEAST_ITEMS <= profile[name].n_distinct < profile.n_rows:
            return True
    return False


def _counts_runs(name: str) -> bool:
    """Tell whether a name is that of a run or of one call: runId, trial, trace_id."""
    words = set(words_of(name))
    # sample_id is the id of an item as often as that of a run
    is_sample = any(word.startswith("sample") for word in words)
    return (names(name, "run") and not is_sample) or bool(_OF_RUNS & words)


# ids of calls, which a log gives to every try anew
_OF_RUNS = set("trace span session request attempt".split())
_OF_ITEMS = set(
    "task item case example instance problem question scenario prompt sample doc".split()
)


def _with_items(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    ids, content = _ids(profile, roles), grid.content
    named = _named_conditions(profile, roles)
    if not content:
        return replace(grid, items=_items_by_id(profile, roles, ids, named))
    n_content = profile.n_distinct(content)
    for name in ids:
        n_ids = profile.n_values(name)
        if profile.follows([name], content[0]) and profile.follows(
            [name], _joined(profile, content, name)
        ):
            if n_ids <= FINER * n_content:
                return replace(grid, items=(name,))
            # ids of rows, as each system has its own; an id that every system has is the question's
            parted = [
                column
                for column in named
                if profile.n_distinct([*content, column]) >= 0.99 * n_ids
                and not crosses(profile, [name], column)
            ]
            if parted:
                return replace(grid, items=content)
            other_name = _what_differs(profile, roles, content, name)
            if other_name:
                return replace(grid, items=(name,))
            if (
                n_ids == profile.n_rows
                and n_content <= n_ids / FINER
                and _is_even(profile, content)
            ):
                return replace(grid, items=content, open_item=(name, content[0]))
            return replace(grid, items=(name,))
    for name in (name for name in ids if named and _is_specific(name)):
        # prompts that hold what each model said differ by model; the question has one id
        if crosses(profile, [name], named[0]) and profile.follows(
            [*_told(profile, name, named)], content[0]
        ):
            return replace(grid, items=(name,))
    for name in ids:
        crossed = _settings_that_cross(profile, roles, name, content)
        is_one_question = not roles.target or profile.follows([name], roles.target)
        if crossed and (is_one_question or names(crossed, "variant")):
            return replace(grid, items=(name,), variants=(crossed,))
    for name in ids:
        turned = _options_turned(profile, roles, name)
        if turned:
            return replace(grid, items=(name,), variants=(turned,))
    if n_content >= profile.n_rows:
        return replace(grid, items=content)
    for name in ids:
        chosen_names = _smallest_set(profile, roles, name, content)
        if chosen_names:
            return replace(grid, items=chosen_names)
    is_even = n_content >= LEAST_ITEMS and _is_even(profile, content)
    has_copies = n_content >= profile.n_distinct(profile.table.names)
    if (
        n_content < profile.n_rows
        and not (named or has_copies or is_even)
        and 2 * n_content > profile.n_rows
    ):
        return grid  # questions that repeat now and then: each row is one
    return replace(grid, items=content)


def _told(profile: Profile, name: str, named: Sequence[str]) -> list[str]:
    """An id, the conditions, and the columns of runs and turns."""
    runs = [run for run in profile.names if names(last_part(run), "run") or "turn" in words_of(run)]
    return [name, *named, *(run for run in runs if 2 <= profile[run].n_distinct <= MOST_LEVELS)]


def _joined(profile: Profile, content: Sequence[str], name: str) -> str:
    """The part of the content that follows least from an id: where it follows, all does."""
    return max(content, key=lambda column: profile.n_distinct([name, column]))


def _what_differs(profile: Profile, roles: Roles, content: Sequence[str], name: str) -> str:
    """Another column that makes the rows of one question as many as its ids: an image, a table."""
    for other_name in profile.names:
        if (
            other_name == name
            or other_name in roles.taken
            or names(other_name, "run")
            or names(other_name, "id")
        ):
            continue
        column = profile[other_name]
        if column.is_numeric or column.n_distinct < 2:
            continue
        if profile.n_distinct([*content, other_name]) >= 0.9 * profile.n_values(
            name
        ) and profile.follows([name], other_name):
            return other_name
    return ""


def _settings_that_cross(profile: Profile, roles: Roles, name: str, content: Sequence[str]) -> str:
    """A column of wordings or settings that each id has equally often: its prompts are variants."""
    for other_name in profile.names:
        if (
            other_name in roles.taken
            or other_name == name
            or not 2 <= profile[other_name].n_distinct <= MOST_LEVELS
        ):
            continue
        is_named = names(other_name, "variant") or names(other_name, "setting")
        if (
            is_named
            and profile.follows([name, other_name], content[0])
            and crosses(profile, [name], other_name)
        ):
            return other_name
    return ""


def _options_turned(profile: Profile, roles: Roles, name: str) -> str:
    """A column that lists the same options for each id in other orders, once per row: its prompts
    are variants.
    """
    if not _is_even(profile, [name]):
        return ""
    for other_name in profile.names:
        is_list = profile[other_name].is_list and other_name not in (
            name,
            roles.target,
            roles.output,
        )
        if not is_list or not _is_told(profile, [name, other_name]):
            continue
        entries: dict[str | None, set[tuple[str, ...]]] = {}
        for row in profile.table.frame([name, other_name], most=500):
            entries.setdefault(row[name], set()).add(tuple(sorted(entries_of(row[other_name]))))
        if all(
            len(part_names) == 1 and len(next(iter(part_names))) > 1
            for part_names in entries.values()
        ):
            return other_name
    return ""


def _smallest_set(
    profile: Profile, roles: Roles, name: str, content: Sequence[str]
) -> tuple[str, ...]:
    """The id and one or two more columns of which the question follows."""
    other_names = [
        other_name
        for other_name in profile.names
        if other_name not in roles.taken
        and other_name != name
        and 2 <= profile[other_name].n_distinct
        and profile[other_name].mean_length <= 60
        and not (profile[other_name].is_list or profile[other_name].is_object)
        and not names(other_name, "condition")
        and not names(other_name, "run")
        and (not profile[other_name].is_numeric or profile[other_name].is_integer)
        and (
            names(other_name, "id")
            or names(other_name, "cluster")
            or names(other_name, "context")
            or 2 * profile[other_name].n_distinct <= profile.n_rows
        )
    ]
    n_content = profile.n_distinct(content)
    for size in (1, 2):
        for part_names in combinations(other_names[:12], size):
            chosen_names = (name, *part_names)
            n_found = profile.n_distinct(chosen_names)
            if n_found <= 2 * n_content + LEAST_ITEMS and all(
                profile.follows(chosen_names, column) for column in content
            ):
                return chosen_names
    return ()


def _items_by_id(
    profile: Profile, roles: Roles, ids: Sequence[str], named: Sequence[str]
) -> tuple[str, ...]:
    """Without a prompt: the id that tells most rows apart beside the conditions, or two columns."""
    tasks = [name for name in profile.names if _is_task(profile, roles, name)]
    best: tuple[str, ...] = ()
    for name in sorted(ids, key=lambda candidate: not _is_specific(candidate)):
        is_row_number = (
            profile.n_values(name) == profile.n_rows and bool(best) and _is_specific(best[0])
        )
        if not best or (
            profile.n_distinct([name, *named]) > 1.01 * profile.n_distinct([*best, *named])
            and not is_row_number
        ):
            best = (name,)
    if best and named and _is_told(profile, [*best, *named]):
        return best  # a category that differs by model is no part of the question
    if best:
        for task in tasks:
            # Ids count within a task. A column called task is never a system, even where it crosses
            # every id.
            is_apart = bool(_ALWAYS_TASKS & set(words_of(task))) or not crosses(profile, best, task)
            if is_apart and profile.n_distinct([*best, task]) > 1.05 * profile.n_distinct(best):
                best = (*best, task)
        return best
    crossed = _crossed_by(profile, roles, tasks, named)
    if crossed:
        return (crossed,)
    texts = [
        name
        for name in profile.names
        if name not in roles.taken
        and not profile[name].is_numeric
        and not _counts_runs(last_part(name))
        and not names(last_part(name), "configuration")
        and profile[name].n_distinct >= LEAST_ITEMS
        and profile.n_distinct([name, *named]) >= 0.95 * profile.n_rows
    ]
    return tuple(texts[:1])


def _with_telling_set(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Several columns that make the question together, where the only id has a few values.

    Stimuli made from their settings have no id: a size and two colors under each of two prompts.
    Which of the columns are settings of the question is asked.
    """
    named = _named_conditions(profile, roles)
    n_items = profile.n_distinct(grid.items)
    if grid.content or len(grid.items) != 1 or n_items >= LEAST_ITEMS or not roles.graders:
        return grid
    if profile.n_rows < MANY * profile.n_distinct([*grid.items, *named]):
        return grid
    telling_names = [*grid.items, *named]
    free = [
        name
        for name in profile.names
        if name not in telling_names and _may_be_part(profile, roles, name)
    ]
    chosen: list[str] = []
    while (
        free
        and len(chosen) < MOST_PARTS
        and not _is_nearly_told(profile, [*telling_names, *chosen])
    ):
        best = max(free, key=lambda name: profile.n_distinct([*telling_names, *chosen, name]))
        if profile.n_distinct([*telling_names, *chosen, best]) <= profile.n_distinct(
            [*telling_names, *chosen]
        ):
            break
        chosen.append(best)
        free.remove(best)
    if profile.n_distinct(chosen) < LEAST_ITEMS:
        return grid
    parts = ",".join(name for name in profile.names if name in chosen)
    return replace(grid, items=tuple(parts.split(",")), open_item=("", f"{parts};{grid.items[0]}"))


MANY, MOST_PARTS = (
    10,
    6,
)  # rows per question, from which on an id of few values is none; columns of a question


def _may_be_part(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether a column may hold a setting of the question: few plain values."""
    column, last = profile[name], last_part(name)
    is_other = any(
        names(last, kind) for kind in ("about", "error", "run", "configuration", "score")
    )
    is_plain = not (column.is_list or column.is_object or column.is_text) and "," not in name
    return (
        name not in roles.taken
        and is_plain
        and not is_other
        and 2 <= column.n_distinct <= MOST_LEVELS
    )


def _is_nearly_told(profile: Profile, names_: Sequence[str]) -> bool:
    return profile.n_distinct(names_) >= 0.99 * profile.n_rows


def _crossed_by(profile: Profile, roles: Roles, tasks: Sequence[str], named: Sequence[str]) -> str:
    """The tasks that every system was given, or a number that counts what each was given."""
    if not named:
        return ""
    for name in tasks:
        # some tasks may have been tried more often than others
        n_cells = profile.n_distinct([name, named[0]])
        n_most = profile[name].n_distinct * profile[named[0]].n_distinct
        if profile[name].n_distinct >= LEAST_ITEMS and n_cells >= EVEN * n_most:
            return name
    for name in profile.names:
        column = profile[name]
        is_count = column.is_integer and _counts(profile, name) and column.n_distinct >= LEAST_ITEMS
        is_free = name not in roles.taken and not names(last_part(name), "run")
        if (
            is_free
            and is_count
            and _is_told(profile, [name, *named])
            and crosses(profile, named[:1], name)
        ):
            return name
    return ""


_ALWAYS_TASKS = {"task", "dataset", "benchmark"}


def _is_specific(name: str) -> bool:
    """Tell whether an id says whose it is: question_id and item, unlike id and index."""
    words = {"item", "example", "instance", "doc", "task", "case"}
    return names(name, "prompt") or bool(words & set(words_of(name)))


def _is_task(profile: Profile, roles: Roles, name: str) -> bool:
    words = {
        "task",
        "dataset",
        "benchmark",
        "set",
        "subset",
        "split",
        "subject",
        "topic",
        "category",
        "domain",
        "eval",
    }
    column = profile[name]
    is_named = bool(words & set(words_of(name))) and not names(name, "score")
    return is_named and name not in roles.taken and 2 <= column.n_distinct <= profile.n_rows / 2


def _named_conditions(profile: Profile, roles: Roles) -> list[str]:
    """Columns called model, arm, method or system, models first; what follows from another is left
    out.
    """
    chosen_names: list[str] = []
    candidates = [
        name
        for name in profile.names
        if _may_be_condition(profile, roles, name) and _is_condition(last_part(name))
    ]
    for name in sorted(
        candidates,
        key=lambda candidate: (not names(last_part(candidate), "model"), len(words_of(candidate))),
    ):
        if not any(profile.follows([other_name], name) for other_name in chosen_names):
            chosen_names.append(name)
    return chosen_names


def _is_condition(name: str) -> bool:
    """Tell whether a name is that of a system: model_name and arm, unlike llm_action and
    agent_speed.
    """
    if not names(name, "condition"):
        return False
    words = words_of(name)
    telling = [word for word in words if word not in _OF_SYSTEMS and not word.isdigit()]
    return not telling or names(telling[-1], "condition")


# words beside that of a system, which leave a column the name of one
_OF_SYSTEMS = set("name id type version slug label key path family provider size a b".split())


# `output_token_method` says how tokens were counted, and names no system
_MEASURED = {"token", "tokens", "time", "latency", "cost", "duration", "count"}


def _may_be_condition(profile: Profile, roles: Roles, name: str) -> bool:
    column = profile[name]
    if (
        name in roles.taken
        or _MEASURED & set(words_of(name)[:-1])
        or name in roles.errors
        or not 2 <= column.n_distinct <= MOST_LEVELS
        or column.is_list
        or column.is_object
        or (column.is_numeric and not column.is_integer and column.n_distinct > MOST_FRACTIONS)
    ):
        return False
    last = last_part(name)
    # rated_model names who was rated, and grades nobody
    is_graded_model = words_of(last)[-1:] == ("model",) and not names(last, "judge")
    is_grade = any(names(last, kind) for kind in ("people", "judge", "score"))
    if (is_grade and not is_graded_model) or column.mean_length > 80:
        return False
    is_model = names(last_part(name), "model") and column.n_distinct < profile.n_rows
    return is_model or 2 * column.n_distinct <= profile.n_rows


def _with_conditions(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Named conditions, then even settings; an even column without a name is asked."""
    items = grid.items
    if not items:
        return replace(grid, conditions=tuple(_named_conditions(profile, roles)[:1]))
    chosen: list[str] = []
    n_items = profile.n_distinct(items)
    for name in _named_conditions(profile, roles):
        is_model = names(last_part(name), "model")
        parts_items = profile.n_distinct([*items, name]) > 1.01 * n_items
        if name in items or not (is_model or parts_items):
            continue
        if (
            profile.n_distinct([*items, *chosen, name])
            > 1.01 * profile.n_distinct([*items, *chosen])
            or is_model
        ):
            chosen.append(name)
    variants = list(grid.variants)
    for kind in ("condition", "setting", "variant"):
        for name in profile.names:
            if _is_told(profile, [*items, *chosen, *variants]):
                break
            is_candidate = (
                names(last_part(name), kind)
                and _may_be_condition(profile, roles, name)
                and name not in chosen
            )
            if is_candidate and _follows_from_finer(
                profile, roles, [*items, *chosen, *variants], name
            ):
                continue
            if (
                is_candidate
                and name not in (*items, *variants)
                and crosses(profile, [*items, *chosen, *variants], name)
            ):
                (variants if kind == "variant" else chosen).append(name)
    return replace(grid, conditions=tuple(chosen), variants=tuple(variants))


def _follows_from_finer(
    profile: Profile, roles: Roles, telling_names: Sequence[str], name: str
) -> bool:
    """Tell whether another setting of more values, which each item has, says what this one says:
    flags beside mode.
    """
    for other_name in profile.names:
        is_finer = (
            names(last_part(other_name), "setting")
            and profile[other_name].n_distinct > profile[name].n_distinct
        )
        if (
            not is_finer
            or other_name in (*telling_names, name)
            or not _may_be_condition(profile, roles, other_name)
        ):
            continue
        if profile.follows([other_name], name) and crosses(profile, telling_names, other_name):
            return True
    return False


def _with_scorer(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """The column that names the scorer, where each row holds the score of one."""
    telling_names = list(grid.told_by)
    if not grid.items or len(roles.graders) != 1 or _is_told(profile, telling_names):
        return grid
    for name in profile.names:
        column = profile[name]
        is_name = (
            names(last_part(name), "scorer")
            and not column.is_numeric
            and 2 <= column.n_distinct <= MOST_LEVELS
        )
        if not is_name or name in (*telling_names, *roles.taken):
            continue
        # judges need not have graded all outputs
        is_judge = names(last_part(name), "judge") and _is_nearly_told(
            profile, [*telling_names, name]
        )
        if is_judge or crosses(profile, telling_names, name):
            return replace(grid, scorer=name)
    return grid


def _with_runs(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Runs by name or by counting; then what is even and has no name; then what nothing tells
    apart.
    """
    telling_names = list(grid.told_by)
    if not grid.items or _is_told(profile, telling_names):
        return grid
    free = [
        name
        for name in profile.names
        if name not in telling_names
        and name not in roles.taken
        and name not in roles.errors
        and 2 <= profile[name].n_distinct < profile.n_rows
    ]
    free_ids = [
        name
        for name in profile.names
        if name not in telling_names
        and name not in roles.taken
        and last_names(last_part(name), "id")
    ]
    for name in free:
        # a figure or a passage that each id has equally often is part of the question
        is_part = names(name, "context") or "turn" in words_of(name)
        if is_part and profile.n_distinct([*telling_names, name]) >= 0.99 * profile.n_rows:
            return replace(grid, items=(*grid.items, name))
    for name in free:
        is_run = names(last_part(name), "run") or "order" in words_of(name) or is_rater(name)
        is_run = is_run and profile[name].n_filled == profile.n_rows
        if is_run and profile.n_distinct([*telling_names, name]) >= NAMED_RUN * profile.n_rows:
            return replace(grid, run=name)
    for name in free:
        if profile.n_distinct([*telling_names, name]) < 0.99 * profile.n_rows or not crosses(
            profile, telling_names, name
        ):
            continue
        if profile[name].is_integer and _counts(profile, name):
            # numbers with names of their own are levels: pressure_level_id, pressure_name
            if _has_names(profile, roles, name):
                return replace(grid, open_condition=name)
            return replace(grid, run=name)
        if profile[name].n_distinct <= MOST_LEVELS and not profile[name].is_text:
            return replace(grid, open_condition=name)
    sizes = profile.cell_sizes(telling_names)
    n_cells, n_repeated = sum(sizes.values()), sum(n for size, n in sizes.items() if size > 1)
    is_even = n_cells >= LEAST_ITEMS and _is_even(profile, telling_names)
    row_ids = [name for name in free_ids if profile.n_values(name) == profile.n_rows]
    open_item = (
        (row_ids[0], grid.items[0])
        if is_even and row_ids and not grid.open_item[0]
        else grid.open_item
    )
    return replace(grid, is_rerun=is_even, n_repeated=n_repeated, open_item=open_item)


def _has_names(profile: Profile, roles: Roles, name: str) -> bool:
    """Tell whether another column holds a word for each number of this one."""
    for other_name in profile.names:
        column = profile[other_name]
        is_named = not column.is_numeric and column.n_distinct == profile[name].n_distinct
        if is_named and other_name not in roles.taken and profile.are_same(name, other_name):
            return True
    return False


def is_rater(name: str) -> bool:
    """Tell whether a column says which person rated a row: worker_id, annotator."""
    return bool(_RATERS & set(words_of(last_part(name))))


# people who rate one output each, so that their rows are no reruns of it
_RATERS = set("annotator evaluator worker rater reviewer turker coder labeler labeller".split())


def _with_regrades(profile: Profile, roles: Roles, grid: Grid) -> Grid:
    """Rows of one question that hold one output word for word, and other grades, are grades of it
    and no runs.
    """
    telling_names = [*grid.items, *grid.conditions, *grid.variants]
    if (
        not grid.run
        or not roles.output
        or not (roles.scores or roles.judges)
        or profile[roles.output].mean_length < MIN_OUTPUT
    ):
        return grid
    score = (*roles.scores, *roles.judges)[0]
    if profile.follows(telling_names, roles.output) and not profile.follows(telling_names, score):
        return replace(grid, run="", regrade=grid.run)
    return grid


def _is_told(profile: Profile, names_: Sequence[str]) -> bool:
    return profile.n_distinct(names_) >= profile.n_rows


def _is_even(profile: Profile, names_: Sequence[str]) -> bool:
    """Tell whether most rows stand in cells of one size."""
    sizes = profile.cell_sizes(names_)
    commonest = max(sizes, key=lambda size: size * sizes[size])
    return commonest > 1 and commonest * sizes[commonest] >= EVEN * profile.n_rows


def crosses(profile: Profile, items: Sequence[str], name: str) -> bool:
    """Tell whether nearly every item has each value of a column, equally often."""
    n_cells = profile.n_distinct([*items, name])
    if n_cells < EVEN * profile.n_distinct(items) * profile[name].n_distinct:
        return False
    sizes = profile.cell_sizes([*items, name])
    commonest = max(sizes, key=lambda size: size * sizes[size])
    return commonest * sizes[commonest] >= EVEN * profile.n_rows


def _counts(profile: Profile, name: str) -> bool:
    """Tell whether whole numbers go from 0 or 1 on without a gap."""
    column = profile[name]
    if column.least is None or column.most is None:
        return False
    return column.least in (0, 1) and column.most - column.least + 1 == column.n_distinct


def _clusters(profile: Profile, roles: Roles, grid: Grid) -> tuple[str, ...]:
    """Columns that follow from the item and group several items each."""
    if not grid.items:
        return ()
    n_items = profile.n_distinct(grid.items)
    chosen_names = []
    for name in profile.names:
        column = profile[name]
        is_candidate = (
            names(last_part(name), "cluster")
            and not names(last_part(name), "configuration")  # document_word_count measures
            and name not in grid.told_by
            and name not in (roles.output, roles.target)
        )
        is_free = name not in (*roles.prompts[:1], *roles.scores, *roles.options)
        if (
            is_candidate
            and is_free
            and 2 <= column.n_distinct <= n_items / 2
            and profile.follows(grid.items, name)
        ):
            chosen_names.append(name)
    return tuple(chosen_names)
