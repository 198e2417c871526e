"""Say in one sentence how a table was read, and ask its open questions."""

from flipcore.datasets.tables.grid import MIN_CLUSTERS
from flipcore.datasets.tables.own_columns import label_columns
from flipcore.datasets.tables.stems import names
from flipcore.datasets.tables.table_reading import Question, TableReading
from flipcore.text.counts import count_of

MAX_NAMED = 6  # names in a list; the rest is counted


def sentence(reading: TableReading) -> str:
    """Say how a table was read: "Read as 500 questions (id) × 2 arms (a, b) × 1 run; …"."""
    if reading.refusal:
        return reading.refusal
    roles, grid = reading.roles, reading.grid
    items = [_few(reading.made_from.get(name, (name,))) for name in grid.items]
    item = ", ".join(items) or "row"
    parts = [_items_text(reading, item)]
    if grid.conditions and (reading.arms or reading.n_conditions > 1):
        # a reading without scores has no names of arms
        arms = reading.arms or reading.shape.models or grid.conditions
        are_models = not reading.shape.is_plain or any(names(arm, "model") for arm in arms)
        words = _arm_words(grid.conditions) if are_models else ("arm", "arms")
        n_arms = count_of(reading.n_conditions, *words)
        # an arm of two settings has a comma in its name
        sign = "; " if any(", " in arm for arm in arms) else ", "
        parts.append(f"{n_arms} ({_few(arms, sign)})")
    if grid.variants:
        parts.append(f"variants ({', '.join(grid.variants)})")
    if grid.run or grid.is_rerun or reading.n_runs == 1:
        are_columns = label_columns(reading.shape.models) == (grid.run,)
        run_names = _few(reading.shape.models) if are_columns else grid.run
        run = f" ({run_names})" if run_names else ""
        n_runs = count_of(reading.most_runs, "rater" if grid.is_rated else "run")
        up_to = "up to " if reading.most_runs > reading.n_runs else ""
        parts.append(f"{up_to}{n_runs}{run}")
    phrases = [f"Read as {' × '.join(parts)}"]
    if roles.target:
        phrases.append(f"right answer: {roles.target}")
    if roles.output:
        coding = f", read as {reading.coding.value}" if reading.coding and roles.target else ""
        output = _few(reading.made_from.get(roles.output, (roles.output,)))
        phrases.append(f"output: {output}{coding}")
    if reading.shape.is_plain and roles.scores:
        phrases.append("scores: in these columns")
    elif roles.scores or roles.judges:
        scores = _few((*roles.scores, *roles.judges))
        phrases.append(f"scores: {scores}{f', one per {grid.scorer}' if grid.scorer else ''}")
    if grid.regrade:
        phrases.append(f"grades of one output: {grid.regrade}")
    if roles.people:
        phrases.append(f"people's labels: {', '.join(roles.people)}")
    for name, n in zip(grid.clusters, reading.n_clusters, strict=False):
        phrases.append(_group_text(name, n))
    if reading.unused:
        phrases.append(f"not used: {_few(reading.unused)}")
    if reading.other_sheets:
        phrases.append(f"sheets that are not read: {_few(reading.other_sheets)}")
    if reading.left_out:
        phrases.append(f"left out: {', '.join(reading.left_out)}")
    return "; ".join(phrases) + "."


def _items_text(reading: TableReading, item: str) -> str:
    if reading.n_files == 1:
        return f"{count_of(reading.n_items, 'question')} ({item})"
    n_each, n_left = divmod(reading.n_items, reading.n_files)
    if n_left:
        return f"{count_of(reading.n_items, 'question')} ({item}) in {reading.n_files:,} files"
    return f"{count_of(n_each, 'question')} ({item}) in each of {reading.n_files:,} files"


def _group_text(name: str, n_groups: int) -> str:
    """Name a column that groups questions, and say whether its groups count as clusters."""
    if names(name, "subject"):
        return f"categories: {name} ({n_groups:,})"
    if n_groups < MIN_CLUSTERS:
        return (
            f"clusters: {name} ({n_groups:,}, too few for an error bar: each question counts "
            "alone, which is too sure where they differ)"
        )
    return f"clusters: {name} ({n_groups:,})"


def _arm_words(conditions: tuple[str, ...]) -> tuple[str, str]:
    is_model = len(conditions) == 1 and "model" in conditions[0].lower()
    return ("model", "models") if is_model else ("arm", "arms")


def _few(columns: tuple[str, ...], sign: str = ", ") -> str:
    first = sign.join(columns[:MAX_NAMED])
    return f"{first} and {len(columns) - MAX_NAMED} more" if len(columns) > MAX_NAMED else first


def question_text(question: Question) -> str:
    """Return a question with both readings, numbered so that a terminal user can choose."""
    return f"{question.seen}\n  1. {question.first.text}\n  2. {question.second.text}"
