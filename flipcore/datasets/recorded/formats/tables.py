"""Tables of outputs that no known harness wrote: what each column holds is guessed and corrected, and each row is a record.

Nothing is guessed of a row: a field that it lacks is an absent readout, and a score without full probabilities has an unknown label
mass. A row is read in the words of its table, so that its ids are those that such tables always had.
"""

import re
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
from flipcore.datasets.reading.rows import SUFFIXES
from flipcore.datasets.reading.sheets import sheet_names
from flipcore.datasets.recorded.by_structure import guessed, read_by_structure
from flipcore.datasets.recorded.columns import (
    KEYS,
    SCORER,
    Recording,
    answers_in,
    answers_of,
    columns_of,
    corrected,
    is_of_inspect,
    mapping_of,
    objects_in_lists,
    options_in_prompt,
    unused,
    variants_in,
)
from flipcore.datasets.recorded.fields import Field, readout_of, right_answer, score_of, scorer_readout
from flipcore.datasets.recorded.formats.reader import Reader
from flipcore.datasets.recorded.grouping import MOST_MB, Key, Refusal, VariantRow, batches
from flipcore.datasets.recorded.layouts import Layout
from flipcore.datasets.recorded.log_answers import unique_options
from flipcore.datasets.recorded.log_records import LogAbout, LogReadout, LogRecord, Rejection, right_of
from flipcore.datasets.recorded.plain_tables import PlainTable, is_plain
from flipcore.datasets.recorded.recording import SETS
from flipcore.datasets.recorded.table_names import TableName
from flipcore.datasets.tables.coding import entries_of, letter_in, letters_of
from flipcore.datasets.tables.load import as_cell
from flipcore.datasets.tables.reading import TableReading
from flipcore.datasets.tables.roles import OUTPUT, part_of
from flipcore.datasets.tables.sentence import sentence
from flipcore.datasets.tables.stems import last_names, names
from flipcore.text.answers import number_at_end

TABLE, _TITLE = "table", "Tables of outputs"
COLUMN_KEYS = (*KEYS, "dataset", "read")  # of words that are about the columns of tables
_PLACES = ("index", "index1")
_encoded = json_encoder()
WORDS = "words"  # how a column names right answers, some of which are no numbers
COLUMN, READ = "column:", "read:"  # how such words begin among corrections


def column_correction(word: str) -> tuple[str, str] | None:
    """(key, value) of a correction that is about the columns of tables, None for any other word."""
    key, _, value = word.partition("=")
    if key.startswith((COLUMN, READ)):
        return key, value
    return (COLUMN + key, value) if key in COLUMN_KEYS else None


def is_of_columns(correction: str) -> bool:
    """Tell whether a correction is about the columns of tables."""
    return correction.startswith((COLUMN, READ))


def may_be_table(source: Source) -> bool:
    """Tell whether a file is called like a table; only its rows tell whether it is one."""
    return suffix_of(source.name) in SUFFIXES


def first_guess(source: Source, words: Mapping[str, str] | None = None) -> Recording:
    """The likeliest recording of a table. Raises BadInput for a file without rows."""
    return replace(guessed(str(source.path), words or {}), dataset=Path(source.name).stem)


def sheets_of(source: Source) -> tuple[str, ...]:
    """Return the sheets of an Excel file, of which the first is read; empty for any other file."""
    if suffix_of(source.name) != ".xlsx":
        return ()
    return sheet_names(allowed(source.path), MOST_MB * 1_000_000)


def words_of_columns(corrections: Mapping[str, str]) -> dict[str, str]:
    """Return the corrections of columns of tables, by key."""
    return {key.removeprefix(COLUMN): value for key, value in corrections.items() if key.startswith(COLUMN)}


def table_reader(
    source: Source, corrections: Mapping[str, str], name: TableName | None = None, layout: Layout | None = None
) -> Reader:
    """Return the reader of this table: as guessed, alone or with others of its `layout`, and called
    by `name`, with what `corrections` say of its columns ("column:KEY", "read:READOUT"). Raises
    BadInput for a recording that cannot be read by."""
    none_read = COLUMN + "read"
    words = [
        f"{key.removeprefix(COLUMN)}={value}"
        for key, value in corrections.items()
        if key.startswith(COLUMN) and key != none_read
    ]
    read = [f"{key.removeprefix(READ)}={value}" for key, value in corrections.items() if key.startswith(READ)]
    said = words_of_columns(corrections)
    try:
        guess = replace(layout.recording(said), dataset=Path(source.name).stem) if layout else first_guess(source, said)
        if name and not guess.model_columns:
            guess = replace(guess, dataset=name.task, model=guess.model if guess.models else name.model or guess.model)
        recording = corrected(guess, words, read if read or none_read in corrections else None)
        if layout:
            reader = _reader_in(layout, recording, layout.reading(said))
        else:
            reading = read_by_structure(str(source.path), said)
            rows = answers_in(str(source.path), recording)
            reader = reader_of(_readable(recording, rows, reading), rows, reading)
    except BadInput as error:
        problem = f"{error}{_other_sheets(source, said)}"
        try:
            reading = layout.reading(said) if layout else read_by_structure(str(source.path), said)
        except BadInput:
            raise BadInput(problem) from None
        if not reading.questions:
            raise BadInput(problem) from None
        reader = _unreadable(reading, problem)
    if name and name.condition:
        return replace(reader, records=partial(_under, name.condition, reader.records), plain=None)
    return reader


def _other_sheets(source: Source, words: Mapping[str, str]) -> str:
    """Say what to do where a sheet of an Excel file holds no outputs: the first often is an overview."""
    sheets: Sequence[str] = ()
    with suppress(BadInput):  # what is wrong with the file was said
        sheets = sheets_of(source)
    sheet = words.get("sheet") or next(iter(sheets), "")
    if len(sheets) < 2 or sheet not in sheets:
        return ""
    named = ", ".join([name for name in sheets if name != sheet][:6])
    return f" One sheet is read. If the outputs stand in another one ({named}): --map sheet=NAME."


def _reader_in(layout: Layout, recording: Recording, reading: TableReading) -> Reader:
    """Return the reader of one table of a layout; notes about all of them stand at the first."""
    key = replace(recording, dataset="", model="")
    shared = layout.shared.get(key)
    if shared is None:
        rows = answers_of(layout.first_rows, recording)
        about = _about_rows(_readable(recording, rows, reading), rows, reading)
        shared = layout.shared[key] = _forms_of(recording, rows), replace(about, notes=[], doubts=[])
    else:
        about = shared[1]
    forms = shared[0]
    columns = {**about.columns, "dataset": recording.dataset, "model": recording.model}
    # what is said of one file may be added to
    about = replace(about, notes=[*about.notes], columns=columns)
    return Reader(TABLE, _TITLE, may_be_table, partial(_records, recording, forms), lambda source, companions: about)


def _unreadable(reading: TableReading, problem: str) -> Reader:
    """Return a reader without rows, for a table that is read once its question is answered."""
    about = LogAbout("table of outputs", read_as=sentence(reading), questions=reading.questions, unreadable=problem)
    return Reader(TABLE, _TITLE, may_be_table, lambda source, companions: iter(()), lambda source, companions: about)


def _under(condition: str, records: Callable, source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    """The records, with the condition beside the model of each."""
    for record in records(source, companions):
        if isinstance(record, LogRecord):
            record.model = f"{record.model} ({condition})"
        yield record


def reader_of(recording: Recording, rows: Sequence[Mapping[str, Any]] = (), reading: TableReading | None = None) -> Reader:
    """Return the reader of a table of which everything is declared; its first `rows` tell how
    options are named."""
    forms = _forms_of(recording, rows)
    records, about = partial(_records, recording, forms), partial(_about, recording, reading)
    plain = partial(_plain_table, recording, forms) if is_plain(recording) else None
    return Reader(TABLE, _TITLE, may_be_table, records, about, plain=plain)


def _plain_table(recording: Recording, forms: Mapping[str, str], source: Source) -> PlainTable:
    rows = _Rows(recording, source.name, forms)
    return PlainTable(str(source.path), source.name, recording, rows)


def _forms_of(recording: Recording, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    forms = _forms(recording, rows) if recording.kind == "choice" else {}
    variants = variants_in(rows, recording.nested, recording.columns)
    if recording.kind == "number" and sum(_is_in_words(values.get(recording.target)) for values in variants) > 1:
        forms = {recording.target: WORDS}  # a single one is a slip, and refused
    return forms


def _is_in_words(right: Any) -> bool:
    return isinstance(right, (str, bool)) and right != "" and number_at_end(str(right).strip()) is None


def _forms(recording: Recording, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Column of right answers or of what was said -> how it names an option: by text, letter or place, whichever fits the most rows."""
    table = _Rows(recording, "", {})
    forms: dict[str, str] = {}
    places: list[tuple[int, int]] = []
    for column in filter(None, (recording.target, *(field.column for field in recording.fields))):
        cells: list[dict[str, Any]] = []
        for values in variants_in(rows, recording.nested, recording.columns):
            with suppress(BadInput, KeyError, TypeError, ValueError):
                cells.append({"options": list(table.options_shown(values)), "answer": values.get(column)})
        is_text = all(str(cell["answer"]).strip() in cell["options"] for cell in cells)
        forms[column] = "text" if is_text else target_form(cells, {"options": "options", "target": "answer"})
        if forms[column] in _PLACES:
            places += [(int(cell["answer"]), len(cell["options"])) for cell in cells if str(cell["answer"]).isdecimal()]
    # outputs and right answers count in one way; one place tells from where
    are_places = forms.get(recording.target) in _PLACES
    if are_places and any(place == n_options for place, n_options in places) and not any(place == 0 for place, _ in places):
        forms |= {column: "index1" for column, form in forms.items() if form in _PLACES}
    return (
        forms
        if are_places
        else {column: form for column, form in forms.items() if column == recording.target or form not in _PLACES}
    )


_EITHER_COMMA = re.compile(r"-?\d{1,3},\d{3}")  # 1,234: of thousands, or decimal


def _readable(recording: Recording, rows: Sequence[Mapping[str, Any]], reading: TableReading) -> Recording:
    """The recording itself. Raises BadInput where the first `rows` cannot be read by it."""
    columns, scores = columns_of(rows), reading.roles.unnamed_scores
    named = f"{', '.join(name[:40] for name in columns[:12])}{' …' if len(columns) > 12 else ''}"
    named_columns = f" The columns are {named}." if columns else " Its rows share no columns."
    is_read = bool(recording.fields or recording.text or recording.score)
    for name in () if recording.score else [column for column in columns if names(column, "score")]:
        cells = [str(row[name]) for row in rows if row.get(name) not in (None, "")]
        if cells and all(_EITHER_COMMA.fullmatch(cell) for cell in cells):
            raise BadInput(
                f"{name} holds numbers like {cells[0]}, whose comma may part thousands or decimals. Write "
                f"{cells[0].replace(',', '.')} or {cells[0].replace(',', '')}: in a spreadsheet, save with English number formats."
            )
    if not is_read and (inside := objects_in_lists(rows)):
        raise BadInput(
            f"No column holds an output or a score, and {inside[0]} holds a list of objects in each row, which is not read. "
            f"Write each of them as a row of its own, with columns prompt, response and target.{named_columns}"
        )
    has_output = any(part_of(name) == OUTPUT for name in reading.columns)
    if not is_read and not has_output and _are_items(rows):
        raise BadInput(
            f"The table holds questions with right answers or options, and no outputs: those are items.{named_columns} Upload it under New study, "
            "as your own file. If a column does hold outputs, name it: --map text=COLUMN, or --map read:NAME=COLUMN for bare answers."
        )
    is_answered = bool(recording.target and (recording.text or recording.fields))
    if not recording.prompt and not recording.score and not is_answered:
        guess = f" --map score={scores[0]}" if len(scores) == 1 else " --map score=COLUMN"
        raise BadInput(
            f"The recording names no column for the prompt, and none that is called like a score and holds scores.{named_columns} Say which one "
            f"holds what the model was asked (--map prompt=COLUMN), or of a table of scores alone which one holds the score:{guess}."
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
            "The recording names neither a column of answers or scores nor one of generated text, so there is "
            f"nothing to read.{named_columns} Name at least one; items without outputs belong under New study."
        )
    return recording


def _are_items(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether New study would know the question, and what is right or to choose from."""
    mapping = guess_columns(rows)
    return "question" in mapping and bool({"options", "target"} & {*mapping})


def _about(recording: Recording, reading: TableReading | None, source: Source, companions: Sequence[Source]) -> LogAbout:
    return _about_rows(recording, answers_in(str(source.path), recording), reading)


def _about_rows(recording: Recording, rows: Sequence[Mapping[str, Any]], reading: TableReading | None) -> LogAbout:
    mapping = mapping_of(recording)
    columns = ", ".join(f"{key}={value}".replace("\n", "\\n") for key, value in mapping.items() if key != "fields")
    readouts = ", ".join(f"{field.extractor}={field.column}" for field in recording.fields) or "none recorded"
    unused_columns = unused(recording, columns_of(rows, recording.nested))
    notes = [f"Columns: {columns}.", f"Recorded readouts: {readouts}."]
    doubts: list[tuple[str, str]] = []
    if recording.score:
        for name in recording.scores:
            notes += _percent_notes(name, [row.get(name) for row in rows])
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
    """Item by item, the base first; memory does not grow with the file. A row that does not fit is refused alone; an item without
    its base is refused whole."""
    rows = _Rows(recording, source.name, forms)
    for batch in batches(str(source.path), recording):
        if isinstance(batch, Refusal):
            yield rows.refusal(batch.line, batch.sentence.removeprefix(f"Line {batch.line} "))
            continue
        for key, variants in batch:
            yield from rows.group(key, variants)
        rows.forget()


def _percent_notes(column: str, values: Sequence[Any]) -> list[str]:
    n_percent = sum(isinstance(cell, str) and cell.strip().endswith("%") for cell in values)
    return [f"{column} holds percentages, which are read as shares: 85 % is 0.85."] if n_percent else []


def _doubts(recording: Recording, rows: Sequence[Mapping[str, Any]], unused_columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Columns that could be read two ways: another score, another item."""
    second = "" if is_of_inspect(rows) else next((name for name in unused_columns if last_names(name, "id")), "")
    if second and recording.item and not recording.prompt:
        n, n_other = (len({str(row.get(column)) for row in rows}) for column in (recording.item, second))
        if n != n_other:
            yield (
                "two columns",
                f"{second} could be the item too ({n_other:,} values in the first {len(rows):,} rows); {recording.item} is used ({n:,}). "
                f"For the other: --map item={second}.",
            )


class _Rows:
    """Remembers each item, so that all models are asked the same one, and the name of each prompt."""

    def __init__(self, recording: Recording, file: str, forms: Mapping[str, str]) -> None:
        self.recording, self.file, self.forms = recording, file, forms
        may_lack_options = recording.kind == "choice" and len(recording.option_columns) == 1
        # Otherwise every row is of the recording's own kind, and is asked for it several times.
        self.has_kinds = may_lack_options or forms.get(recording.target) == WORDS
        self.forget()

    def forget(self) -> None:
        """Lets go of the items so far: those that follow are others."""
        self.items: dict[tuple[str, str], Item] = {}  # by task and key
        self.names: dict[Key, dict[str, str]] = {}  # prompt -> the name that it first had
        self.raw: dict[tuple[str, str], Any] = {}  # item -> its base's right answer as the row wrote it
        self.samples: dict[tuple, dict[str, int]] = {}  # (model, item, variant) -> run, epoch or seed -> its number
        self.given: dict[tuple, float | None] = {}  # of those a score that a row gave

    def refusal(self, line: int, problem: str) -> Rejection:
        return Rejection(f"Line {line} of {self.file} {problem}")

    def group(self, key: Key, variants: Sequence[VariantRow]) -> Iterator[LogRecord | Rejection]:
        """The records of one item and model, the base first."""
        if self.recording.answers == SETS:
            variants = [_as_sets(row, self.recording) for row in variants]
        base, prompt = variants[0], self.recording.prompt
        if not (prompt or self.recording.item):  # nothing tells that two models' rows are of one item
            key = key._replace(item=f"{key.item} of {key.model}")
        for place, row in enumerate(variants):
            try:
                is_base = bool(row.name) and row.name == base.name and row.values.get(prompt) == base.values.get(prompt)
                yield self.record(key, row, is_base=place == 0 or is_base)
                continue
            except KeyError as error:
                problem = f"has no column {error.args[0]!r}; correct the recording's columns"
            except (TypeError, ValueError, AttributeError) as error:
                problem = f"holds a value of the wrong type ({error})"
            except BadInput as error:
                problem = str(error).removesuffix(".")
            yield self.refusal(row.line, f"{problem}.")
            if place == 0:
                for variant in variants[1:]:
                    if variant.line != row.line:
                        yield self.refusal(variant.line, f"belongs to the base of line {row.line}, which is refused.")
                return

    def record(self, key: Key, row: VariantRow, is_base: bool) -> LogRecord:
        model, item_key = key.model, key[1:]
        recording, values = self.recording, row.values
        item = self.items.get(item_key) or self._item(key.item, values)
        prompt = values[recording.prompt] if recording.prompt else f"{item.question}, {row.name}" if row.name else item.question
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadInput("has no prompt")
        order, names = self._order(item, values), self.names.setdefault(key, {})
        name = BASE if is_base else row.name or names.get(prompt) or f"variant-{len(names)}"
        if not recording.prompt:  # rows of one wording are reruns, the first wording is the base
            first = next(iter(names), prompt)
            name = BASE if prompt == first else row.name or BASE
        target = item.target if is_base else self._own_right_answer(item_key, item, values, order)
        text, error = self.text(values)
        is_answered = bool(text) or not recording.text  # a table without texts has a row an answer
        record = LogRecord(
            f"Line {row.line} of {self.file}",
            self._task(values),
            key.item,
            item.question,
            prompt,
            model,
            item_id=item.item_id,
            options=item.options,
            order=order,
            targets=self._targets(item_key, item.kind, target, values),
            target_is_place=item.kind == "choice",
            # each task's answers may be words or numbers
            kind="" if item.kind == "text" and (recording.tasks or recording.kind == "choice") else item.kind,
            role=self._role(values),
            pair=str(values.get(recording.pair) or "") if recording.pair else "",
            axis=str(values.get(recording.axes) or "") or recording.axis if recording.axes else recording.axis,
            variant=name,
            harmless=not (recording.harmless and str(values.get(recording.harmless)).lower() in ("false", "0", "no")),
            sample=self._sample(key, name, values),
            repeat=name if names.get(prompt, name) != name else "",
            sampling={"temperature": 0.0},  # a table says none; its calls have always been known by this one
            text=text,
            finish_reason=str(values.get(recording.finish) or "") if recording.finish else "",
            raw_reply=_encoded({field.column: values.get(field.column) for field in recording.fields}),
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
        self.raw.setdefault(item_key, values.get(recording.target))
        names.setdefault(prompt, name)
        return record

    def _task(self, values: Mapping[str, Any]) -> str:
        """The row's task. Rows without options beside rows with some, and right answers in words beside numbers, are a task of their own:
        they are read otherwise."""
        recording = self.recording
        task = str(values.get(recording.tasks) or recording.dataset) if recording.tasks else recording.dataset
        other_kind = "without options" if recording.kind == "choice" else "in words"
        return task if self._kind(values) == recording.kind else f"{task} {other_kind}"

    def _kind(self, values: Mapping[str, Any]) -> str:
        if not self.has_kinds:
            return self.recording.kind
        kind, columns, right = self.recording.kind, self.recording.option_columns, values.get(self.recording.target)
        has_none = len(columns) == 1 and values.get(columns[0]) in (None, "", [], {})
        in_words = self.forms.get(self.recording.target) == WORDS and _is_in_words(right)
        return "text" if (kind == "choice" and has_none) or in_words else kind

    def _sample(self, key: Key, name: str, values: Mapping[str, Any]) -> int | None:
        """The row's place among the reruns of its prompt. Of a table of scores alone a run may be called anything: 1, run-b, a seed."""
        if not self.recording.sample:
            return None
        value = values.get(self.recording.sample)
        if self.recording.prompt:
            return _sample(value)
        runs = self.samples.setdefault((*key, name), {})
        return runs.setdefault(str(value), len(runs))

    def scores(self, key: Key, name: str, values: Mapping[str, Any]) -> Iterator[LogReadout]:
        """The scorers' readouts. A score that is there already, of the same sample by the same scorer, is refused."""
        recording = self.recording
        for column in recording.scores:
            scorer = _spoken_scorer(column)
            scorer = str(values.get(recording.scorer) or scorer) if recording.scorer else scorer
            readout = self._directed(column, scorer_readout(scorer, self._score(column, values)))
            scorer = readout.name
            if recording.sample:
                place = (*key, name, str(values.get(recording.sample)), scorer)
                if place in self.given:
                    same = (
                        "the same score"
                        if self.given[place] == readout.score
                        else f"another score, {self.given[place]} before"
                    )
                    raise BadInput(
                        f"repeats item {key.item}, {recording.sample} {values.get(recording.sample)} of {key.model} with {same}; "
                        "what tells them apart: --map sample=COLUMN"
                    )
                self.given[place] = readout.score
            yield readout

    def _score(self, column: str, values: Mapping[str, Any]) -> Any:
        """A cell of a score, without what the recording says is none, and percentages as shares."""
        recording, value = self.recording, values.get(column)
        number = score_of(value)
        if number is None:
            return value
        is_missing = f"{number:g}" in recording.missing.split(",")
        has_failed = recording.failed == "out" and recording.text and values.get(recording.text) in (None, "")
        if is_missing or has_failed:
            return None
        return number / 100 if number > 1 and column in recording.percent.split(",") else value

    def _directed(self, column: str, readout: LogReadout) -> LogReadout:
        """A score turned round where 1 is bad; one of which less is better is called so, and calls nothing right."""
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
        if not self.recording.text:
            return None, ""
        text = values.get(self.recording.text)
        text = text[0] if isinstance(text, list) and len(text) == 1 else text
        if not isinstance(text, str):
            return None, "The record holds no generated text."
        after = self.recording.text_after
        return text.rpartition(after)[2] if after and after in text else text, ""

    def _readout(
        self, field: Field, values: Mapping[str, Any], item: Item, order: tuple[int, ...], is_answered: bool
    ) -> LogReadout:
        said = self._in_letters(field.column, values)
        if item.kind == "text" and isinstance(said.get(field.column), (str, float)):
            said = {**said, field.column: _plain_number(said[field.column])}
        return readout_of(field, said, item.kind, item.options, order, is_answered, self.forms.get(field.column, ""))

    def _in_letters(self, column: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row with the letter that an answer names: "B. Place 5", or the text of a key that is a text and a letter."""
        said = values.get(column)
        if not self.recording.letters or not isinstance(said, str):
            return values
        key = entries_of(as_cell(values.get(self.recording.target)))
        letter = letter_in(said)
        if letter is None and len(key) > 1 and said.strip() in key:
            letter = _letter_of(values.get(self.recording.target))
        return {**values, column: letter} if letter else values

    def _role(self, values: Mapping[str, Any]) -> str:
        role_name = str(values.get(self.recording.role) or "") if self.recording.role else ""
        role = "control" if role_name == "baseline" else role_name or "benchmark"
        if role not in ROLES:
            raise BadInput(f"has the item role {role_name!r}; a role is one of {', '.join(ROLES)}")
        return role

    def _targets(self, item_key: tuple[str, str], kind: str, target: str | None, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The right answers; in words as the table writes them, so that a task whose answers are numbers after all can be told so."""
        raw = values.get(self.recording.target)
        raw = self.raw.get(item_key) if raw in (None, "") else raw  # 0 is a right answer
        if target is None or kind != "text" or not isinstance(raw, (str, int, float)):
            return () if target is None else tuple(target.split("\n"))
        return (_plain_number(raw),)

    def _own_right_answer(
        self, item_key: tuple[str, str], item: Item, values: Mapping[str, Any], order: tuple[int, ...]
    ) -> str | None:
        """The right answer that a variant's own row names. One that repeats the base's word stays the item's: a label or place
        then counts in the item's own order."""
        answer = values.get(self.recording.target) if self.recording.target else None
        if answer is None or answer == "" or answer == self.raw.get(item_key):
            return item.target
        answer = _letter_of(answer) if self.recording.letters else answer
        return right_answer(answer, self.options_shown(values), order, item.kind, self.forms.get(self.recording.target, ""))

    def options_shown(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The options in the order in which the prompt showed them."""
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
        return tuple(str(option).strip() for option in options)

    def _item(self, key: str, first: Mapping[str, Any]) -> Item:
        """The item in its own order of options. Two options with one text are told apart as in every log, or by a permutation."""
        recording = self.recording
        if recording.nested and not any(name.startswith(recording.nested) for name in first):
            raise BadInput(f"has no column that begins with {recording.nested!r}")
        prompt_options = self.options_shown(first)
        order = list(first[recording.order]) if recording.order else list(range(len(prompt_options)))
        if sorted(order) != list(range(len(prompt_options))):
            raise BadInput(f"has the order {order} for {len(prompt_options)} options")
        options = tuple(prompt_options[order.index(place)] for place in range(len(prompt_options)))
        options = options if recording.order else unique_options(options)
        right = first.get(recording.target)
        right = _letter_of(right) if recording.letters else right
        item = Item.make(
            dataset=self._task(first),
            key=key,
            kind=self._kind(first),
            question=self._question(key, first),
            options=options,
            target=right_answer(right, prompt_options, order, self._kind(first), self.forms.get(recording.target, "")),
        )
        return item if recording.order and len(set(options)) < len(options) else checked(item)

    def _question(self, key: str, first: Mapping[str, Any]) -> str:
        recording = self.recording
        column = recording.question or recording.prompt
        return first[column] if column else f"item {key} (the table holds no text)"

    def _order(self, item: Item, values: Mapping[str, Any]) -> tuple[int, ...]:
        """The item's own index of the option at each position of this variant."""
        prompt_options = self.options_shown(values)
        if not (prompt_options or item.options or self.recording.order):
            return ()
        prompt_options = prompt_options if self.recording.order else unique_options(prompt_options)
        if sorted(prompt_options) != sorted(item.options):
            raise BadInput("shows other options in one variant than in its first")
        if (
            not self.recording.order
            and len({*self.options_shown(values)}) < len(item.options)
            and prompt_options != item.options
        ):
            raise BadInput(
                "shows two options of one text, and in another order than its first, so an answer could not be told apart"
            )
        if not self.recording.order:
            return tuple(item.options.index(text) for text in prompt_options)
        order = tuple(values[self.recording.order])
        if [item.options[place] for place in order] != list(prompt_options):
            raise BadInput(f"says the order {list(order)}, but the prompt shows another")
        return order


def _as_sets(row: VariantRow, recording: Recording) -> VariantRow:
    """The row with several letters in order, "A, C" for C and A; an answer that names none as it is."""
    cells = dict(row.values)
    for column in (recording.target, *(field.column for field in recording.fields)):
        cells[column] = ", ".join(sorted(letters_of(as_cell(cells.get(column)) or ""))) or cells.get(column)
    return replace(row, values=cells)


def _plain_number(value: str | int | float) -> str:
    """A short answer as text, a whole number without its ".0": 5.0 and 5 are one answer."""
    text = str(value)
    return text.partition(".")[0] if re.fullmatch(r"-?\d+\.0+", text) else text


def _letter_of(right: Any) -> Any:
    """The letter of a right answer that is a text and a letter, any other one as it is."""
    entries = entries_of(as_cell(right)) if isinstance(right, (list, str)) else []
    letters = [entry.strip() for entry in entries if re.fullmatch("[A-J]", entry.strip())]
    return letters[0] if len(entries) == 2 and len(letters) == 1 else right


def _spoken_scorer(column: str) -> str:
    """A scorer's name: metrics[Relevancy].score is Relevancy."""
    entry = re.fullmatch(r".+?\[(?!-?\d+\])(.+)\]\.\w+", column)
    return entry[1] if entry else column.removeprefix(SCORER)


def _sample(value: Any) -> int:
    """A repeat's number from 0."""
    if str(value).isdecimal():
        return int(value)
    raise BadInput(f"has the sample {str(value)[:40]!r}, which is no whole number from 0")
