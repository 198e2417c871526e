"""A reading of a table by its structure as a `Recording`, the words by which its rows become records.

A table that both ways read alike keeps the words, and so the ids, that it always had. Where they
differ the reading by structure decides: items, models and conditions, graders, the output and the
right answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.coding import Coding
from flipcore.datasets.tables.reading import TableReading, read_table
from flipcore.datasets.tables.stems import names

_READ_FROM_CELLS = (Coding.LABEL, Coding.SAME_VALUE, Coding.LETTER_OR_TEXT)


def read_by_structure(path: str | Path, words: Mapping[str, str]) -> TableReading:
    """Read a table, once per state of its file. Raises BadInput for one without rows."""
    state = Path(path).stat()
    return _read(str(path), state.st_mtime_ns, state.st_size, tuple(sorted(words.items())))


@lru_cache(16)
def _read(path: str, _changed: int, _size: int, words: tuple[tuple[str, str], ...]) -> TableReading:
    return read_table(path, dict(words))


def named_roles(reading: TableReading, guess: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """The prompt, the output and the right answer by structure, where the names alone say less."""
    roles = reading.roles
    named: dict[str, str] = {}
    if not (guess["prompt"] or guess["question"]) and roles.prompts:
        named["prompt"] = roles.prompts[0]
    if roles.target and roles.target != guess["target"] and (roles.agreements or not guess["target"]):
        named["target"] = roles.target
    elif not roles.target and guess["target"] == roles.output:
        named["target"] = ""
    is_said = roles.output and (reading.coding not in _READ_FROM_CELLS or not roles.target)
    if not guess["text"] and is_said and not names(roles.output, "readout"):
        named["text"] = roles.output
    return {key: name for key, name in named.items() if not name or name in columns or "." in name}


def cell_readout(reading: TableReading, guess: Mapping[str, str], read: Sequence[str]) -> str:
    """The column of bare answers that nothing else reads, "" for none."""
    output = reading.roles.output
    is_read = output in read or output in (guess["text"], guess["target"], guess["prompt"])
    return "" if is_read or not reading.roles.target else output


def graders_of(reading: TableReading, before: str, taken: Sequence[str]) -> str:
    """The columns of scores, with the one that names found first, and people's last."""
    found = [name for name in reading.roles.graders if name not in taken]
    if not found:
        return before
    if before and sum(name.endswith(f".{before}") for name in found) > 1:
        return before  # an object per model holds this score of each
    inside = [name for name in found if before and name.startswith(f"{before}.")]
    if len(inside) == 1:
        found[found.index(inside[0])] = before  # an object of one score is read as it
    if before in found:
        found.remove(before)
        found.insert(0, before)
    people = [name for name in found if name in reading.roles.people]
    return ",".join([name for name in found if name not in people] + people)


def with_structure(recording: Recording, reading: TableReading) -> Recording:
    """The recording with the items, models, runs and sentinels of the reading."""
    if recording.nested:
        return recording
    changes: dict[str, Any] = {}
    item = _item(recording, reading)
    if item != recording.item:
        changes["item"] = item
    models = [name for name in reading.grid.conditions if name not in (recording.variant, recording.axes, recording.tasks)]
    if models and recording.models and not set(models) & {recording.models, recording.sample}:
        models.insert(0, recording.models)  # one model under several settings
    if models and not reading.shape.models and ",".join(models) != recording.models:
        changes["models"] = ",".join(models)
    if reading.model_column and not (models or recording.models or recording.model_columns):
        changes["models"] = reading.model_column
    if reading.has_long_key and recording.target == reading.roles.target:
        changes |= {"target": "", "answers": "text"}
    if reading.grid.regrade and not recording.scorer and len(recording.scores) == 1:
        changes |= {"scorer": reading.grid.regrade, "sample": ""}
    if reading.grid.run and not recording.sample and reading.grid.run != recording.variant:
        changes["sample"] = reading.grid.run
    contexts = [name for name in reading.grid.content if name in reading.roles.contexts]
    if contexts and recording.prompt and "," not in recording.prompt:
        changes["prompt"] = ",".join([*contexts, recording.prompt])
    figures = [name for name in reading.grid.items if names(name, "context") and name not in reading.roles.contexts]
    if figures and recording.prompt and len(reading.grid.items) > 1:
        changes["question"] = ",".join([recording.question or recording.prompt, *figures])
    if reading.roles.sentinel:
        changes["missing"] = ",".join(f"{value:g}" for value in dict(reading.roles.sentinel).values())
    if reading.n_copies:
        changes["copies"] = "out"
    people = [name for name in reading.roles.people if name in recording.scores]
    if people and len(people) < len(recording.scores):
        changes["people"] = ",".join(people)
    if reading.coding is Coding.LETTER_OR_TEXT:
        letters = sorted(letter for letter in reading.letters)
        changes["answers"] = f"A-{letters[-1]}" if letters else recording.answers
    return replace(recording, **changes) if changes else recording


def _item(recording: Recording, reading: TableReading) -> str:
    """The words for the item: as before, if the rows come to the same items by them."""
    # questions of several tasks stand apart by their task already
    items = tuple(name for name in reading.grid.items if name != recording.tasks) or reading.grid.items
    before = recording.item
    if reading.grid.open_item[0]:
        return reading.grid.open_item[1]  # the first of both readings, until the question is answered
    if not items or before in reading.alike or set(before.split(",")) == set(items):
        return before
    if not before and recording.prompt and reading.n_items == reading.n_rows and not reading.shape:
        return before
    single = next((name for name in (recording.question, recording.prompt, *items) if name in reading.alike), "")
    return single or ",".join(items)
