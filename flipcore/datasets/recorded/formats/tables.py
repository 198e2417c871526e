"""Tables of outputs of unknown origin: each row is a record. The columns are guessed, and a user may correct them.

Cells are not guessed: a missing field is an absent readout, and a score without all probabilities has an unknown label mass.
Tasks, items and models keep the names that the table gives them, so that ids stay the same from version to version.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed
from flipcore.core.json_encoding import json_encoder
from flipcore.core.records import BASE, LOWER_IS_BETTER, ROLES, Item
from flipcore.datasets.reading.checks import checked
from flipcore.datasets.reading.columns import guess_columns, options_in, target_form
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.packed import suffix_of
from flipcore.datasets.reading.rows import SUFFIXES, Row
from flipcore.datasets.reading.sheets import sheet_names
from flipcore.datasets.recorded.by_structure import guess_recording, read_by_structure
from flipcore.datasets.recorded.columns import (
    KEYS,
    SCORER,
    Recording,
    answers_in,
    answers_of,
    columns_of,
    corrected,
    entries_of_options,
    is_of_inspect,
    mapping_of,
    objects_in_lists,
    options_in_prompt,
    find_unused,
    variants_in,
)
from flipcore.datasets.recorded.fields import Field, readout_of, right_answer, score_of, scorer_readout
from flipcore.datasets.recorded.formats.reader import Reader
from flipcore.datasets.recorded.grouping import MAX_MB, Key, VariantRow, batches
from flipcore.datasets.recorded.layouts import Layout
from flipcore.datasets.recorded.log_answers import unique_options
from flipcore.datasets.recorded.log_records import LogAbout, LogReadout, LogRecord, Rejection, right_of
from flipcore.datasets.recorded.plain_tables import PlainTable, is_plain
from flipcore.datasets.recorded.recording import SETS
from flipcore.datasets.recorded.table_names import TableName
from flipcore.datasets.tables.coding import ERROR_TEXT, entries_of, letter_in, letters_of
from flipcore.datasets.tables.grid import counts_runs
from flipcore.datasets.tables.load import as_cell
from flipcore.datasets.tables.own_columns import bare_column
from flipcore.datasets.tables.reading import TableReading
from flipcore.datasets.tables.roles import OUTPUT, part_of
from flipcore.datasets.tables.sentence import sentence
from flipcore.datasets.tables.stems import last_names, last_part, names
from flipcore.text.answers import number_at_end

TABLE, _TITLE = "table", "Tables of outputs"
COLUMN_KEYS = (*KEYS, "dataset", "read")  # keys of `--map` that are about the columns of tables
NO_TEXT = "The record holds no generated text."  # the error of a row without an output that says no other
_PLACE_FORMS = ("index", "index1")  # forms of an option's place, from 0 and from 1
_encoded = json_encoder()
WORDS = "words"  # the form of right answers of which some are no numbers
COLUMN, READ = "column:", "read:"  # prefixes of corrections that are about columns


def column_correction(word: str) -> tuple[str, str] | None:
    """Return (key, value) of a correction that is about the columns of tables; None for any other word."""
    key, _, value = word.partition("=")
    if key.startswith((COLUMN, READ)):
        return key, value
    return (COLUMN + key, value) if key in COLUMN_KEYS else None


def is_of_columns(correction: str) -> bool:
    """Tell whether a correction is about the columns of tables."""
    return correction.startswith((COLUMN, READ))


def may_be_table(source: Source) -> bool:
    """Tell whether a file has the suffix of a table; only its rows show whether it is one."""
    return suffix_of(source.name) in SUFFIXES


def first_guess(source: Source, words: Mapping[str, str] | None = None) -> Recording:
    """Return the likeliest recording of a table. Raises BadInput for a file without rows."""
    return replace(guess_recording(str(source.path), words or {}), dataset=Path(source.name).stem)


def sheets_of(source: Source) -> tuple[str, ...]:
    """Return the names of the sheets of an Excel file; () for any other file."""
    if suffix_of(source.name) != ".xlsx":
        return ()
    return sheet_names(allowed(source.path), MAX_MB * 1_000_000)


def words_of_columns(corrections: Mapping[str, str]) -> dict[str, str]:
    """Return {key of `--map`: value} of the corrections that are about columns of tables."""
    return {key.removeprefix(COLUMN): value for key, value in corrections.items() if key.startswith(COLUMN)}


def table_reader(
    source: Source, corrections: Mapping[str, str], name: TableName | None = None, layout: Layout | None = None
) -> Reader:
    """Return the reader of a table: its guessed columns, corrected, with the task and model of `name`.

    Tables of one `layout` share their guess. `corrections` have the keys "column:KEY" and "read:READOUT". Raises BadInput if the
    rows cannot be read by these columns. If the answer to a question may help, the reader has no rows and asks it instead.
    """
    path, words = str(source.path), words_of_columns(corrections)
    column_words = [f"{key}={value}" for key, value in words.items() if key != "read"]
    readouts = [f"{key.removeprefix(READ)}={value}" for key, value in corrections.items() if key.startswith(READ)]
    try:
        guess = replace(layout.recording(words), dataset=Path(source.name).stem) if layout else first_guess(source, words)
        if name and not guess.model_columns:
            guess = replace(guess, dataset=name.task, model=guess.model if guess.models else name.model or guess.model)
        recording = corrected(guess, column_words, readouts if readouts or "read" in words else None)
        if layout:
            reader = _reader_in(layout, recording, layout.reading(words))
        else:
            reading = read_by_structure(path, words)
            rows = answers_in(path, recording)
            reader = reader_of(_check_readable(recording, rows, reading), rows, reading)
    except BadInput as error:
        problem = f"{error}{_other_sheets(source, words)}"
        try:
            reading = layout.reading(words) if layout else read_by_structure(path, words)
        except BadInput:
            raise BadInput(problem) from None
        if not reading.questions:
            raise BadInput(problem) from None
        reader = _asking_reader(reading, problem)
    if name and name.condition:
        return replace(reader, records=partial(_records_under, name.condition, reader.records), plain=None)
    return reader


def _other_sheets(source: Source, words: Mapping[str, str]) -> str:
    """Return a hint to read another sheet of an Excel file, because the first is often an overview; "" for one sheet."""
    sheets: Sequence[str] = ()
    with suppress(BadInput):  # the message about the file itself comes first
        sheets = sheets_of(source)
    sheet = words.get("sheet") or next(iter(sheets), "")
    if len(sheets) < 2 or sheet not in sheets:
        return ""
    other_sheets = ", ".join([name for name in sheets if name != sheet][:6])
    return f" One sheet is read. If the outputs stand in another one ({other_sheets}): --map sheet=NAME."


def _reader_in(layout: Layout, recording: Recording, reading: TableReading) -> Reader:
    """Return the reader of one table of a layout; only the first table's reader has the notes about the layout."""
    key = replace(recording, dataset="", model="")
    if key in layout.shared:
        forms, about = layout.shared[key]
    else:
        rows = answers_of(layout.first_rows, recording)
        about = _about_rows(_check_readable(recording, rows, reading), rows, reading)
        forms = _forms_of(recording, rows, reading.n_keys_in_words)
        layout.shared[key] = forms, replace(about, notes=[], doubts=[])
    columns = {**about.columns, "dataset": recording.dataset, "model": recording.model}
    # a copy, because notes about this file are added to it
    about = replace(about, notes=[*about.notes], columns=columns)
    return Reader(TABLE, _TITLE, may_be_table, partial(_records, recording, forms), lambda source, companions: about)


def _asking_reader(reading: TableReading, problem: str) -> Reader:
    """Return a reader without rows, which asks the question that must be answered first."""
    about = LogAbout("table of outputs", read_as=sentence(reading), questions=reading.questions, unreadable=problem)
    return Reader(TABLE, _TITLE, may_be_table, lambda source, companions: iter(()), lambda source, companions: about)


def _records_under(
    condition: str, records: Callable, source: Source, companions: Sequence[Source]
) -> Iterator[LogRecord | Rejection]:
    """Yield the records, with the condition in brackets behind the name of each model."""
    for record in records(source, companions):
        if isinstance(record, LogRecord):
            record.model = f"{record.model} ({condition})"
        yield record


def reader_of(recording: Recording, rows: Sequence[Mapping[str, Any]] = (), reading: TableReading | None = None) -> Reader:
    """Return the reader of a table whose columns are all declared; its first `rows` show how options are named."""
    # The cache of a page pickles readers, so these are no closures.
    forms = _forms_of(recording, rows, reading.n_keys_in_words if reading else 0)
    records, about = partial(_records, recording, forms), partial(_about_file, recording, reading)
    plain = partial(_plain_table, recording, forms) if is_plain(recording) else None
    return Reader(TABLE, _TITLE, may_be_table, records, about, plain=plain)


def _about_file(
    recording: Recording, reading: TableReading | None, source: Source, companions: Sequence[Source]
) -> LogAbout:
    return _about_rows(recording, answers_in(str(source.path), recording), reading)


def _plain_table(recording: Recording, forms: Mapping[str, str], source: Source) -> PlainTable:
    return PlainTable(str(source.path), source.name, recording, _Rows(recording, source.name, forms))


def _forms_of(recording: Recording, rows: Sequence[Mapping[str, Any]], n_keys_in_words: int) -> dict[str, str]:
    """Return {column of answers: how it names them}: an option by "text", "letter" or place, a number in WORDS.

    `rows` are the first rows; `n_keys_in_words` counts right answers in words in the whole file.
    """
    if recording.kind == "choice":
        return _option_forms(recording, rows)
    if recording.kind != "number":
        return {}
    variants = variants_in(rows, recording.nested, recording.columns)
    n_in_words = sum(_is_in_words(values.get(recording.target)) for values in variants)
    n_in_words = max(n_in_words, n_keys_in_words)
    # a single right answer in words is a slip: its row is refused
    return {recording.target: WORDS} if n_in_words > 1 else {}


def _is_in_words(right: Any) -> bool:
    """Tell whether a right answer is no number."""
    return isinstance(right, (str, bool)) and right != "" and number_at_end(str(right).strip()) is None


def _option_forms(recording: Recording, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return, by column of right answers or readouts, the form of an option's name that fits the most rows."""
    table = _Rows(recording, "", {})
    forms: dict[str, str] = {}
    places: list[tuple[int, int]] = []  # (place, number of options) of each answer
    for column in filter(None, (recording.target, *(field.column for field in recording.fields))):
        cells: list[dict[str, Any]] = []
        for values in variants_in(rows, recording.nested, recording.columns):
            with suppress(BadInput, KeyError, TypeError, ValueError):
                cells.append({"options": list(table.options_shown(values)), "answer": values.get(column)})
        is_text = all(str(cell["answer"]).strip() in cell["options"] for cell in cells)
        forms[column] = "text" if is_text else target_form(cells, {"options": "options", "target": "answer"})
        if forms[column] in _PLACE_FORMS:
            places += [(int(cell["answer"]), len(cell["options"])) for cell in cells if str(cell["answer"]).isdecimal()]
    if forms.get(recording.target) not in _PLACE_FORMS:
        return {column: form for column, form in forms.items() if column == recording.target or form not in _PLACE_FORMS}
    # all columns count from 0 or all from 1; a place equal to the number of options shows that it is 1
    has_last = any(place == n_options for place, n_options in places)
    if has_last and all(place != 0 for place, _ in places):
        forms |= {column: "index1" for column, form in forms.items() if form in _PLACE_FORMS}
    return forms


_AMBIGUOUS_COMMA = re.compile(r"-?\d{1,3},\d{3}")  # 1,234: 1234, or 1.234 with a decimal comma


def _check_readable(recording: Recording, rows: Sequence[Mapping[str, Any]], reading: TableReading) -> Recording:
    """Return the recording. Raises BadInput, which says what to do, if the first `rows` cannot be read by it."""
    columns, scores = columns_of(rows), reading.roles.unnamed_scores
    first_names = f"{', '.join(name[:40] for name in columns[:12])}{' …' if len(columns) > 12 else ''}"
    named_columns = f" The columns are {first_names}." if columns else " Its rows share no columns."
    is_read = bool(recording.fields or recording.text or recording.score)
    for name in () if recording.score else [column for column in columns if names(column, "score")]:
        cells = [str(row[name]) for row in rows if row.get(name) not in (None, "")]
        if cells and all(_AMBIGUOUS_COMMA.fullmatch(cell) for cell in cells):
            raise BadInput(
                f"{name} holds numbers like {cells[0]}, whose comma may part thousands or decimals. Write "
                f"{cells[0].replace(',', '.')} or {cells[0].replace(',', '')}: in a spreadsheet, save with English number formats."
            )
    if not is_read and (list_columns := objects_in_lists(rows)):
        raise BadInput(
            f"No column holds an output or a score, and {list_columns[0]} holds a list of objects in each row, which is not read. "
            f"Write each of them as a row of its own, with columns prompt, response and target.{named_columns}"
        )
    has_output = any(part_of(name) == OUTPUT for name in reading.columns)
    mapping = {} if is_read or has_output else guess_columns(rows)
    if "question" in mapping and not mapping.keys().isdisjoint({"options", "target"}):
        raise BadInput(
            f"The table holds questions with right answers or options, and no outputs: those are items.{named_columns} Upload it under New study, "
            "as your own file. If a column does hold outputs, name it: --map text=COLUMN, or --map read:NAME=COLUMN for bare answers."
        )
    is_answered = bool(recording.target and (recording.text or recording.fields))
    if not recording.prompt and not recording.score and not is_answered:
        guess = f" --map {shlex.quote(f'score={scores[0]}')}" if len(scores) == 1 else " --map score=COLUMN"
        raise BadInput(
            "The recording names no column for the prompt, and no column called like a score holds scores."
            f"{named_columns} Say which one holds the prompt (--map prompt=COLUMN) or the score:{guess}."
        )
    if not (recording.prompt or recording.item or is_answered):
        raise BadInput(f"No column tells which item a score belongs to.{named_columns} Say which one does: --map item=COLUMN.")
    lists = recording.option_columns
    if len(lists) == 1 and not any(lists[0] in values for values in variants_in(rows, recording.nested, recording.columns)):
        raise BadInput(
            f"There is no column {lists[0]!r} of options.{named_columns} For another one: --map options=COLUMN; for none: --map options=."
        )
    try:
        re.compile(recording.option_pattern)
    except re.error as error:
        raise BadInput(
            f"{recording.option_pattern!r} is not a regular expression ({error}); it should find each option in "
            "the prompt, with the option's text in one group."
        ) from None
    if not is_read:
        raise BadInput(
            "The recording names no column of outputs, answers or scores, so there is nothing to read."
            f"{named_columns} Name one; items without outputs belong under New study."
        )
    return recording


def _about_rows(recording: Recording, rows: Sequence[Mapping[str, Any]], reading: TableReading | None) -> LogAbout:
    """Describe how a table is read, by its first rows: columns, notes, doubts and questions."""
    mapping = mapping_of(recording)
    columns = ", ".join(f"{key}={value}".replace("\n", "\\n") for key, value in mapping.items() if key != "fields")
    readouts = ", ".join(f"{field.extractor}={field.column}" for field in recording.fields) or "none recorded"
    unused_columns = find_unused(recording, columns_of(rows, recording.nested))
    notes = [f"Columns: {columns}.", f"Recorded readouts: {readouts}."]
    doubts: list[tuple[str, str]] = []
    if recording.score:
        for name in recording.scores:
            if any(isinstance(row.get(name), str) and row[name].strip().endswith("%") for row in rows):
                notes.append(f"{name} holds percentages, which are read as shares: 85 % is 0.85.")
        doubts = list(_doubts(recording, rows, unused_columns))
        if not recording.prompt:
            notes.append("The table holds scores alone: what needs a prompt or an output is left out.")
    notes += [sentence for _, sentence in doubts]
    about = LogAbout("table of outputs", notes=notes, leaves=tuple(unused_columns), columns=mapping, doubts=doubts)
    if reading and not recording.nested:
        about.notes += reading.notes
        about.read_as, about.questions, about.labelled = sentence(reading), reading.questions, reading.labelled
    return about


def _records(
    recording: Recording, forms: Mapping[str, str], source: Source, companions: Sequence[Source]
) -> Iterator[LogRecord | Rejection]:
    """Yield the records item by item, the base first; memory does not grow with the file.

    A row that does not fit is refused alone, an item without its base as a whole.
    """
    rows = _Rows(recording, source.name, forms)
    for batch in batches(str(source.path), recording):
        if isinstance(batch, Row):
            yield rows.refusal(batch.line, f"{batch.problem}.")
            continue
        for key, variants in batch:
            yield from rows.group(key, variants)
        rows.forget()



def _doubts(recording: Recording, rows: Sequence[Mapping[str, Any]], unused_columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield a doubt, as (subject, sentence), about a second column that could be the item."""
    second_id = "" if is_of_inspect(rows) else next((name for name in unused_columns if last_names(name, "id")), "")
    if second_id and recording.item and not recording.prompt:
        n_used, n_second = (len({str(row.get(column)) for row in rows}) for column in (recording.item, second_id))
        # an id of runs that differs in every row numbers the rows, and so does one of scores
        is_of_row = n_second == len(rows) and (bool(recording.scorer) or counts_runs(last_part(second_id)))
        # twelve evaluators or four places of an option are no items
        if n_used != n_second and 2 * n_second >= n_used and not is_of_row:
            yield (
                "two columns",
                f"{second_id} could be the item too ({n_second:,} values in the first {len(rows):,} rows); {recording.item} is used "
                f"({n_used:,}). For the other: --map {shlex.quote(f'item={second_id}')}.",
            )


def _error_in(cell: Any) -> str:
    """Return the error that a cell names; "" for an empty one, and for a word that names none."""
    words = "" if cell is None else str(cell).strip()
    return "" if words.lower() in _NO_ERROR else words


_NO_ERROR = set("none nan null false no 0 ok success succeeded stop completed complete done finished end_turn length eos".split())
_NO_ERROR |= {"", "-", "{}", "[]", "n/a", "no error"}


def _has_failed(text: Any) -> bool:
    """Tell whether a call has no output, or one that says why it failed."""
    return text in (None, "") or (isinstance(text, str) and bool(re.match(ERROR_TEXT, text)))


MAX_REMEMBERED = 50_000  # different scores whose readouts are cached


class _Rows:
    """Make records from rows. Items and the names of prompts are remembered, so that all models get the same ones."""

    def __init__(self, recording: Recording, file: str, forms: Mapping[str, str]) -> None:
        self.recording, self.file, self.forms = recording, file, forms
        may_lack_options = recording.kind == "choice" and len(recording.option_columns) == 1
        # whether rows may differ in kind; computed once, because it is needed several times per row
        self.has_kinds = may_lack_options or forms.get(recording.target) == WORDS
        self._readouts: dict[tuple, tuple[LogReadout, ...]] = {}  # by the cells of scores
        self._last_shown: tuple[Mapping[str, Any], tuple[str, ...]] = {}, ()  # cells of a row, and its options
        self.forget()

    def forget(self) -> None:
        """Forget all items, because the next batch has other ones."""
        self.items: dict[tuple[str, str], Item] = {}  # by (task, key)
        self.names: dict[Key, dict[str, str]] = {}  # by item and model: {prompt: its first name}
        self.base_answers: dict[tuple[str, str], Any] = {}  # right answer in the row of the base, by (task, key)
        self.samples: dict[tuple, dict[str, int]] = {}  # by (model, item, variant): {run, epoch or seed: its number}
        self.scores_so_far: dict[tuple, float | None] = {}  # by model, item, variant, run and scorer

    def refusal(self, line: int, problem: str) -> Rejection:
        return Rejection(f"Line {line} of {self.file} {problem}")

    def group(self, key: Key, variants: Sequence[VariantRow]) -> Iterator[LogRecord | Rejection]:
        """Yield the records of one item and model, the base first."""
        if self.recording.answers == SETS:
            variants = [_sort_letters(row, self.recording) for row in variants]
        base, prompt_column = variants[0], self.recording.prompt
        # rows of two models cannot be matched to one item, unless they are parts of one row
        if not (prompt_column or self.recording.item or self.recording.model_columns):
            key = key._replace(item=f"{key.item} of {key.model}")
        for row_index, row in enumerate(variants):
            try:
                is_base = bool(row.name) and row.name == base.name and row.values.get(prompt_column) == base.values.get(prompt_column)
                yield self.record(key, row, is_base=row_index == 0 or is_base)
                continue
            except KeyError as error:
                problem = f"has no column {error.args[0]!r}; correct the recording's columns"
            except (TypeError, ValueError, AttributeError) as error:
                problem = f"holds a value of the wrong type ({error})"
            except BadInput as error:
                problem = str(error).removesuffix(".")
            yield self.refusal(row.line, f"{problem}.")
            if row_index == 0:
                for variant in variants[1:]:
                    if variant.line != row.line:
                        yield self.refusal(variant.line, f"belongs to the base of line {row.line}, which is refused.")
                return

    def record(self, key: Key, row: VariantRow, is_base: bool) -> LogRecord:
        """Make the record of a row. Raises BadInput, KeyError, TypeError or ValueError for a row that does not fit."""
        item_key = (key.task, key.item)
        recording, values = self.recording, row.values
        item = self.items.get(item_key) or self._item(key.item, values)
        prompt = f"{item.question}, {row.name}" if row.name else item.question
        prompt = values[recording.prompt] if recording.prompt else prompt
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadInput("has no prompt")
        order, variant_names = self._order(item, values), self.names.setdefault(key, {})
        name = BASE if is_base else row.name or variant_names.get(prompt) or f"variant-{len(variant_names)}"
        if not recording.prompt:  # rows with the same prompt are reruns, those with the first prompt are the base
            first = next(iter(variant_names), prompt)
            name = BASE if prompt == first else row.name or BASE
        target = item.target if is_base else self._own_right_answer(item_key, item, values, order)
        text, error = self.text(values)
        is_answered = bool(text) or not recording.text  # without a column of texts, each row is an answer
        recorded_cells = {field.column: values.get(field.column) for field in recording.fields}
        if recording.raters:
            # the only place of the names: a sample is stored as a number
            recorded_cells[recording.sample] = values.get(recording.sample)
        record = LogRecord(
            f"Line {row.line} of {self.file}",
            self._task(values),
            item=key.item,
            question=item.question,
            prompt=prompt,
            model=key.model,
            item_id=item.item_id,
            options=item.options,
            order=order,
            targets=self._targets(item_key, item.kind, target, values),
            target_is_place=item.kind == "choice",
            # the importer decides if tasks may differ in kind or options may be missing
            kind="" if item.kind == "text" and (recording.tasks or recording.kind == "choice") else item.kind,
            role=self._role(values),
            pair=str(values.get(recording.pair) or "") if recording.pair else "",
            axis=str(values.get(recording.axes) or "") or recording.axis if recording.axes else recording.axis,
            variant=name,
            harmless=not (recording.harmless and str(values.get(recording.harmless)).lower() in ("false", "0", "no")),
            sample=self._sample(key, name, values),
            repeat=name if variant_names.get(prompt, name) != name else "",
            sampling={"temperature": 0.0},  # tables hold no temperature, but this value is part of the ids of stored calls
            text=text,
            finish_reason=str(values.get(recording.finish) or "") if recording.finish else "",
            raw_reply=_encoded(recorded_cells) if recorded_cells else "{}",
            error=error,
            readouts=(
                *self.scores(key, name, values),
                *(self._readout(field, values, item, order, is_answered) for field in recording.fields),
            ),
            category=str(values.get(recording.category) or "") if recording.category else "",
            meta={"task": self._task(values)} if recording.tasks else {},
            family=f"{recording.cluster} {values[recording.cluster]}" if values.get(recording.cluster) else "",
        )
        self.items[item_key] = item
        self.base_answers.setdefault(item_key, values.get(recording.target))
        variant_names.setdefault(prompt, name)
        return record

    def _task(self, values: Mapping[str, Any]) -> str:
        """Return the row's task. Rows of another kind than the recording's are a task of their own, named by what differs."""
        recording = self.recording
        task = str(values.get(recording.tasks) or recording.dataset) if recording.tasks else recording.dataset
        other_kind = "without options" if recording.kind == "choice" else "in words"
        return task if self._kind(values) == recording.kind else f"{task} {other_kind}"

    def _kind(self, values: Mapping[str, Any]) -> str:
        """Return the kind of a row's item: the recording's, or "text" if the row lacks options or a number."""
        if not self.has_kinds:
            return self.recording.kind
        kind, columns, right = self.recording.kind, self.recording.option_columns, values.get(self.recording.target)
        has_none = len(columns) == 1 and values.get(columns[0]) in (None, "", [], {})
        in_words = self.forms.get(self.recording.target) == WORDS and _is_in_words(right)
        return "text" if (kind == "choice" and has_none) or in_words else kind

    def _sample(self, key: Key, name: str, values: Mapping[str, Any]) -> int | None:
        """Return the row's number among the reruns of its prompt, from 0; None without a column of runs.

        In a table of scores alone a run may have any name, such as "run-b" or a seed, and is numbered here.
        So is a rater in any table, unless a number names them.
        """
        if not self.recording.sample:
            return None
        value = values.get(self.recording.sample)
        is_named = bool(self.recording.raters) and not str(value).isdecimal()
        if self.recording.prompt and not is_named:
            return _sample_number(value)
        runs = self.samples.setdefault((*key, name), {})
        return runs.setdefault(str(value), len(runs))

    def scores(self, key: Key, name: str, values: Mapping[str, Any]) -> tuple[LogReadout, ...]:
        """Return the readouts of the scorers. Raises BadInput for a second score of one sample by one scorer."""
        recording = self.recording
        if not recording.scores:
            return ()
        if recording.sample:
            return tuple(self._read_scores(key, name, values))
        cells = tuple(values.get(column) for column in recording.scores)
        # 1, 1.0 and True are the same key, and the same score
        cells_of_readouts = (*cells, values.get(recording.scorer), self._is_left_out(values))
        try:
            readouts = self._readouts.get(cells_of_readouts)
        except TypeError:  # a list or an object is no key
            return tuple(self._read_scores(key, name, values))
        if readouts is None:
            readouts = tuple(self._read_scores(key, name, values))
            if len(self._readouts) < MAX_REMEMBERED:
                self._readouts[cells_of_readouts] = readouts
        return readouts

    def _read_scores(self, key: Key, name: str, values: Mapping[str, Any]) -> Iterator[LogReadout]:
        recording = self.recording
        for column in recording.scores:
            entry = re.fullmatch(r".+?\[(?!-?\d+\])(.+)\]\.\w+", column)  # metrics[Relevancy].score
            scorer = entry[1] if entry else column.removeprefix(SCORER)
            if recording.models_beside and column == bare_column(recording.models_beside[0]):
                scorer = "score"  # the column of each system holds its score
            scorer = str(values.get(recording.scorer) or scorer) if recording.scorer else scorer
            readout = self._directed(column, scorer_readout(scorer, self._score(column, values)))
            if recording.sample:
                score_key = (*key, name, str(values.get(recording.sample)), readout.name)
                if score_key in self.scores_so_far:
                    before = self.scores_so_far[score_key]
                    score = "the same score" if before == readout.score else f"another score, {before} before"
                    raise BadInput(
                        f"repeats item {key.item}, {recording.sample} {values.get(recording.sample)} of {key.model} with {score}; "
                        "what tells them apart: --map sample=COLUMN"
                    )
                self.scores_so_far[score_key] = readout.score
            yield readout

    def _score(self, column: str, values: Mapping[str, Any]) -> Any:
        """Return a cell of a score; None if it counts as missing, and a declared percentage as a share."""
        recording, value = self.recording, values.get(column)
        number = score_of(value)
        if number is None:
            return value
        is_missing = f"{number:g}" in recording.missing.split(",")
        if is_missing or self._is_left_out(values):
            return None
        return number / 100 if number > 1 and column in recording.percent.split(",") else value

    def _is_left_out(self, values: Mapping[str, Any]) -> bool:
        """Tell whether a row's scores do not count, because its call failed."""
        recording = self.recording
        return recording.failed == "out" and bool(recording.text) and _has_failed(values.get(recording.text))

    def _directed(self, column: str, readout: LogReadout) -> LogReadout:
        """Reverse a score whose 1 is bad. A score for which less is better is named so, and does not say what is right."""
        recording = self.recording
        if column in recording.reverse.split(","):
            # people's labels are known by the name of their column
            name = readout.name if recording.people else f"{readout.name} (reversed)"
            if readout.score is None:
                return replace(readout, name=name)
            if not 0 <= readout.score <= 1:
                raise BadInput(f"has the score {readout.score:g}, and only scores from 0 to 1 are turned round")
            score = 1 - readout.score
            return replace(readout, name=name, score=score, is_correct=right_of(score))
        if column in recording.lower.split(","):
            return replace(readout, name=f"{readout.name} {LOWER_IS_BETTER}", is_correct=None)
        return readout

    def text(self, values: Mapping[str, Any]) -> tuple[str | None, str]:
        """Return (output, "") or (None, the error); (None, "") for a table without outputs."""
        recording = self.recording
        if not recording.text:
            return None, ""
        text = values.get(recording.text)
        text = text[0] if isinstance(text, list) and len(text) == 1 else text
        error = _error_in(values.get(recording.error)) if recording.error else ""
        if not isinstance(text, str):
            return None, error or NO_TEXT
        # a scorer that scored the empty output did not take the call for a failed one
        is_scored = error and any(score_of(self._score(name, values)) is not None for name in recording.scores)
        if error and not text.strip() and not is_scored:
            return None, error
        after = recording.text_after
        return text.rpartition(after)[2] if after and after in text else text, ""

    def _readout(
        self, field: Field, values: Mapping[str, Any], item: Item, order: tuple[int, ...], is_answered: bool
    ) -> LogReadout:
        values = self._in_letters(field.column, values)
        if item.kind == "text" and isinstance(values.get(field.column), (str, float)):
            values = {**values, field.column: _plain_number(values[field.column])}
        answer, right = values.get(field.column), values.get(self.recording.target)
        if isinstance(answer, bool) and isinstance(right, bool):
            values = {**values, field.column: str(answer)}  # a label, not a grade
        return readout_of(field, values, item.kind, item.options, order, is_answered, self.forms.get(field.column, ""))

    def _in_letters(self, column: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Replace an answer in a row by its letter: that in "B. Place 5", or the one that the key pairs with the text."""
        answer = values.get(column)
        if not self.recording.letters or not isinstance(answer, str):
            return values
        key = entries_of(as_cell(values.get(self.recording.target)))
        letter = letter_in(answer)
        if letter is None and len(key) > 1 and answer.strip() in key:
            letter = _letter_of(values.get(self.recording.target))
        return {**values, column: letter} if letter else values

    def _role(self, values: Mapping[str, Any]) -> str:
        role_name = str(values.get(self.recording.role) or "") if self.recording.role else ""
        role = "control" if role_name == "baseline" else role_name or "benchmark"
        if role not in ROLES:
            raise BadInput(f"has the item role {role_name!r}; a role is one of {', '.join(ROLES)}")
        return role

    def _targets(self, item_key: tuple[str, str], kind: str, target: str | None, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the right answers. Those in words stay as the table writes them, in case the task's answers are numbers."""
        written = values.get(self.recording.target)
        written = self.base_answers.get(item_key) if written in (None, "") else written  # 0 is a right answer
        if target is None or kind != "text" or not isinstance(written, (str, int, float)):
            return () if target is None else tuple(target.split("\n"))
        if isinstance(written, str) and written.lstrip().startswith("[") and len(answers := entries_of(written)) > 1:
            return tuple(dict.fromkeys(map(str.strip, answers)))  # each of them is right
        return (_plain_number(written),)

    def _own_right_answer(
        self, item_key: tuple[str, str], item: Item, values: Mapping[str, Any], order: tuple[int, ...]
    ) -> str | None:
        """Return the right answer in a variant's row, else the item's.

        An answer equal to the base's is the item's: its letter or place counts in the item's own order.
        """
        answer = values.get(self.recording.target) if self.recording.target else None
        if answer is None or answer == "" or answer == self.base_answers.get(item_key):
            return item.target
        answer = _letter_of(answer) if self.recording.letters else answer
        return right_answer(answer, self.options_shown(values), order, item.kind, self.forms.get(self.recording.target, ""))

    def options_shown(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the options in the order in which the prompt shows them; () for an item without options."""
        if values is not self._last_shown[0]:  # they are needed several times per row
            self._last_shown = values, self._find_options(values)
        return self._last_shown[1]

    def _find_options(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        recording = self.recording
        if self._kind(values) != "choice" or recording.letters:
            return recording.letters
        if len(recording.option_columns) > 1 and recording.options not in values:
            return tuple(option.strip() for option in options_in(values, recording.option_columns))
        options = (
            values[recording.options]
            if recording.options
            else options_in_prompt(recording.option_pattern, values[recording.prompt])
        )
        if isinstance(options, str) and recording.options:
            options = options_in(values, recording.options) or options
        if isinstance(options, str) or not isinstance(options, (Mapping, Sequence)):
            raise TypeError(f"the options are {str(options)[:40]!r}, not a list")
        return tuple(str(option).strip() for option in entries_of_options(options))

    def _item(self, key: str, base_values: Mapping[str, Any]) -> Item:
        """Make the item, with its options in its own order. A column of orders, or a number, distinguishes equal options."""
        recording = self.recording
        if recording.nested and not any(name.startswith(recording.nested) for name in base_values):
            raise BadInput(f"has no column that begins with {recording.nested!r}")
        kind, prompt_options = self._kind(base_values), self.options_shown(base_values)
        order, options = list(range(len(prompt_options))), prompt_options
        if recording.order:
            order = list(base_values[recording.order])
            if sorted(order) != list(range(len(prompt_options))):
                raise BadInput(f"has the order {order} for {len(prompt_options)} options")
            options = tuple(prompt_options[order.index(place)] for place in range(len(prompt_options)))
        elif prompt_options:
            options = unique_options(prompt_options)
        right = base_values.get(recording.target)
        right = _letter_of(right) if recording.letters else right
        item = Item.make(
            dataset=self._task(base_values),
            key=key,
            kind=kind,
            question=self._question(key, base_values),
            options=options,
            target=right_answer(right, prompt_options, order, kind, self.forms.get(recording.target, "")),
        )
        return item if recording.order and len(set(options)) < len(options) else checked(item)

    def _question(self, key: str, base_values: Mapping[str, Any]) -> str:
        recording = self.recording
        column = recording.question or recording.prompt
        return base_values[column] if column else f"item {key} (the table holds no text)"

    def _order(self, item: Item, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the item's own index of the option at each position of this variant."""
        prompt_options = self.options_shown(values)
        if not (prompt_options or item.options or self.recording.order):
            return ()
        prompt_options = prompt_options if self.recording.order else unique_options(prompt_options)
        if prompt_options == item.options and not self.recording.order:
            return tuple(range(len(item.options)))
        if sorted(prompt_options) != sorted(item.options):
            raise BadInput("shows other options in one variant than in its first")
        if not self.recording.order and len({*self.options_shown(values)}) < len(item.options):
            raise BadInput(
                "shows two options of one text, and in another order than its first, so an answer could not be told apart"
            )
        if not self.recording.order:
            return tuple(item.options.index(text) for text in prompt_options)
        order = tuple(values[self.recording.order])
        if [item.options[place] for place in order] != list(prompt_options):
            raise BadInput(f"says the order {list(order)}, but the prompt shows another")
        return order


def _sort_letters(row: VariantRow, recording: Recording) -> VariantRow:
    """Sort the letters of answers in a row, "A, C" for C and A; an answer without letters stays as it is."""
    cells = dict(row.values)
    for column in (recording.target, *(field.column for field in recording.fields)):
        cells[column] = ", ".join(sorted(letters_of(as_cell(cells.get(column)) or ""))) or cells.get(column)
    return replace(row, values=cells)


def _plain_number(value: str | int | float) -> str:
    """Return a short answer as text, a whole number without ".0": 5.0 and 5 are the same answer."""
    text = str(value)
    return text.partition(".")[0] if re.fullmatch(r"-?\d+\.0+", text) else text


def _letter_of(right: Any) -> Any:
    """Return the letter of a right answer that lists a text and a letter; any other answer as it is."""
    entries = entries_of(as_cell(right)) if isinstance(right, (list, str)) else []
    letters = [entry.strip() for entry in entries if re.fullmatch("[A-J]", entry.strip())]
    return letters[0] if len(entries) == 2 and len(letters) == 1 else right


def _sample_number(value: Any) -> int:
    """Return a repeat's number from 0. Raises BadInput for any other value."""
    if str(value).isdecimal():
        return int(value)
    raise BadInput(f"has the sample {str(value)[:40]!r}, which is no whole number from 0")
