"""Turn the reading of a table into a `Recording`, by which rows become records.

The reading decides the role of each column. This module decides the rest: which text is the whole
prompt and which the question alone, whether the prompt shows the options, and which cells are
outputs and which are readouts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.recorded.columns import (
    FIRST,
    NO_MODEL_NAME,
    answers_form,
    are_roles,
    columns_of,
    find_marker,
    find_options,
    find_pattern,
    first_good_rows,
    holds_sentences,
    inspect_recording,
    is_order,
    letters_of_keys,
    lists_as_many,
    score_fields,
    shows_options,
    split_rows,
    variants_in,
)
from flipcore.datasets.recorded.fields import OF_SAMPLE, Field, value_at
from flipcore.datasets.recorded.recording import SETS, Recording
from flipcore.datasets.tables.coding import Coding
from flipcore.datasets.tables.own_columns import OF_MODEL, bare_path, label_columns
from flipcore.datasets.tables.reading import TableReading, read_table
from flipcore.datasets.tables.stems import names, words_of

_LONGEST_PATH = 300  # characters of a figure's path; a longer text is the figure itself
_MIN_WORDS = 3  # of an output; a shorter text is an extracted answer
_LONGEST_NAME = 60  # characters of a task's name
# Earlier versions took these columns as ids. An item keeps its key if such a column still fits.
_KEPT_IDS = "item item_id question_id example_id doc_id task_id id key idx".split()
# columns of the documented format of tables, by field of a recording
_DECLARED = {
    "variant": ("variant", "variant_id"),
    "axes": ("axis", "perturbation_type"),
    "role": ("role", "item_role"),
    "harmless": ("harmless",),
    "finish": ("finish_reason", "stop_reason", "finishReason", "stopReason"),
    "order": ("permutation", "option_order", "order"),
}


def read_by_structure(path: str | Path, words: Mapping[str, str]) -> TableReading:
    """Read a table, or return its cached reading if the file is unchanged. Raises BadInput for one without rows."""
    state = Path(path).stat()
    return _read(str(path), state.st_mtime_ns, state.st_size, tuple(sorted(words.items())))


@lru_cache(8_192)  # an import may hold several thousand small files and needs each reading more than once
def _read(path: str, _changed: int, _size: int, words: tuple[tuple[str, str], ...]) -> TableReading:
    return read_table(path, dict(words))


def guess_recording(path: str, words: Mapping[str, str] | None = None) -> Recording:
    """Guess the recording of a table; `words` are the keys of `--map` with their values.

    Raises BadInput for a table that holds neither outputs nor scores.
    """
    words = words or {}
    # first, because this refuses a file that is missing or not allowed
    rows = first_good_rows(path, words.get("sheet", ""))
    recording = recording_by(read_by_structure(path, words), rows, path)
    return replace(recording, sheet=words.get("sheet", ""))


def recording_by(reading: TableReading, rows: Sequence[Mapping[str, Any]], path: str) -> Recording:
    """Return the recording of a reading; `rows` are the first rows. Raises BadInput if the reading is a refusal."""
    if reading.refusal:
        raise BadInput(reading.refusal)
    return inspect_recording(path, rows) or _recording_of_roles(reading, rows, Path(path).stem)


def _recording_of_roles(reading: TableReading, first_rows: Sequence[Mapping[str, Any]], dataset: str) -> Recording:
    """Return the recording of a reading; `first_rows` are the file's first rows. Raises BadInput for rows without answers."""
    shape, roles = reading.shape, reading.roles
    rows = split_rows(first_rows, shape.models, shape.lists)
    if not rows:
        split_columns = ", ".join((*shape.models, *shape.lists)[:6])
        raise BadInput(
            f"No row holds an answer of its own in {split_columns}, a list or object inside of others. Write each "
            "output as a row, with columns prompt, response and target."
        )
    nested = shape.versions[0].rstrip("0123456789") if shape.versions else ""
    variants = variants_in(rows, nested, reading.columns)
    columns = [name for name in columns_of(variants) if not (nested and name.startswith(nested))]
    declared = {key: next((name for name in usual_names if name in columns), "") for key, usual_names in _DECLARED.items()}
    declared["order"] = declared["order"] if is_order(variants, declared["order"]) else ""
    declared["role"] = declared["role"] if are_roles(variants, declared["role"]) else ""
    prompt, question = _prompt_and_question(reading, variants)
    text = _output_column(reading, variants)
    target = "" if reading.has_long_key or roles.target == text else roles.target
    if reading.coding is Coding.LETTERS and target:
        return _sets_recording(reading, dataset, rows, variants, prompt=prompt)
    options = find_options(variants, columns, prompt=prompt, target=target, listed=roles.options)
    target = "" if options and lists_as_many(variants, target, options) else target
    pattern = "" if options else find_pattern(variants, prompt)
    fields = _fields(reading, variants, columns, text=text, target=target)
    taken = {prompt, question, text, target, declared["axes"]}
    n_questions = len(set(map(str, _cells(variants, prompt.partition(",")[0])))) if prompt else reading.n_items
    # the first rows cannot show that each question has a value of its own
    items = set(reading.grid.items) if len(reading.grid.items) == 1 else set()
    task = _task_column(variants, columns, n_questions, taken=taken | items | reading.alike)
    answer_columns = [target] if target else [field.column for field in fields if field.extractor != FIRST]
    answers = ""
    if not (options or pattern):
        letters = "" if nested or not target else letters_of_keys(_cells(variants, target), reading.letters)
        answers = letters or answers_form(variants, answer_columns)
    if reading.has_long_key:
        answers = "text"
    may_change_order = pattern or declared["order"] or shows_options(variants, options, prompt)
    recording = Recording(
        dataset,
        NO_MODEL_NAME,
        prompt=prompt,
        fields=fields,
        nested=nested,
        options=options,
        option_pattern=pattern,
        question=question,
        text=text,
        text_after=find_marker(variants, text),
        axis="option_order" if may_change_order else "recorded",
        target=target,
        answers=answers,
        tasks=task,
        model_columns=",".join(shape.models),
        sample_columns=",".join(shape.lists),
        sample=OF_SAMPLE if shape.lists or OF_SAMPLE in label_columns(shape.models) else "",
        **declared,
    )
    recording = _with_models(recording, reading, rows)
    return recording if nested else _with_graders(recording, reading, variants)


def _sets_recording(
    reading: TableReading,
    dataset: str,
    rows: Sequence[Mapping[str, Any]],
    variants: Sequence[Mapping[str, Any]],
    *,
    prompt: str,
) -> Recording:
    """Return the recording of a table whose right answers are several letters each, compared as sets."""
    roles, shape = reading.roles, reading.shape
    recording = Recording(
        dataset,
        NO_MODEL_NAME,
        prompt=prompt,
        fields=(Field(roles.output, roles.output),),
        axis="recorded",
        target=roles.target,
        answers=SETS,
        model_columns=",".join(shape.models),
        sample_columns=",".join(shape.lists),
        sample=OF_SAMPLE if shape.lists or OF_SAMPLE in label_columns(shape.models) else "",
    )
    return _with_graders(_with_models(recording, reading, rows), reading, variants)


def _with_models(recording: Recording, reading: TableReading, rows: Sequence[Mapping[str, Any]]) -> Recording:
    """Add the columns that name the model that answered."""
    other_columns = (*reading.grid.variants, recording.tasks, recording.axes)
    conditions = [name for name in reading.grid.conditions if name not in other_columns]
    models = ",".join(conditions) or reading.model_column
    if OF_MODEL in label_columns(reading.shape.models) and OF_MODEL not in conditions:
        models = OF_MODEL  # a column per model, rather than per run or item
    if not models:
        return recording
    first_model = value_at(rows[0], models.partition(",")[0])
    return replace(recording, models=models, model=str(first_model or NO_MODEL_NAME))


def _with_graders(recording: Recording, reading: TableReading, variants: Sequence[Mapping[str, Any]]) -> Recording:
    """Add the columns of scores, those of people last, and of items, variants and runs."""
    roles = reading.roles
    taken = {recording.text, recording.target, recording.tasks, *(field.column for field in recording.fields)}
    people = [bare_path(name) for name in roles.people if name not in taken]
    scores = [bare_path(name) for name in (*roles.scores, *roles.judges) if name not in taken]
    has_unscored = any(reading.missing.get(name) for name in (*roles.scores, *roles.judges))
    error = bare_path(roles.errors[0]) if roles.errors and recording.text and has_unscored else ""
    recording = replace(recording, score=",".join([*scores, *people]), error=error)
    return _with_grid(recording, reading, variants, people=people if scores else [])


def _with_grid(
    recording: Recording, reading: TableReading, variants: Sequence[Mapping[str, Any]], *, people: Sequence[str]
) -> Recording:
    """Add the columns of items, variants, runs, graders and clusters, and the values that are no scores."""
    grid, roles = reading.grid, reading.roles
    changes: dict[str, Any] = {"item": _item_columns(recording, reading)}
    if grid.variants and not recording.variant and grid.variants[0] not in (recording.order, recording.options):
        changes["variant"] = grid.variants[0]
    if grid.run and not recording.sample:
        changes["sample"] = grid.run
        changes["raters"] = "yes" if grid.is_rated else ""
    if grid.regrade and len(recording.scores) == 1:
        changes |= {"scorer": grid.regrade, "sample": ""}
    if grid.scorer and len(recording.scores) == 1:
        changes["scorer"] = grid.scorer
    if recording.score and not recording.prompt:
        changes |= {"answers": "text", "question": ""}
    if not recording.category or recording.score:
        changes["category"] = next((name for name in grid.clusters if names(name, "subject")), "")
    # a subject is no cluster, because its questions have no common source
    sources = [name for name in grid.clusters if not names(name, "subject")]
    changes["cluster"] = next((name for name in sources if name != recording.tasks), "")
    figures = [name for name in roles.contexts if names(name, "figure") and _holds_paths(variants, name)]
    figures += [name for name in grid.items if names(name, "context") and name not in roles.contexts]
    if figures and recording.prompt:
        parts = (recording.question or recording.prompt).split(",")
        changes["question"] = ",".join(dict.fromkeys([*parts, *figures]))
    if roles.sentinel:
        changes["missing"] = ",".join(f"{value:g}" for value in dict(roles.sentinel).values())
    if reading.n_copies:
        changes["copies"] = "out"
    if people:
        changes["people"] = ",".join(people)
    else:
        changes["lower"] = ",".join(map(bare_path, reading.lower))
    if reading.coding is Coding.LETTER_OR_TEXT and reading.letters:
        changes["answers"] = f"A-{max(reading.letters)}"
    return replace(recording, **changes)


def _cells(variants: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [value_at(values, name) for values in variants] if name else []


def _texts(variants: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return [cell for cell in _cells(variants, name) if isinstance(cell, str) and cell.strip()]


def _prompt_and_question(reading: TableReading, variants: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the columns of the whole prompt and of the question alone, "" if no column holds it."""
    roles, grid = reading.roles, reading.grid
    prompts = [name for name in roles.prompts if _texts(variants, name)]
    if not prompts:
        return "", ""
    first_prompt = prompts[0]
    for prompt in prompts[1:]:
        if _contains(variants, prompt, first_prompt):
            return prompt, first_prompt
        if _contains(variants, first_prompt, prompt):
            return first_prompt, prompt
    # an instruction and its input, or a question and the text that it is about
    parts = [name for name in grid.content if name in (*prompts, *roles.contexts) and not names(name, "figure")]
    parts = [name for name in parts if name == first_prompt or _texts(variants, name)]
    return ",".join(dict.fromkeys([first_prompt, *parts])), ""


def _contains(variants: Sequence[Mapping[str, Any]], outer: str, part: str) -> bool:
    """Tell whether the text of `outer` contains the shorter text of `part`, in most rows."""
    n_texts = n_inside = 0
    for text, inner in zip(_cells(variants, outer), _cells(variants, part), strict=True):
        if isinstance(text, str):
            n_texts += 1  # rows without the part count too, because a part that most rows lack is no question
            n_inside += isinstance(inner, str) and 0 < len(inner) < len(text) and inner.strip() in text
    return 2 * n_inside > n_texts


def _holds_paths(variants: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Tell whether a column names files of figures: short texts without blanks."""
    texts = _texts(variants, name)
    return bool(texts) and all(len(text) < _LONGEST_PATH and not any(c.isspace() for c in text) for text in texts)


def _output_column(reading: TableReading, variants: Sequence[Mapping[str, Any]]) -> str:
    """Return the column of whole outputs; "" if the table holds only answers that a program extracted."""
    output = reading.roles.output
    texts = _texts(variants, output)
    if not texts:
        return ""
    is_bare = names(output, "readout") or reading.coding in (Coding.LETTER_OR_TEXT, Coding.SAME_VALUE)
    # "The answer is 12", and not a letter, or a number with its unit
    n_sentences = sum(len(text.split()) >= _MIN_WORDS for text in texts)
    is_sentence = reading.coding in (Coding.LETTER, Coding.NUMBER) and 2 * n_sentences > len(texts)
    return output if not is_bare or is_sentence or holds_sentences(variants, output) else ""


def _fields(
    reading: TableReading, variants: Sequence[Mapping[str, Any]], columns: Sequence[str], *, text: str, target: str
) -> tuple[Field, ...]:
    """Return the fields of readouts: scores of options, and extracted answers."""
    graded = {name.partition(".")[0] for name in reading.roles.graders if "." in name}
    scored = score_fields(variants, [name for name in columns if name != text and name not in graded])
    bare = []  # fields of extracted answers
    for name in (reading.roles.output, *reading.roles.readouts):
        is_bare = names(name, "readout") or names(name, "answer") or name == reading.roles.output
        if name and is_bare and name not in (text, target) and not holds_sentences(variants, name):
            bare.append(Field(name, name))
    return (*scored, *bare)


def _task_column(variants: Sequence[Mapping[str, Any]], columns: Sequence[str], n_questions: int, *, taken: set[str]) -> str:
    """Return the column of tasks, a few short names with several questions each; "" for none."""
    for name in columns:
        if name in taken or not names(name, "task") or {"date", "time"} & set(words_of(name)):
            continue
        cells = _cells(variants, name)
        is_named = all(isinstance(cell, str) and 0 < len(cell) <= _LONGEST_NAME for cell in cells)
        is_count = is_named and all(cell.replace(".", "", 1).isdigit() for cell in cells)
        # the first rows hold a part of the questions only
        if is_named and not is_count and 2 * len(set(cells)) <= min(n_questions, len(cells)):
            return name
    return ""


def _item_columns(recording: Recording, reading: TableReading) -> str:
    """Return the columns of the item, preferably one that earlier imports used and that gives the same items."""
    grid = reading.grid
    if grid.open_item[0]:
        return grid.open_item[1]  # the first of two readings, until a user answers the question
    # the task is part of an item's id anyway
    items = tuple(name for name in grid.items if name != recording.tasks) or grid.items
    alike_by_name = {"_".join(words_of(name)): name for name in sorted(reading.alike, reverse=True)}
    kept_id = next((alike_by_name[name] for name in _KEPT_IDS if name in alike_by_name), "")
    if kept_id or not items:
        return kept_id
    has_kept_id = any("_".join(words_of(name)) in _KEPT_IDS for name in reading.columns)
    if recording.prompt and reading.n_items == reading.n_rows and not (reading.shape or has_kept_id):
        return ""  # each row is an item, and its number is the key
    single = next((name for name in (recording.question, recording.prompt, *items) if name in reading.alike), "")
    return single or ",".join(items)
