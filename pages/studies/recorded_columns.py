"""Which column of a recorded file is what: guessed, and corrected by hand."""

from dataclasses import replace
from typing import Any

import streamlit as st

from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.columns import COLUMNS, Recording, columns_of, looked_at, scored_field, words_between
from flipcore.datasets.recorded.fields import Field
from flipcore.datasets.recorded.formats.tables import first_guess

LABELS = {
    "prompt": "Prompt",
    "question": "Question alone",
    "options": "Options shown",
    "order": "Order of the options",
    "item": "Item",
    "variant": "Variant",
    "text": "Generated text",
    "target": "Right answer",
    "models": "Model",
    "axes": "Axis",
    "role": "Item role",
    "harmless": "Harmless change",
    "sample": "Sample",
    "score": "Score",
    "scorer": "Scorer",
    "tasks": "Task",
    "category": "Subject",
    "cluster": "Template or passage",
    "pair": "Pair",
}
HELP = {
    "prompt": "What the model was sent.",
    "question": "The question without instructions and options, if it is there.",
    "options": "A list of the options in the order of the prompt, or scores by option. Empty: numbers are answered.",
    "order": "Where the option at each position stands in the item's own order. Empty: options are matched by their text.",
    "item": "Rows with the same value are variants of one item.",
    "variant": "How rows of one item are told apart.",
    "text": "What the model wrote; it is read as the written answer.",
    "target": "An option's text, label or place from 0, or a number.",
    "models": "The column that names the model.",
    "axes": "What was changed, row by row.",
    "role": "benchmark or control, row by row.",
    "sample": "Numbers the repeats of a prompt from 0. Empty: a prompt that comes again is its next sample.",
    "score": "What a scorer gave the row: true or false, a share, a percentage, or a grade.",
    "scorer": "Names the scorer, where rows have several.",
    "tasks": "Names the task; tasks are never pooled into one score.",
    "category": "The subject, by which scores are compared.",
    "cluster": "Items with the same value were made from one template or passage.",
    "pair": "A benchmark item and the control that it is paired with have the same value.",
    "harmless": "False where another answer may be right: such a row is left out of the flips.",
}
PATHS = "A column inside of another can be typed: doc.options, resps[0][0]."


def column_words(table: Source, key: str) -> list[str]:
    """The words that `--map` would take, from the fields on the page; of several tables, guessed from the first."""
    first, rows = first_guess(table), looked_at(str(table.path))
    st.caption("Guessed from the first rows; correct what is wrong.")
    nested = st.text_input(
        "Numbered columns begin with",
        first.nested,
        key=f"recorded-nested-{key}",
        help="Where one row holds all versions of a question: shuffle_0, shuffle_1. Empty: one output a row.",
    )
    columns = columns_of(rows, nested)
    recording = recorded_fields(recorded_columns(replace(first, nested=nested), columns, key), columns, key)
    left, right = st.columns(2)
    if not recording.models:
        model = left.text_input("Model", recording.model, key=f"recorded-model-{key}")
        recording = replace(recording, model=model or "recorded model")
    default = f"{first.dataset}, recorded"
    title = right.text_input("Name of the study", default, key=f"recorded-name-{key}")
    return [*words_between(first, recording), *([f"name={title}"] if title not in ("", default) else [])]


def recorded_columns(first: Recording, columns: list[str], key: str) -> Recording:
    """One choice a column, three in a row, and what finds options or the answer inside of a text."""
    mapping: dict[str, Any] = {}
    places = [place for _ in range(0, len(COLUMNS), 3) for place in st.columns(3)]
    for place, field in zip(places, COLUMNS, strict=False):
        value = getattr(first, field)
        names = [None, *columns, *([value] if value and value not in columns else [])]
        column = place.selectbox(
            LABELS[field],
            names,
            key=f"recorded-{field}-{key}",
            help=f"{HELP[field]} {PATHS}",
            index=names.index(value) if value in names else 0,
            accept_new_options=True,
        )
        mapping[field] = column or ""
    right, left = st.columns(2)
    if not mapping["options"]:
        mapping["option_pattern"] = left.text_input(
            "Options in the prompt (regular expression)", first.option_pattern, key=f"recorded-pattern-{key}"
        )
    after = right.text_input(
        "The answer begins after",
        first.text_after.replace("\n", "\\n"),
        key=f"recorded-after-{key}",
        help="Where the text repeats the prompt.",
    )
    mapping["text_after"] = after.replace("\\n", "\n")
    return replace(first, **mapping)


def recorded_fields(recording: Recording, columns: list[str], key: str) -> Recording:
    """Recorded readouts: the scores of the first token, and further columns that hold an answer or scores each."""
    by_extractor = {field.extractor: field.column for field in recording.fields}
    left, right = st.columns(2)
    score = by_extractor.get("first_token")
    first = left.selectbox(
        "First-token scores",
        [None, *columns],
        key=f"recorded-scores-{key}",
        index=columns.index(score) + 1 if score in columns else 0,
    )
    more = right.multiselect(
        "Further recorded answers or scores",
        columns,
        key=f"recorded-more-{key}",
        default=[column for name, column in by_extractor.items() if name != "first_token" and column in columns],
    )
    fields = [scored_field("first_token", first, columns)] if first else []
    return replace(recording, fields=(*fields, *(Field(column, column) for column in more)))
