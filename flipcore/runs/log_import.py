"""Store a surveyed log as a study, in batches.

Memory does not grow with the log. A cancelled import can be resumed, and a repeated one adds
nothing.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass

from flipcore.core.errors import BadInput
from flipcore.core.garbage import fewer_collections
from flipcore.core.records import Readout, correctness
from flipcore.core.study import (
    FILES_OF_REPORTED,
    OTHER_CONTROL,
    RECORDED,
    REMARKS,
    ItemSource,
    ModelUse,
    Part,
    Study,
)
from flipcore.datasets.recorded.formats.tables import COLUMN, is_of_columns
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_places import OWN_PROMPT, hashes_of, is_same
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.datasets.recorded.log_rows import AskedItem, Builder, Joining, LogRow
from flipcore.extractors import EXTRACTORS
from flipcore.extractors.mathematics import canonical_expression
from flipcore.runs.import_batch import Batch, Place
from flipcore.runs.log_survey import LATER_FACTS, ReadScores, Survey, require_unchanged
from flipcore.runs.origins import study_row
from flipcore.runs.our_readouts import (
    OWN_NAMES,
    READ_MATH,
    READ_SCORES,
    READ_TEXT,
    READ_WORDS,
    extractor_of,
    read_outputs,
)
from flipcore.runs.plain_import import PlainImport
from flipcore.runs.progress import DONE, INCOMPLETE
from flipcore.stats.base.gate_rules import few_pairs_sentence
from flipcore.stats.memory.frames import ITEM_ROLES
from flipcore.store import recorded, rows
from flipcore.store.connection import Store
from flipcore.store.queries.pairs import store_pairs
from flipcore.text.counts import count_of

# Corrections that become fields of the study, not columns of its source.
_STUDY_CORRECTIONS = ("name", "control", "unpublished_control", "reference")


@dataclass(frozen=True)
class ImportProgress:
    """Progress of an import, in rows."""

    n_done: int
    n_all: int
    message: str = ""  # what is done with them; "" while they are stored


def study_of(survey: Survey) -> Study:
    """Declare the study of a survey: source of the outputs, extractors, models, reported scores."""
    left_out = _left_out(survey)
    own_names = _own_names(survey)
    kinds = set(survey.kinds.values())
    parts = []
    for name in survey.readouts:
        if name not in left_out:
            parts.append(Part(_readout_name(name, own_names)))
    for name in _our_text_extractors(survey):
        if kinds & EXTRACTORS[name].applies_to:
            parts.append(Part(name))
    if survey.has_scores:
        parts.append(Part(READ_SCORES, {"norm": "char"}))
    if survey.is_table and len(survey.files) == 1:
        return _study_of_table(survey, parts)
    reported = []
    notes: list[str] = []
    for score in survey.reported:
        reported.append({key: value for key, value in asdict(score).items() if value is not None})
    for file in survey.files:
        notes += file.about.notes
    # The study's id is a hash of these options. So keep the order of keys, and omit empty ones.
    options: dict = {
        "content": [file.revision for file in survey.files],
        "formats": sorted({file.about.format for file in survey.files}),
        "files": [file.source.name for file in survey.files],
        "reported": reported,
    }
    if survey.files_of_reported:
        options[FILES_OF_REPORTED] = survey.files_of_reported
    options |= _fact_options(survey)
    if scorers := _scorers(survey):
        options["scorers"] = scorers
    options["notes"] = notes + survey.joining + survey.unread
    columns = {
        key: value for key, value in survey.corrections.items() if key not in _STUDY_CORRECTIONS
    }
    source = ItemSource(RECORDED, columns=columns, options=options)
    axes = [OWN_PROMPT, *(axis for axis in survey.axes if axis != OWN_PROMPT)]
    uses = [_use(model, sampling, survey.n_samples) for model, sampling in survey.models.items()]
    return _recorded_study(survey, source, axes=axes, parts=parts, uses=uses)


def _fact_options(survey: Survey) -> dict[str, list[dict[str, str]]]:
    """Return what rows contradict in their logs, as options of the declaration."""
    facts: dict[str, list[dict[str, str]]] = {}
    for about, sentence in survey.facts:
        # Kinds that came with a later release have a key that the study's id leaves out.
        name = REMARKS if about in LATER_FACTS else "facts"
        facts.setdefault(name, []).append({"about": about, "sentence": sentence})
    return facts


def _references(survey: Survey) -> tuple[str, ...]:
    """Return the reference models as corrected. BadInput for one that is not in the logs."""
    stated = survey.corrections.get("reference", "").split(",")
    names = tuple(name.strip() for name in stated if name.strip())
    for name in names:
        if name not in survey.models:
            models = ", ".join(survey.models)
            raise BadInput(f"reference={name[:60]} is none of the models: {models}.")
    return names


def _scorers(survey: Survey) -> list[dict]:
    """Return the scorers of the logs: task, readout, reducer of its epochs, scale of its scores.
    They keep the order in which a log reports them per task, so the first is its headline."""
    own_names, left_out = _own_names(survey), _left_out(survey)
    scorers = {}
    # `survey.reported` builds its list on each access, so read it once.
    all_reported = survey.reported
    by_task: dict[str, list[tuple[str, str]]] = {}
    for score in all_reported:
        by_task.setdefault(score.task, []).append((score.readout, score.reducer or "mean"))
    for task in survey.kinds:
        scales = survey.scales.get(task, {})
        reported = by_task.get(task, [])
        unreported = [(name, "mean") for name in scales if name not in dict(reported)]
        for name, reducer in [*reported, *unreported]:
            low, high = survey.scale(task, name)
            details: dict = {}
            if low < 0 or high > 1:
                details = {"low": low, "high": high}
                if survey.declared_scale(name):
                    details["is_declared"] = True
            if name not in scales:
                details["of_rows"] = False  # the score is shown as the log reports it
            if name not in left_out:
                scorers[task, name, reducer] = {
                    "task": task,
                    "scorer": _readout_name(name, own_names),
                    "reducer": reducer,
                    **details,
                }
    # A log may report a measure of all rows together, which no row holds.
    has_overall_measure = any(
        (score.task, score.readout) not in survey.readouts_in_rows for score in all_reported
    )
    return list(scorers.values()) if survey.scales or has_overall_measure else []


def scores_read(survey: Survey, read: ReadScores) -> list[dict]:
    """Return the rows' scores under the study's names of its readouts. Empty where the rows alone
    do not determine the scores."""
    if not read.is_whole:
        return []
    own_names = _own_names(survey)
    return read.scores(survey, lambda name: _readout_name(name, own_names))


def _readout_name(name: str, own_names: Sequence[str]) -> str:
    """Return the study's name of a log's readout; `own_names` are those of our own extractors."""
    return f"{name} (log)" if name in own_names else name


def _our_text_extractors(survey: Survey) -> tuple[str, ...]:
    if not survey.has_text:
        return ()
    has_words = any(
        kind == "text" and task not in survey.mathematics for task, kind in survey.kinds.items()
    )
    names = [READ_TEXT]
    if has_words or not survey.mathematics:
        names.append(READ_WORDS)
    if survey.mathematics:
        names.append(READ_MATH)
    return tuple(names)


def _own_names(survey: Survey) -> tuple[str, ...]:
    """Return names reserved for our own extractors; recorded readouts of that name get " (log)". A
    table gives up only the names of extractors that do read it."""
    return _our_text_extractors(survey) if survey.is_table else OWN_NAMES


def _study_of_table(survey: Survey, parts: Sequence[Part]) -> Study:
    """Declare the study of a single table."""
    # Without the options of logs, so that its id stays what it is in older databases.
    (file,) = survey.files
    options: dict = {"content": file.revision}
    scorers = _scorers(survey) if file.about.columns.get("score") else []
    facts = [{"about": about, "sentence": text} for about, text in survey.facts]
    options |= {"scorers": scorers} if scorers else {}
    options |= {"facts" if scorers else REMARKS: facts} if facts else {}
    columns = dict(file.about.columns)
    for key, value in survey.corrections.items():
        if not is_of_columns(key) and key not in ("format", *_STUDY_CORRECTIONS):
            columns[key] = value
    source = ItemSource(RECORDED, columns=columns, options=options)
    uses = [ModelUse(model) for model in survey.models]
    return _recorded_study(survey, source, axes=list(survey.axes), parts=parts, uses=uses)


def _recorded_study(
    survey: Survey, source: ItemSource, *, axes: list[str], parts: Sequence[Part], uses: list
) -> Study:
    return Study(
        survey.name,
        (source,),
        tuple(Part(axis) for axis in axes),
        tuple(parts),
        tuple(uses),
        protocol=Part(RECORDED),
        control=survey.corrections.get("control", OTHER_CONTROL),
        unpublished_control=survey.corrections.get("unpublished_control") == "yes",
        reference_models=_references(survey),
    )


def _use(model: str, sampling: Mapping, n_samples: int) -> ModelUse:
    def setting(key: str, minimum: float, default):
        value = sampling.get(key)
        return value if isinstance(value, (int, float)) and value >= minimum else default

    return ModelUse(
        model,
        temperature=float(setting("temperature", 0, 0.0)),
        n_samples=n_samples,
        max_tokens=int(setting("max_tokens", 1, 256)),
        top_p=float(setting("top_p", 0, 1.0)),
    )


def store_logs(
    survey: Survey,
    store: Store,
    on_progress: Callable[[ImportProgress], None] | None = None,
    stop: threading.Event | None = None,
    *,
    is_checked: bool = True,
) -> str:
    """Store all rows and return the study's id. Once `stop` is set, the import ends after the
    current batch; the same import resumes there. `is_checked` compares the stored rows with the
    files in the end. A study that is stored only for a moment needs no check."""
    study, n_all = study_of(survey), survey.n_records + survey.n_refused
    n_before = recorded.import_mark(store, study.study_id)
    if n_before >= n_all and recorded.import_state(store, study.study_id)[0] == DONE:
        # Imports by earlier releases did not offer paraphrases.
        recorded.offer_paraphrases(store, study.study_id, study.name)
        return study.study_id
    require_unchanged(survey)
    # A large table may be stored in another order than its rows. An import in the other order
    # cannot tell which rows are stored already, so it begins anew.
    has_own_order = survey.is_plain and survey.plain_table().has_own_order
    if n_before and has_own_order != recorded.is_in_file_order(store, study.study_id):
        n_before = 0
    if not n_before:
        recorded.remove_readouts_of_lost_outputs(store, study.study_id)
    running = study_row(study, "running", "Importing.", n_calls=survey.n_records)
    store.writer.add("studies", [running]).result()
    memory_mb = recorded.memory_mb(n_all, len(study.extractors))
    with store.memory_bound(memory_mb), fewer_collections():
        revisions = [file.revision for file in survey.files]
        elsewhere = hashes_of(recorded.stored_elsewhere(store, study.study_id, revisions))
        refusals = _RowFaults(survey.n_refused, survey.refusals[0] if survey.refusals else "")
        pairs, sums = _DeclaredPairs(), recorded.Sums()
        job = _ImportJob(
            study,
            survey,
            store=store,
            n_before=n_before,
            elsewhere=elsewhere,
            refusals=refusals,
            pairs=pairs,
            sums=sums,
            on_progress=on_progress,
            stop=stop,
        )
        if not _store_all(job):
            return study.study_id
        # After a resumed import the sums lack the rows that the earlier import stored.
        is_as_read = is_checked and not n_before and sums.agree(store, study.study_id)
        recorded.copy_bases(store, study.study_id, OWN_PROMPT)
        n_paraphrases = recorded.offer_paraphrases(store, study.study_id, study.name)
        is_checked |= n_before > 0
        outcome: tuple[int, _RowFaults] | None = (job.n_outputs, _RowFaults())
        if is_checked and not is_as_read:
            outcome = _read_again(job)
    if outcome is None:
        return study.study_id
    n_outputs, misstored = outcome
    if pairs.control_of:
        column = survey.corrections[COLUMN + "pair"]
        store_pairs(store, pairs.control_of, {"by": [f"the column {column}"]}, "import").result()
    n_rows = count_of(survey.n_records, "row")
    sentence = f"Imported: {n_rows} of {count_of(len(survey.files), 'file')}."
    if refusals.n_rows:
        n_rows = count_of(refusals.n_rows, "row was", "rows were")
        sentence += f" {n_rows} refused; the first: {refusals.first}"
    if misstored.n_rows:
        n_rows = count_of(misstored.n_rows, "row is", "rows are")
        sentence += f" Read again, {n_rows} not stored as the files hold them; the first: "
        sentence += f"{misstored.first} Please report this with the file."
    elif is_checked:
        outputs = "its one output is" if n_outputs == 1 else f"all {n_outputs:,} outputs are"
        sentence += f" Read again, {outputs} stored as written."
    if n_paraphrases:
        n_waiting = count_of(n_paraphrases, "paraphrase waits", "paraphrases wait")
        sentence += f" {n_waiting} for reviewers under Review."
        too_few = few_pairs_sentence(n_paraphrases)
        sentence += f" {too_few}" if too_few else ""
    state = INCOMPLETE if misstored.n_rows else DONE
    row = study_row(study, state, sentence, n_calls=survey.n_records, ended_at=rows.now())
    store.writer.add("studies", [row]).result()
    return study.study_id


@dataclass
class _RowFaults:
    """Number of rows with a fault, and the sentence for the first of them."""

    n_rows: int = 0
    first: str = ""

    def add(self, sentence: str) -> None:
        self.n_rows, self.first = self.n_rows + 1, self.first or sentence


class _DeclaredPairs:
    """Pairs of a benchmark item and a control that rows declare by a common name. Where several
    items of one side have the same name, the first one counts."""

    def __init__(self) -> None:
        # name of the pair -> whether it is a benchmark item -> item id
        self._sides: dict[str, dict[bool, str]] = {}

    def add(self, row: LogRow | AskedItem) -> None:
        if row.pair:
            self._sides.setdefault(row.pair, {}).setdefault(
                row.role in ITEM_ROLES, row.item.item_id
            )

    @property
    def control_of(self) -> dict[str, str]:
        """Benchmark item -> control, of complete pairs."""
        return {sides[True]: sides[False] for sides in self._sides.values() if len(sides) == 2}


@dataclass
class _ImportJob:
    """One running import."""

    study: Study
    survey: Survey
    store: Store
    n_before: int  # rows that an earlier import stored
    elsewhere: HashTable  # hashes of completions that other studies hold for calls of these files
    refusals: _RowFaults
    pairs: _DeclaredPairs
    sums: recorded.Sums
    on_progress: Callable[[ImportProgress], None] | None
    stop: threading.Event | None
    n_outputs: int = 0

    @property
    def n_all(self) -> int:
        """Rows of all files, refused ones included."""
        return self.survey.n_records + self.survey.n_refused

    def report(self, n_done: int, message: str = "") -> None:
        """Call `on_progress`, if any."""
        if self.on_progress:
            self.on_progress(ImportProgress(n_done, self.n_all, message))

    @property
    def is_stopped(self) -> bool:
        """True if the import is to end after the current batch."""
        return self.stop is not None and self.stop.is_set()

    def cancel(self, n_seen: int, waiting: Future | None = None) -> None:
        """Store how far the import came, once the batch in `waiting` is stored."""
        if waiting:
            waiting.result()
        sentence = (
            f"Import stopped after {n_seen:,} of {self.n_all:,} rows. "
            "Import the same files again to go on."
        )
        row = study_row(self.study, "cancelled", sentence)
        self.store.writer.add("studies", [row]).result()


def _read_again(job: _ImportJob) -> tuple[int, _RowFaults] | None:
    """Read the files a second time and compare each row with the database. Compares the outputs,
    and the calls that readouts name. Adds the declared pairs to `job.pairs`. Returns (number of
    outputs, rows that differ), or None if it was stopped."""
    study, survey, store = job.study, job.survey, job.store
    left_out, n_outputs, n_seen, misstored = _left_out(survey), 0, 0, _RowFaults()
    waiting: list[LogRow] = []

    def compare() -> None:
        call_ids: list[str] = []
        for log_row in waiting:
            call_ids += [call.call_id for call, _ in log_row.calls]
        item_ids = list({log_row.item.item_id for log_row in waiting})
        completions = recorded.completions_at(store, call_ids)
        sources = recorded.sources_of(store, study.study_id, item_ids)
        for log_row in waiting:
            is_stored = all(
                is_same(completion, completions.get(call.call_id))
                for call, completion in log_row.calls
            )
            names_its_calls = all(
                sources.get((*_place_of(readout), readout.extractor)) == readout.source_ids
                for readout in log_row.readouts
                if readout.extractor not in left_out
            )
            if not (is_stored and names_its_calls):
                misstored.add(f"{log_row.source_place}.")
        waiting.clear()

    n_chars = 0
    for log_row in _log_rows(survey, job.elsewhere, is_reread=True):
        n_seen += 1
        if log_row is not None:
            n_outputs += log_row.is_new
            n_chars += sum(len(completion.text) for _, completion in log_row.calls)
            waiting.append(log_row)
            job.pairs.add(log_row)
        if n_seen % recorded.BATCH and n_chars < recorded.BATCH_CHARS:
            continue
        compare()
        n_chars = 0
        job.report(n_seen, "checked on a second reading")
        if job.is_stopped:
            sentence = (
                f"Stored, and checked up to row {n_seen:,}. "
                "Import the same files again to check them all."
            )
            store.writer.add("studies", [study_row(study, "cancelled", sentence)]).result()
            return None
    compare()
    return n_outputs, misstored


def _place_of(readout: Readout) -> Place:
    return readout.model, readout.item_id, readout.axis, readout.variant_id, readout.sample


def _left_out(survey: Survey) -> set[str]:
    return set(filter(None, survey.corrections.get("leave", "").split(",")))


def _store_all(job: _ImportJob) -> bool:
    """Store the remaining rows in batches; return False if the import was stopped. Adds the
    declared pairs to `job.pairs`."""
    survey, store, study_id = job.survey, job.store, job.study.study_id
    has_own_order = survey.is_plain and survey.plain_table().has_own_order
    waiting: Future | None = None
    n_seen, n_reported = job.n_before, -1
    try:
        for n_seen, batch in _plain_batches(job) if survey.is_plain else _batches(job):
            if n_seen == n_reported:
                continue  # the last full batch held all rows, so this one is empty
            n_reported = n_seen
            if n_seen > job.n_before:
                columns = batch.columns()
                job.sums.add(columns, n_calls=batch.n_calls, n_sources=batch.n_sources)
                job.n_outputs += batch.n_outputs
                # Wait for the previous batch, so that at most two are in memory.
                if waiting:
                    waiting.result()
                waiting = recorded.store_columns(
                    store, study_id, columns, n_seen, has_own_order=has_own_order
                )
            job.report(n_seen)
            if job.is_stopped and n_seen < job.n_all:
                job.cancel(max(n_seen, job.n_before), waiting)
                return False
        if waiting:
            waiting.result()
    except BaseException:
        # After the page's own Stop, an interrupt or a full disk, the stored rows stay. The state
        # must tell how many they are.
        job.cancel(recorded.import_mark(store, study_id))
        raise
    store.touch([study_id])
    return True


def _plain_batches(job: _ImportJob) -> Iterator[tuple[int, Batch]]:
    """Yield (rows seen so far, batch) for a plain table."""
    study, survey = job.study, job.survey
    plain = PlainImport(
        study.study_id,
        survey,
        _joining(survey),
        left_out=_left_out(survey),
        scored_tasks={str(scorer["task"]) for scorer in study.scorers},
        elsewhere=job.elsewhere,
    )
    return plain.batches(job.n_before, on_item=job.pairs.add, on_refusal=job.refusals.add)


def _batches(job: _ImportJob) -> Iterator[tuple[int, Batch]]:
    """Yield (rows seen so far, batch) for records."""
    study, survey = job.study, job.survey
    left_out, scored_tasks = _left_out(survey), {str(scorer["task"]) for scorer in study.scorers}
    n_seen, batch = 0, Batch(study.study_id, left_out)
    for log_row in _log_rows(survey, job.elsewhere, job.n_before, job.refusals):
        n_seen += 1
        if log_row is not None:
            _add_row(batch, log_row, n_seen, survey=survey, scored_tasks=scored_tasks)
            job.pairs.add(log_row)
        if n_seen % recorded.BATCH == 0 or batch.is_full:
            yield n_seen, batch
            batch = Batch(study.study_id, left_out)
    yield n_seen, batch


def _add_row(
    batch: Batch, log_row: LogRow, position: int, *, survey: Survey, scored_tasks: set[str]
) -> None:
    """Add a row to the batch: its item, its calls, and the log's and our own readouts."""
    batch.add_item(log_row, position)
    readouts = [*log_row.readouts]
    if log_row.is_new:
        batch.n_outputs += 1
        for call, completion in log_row.calls:
            batch.add_call(
                call.model,
                call.revision,
                rows.json_text(call.request.declared()),
                sample=call.sample,
                completion=completion,
                parent_id=call.parent_id,
            )
        is_score = log_row.calls[0][0].request.kind == "score"
        if is_score or (survey.has_text and log_row.has_text):
            task = log_row.item.dataset
            readouts = (
                _our_readouts(
                    log_row,
                    is_scored=task in scored_tasks,
                    is_mathematics=task in survey.mathematics,
                )
                + readouts
            )
    for readout in readouts:
        batch.add_readout(
            _place_of(readout),
            readout.extractor,
            readout.reading,
            is_correct=readout.is_correct,
            call_ids=readout.source_ids,
        )


def _log_rows(
    survey: Survey,
    elsewhere: HashTable,
    n_before: int = 0,
    refusals: _RowFaults | None = None,
    *,
    is_reread: bool = False,
) -> Iterator[LogRow | None]:
    """Yield each row of each file in the survey's order. None stands for each refused row, and for
    each of the first `n_before` rows. `refusals` counts readable rows that cannot become an item of
    the study. `is_reread` reads the files again instead of the records that the survey kept."""
    builder = Builder(_joining(survey), survey.placed, elsewhere)
    corrections, n_seen = survey.corrections, 0
    for number, file in enumerate(survey.files):
        # The rows before a place that cannot be read are used.
        with suppress(BadInput):
            for record in survey.reread(number) if is_reread else survey.records_of(number):
                n_seen += 1
                log_row = None
                try:
                    if isinstance(record, LogRecord):
                        model = file.model_of(corrections, record.model)
                        log_row = builder.entry(record, number, file.revision, model)
                except BadInput as error:
                    if refusals and isinstance(record, LogRecord):
                        refusals.add(f"{record.place} {str(error).removesuffix('.')}.")
                yield log_row if n_seen > n_before else None


def _joining(survey: Survey) -> Joining:
    """Return the survey's guesses and corrections that turn records into rows."""
    kinds, corrections = survey.kinds, survey.corrections
    axes: dict[str, str] = {}
    harmless: dict[str, bool] = {}
    for key, value in corrections.items():
        name = key.partition(":")[2]
        if key.startswith("axis:"):
            axes[name] = value
        elif key.startswith("harmless:"):
            harmless[name] = value == "yes"
    roles: dict[str, str] = {}
    for task in kinds:
        role = corrections.get(f"role:{task}") or corrections.get("role")
        if role:
            roles[task] = role
    grades = set()  # (task, scorer) on a scale beyond 0 to 1
    for task, scales in survey.scales.items():
        for name in scales:
            low, high = survey.scale(task, name)
            if low < 0 or high > 1:
                grades.add((task, name))
    formulas = dict.fromkeys(survey.mathematics, canonical_expression)
    own_names = _own_names(survey)
    return Joining(
        kinds,
        own_names,
        roles=roles,
        clusters=survey.clusters,
        grades=grades,
        axes=axes,
        harmless=harmless,
        mathematics=formulas,
    )


def _our_readouts(log_row: LogRow, *, is_scored: bool, is_mathematics: bool) -> list[Readout]:
    """Return the readout of a row by our own extractor; none where no extractor fits."""
    item, variant, (call, _) = log_row.item, log_row.variant, log_row.calls[0]
    extractor = extractor_of(
        item,
        has_option_scores=call.request.kind == "score",
        is_scored=is_scored,
        is_mathematics=is_mathematics,
    )
    if extractor is None:
        return []
    completions = [completion for _, completion in log_row.calls]
    reading = read_outputs(extractor, item, variant, completions)
    return [
        Readout(
            call.model,
            item.item_id,
            axis=variant.axis,
            variant_id=variant.variant_id,
            sample=log_row.sample,
            extractor=extractor.name,
            reading=reading,
            is_correct=correctness(reading, variant.target),
            source_ids=tuple(call.call_id for call, _ in log_row.calls),
        )
    ]
