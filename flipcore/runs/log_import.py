"""A surveyed log -> a stored study, in batches: memory does not grow, a cancelled import goes on, and a repeated one adds
nothing."""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from flipcore.core.errors import BadInput
from flipcore.core.records import WRITTEN_ANSWER, WRITTEN_MATH, WRITTEN_WORDS, Completion, Readout, correctness
from flipcore.core.study import FILES_OF_REPORTED, OTHER_CONTROL, RECORDED, REMARKS, ItemSource, ModelUse, Part, Study
from flipcore.datasets.recorded.formats.tables import COLUMN, is_of_columns
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_places import OWN_PROMPT, hashes_of, is_same
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.datasets.recorded.log_rows import Builder, Joining, LogRow
from flipcore.extractors import EXTRACTORS
from flipcore.extractors.losses import Cloze
from flipcore.extractors.mathematics import canonical_expression
from flipcore.runs.log_corrections import corrected
from flipcore.runs.log_survey import LATER_FACTS, ReadScores, Survey, require_unchanged
from flipcore.runs.origins import study_row
from flipcore.runs.progress import DONE, INCOMPLETE
from flipcore.stats.base.gate_rules import few_pairs_sentence
from flipcore.stats.memory.frames import ITEM_ROLES
from flipcore.store import recorded, rows
from flipcore.store.connection import Store
from flipcore.store.queries.pairs import store_pairs
from flipcore.text.counts import count_of

READ_TEXT, READ_WORDS, READ_MATH, READ_SCORES = OWN_NAMES = WRITTEN_ANSWER, WRITTEN_WORDS, WRITTEN_MATH, "cloze"
MOST_WORDS = 20
_OF_STUDY = ("name", "control", "unpublished_control", "reference")  # corrections that are fields of the study itself
_CLOZE = Cloze(norm="char")


@dataclass(frozen=True)
class ImportProgress:
    """How far an import is: rows of the log read of all, and the sentence for the end."""

    n_done: int
    n_all: int
    message: str = ""


def study_of(survey: Survey) -> Study:
    """The declaration: where the outputs came from, how they were read, and what the logs report of themselves."""
    leave = _left_out(survey)
    names = [f"{name} (log)" if name in _own_names(survey) else name for name in survey.readouts if name not in leave]
    kinds = set(survey.kinds.values())
    ours = [one for one in _ours_of_text(survey) if kinds & EXTRACTORS[one].applies_to]
    parts = [Part(name) for name in [*names, *ours]]
    parts += [Part(READ_SCORES, {"norm": "char"})] if survey.has_scores else []
    reported = [{key: value for key, value in asdict(one).items() if value is not None} for one in survey.reported]
    if survey.is_table and len(survey.files) == 1:
        return _study_of_table(survey, parts)
    source = ItemSource(
        RECORDED,
        columns={key: value for key, value in survey.corrections.items() if key not in _OF_STUDY},
        options={
            "content": [file.revision for file in survey.files],
            "formats": sorted({file.about.format for file in survey.files}),
            "files": [file.source.name for file in survey.files],
            "reported": reported,
            **({FILES_OF_REPORTED: files} if (files := survey.files_of_reported) else {}),
            **_facts_of(survey),
            **({"scorers": scorers} if (scorers := _scorers(survey)) else {}),
            "notes": [note for file in survey.files for note in file.about.notes] + survey.joining + survey.unread,
        },
    )
    axes = [OWN_PROMPT, *(axis for axis in survey.axes if axis != OWN_PROMPT)]
    return Study(
        survey.name,
        (source,),
        tuple(Part(axis) for axis in axes),
        tuple(parts),
        tuple(_use(model, sampling, survey.n_samples) for model, sampling in survey.models.items()),
        protocol=Part(RECORDED),
        control=survey.corrections.get("control", OTHER_CONTROL),
        unpublished_control=survey.corrections.get("unpublished_control") == "yes",
        reference_models=_references(survey),
    )


def _facts_of(survey: Survey) -> dict[str, list[dict[str, str]]]:
    """What the rows say against their logs; what came after ids were given stands apart."""
    facts: dict[str, list[dict[str, str]]] = {}
    for about, sentence in survey.facts:
        name = REMARKS if about in LATER_FACTS else "facts"
        facts.setdefault(name, []).append({"about": about, "sentence": sentence})
    return facts


def _references(survey: Survey) -> tuple[str, ...]:
    """The models that a correction names as reference models; BadInput for one that is not in the logs."""
    names = tuple(filter(None, (name.strip() for name in survey.corrections.get("reference", "").split(","))))
    if unknown := [name for name in names if name not in survey.models]:
        raise BadInput(f"reference={unknown[0][:60]} is none of the models: {', '.join(survey.models)}.")
    return names


def _scorers(survey: Survey) -> list[dict]:
    """Which scorers the logs have, by task, in the order in which a log reports them, so that the first is its headline: the name of
    the readout, the reducer of its epochs, and the scale of its scores. A score that the rows do not hold is as reported."""
    own, leave = _own_names(survey), _left_out(survey)
    scorers = {}
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
            scale: dict = {"low": low, "high": high} if low < 0 or high > 1 else {}
            scale |= {"is_declared": True} if scale and survey.declared_scale(name) else {}
            scale |= {} if name in scales else {"of_rows": False}
            if name not in leave:
                spoken = f"{name} (log)" if name in own else name
                scorers[task, name, reducer] = {"task": task, "scorer": spoken, "reducer": reducer, **scale}
    # by a measure of all rows together
    is_measured = any((one.task, one.readout) not in survey.of_rows for one in all_reported)
    return list(scorers.values()) if survey.scales or is_measured else []


def scores_read(survey: Survey, read: ReadScores) -> list[dict]:
    """The scores of the rows that were looked at, under the names that the study gives its readouts; empty where the rows alone do not
    tell them."""
    own = _own_names(survey)
    return read.scores(survey, lambda name: f"{name} (log)" if name in own else name) if read.is_whole else []


def _ours_of_text(survey: Survey) -> tuple[str, ...]:
    of_words = [task for task, kind in survey.kinds.items() if kind == "text" and task not in survey.mathematics]
    readers = {READ_TEXT: True, READ_WORDS: of_words or not survey.mathematics, READ_MATH: survey.mathematics}
    return tuple(name for name, is_used in readers.items() if is_used) if survey.has_text else ()


def _own_names(survey: Survey) -> tuple[str, ...]:
    """Names that no recorded readout keeps. A table, which people name themselves, gives up those alone that are read here."""
    return _ours_of_text(survey) if survey.is_table else OWN_NAMES


def _study_of_table(survey: Survey, parts: Sequence[Part]) -> Study:
    """A table's declaration as it always was, so that its study has the id that it has in older databases."""
    (file,) = survey.files
    options: dict = {"content": file.revision}
    scorers = _scorers(survey) if file.about.columns.get("score") else []
    facts = [{"about": about, "sentence": text} for about, text in survey.facts]
    options |= {"scorers": scorers} if scorers else {}
    options |= {"facts" if scorers else REMARKS: facts} if facts else {}
    more = {
        key: value
        for key, value in survey.corrections.items()
        if not is_of_columns(key) and key not in ("format", *_OF_STUDY)
    }
    return Study(
        survey.name,
        (ItemSource(RECORDED, columns={**file.about.columns, **more}, options=options),),
        tuple(Part(axis) for axis in survey.axes),
        tuple(parts),
        tuple(ModelUse(model) for model in survey.models),
        protocol=Part(RECORDED),
        control=survey.corrections.get("control", OTHER_CONTROL),
        unpublished_control=survey.corrections.get("unpublished_control") == "yes",
        reference_models=_references(survey),
    )


def _use(model: str, sampling: Mapping, n_samples: int) -> ModelUse:
    def setting(key: str, least: float, default):
        value = sampling.get(key)
        return value if isinstance(value, (int, float)) and value >= least else default

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
    is_checked: bool = True,
) -> str:
    """Writes everything and returns the study's id; the study is "done" when all of it is stored.

    With `stop` set it ends after the batch in hand, and the same import goes on from there. What is stored for a moment only need not
    be read again and compared with the files (`is_checked`)."""
    study, n_all = study_of(survey), survey.n_records + survey.n_refused
    before = recorded.import_mark(store, study.study_id)
    if before >= n_all and recorded.import_state(store, study.study_id)[0] == DONE:
        recorded.offer_paraphrases(store, study.study_id, study.name)  # an earlier release left them out
        return study.study_id
    require_unchanged(survey)
    if not before:
        recorded.remove_astray(store, study.study_id)
    store.writer.add("studies", [study_row(study, "running", "Importing.", n_calls=survey.n_records)]).result()
    with store.memory_bound(recorded.MEMORY_MB), _fewer_collections():
        elsewhere = hashes_of(recorded.stored_elsewhere(store, study.study_id, [file.revision for file in survey.files]))
        refusals = _Sentences(survey.n_refused, survey.refusals[0] if survey.refusals else "")
        pairs, sums = _DeclaredPairs(), recorded.Sums()
        if not _all_stored(study, survey, store, before, elsewhere, refusals, pairs, sums, on_progress, stop):
            return study.study_id
        # sums of an import that went on where another stopped lack what that one stored
        is_as_read = is_checked and not before and sums.agree(store, study.study_id)
        recorded.repeat_bases(store, study.study_id, OWN_PROMPT)
        n_paraphrases = recorded.offer_paraphrases(store, study.study_id, study.name)
        is_checked |= before > 0
        outcome: tuple[int, _Sentences] | None = (sums.n_outputs, _Sentences())
        if is_checked and not is_as_read:
            outcome = _read_again(study, survey, store, elsewhere, pairs, on_progress, stop)
    if outcome is None:
        return study.study_id
    n_outputs, astray = outcome
    if pairs.control_of:
        store_pairs(store, pairs.control_of, {"by": [f"the column {survey.corrections[COLUMN + 'pair']}"]}, "import").result()
    sentence = f"Imported: {count_of(survey.n_records, 'row')} of {count_of(len(survey.files), 'file')}."
    if refusals.n_rows:
        sentence += f" {count_of(refusals.n_rows, 'row was', 'rows were')} refused; the first: {refusals.first}"
    if astray.n_rows:
        sentence += (
            f" Read again, {count_of(astray.n_rows, 'row is', 'rows are')} not stored as the files hold them; the first: "
        )
        sentence += f"{astray.first} Please report this with the file."
    elif is_checked:
        sentence += (
            f" Read again, {'its one output is' if n_outputs == 1 else f'all {n_outputs:,} outputs are'} stored as written."
        )
    if n_paraphrases:
        sentence += f" {count_of(n_paraphrases, 'paraphrase waits', 'paraphrases wait')} for reviewers under Review."
        few = few_pairs_sentence(n_paraphrases)
        sentence += f" {few}" if few else ""
    state = INCOMPLETE if astray.n_rows else DONE
    row = study_row(study, state, sentence, n_calls=survey.n_records, ended_at=rows.now())
    store.writer.add("studies", [row]).result()
    return study.study_id


@dataclass
class _Sentences:
    """How many rows something is said of, and the sentence for the first of them."""

    n_rows: int = 0
    first: str = ""

    def add(self, sentence: str) -> None:
        self.n_rows, self.first = self.n_rows + 1, self.first or sentence


class _DeclaredPairs:
    """Which control a benchmark item is paired with, by what both rows say; of several the first."""

    def __init__(self) -> None:
        self._sides: dict[str, dict[bool, str]] = {}

    def take(self, row: LogRow) -> None:
        if row.pair:
            self._sides.setdefault(row.pair, {}).setdefault(row.role in ITEM_ROLES, row.item.item_id)

    @property
    def control_of(self) -> dict[str, str]:
        return {sides[True]: sides[False] for sides in self._sides.values() if len(sides) == 2}


def _read_again(
    study: Study,
    survey: Survey,
    store: Store,
    elsewhere: HashTable,
    pairs: _DeclaredPairs,
    on_progress: Callable[[ImportProgress], None] | None,
    stop: threading.Event | None,
) -> tuple[int, _Sentences] | None:
    """Reads the files a second time, notes the `pairs` that rows declare, and compares each row with what is stored: its text, and the
    calls that its readouts name.

    (outputs, rows that are stored otherwise), or None where it was stopped."""
    leave, n_outputs, n_seen, astray = _left_out(survey), 0, 0, _Sentences()
    waiting: list[LogRow] = []

    def compare() -> None:
        by_call = recorded.completions_at(store, [call.call_id for one in waiting for call, _ in one.calls])
        sources = recorded.sources_of(store, study.study_id, list({one.item.item_id for one in waiting}))
        for one in waiting:
            is_stored = all(is_same(completion, by_call.get(call.call_id)) for call, completion in one.calls)
            names_own = (
                sources.get(_key_of(readout)) == readout.source_ids
                for readout in one.readouts
                if readout.extractor not in leave
            )
            if not (is_stored and all(names_own)):
                astray.add(f"{one.source_place}.")
        waiting.clear()

    n_chars = 0
    for log_row in _log_rows(survey, elsewhere):
        n_seen += 1
        if log_row is not None:
            n_outputs += log_row.is_new
            n_chars += sum(len(completion.text) for _, completion in log_row.calls)
            waiting.append(log_row)
            pairs.take(log_row)
        if n_seen % recorded.BATCH and n_chars < recorded.BATCH_CHARS:
            continue
        compare()
        n_chars = 0
        if on_progress:
            on_progress(ImportProgress(n_seen, survey.n_records + survey.n_refused, "checked on a second reading"))
        if stop and stop.is_set():
            sentence = f"Stored, and checked up to row {n_seen:,}. Import the same files again to check them all."
            store.writer.add("studies", [study_row(study, "cancelled", sentence)]).result()
            return None
    compare()
    return n_outputs, astray


def _key_of(readout: Readout) -> tuple:
    return readout.model, readout.item_id, readout.axis, readout.variant_id, readout.sample, readout.extractor


def _left_out(survey: Survey) -> set[str]:
    return set(filter(None, survey.corrections.get("leave", "").split(",")))


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """A batch is some hundred thousand live objects without a cycle: Python's search for cycles among them takes a tenth of the
    time of an import and finds none."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _all_stored(
    study: Study,
    survey: Survey,
    store: Store,
    before: int,
    elsewhere: HashTable,
    refusals: _Sentences,
    pairs: _DeclaredPairs,
    sums: recorded.Sums,
    on_progress: Callable[[ImportProgress], None] | None,
    stop: threading.Event | None,
) -> bool:
    """Stores the rows after the first `before`, which an earlier attempt stored, a batch at a time, and notes the `pairs` that they
    declare; False where it was stopped."""
    n_all = survey.n_records + survey.n_refused
    leave = _left_out(survey)
    n_seen, batch, waiting = 0, _Batch(study, leave, survey), None
    try:
        for log_row in _log_rows(survey, elsewhere, before, refusals):
            n_seen += 1
            if log_row is not None:
                batch.take(log_row, n_seen)
                pairs.take(log_row)
            if n_seen % recorded.BATCH and not batch.is_full:
                continue
            if n_seen > before:
                waiting = recorded.store_marked(store, batch.study_id, batch.tables(sums), n_seen, waiting)
                batch = _Batch(study, leave, survey)
            if on_progress:
                on_progress(ImportProgress(n_seen, n_all))
            if stop and stop.is_set():
                _stopped(study, store, max(n_seen, before), n_all, waiting)
                return False
        recorded.store_marked(store, batch.study_id, batch.tables(sums), n_seen, waiting).result()
    except BaseException:  # the page's own Stop, an interrupt, a full disk: what was stored stays, and the state says so
        _stopped(study, store, recorded.import_mark(store, study.study_id), n_all, None)
        raise
    return True


def _stopped(study: Study, store: Store, n_seen: int, n_all: int, waiting: Future | None) -> None:
    if waiting:
        waiting.result()
    sentence = f"Import stopped after {n_seen:,} of {n_all:,} rows. Import the same files again to go on."
    store.writer.add("studies", [study_row(study, "cancelled", sentence)]).result()


def _log_rows(
    survey: Survey, elsewhere: HashTable, before: int = 0, refusals: _Sentences | None = None
) -> Iterator[LogRow | None]:
    """Every row of every file in the survey's order; None for one that was refused, and for the first `before` of all. Rows that
    the reader took and that are no item of the study are counted in `refusals`."""
    builder, corrections, n_seen = Builder(_joining(survey), survey.placed, elsewhere), survey.corrections, 0
    for number, file in enumerate(survey.files):
        try:
            for record in corrected(file.reader.records(file.source, survey.beside), corrections, file.source.name):
                n_seen += 1
                log_row = None
                try:
                    if isinstance(record, LogRecord):
                        log_row = builder.entry(record, number, file.revision, file.model_of(corrections, record.model))
                except BadInput as error:
                    if refusals and isinstance(record, LogRecord):
                        refusals.add(f"{record.place} {str(error).removesuffix('.')}.")
                yield log_row if n_seen > before else None
        except BadInput:
            continue


def _joining(survey: Survey) -> Joining:
    kinds, corrections = survey.kinds, survey.corrections
    roles = {task: corrections.get(f"role:{task}") or corrections.get("role") or "" for task in kinds}
    axes = {key.partition(":")[2]: value for key, value in corrections.items() if key.startswith("axis:")}
    harmless = {key.partition(":")[2]: value == "yes" for key, value in corrections.items() if key.startswith("harmless:")}
    task_roles = {task: role for task, role in roles.items() if role}
    grades = {
        (task, name)
        for task, scales in survey.scales.items()
        for name in scales
        for low, high in [survey.scale(task, name)]
        if low < 0 or high > 1
    }
    formulas = dict.fromkeys(survey.mathematics, canonical_expression)
    return Joining(kinds, _own_names(survey), task_roles, survey.clusters, grades, axes, harmless, formulas)


class _Batch:
    """Rows of some thousand outputs by table, each key once."""

    def __init__(self, study: Study, leave: set[str], survey: Survey) -> None:
        self.study_id, self.leave, self.has_text = study.study_id, leave, survey.has_text
        self.mathematics = survey.mathematics
        self.scored = {str(one["task"]) for one in study.scorers}
        self.items: dict[str, dict] = {}
        self.study_items: dict[str, dict] = {}
        self.variants: dict[str, dict] = {}
        self.study_variants: dict[tuple, dict] = {}
        self.completions: dict[str, dict] = {}
        self.readouts: list[Readout] = []
        self.n_chars = self.n_calls = self.n_outputs = 0

    @property
    def is_full(self) -> bool:
        """Whether its texts alone fill the memory that a batch may take."""
        return self.n_chars > recorded.BATCH_CHARS

    def take(self, log_row: LogRow, position: int) -> None:
        item, variant = log_row.item, log_row.variant
        if item.item_id not in self.items:
            self.items[item.item_id] = rows.item_row(item)
            self.study_items[item.item_id] = {
                "study_id": self.study_id,
                "item_id": item.item_id,
                "role": log_row.role,
                "position": position,
                "confirmatory": False,
            }
        key = (variant.axis, variant.variant_id)
        if key not in self.study_variants:
            self.variants[variant.variant_id] = rows.variant_row(variant)
            (row,) = rows.study_variant_rows(self.study_id, [variant])
            self.study_variants[key] = row | {"position": log_row.position}
        if log_row.is_new:
            self.n_outputs += 1
            self.n_calls += len(log_row.calls)
            for call, completion in log_row.calls:
                self.n_chars += len(call.request.prompt) + len(completion.text) + len(completion.reasoning)
                self.completions[call.call_id] = rows.completion_row(call, completion, False)
            is_score = log_row.calls[0][0].request.kind == "score"
            can_read = is_score or (self.has_text and log_row.has_text)
            task = log_row.item.dataset
            self.readouts += _ours(log_row, task in self.scored, task in self.mathematics) if can_read else []
        self.readouts += [one for one in log_row.readouts if one.extractor not in self.leave]

    def tables(self, sums: recorded.Sums) -> dict[str, list[dict]]:
        """The rows to store, counted in the sums."""
        readouts, sources = rows.readout_rows(self.study_id, self.readouts)
        tables = {
            "items": list(self.items.values()),
            "study_items": list(self.study_items.values()),
            "variants": list(self.variants.values()),
            "study_variants": list(self.study_variants.values()),
            "completions": list(self.completions.values()),
            "study_calls": [{"study_id": self.study_id, "call_id": call_id} for call_id in self.completions],
            "readouts": readouts,
            "readout_sources": sources,
        }
        sums.add(tables, self.n_calls, self.n_outputs)
        return tables


def _ours(log_row: LogRow, is_scored: bool, is_mathematics: bool) -> list[Readout]:
    """The text as our extractor reads it, formulas as mathematics, and options' scores by likelihood a character. Where the log has a
    scorer it is read beside it, and only where a right answer is a text that can be matched: not a trajectory's outcome, nor several
    options at once."""
    item, variant, (call, _) = log_row.item, log_row.variant, log_row.calls[0]
    scored = call.request.kind == "score"
    of_text = READ_TEXT if item.kind != "text" else READ_MATH if is_mathematics else READ_WORDS
    extractor = _CLOZE if scored else EXTRACTORS[of_text]
    is_words = extractor.name in (READ_WORDS, READ_MATH)
    if item.kind not in extractor.applies_to or (is_words and not _is_short(item.target)):
        return []
    if is_scored and (
        item.target is None if is_words else item.kind == "choice" and not scored and "\n" in (item.target or "")
    ):
        return []
    reading = extractor.read(item, variant, [_as_whole(log_row, completion) for _, completion in log_row.calls])
    return [
        Readout(
            call.model,
            item.item_id,
            variant.axis,
            variant.variant_id,
            log_row.sample,
            extractor.name,
            reading,
            correctness(reading, variant.target),
            tuple(call.call_id for call, _ in log_row.calls),
        )
    ]


def _is_short(target: str | None) -> bool:
    """Whether any right answer is a few words, which a text can match; code or a summary is matched by no other text."""
    return target is None or any(len(one.split()) <= MOST_WORDS for one in target.split("\n"))


def _as_whole(log_row: LogRow, completion: Completion) -> Completion:
    """A text that is an option's label and nothing else is a whole answer, although its limit of one token ended it."""
    is_label = completion.text.strip().rstrip(".)") in log_row.variant.labels and log_row.item.kind == "choice"
    return replace(completion, finish_reason="stop") if is_label else completion
