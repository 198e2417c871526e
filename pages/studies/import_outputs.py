"""Import of recorded outputs as a study: show how files were read, correct that, and store them."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.claims.memory_gap import CONTROL_TITLES
from flipcore.core.command_line import command
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import ROLES
from flipcore.core.study import CONTROLS, OTHER_CONTROL
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.columns import (
    COLUMNS,
    NO_MODEL_NAME,
    Recording,
    answers_in,
    columns_of,
    scored_field,
    words_between,
)
from flipcore.datasets.recorded.fields import Field
from flipcore.datasets.recorded.formats.tables import first_guess, sheets_of
from flipcore.datasets.recorded.log_documents import JOINS
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_rows import UNNAMED
from flipcore.datasets.recorded.table_names import names_of_tables
from flipcore.datasets.tables.table_reading import Choice, Question
from flipcore.runs.harnesses.import_answers import store_survey
from flipcore.runs.log_corrections import CLUSTERS, TARGETS, corrections_of
from flipcore.runs.log_import import ImportProgress
from flipcore.runs.log_survey import (
    Survey,
    first_rows,
    open_questions,
    preview_row,
    survey,
    tables_in,
)
from flipcore.runs.progress import INCOMPLETE
from flipcore.store.recorded import import_state
from flipcore.store.uploads import keep_files
from flipcore.text.counts import count_of, in_a_row
from pages.common import session
from pages.common.showing import (
    UPLOAD_LIMIT,
    plain,
    release,
    show_table,
    shown_problem,
    upload_paths,
)

N_SHOWN = 3  # rows of a file that are shown before the import
TEXT_WIDTH = 240  # pixels of a column of texts, beside which scores stand
MAX_NAMED = 3  # models in the name of a study
# The kinds that a task of a log may have (`log_answers.kind_of`).
RECORDED_KINDS = ("choice", "number", "text")
MAX_LISTED = 6  # models in the sentence below how the files were read


def draw_section() -> None:
    """Draw the field for files, and below it how the uploaded files were read."""
    uploads = st.file_uploader(
        "Drop a log or a table of outputs",
        key="log-files",
        accept_multiple_files=True,
        help="Logs of Inspect, lm-evaluation-harness, HELM, lighteval, Every Eval Ever and "
        "others; tables as JSONL, JSON, "
        "CSV, Excel or Parquet. One file, several, or a zip; results files beside their samples. "
        "Nothing is asked again. Each "
        f"{UPLOAD_LIMIT}, or: {command('import FOLDER')}.",
    )
    if uploads:
        with st.container(border=True), shown_problem():
            show_reading(upload_folder(uploads))


def upload_folder(uploads: list) -> list[str]:
    """Store the uploads in one folder under their own names, free their memory, return the folder.

    The names matter, because a results file is found by the name of its samples file.
    """
    paths_by_id = upload_paths()
    ids = [upload.file_id for upload in uploads]
    contents = [upload.getvalue() for upload in uploads]
    # The script runs at every click, so the folder of these uploads is remembered.
    key = f"uploads-folder-{','.join(ids)}"
    folder = st.session_state.get(key)
    if folder is None or any(contents) or not folder.is_dir():
        files = []
        for upload, content in zip(uploads, contents, strict=True):
            # An upload that was stored in an earlier run is empty, and its path is known.
            files.append((upload.name, content or paths_by_id.get(upload.file_id, b"")))
        folder, paths = keep_files(files)
        paths_by_id |= dict(zip(ids, paths, strict=True))
        st.session_state[key] = folder
        for upload in uploads:
            release(upload)
    return [str(folder)]


def show_reading(paths: list[str]) -> None:
    """Show how the files were read, with fields to correct it, and offer the import.

    A question that a table leaves open comes first. Corrections are collected as the words that
    `--map` takes on the command line, such as "model=gpt".
    """
    key = Path(paths[0]).name
    tables = _tables(tuple(paths))
    answers: list[Choice] = st.session_state.setdefault(f"table-answers-{key}", [])
    words = list(chain.from_iterable(choice.words for choice in answers))
    if len(tables) == 1:
        words = [*_choose_sheet(tables[0], key), *words]
    if tables:
        read_as, questions = open_questions(paths, corrections_of(words, of_tables=True))
        if questions:
            for sentence in read_as[:1]:
                st.markdown(f"**{plain(sentence)}**")
            _offer_undo(answers)
            _ask(questions[0], paths, answers, key)
            return
    # Reserve the places first, because the corrections below change what is shown above them.
    summary_place = st.container()
    fields_place = st.container(horizontal=True, vertical_alignment="bottom")
    details_place = st.container()
    has_failed = st.session_state.get(f"failed-{key}", False)
    corrections_slot = st.empty()
    corrections_place = corrections_slot.expander(
        "Correct how it was read", icon=":material/edit:", expanded=has_failed
    )
    has_fields = False
    try:
        if tables:
            with corrections_place:
                words += [*choose_columns(tables, words, key, fields_place), *_choose_control(key)]
            has_fields = True
            log_survey = _survey(tuple(paths), tuple(words), True)
        else:
            log_survey = _survey(tuple(paths), (), False)
            with corrections_place:
                words = [*choose_corrections(log_survey, key, fields_place), *_choose_control(key)]
            has_fields = True
            log_survey = _survey(tuple(paths), tuple(words), False) if words else log_survey
    except FlipscopeError:
        if not has_fields:
            corrections_slot.empty()  # a file without rows has nothing to correct
        elif not has_failed:
            # Draw again with the corrections unfolded, because they can mend the error.
            st.session_state[f"failed-{key}"] = True
            st.rerun()
        # Above the corrections, which fill the screen.
        with summary_place, shown_problem():
            raise
        return
    sentences = log_survey.sentences()
    with summary_place:
        st.markdown(f"**{plain(sentences[0])}**")
        names = list(log_survey.models)
        # The sentence on a table with a column of models names them already.
        if len(names) > 1 and names[0] not in sentences[0]:
            listed = ", ".join(names[:MAX_LISTED])
            if len(names) > MAX_LISTED:
                listed = f"{listed} …"
            n_rows = count_of(log_survey.n_records, "row")
            st.markdown(plain(f"{len(names):,} models: {listed}. {n_rows}."))
        _offer_undo(answers)
        _show_rows(log_survey)
    with fields_place:
        _import_button(log_survey)
    with details_place, st.expander("All that was recognised", icon=":material/fact_check:"):
        for sentence in sentences[1:]:
            st.markdown(plain(sentence))


def _show_rows(log_survey: Survey) -> None:
    """Show the first rows as they were read, and the reasons for rows that were refused."""
    if log_survey.refusals:
        with st.popover(
            f"Rows that were refused: {log_survey.n_refused:,}", icon=":material/warning:"
        ):
            show_table("refused-logs", [{"why": sentence} for sentence in log_survey.refusals])
    _preview([preview_row(record) for record in log_survey.first[:N_SHOWN]])


def _preview(rows: list[dict], other_rows: Sequence[dict] = ()) -> None:
    """Show rows without empty columns, and without items that are their questions. Columns that
    differ from `other_rows` stand first."""
    if not rows:
        st.caption("No row would be read.")
        return
    cells = {name: [row.get(name) for row in rows] for name in rows[0]}
    # Empty columns would push the filled ones out of sight.
    shown = [name for name in cells if any(cell not in ("", None) for cell in cells[name])]
    if "question" in shown and cells["item"] == cells["question"]:
        shown.remove("item")
    if other_rows:
        shown.sort(key=lambda name: cells[name] == [row.get(name) for row in other_rows])
    texts = {name: st.column_config.Column(width=TEXT_WIDTH) for name in ("question", "written")}
    st.dataframe(
        [{name: row.get(name) for name in shown} for row in rows],
        hide_index=True,
        column_config=texts,
    )


def _import_button(log_survey: Survey) -> None:
    """Offer the import, and open the audit of the new study afterwards."""
    if st.button(
        "Import as a study", type="primary", key="log-import", icon=":material/download_done:"
    ):
        # If nothing could be stored, the id is "" and the reason is on the page.
        if study_id := run_import(
            lambda *progress: store_survey(log_survey, session.store(), *progress)
        ):
            state, message = import_state(session.store(), study_id)
            # Stay on the page if some rows were not stored as the files have them.
            if state == INCOMPLETE and not log_survey.marks:
                st.error(plain(message), icon=":material/error:")
            else:
                st.switch_page("audit/page.py", query_params={"study": study_id})


def _offer_undo(answers: list[Choice]) -> None:
    """Show the latest answer with a button that removes it; nothing without answers."""
    if not answers:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(f"Your answer: {answers[-1].says}"), width="content")
        st.button(
            "Undo this answer",
            key="undo-answer",
            icon=":material/undo:",
            type="tertiary",
            on_click=answers.__delitem__,
            args=(-1,),
        )


def _ask(question: Question, paths: list[str], answers: list[Choice], key: str) -> None:
    """Show both readings of a table, each with its score, its first rows and a button to choose it.

    Nothing can be imported before one is chosen.
    """
    st.markdown(plain(question.seen))
    st.caption("Choose one. The first rows, as each reading takes them:")
    rows_by_choice: list[list[dict]] = []
    reasons: list[str] = []
    for choice in question.choices:
        words = tuple(chain.from_iterable(answer.words for answer in (*answers, choice)))
        try:
            rows_by_choice.append(_first_rows(tuple(paths), words))
            reasons.append("")
        except FlipscopeError as error:
            # With this reading, another question is open.
            rows_by_choice.append([])
            reasons.append(str(error))
    for number, (place, choice) in enumerate(
        zip(st.columns(2), question.choices, strict=True), start=1
    ):
        with place:
            score = "" if isnan(choice.score) else f" Score: {choice.score_text}."
            st.button(
                plain(f"{choice.says}{score}"),
                key=f"table-reading-{number}-{key}",
                width="stretch",
                on_click=answers.append,
                args=(choice,),
            )
            if reason := reasons[number - 1]:
                st.caption(plain(reason))
            else:
                _preview(rows_by_choice[number - 1], rows_by_choice[2 - number])


@session.computed("Reading the first rows")
@st.cache_data(show_spinner=False, max_entries=8)
def _first_rows(paths: tuple[str, ...], words: tuple[str, ...]) -> list[dict]:
    return first_rows(paths, corrections_of(words, of_tables=True), N_SHOWN)


def _choose_sheet(table: Source, key: str) -> list[str]:
    """Offer the sheets of an Excel file; return the words of the choice, none for the first."""
    sheets = sheets_of(table)
    if len(sheets) < 2:
        return []
    sheet = st.selectbox("Sheet", sheets, key=f"table-sheet-{key}")
    return [f"sheet={sheet}"] if sheet != sheets[0] else []


def _choose_control(key: str) -> list[str]:
    """Ask what kind of controls these are, which decides the claims on memory; return the words."""
    control = st.selectbox(
        "The controls are",
        CONTROLS,
        CONTROLS.index(OTHER_CONTROL),
        key=f"log-control-{key}",
        format_func=CONTROL_TITLES.__getitem__,
        help="For Memorization, where items have the roles benchmark and control. Only a random "
        "split of the benchmark's own source, or "
        "pairs, allow the word memory.",
    )
    words = [f"control={control}"] if control != OTHER_CONTROL else []
    is_unpublished = st.checkbox(
        "The controls were never published",
        key=f"log-unpublished-{key}",
        help="Private, generated, or newer than the model's training. Only such controls bound "
        'memory: "No memory beyond 5 points".',
    )
    return [*words, "unpublished_control=yes"] if is_unpublished else words


@st.cache_data(show_spinner=False, max_entries=4)
def _tables(paths: tuple[str, ...]) -> list[Source]:
    return [table for table in tables_in(paths) if table.size]


@session.computed("Looking at every row")
@st.cache_data(show_spinner=False, max_entries=4)
def _survey(paths: tuple[str, ...], words: tuple[str, ...], of_tables: bool) -> Survey:
    return survey(paths, corrections_of(words, of_tables=of_tables))


# Stores outputs and returns the study's id. It calls the first argument after each batch, and stops
# when the second is set.
Importer = Callable[[Callable[[ImportProgress], None], threading.Event], str]


def run_import(store: Importer) -> str:
    """Store the outputs in this run of the script; return the study's id.

    If that fails, show the reason and return "". Streamlit's Stop ends the import after the current
    batch, and the next import continues there.
    """
    bar, stop = st.progress(0.0, "Storing …"), threading.Event()

    def on_progress(progress: ImportProgress) -> None:
        bar.progress(
            min(1.0, progress.n_done / max(1, progress.n_all)),
            f"{progress.n_done:,} of {progress.n_all:,} rows stored",
        )

    with shown_problem():
        return store(on_progress, stop)
    return ""


# Fields for the guesses about logs. A value that differs from the guess becomes a word for `--map`.

MAX_FILES = 12
PROMPT_HELP = (
    "The name of the prompt that these outputs answer. Write base for the one that the others are "
    "compared with."
)
SAMPLE_HELP = (
    "The number of the first sample, from 0. Write rows if each row is a further sample of its "
    "prompt."
)


def choose_corrections(log_survey: Survey, key: str, name_place: DeltaGenerator) -> list[str]:
    """Draw the fields that correct how logs were read; return the words for `--map`.

    The field for the study's name goes to `name_place`, the others to the current container.
    """
    words = []
    name = name_place.text_input("Name of the study", log_survey.name, key=f"log-name-{key}")
    words += [f"name={name}"] if name != log_survey.name else []
    ignored = st.multiselect(
        "Extractors to ignore", list(log_survey.readouts), key=f"log-leave-{key}"
    )
    words += [f"leave={','.join(ignored)}"] if ignored else []
    for model in log_survey.models:
        alias = st.text_input(f"Model {plain(model)}", model, key=f"log-model-{key}-{model}")
        if alias != model:
            words.append(f"model={alias}" if model == UNNAMED else f"model:{model}={alias}")
    for task, kind in log_survey.kinds.items():
        selection = st.selectbox(
            f"Kind of {plain(task)}",
            RECORDED_KINDS,
            RECORDED_KINDS.index(kind),
            key=f"log-kind-{key}-{task}",
        )
        words += [f"kind:{task}={selection}"] if selection != kind else []
        words += _task_corrections(log_survey, task, key)
    words += _axis_corrections(log_survey, key)
    words += _file_corrections(log_survey, key)
    join = st.selectbox(
        "Rows are one item by", JOINS, None, key=f"log-join-{key}", placeholder="hash, id or text"
    )
    words += [f"join={join}"] if join else []
    return words


def _task_corrections(log_survey: Survey, task: str, key: str) -> list[str]:
    """Ask for role, clusters and right answers of a task; return the words."""
    role_box, cluster_box, target_box = st.columns(3)
    role = role_box.selectbox(
        f"Item role of {plain(task)}",
        ROLES,
        None,
        key=f"log-role-{key}-{task}",
        placeholder="as logged",
    )
    guess = log_survey.clusters[task]
    cluster = cluster_box.selectbox(
        f"Clusters of {plain(task)}",
        CLUSTERS,
        CLUSTERS.index(guess),
        key=f"log-cluster-{key}-{task}",
    )
    target = target_box.selectbox(
        f"Right answers of {plain(task)}",
        list(TARGETS),
        None,
        key=f"log-target-{key}-{task}",
        placeholder="as recognised",
    )
    words = [f"role:{task}={role}"] if role else []
    words += [f"cluster:{task}={cluster}"] if cluster != guess else []
    return words + ([f"target:{task}={target}"] if target else [])


def _axis_corrections(log_survey: Survey, key: str) -> list[str]:
    """Ask for the name of each axis and whether it is harmless; return the words."""
    words = []
    for axis in log_survey.axes:
        # The log's own prompt is what the other axes are compared with.
        if axis == OWN_PROMPT:
            continue
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        name = left.text_input(f"Axis {plain(axis)}", axis, key=f"log-axis-{key}-{axis}") or axis
        words += [f"axis:{axis}={name}"] if name != axis else []
        if not right.toggle("Harmless change", value=True, key=f"log-harmless-{key}-{axis}"):
            words.append(f"harmless:{name}=no")
    return words


def _file_corrections(log_survey: Survey, key: str) -> list[str]:
    """Ask for prompt and first sample of each file; return the words."""
    words = []
    for file in log_survey.files[:MAX_FILES]:
        name = file.source.name
        left, right = st.columns([3, 2])
        prompt = left.text_input(
            f"Prompt of {plain(name)}",
            key=f"log-prompt-{key}-{name}",
            placeholder="as recognised",
            help=PROMPT_HELP,
        )
        sample = right.text_input(
            f"First sample of {plain(name)}",
            key=f"log-sample-{key}-{name}",
            placeholder="as logged",
            help=SAMPLE_HELP,
        )
        words += [f"prompt:{name}={prompt.strip()}"] if prompt.strip() else []
        words += [f"sample:{name}={sample.strip()}"] if sample.strip() else []
    if len(log_survey.files) > MAX_FILES:
        st.caption(
            f"The first {MAX_FILES} of {len(log_survey.files):,} files. For the others use --map "
            "on the command line."
        )
    return words


# Fields for the columns of a table: key of `--map` -> (label, explanation).
FIELDS = {
    "prompt": (
        "Prompt",
        "What the model was sent; several columns with commas between are joined.",
    ),
    "question": (
        "Question alone",
        "The question without instructions and options, if it is there.",
    ),
    "options": (
        "Options shown",
        "A list of the options in the order of the prompt, scores by option, or one column an "
        "option: A,B,C,D. Empty: numbers.",
    ),
    "order": (
        "Order of the options",
        "Where the option at each position stands in the item's own order. Empty: options are "
        "matched by their text.",
    ),
    "item": ("Item", "Rows with the same value are variants of one item."),
    "variant": ("Variant", "How rows of one item are told apart."),
    "text": ("Generated text", "What the model wrote; it is read as the written answer."),
    "target": ("Right answer", "An option's text, label or place from 0, or a number."),
    "models": ("Model", "The column that names the model."),
    "axes": ("Axis", "What was changed, row by row."),
    "role": ("Item role", "benchmark or control, row by row."),
    "harmless": (
        "Harmless change",
        "False where another answer may be right: such a row is left out of the flips.",
    ),
    "sample": (
        "Sample",
        "Numbers the repeats of a prompt from 0. Empty: a prompt that comes again is its next "
        "sample.",
    ),
    "score": (
        "Score",
        "What a scorer gave the row: true or false, a share, a percentage, or a grade.",
    ),
    "scorer": ("Scorer", "Names the scorer, where rows have several."),
    "tasks": ("Task", "Names the task; tasks are never pooled into one score."),
    "category": ("Subject", "The subject, by which scores are compared."),
    "cluster": (
        "Template or passage",
        "Items with the same value were made from one template or passage.",
    ),
    "pair": (
        "Pair",
        "A benchmark item and the control that it is paired with have the same value.",
    ),
    "finish": (
        "Why it ended",
        "length where the model ran out of tokens: such an answer is cut off.",
    ),
    "error": ("Error", "Why a call failed that has no output and no score."),
}
N_PER_ROW = 3  # fields
PATHS = "A column inside of another can be typed: doc.options, resps[0][0]."


def choose_columns(
    tables: Sequence[Source], words: Sequence[str], key: str, names_place: DeltaGenerator
) -> list[str]:
    """Draw the fields that correct how tables were read; return the words for `--map`.

    `words` are those of earlier answers. The names of model and study go to `names_place`, the
    other fields to the current container.
    """
    # Tables that are uploaded together are assumed to have the columns of the first.
    table = tables[0]
    earlier_settings = dict(word.split("=", 1) for word in words)
    guess = first_guess(table, {"sheet": earlier_settings.get("sheet", "")})
    st.caption("Guessed from the first rows; correct what is wrong.")
    nested = st.text_input(
        "Numbered columns begin with",
        guess.nested,
        key=f"recorded-nested-{key}",
        help="Where one row holds all versions of a question: shuffle_0, shuffle_1. Empty: one "
        "output a row.",
    )
    columns = columns_of(answers_in(str(table.path), guess), nested)
    recording = choose_recording(replace(guess, nested=nested), columns, key)
    recording = choose_fields(recording, columns, key)
    table_names = names_of_tables(tables).values()
    names = dict.fromkeys(table_name.model for table_name in table_names if table_name.model)
    if not recording.models:
        model = names_place.text_input(
            "Model",
            "" if names else recording.model,
            key=f"recorded-model-{key}",
            placeholder=", ".join(names),
            help="The name of the model that answered. Empty: what tells the files apart."
            if names
            else None,
        )
        recording = replace(recording, model=model or NO_MODEL_NAME)
    default = f"{in_a_row(list(names)[:MAX_NAMED]) if names else guess.dataset}, recorded"
    title = names_place.text_input("Name of the study", default, key=f"recorded-name-{key}")
    new_words = list(words_between(guess, recording))
    # With named models, the survey's own default name differs from the one shown here.
    if title and (names or title != default):
        new_words.append(f"name={title}")
    return new_words


def choose_recording(guess: Recording, columns: list[str], key: str) -> Recording:
    """Offer a choice per field, and patterns; return the corrected recording."""
    mapping: dict[str, Any] = {}
    places: list[DeltaGenerator] = []
    for _ in range(0, len(COLUMNS), N_PER_ROW):
        places += st.columns(N_PER_ROW)
    for place, field in zip(places, COLUMNS, strict=False):
        (label, about), value = FIELDS[field], getattr(guess, field)
        names = [None, *columns]
        # A guess may be a path inside a column, which is not in the list of columns.
        if value and value not in columns:
            names.append(value)
        column = place.selectbox(
            label,
            names,
            key=f"recorded-{field}-{key}",
            help=f"{about} {PATHS}",
            index=names.index(value) if value in names else 0,
            accept_new_options=True,
        )
        mapping[field] = column or ""
    after_place, pattern_place = st.columns(2)
    if not mapping["options"]:
        mapping["option_pattern"] = pattern_place.text_input(
            "Options in the prompt (regular expression)",
            guess.option_pattern,
            key=f"recorded-pattern-{key}",
        )
    # A line break cannot be typed into this field, so it is typed as \n.
    text_after = after_place.text_input(
        "The answer begins after",
        guess.text_after.replace("\n", "\\n"),
        key=f"recorded-after-{key}",
        help="Where the text repeats the prompt.",
    )
    mapping["text_after"] = text_after.replace("\\n", "\n")
    return replace(guess, **mapping)


def choose_fields(recording: Recording, columns: list[str], key: str) -> Recording:
    """Offer columns with first-token scores, answers or other scores; return the recording.

    Each chosen column becomes an extractor of the study.
    """
    by_extractor = {field.extractor: field.column for field in recording.fields}
    left, right = st.columns(2)
    score = by_extractor.get("first_token")
    score_column = left.selectbox(
        "First-token scores",
        [None, *columns],
        key=f"recorded-scores-{key}",
        index=columns.index(score) + 1 if score in columns else 0,
    )
    more_columns = right.multiselect(
        "Further recorded answers or scores",
        columns,
        key=f"recorded-more-{key}",
        default=[
            column
            for name, column in by_extractor.items()
            if name != "first_token" and column in columns
        ],
    )
    fields = [Field(column, column) for column in more_columns]
    if score_column:
        fields.insert(0, scored_field("first_token", score_column, columns))
    return replace(recording, fields=tuple(fields))
