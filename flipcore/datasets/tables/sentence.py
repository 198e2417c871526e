"""Step 12: how a table was read, in one sentence, and its open questions."""

from flipcore.datasets.tables.grid import FEWEST_CLUSTERS
from flipcore.datasets.tables.stems import names
from flipcore.datasets.tables.table_reading import Question, TableReading
from flipcore.text.counts import count_of

MOST_NAMED = 6


def sentence(reading: TableReading) -> str:
    """Say how a table was read: "Read as 500 questions (id) × 2 arms (a, b) × 1 run; …"."""
    if reading.refusal:
        return reading.refusal
    roles, grid = reading.roles, reading.grid
    item = ", ".join(grid.items) or "row"
    parts = [_items_text(reading, item)]
    if grid.conditions and (reading.arms or reading.n_conditions > 1):
        # without a score no arm has a name here
        arms = reading.arms or reading.shape.models or grid.conditions
        n_arms = count_of(reading.n_conditions, *_arm_words(grid.conditions))
        parts.append(f"{n_arms} ({_few(arms)})")
    if grid.variants:
        parts.append(f"variants ({', '.join(grid.variants)})")
    if grid.run or grid.is_rerun or reading.n_runs == 1:
        run = f" ({grid.run})" if grid.run else ""
        parts.append(f"{count_of(reading.n_runs, 'run')}{run}")
    said = [f"Read as {' × '.join(parts)}"]
    if roles.target:
        said.append(f"right answer: {roles.target}")
    if roles.output:
        how = f", read as {reading.coding.value}" if reading.coding and roles.target else ""
        said.append(f"output: {roles.output}{how}")
    if roles.scores or roles.judges:
        said.append(f"scores: {_few((*roles.scores, *roles.judges))}")
    if grid.regrade:
        said.append(f"grades of one output: {grid.regrade}")
    if roles.people:
        said.append(f"people's labels: {', '.join(roles.people)}")
    for name, n in zip(grid.clusters, reading.n_clusters, strict=False):
        said.append(_group_text(name, n))
    if reading.unused:
        said.append(f"not used: {_few(reading.unused)}")
    if reading.other_sheets:
        said.append(f"sheets that are not read: {_few(reading.other_sheets)}")
    if reading.left_out:
        said.append(f"left out: {', '.join(reading.left_out)}")
    return "; ".join(said) + "."


def _items_text(reading: TableReading, item: str) -> str:
    if reading.n_files == 1:
        return f"{count_of(reading.n_items, 'question')} ({item})"
    n_each, n_left = divmod(reading.n_items, reading.n_files)
    if n_left:
        return f"{count_of(reading.n_items, 'question')} ({item}) in {reading.n_files:,} files"
    return f"{count_of(n_each, 'question')} ({item}) in each of {reading.n_files:,} files"


def _group_text(name: str, n_groups: int) -> str:
    """Name a column that groups questions, and say whether its groups are counted."""
    if names(name, "subject"):
        return f"categories: {name} ({n_groups:,})"
    if n_groups < FEWEST_CLUSTERS:
        return (
            f"clusters: {name} ({n_groups:,}, too few for an error bar: each question counts "
            "alone, which is too sure where they differ)"
        )
    return f"clusters: {name} ({n_groups:,})"


def _arm_words(conditions: tuple[str, ...]) -> tuple[str, str]:
    is_model = len(conditions) == 1 and "model" in conditions[0].lower()
    return ("model", "models") if is_model else ("arm", "arms")


def _few(names: tuple[str, ...]) -> str:
    named = ", ".join(names[:MOST_NAMED])
    return f"{named} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else named


def question_text(question: Question) -> str:
    """A question with both readings, numbered as a terminal takes them."""
    return f"{question.seen}\n  1. {question.first.text}\n  2. {question.second.text}"
