"""Survey files before anything is stored: their formats, outputs, items, and what was guessed.

The survey takes one pass over the records and keeps counts, no texts. The command line and the page
show the `Survey`, the user corrects its guesses, and the import follows it.
"""

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from flipcore.core.errors import BadInput
from flipcore.core.garbage import fewer_collections
from flipcore.core.grade_scales import usual_scale
from flipcore.core.records import BASE, LOWER_IS_BETTER, OTHER_PROMPT, WRITTEN_MATH
from flipcore.datasets.reading.log_files import Source, lfs_pointer, sources
from flipcore.datasets.recorded.formats import READERS, lm_eval
from flipcore.datasets.recorded.formats.reader import Reader
from flipcore.datasets.recorded.formats.tables import NO_TEXT, TABLE, may_be_table, table_reader
from flipcore.datasets.recorded.hash_table import HashTable, hash_of
from flipcore.datasets.recorded.kept_records import KeptRecords
from flipcore.datasets.recorded.layouts import layouts_of
from flipcore.datasets.recorded.log_answers import kind_of
from flipcore.datasets.recorded.log_documents import Document, DocumentIndex, Documents
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    ReportedScore,
)
from flipcore.datasets.recorded.plain_tables import NotPlain, PlainRow, PlainTable
from flipcore.datasets.recorded.table_names import first_states, names_of_tables
from flipcore.datasets.tables.grid import MIN_CLUSTERS
from flipcore.datasets.tables.sentence import question_text
from flipcore.datasets.tables.table_reading import Question
from flipcore.extractors import EXTRACTORS
from flipcore.runs.log_corrections import axis_of, corrected, in_order, model_of, scale_in
from flipcore.text.answers import answer_form, are_mathematics, decimal_text
from flipcore.text.counts import count_of
from flipcore.text.same_question import joined_clusters, question_key

PART_OF_ITEMS = "part of the items"
# Faultless logs have these facts too. The study's id leaves them out, so that it stays the same.
LATER_FACTS = (PART_OF_ITEMS,)
MAX_ITEMS = 200_000  # a file with more items is not counted item by item


@dataclass
class LogFacts:
    """Contradictions between the rows of one file and its own plan, or among rows, for the audit.
    Counted while the rows are read: items × epochs, ids that the plan does not name, models that
    answered, temperatures, and times. `about` is the description that the file holds of itself."""

    file: str
    about: LogAbout
    # (item, hash of its question and right answers, epoch) -> rows
    rows: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    # Only in tables without a column for the sample:
    # (task, model, item, variant, scorers) -> rows that no column tells apart
    runs: Counter[tuple[str, ...]] = field(default_factory=Counter)
    served: Counter[str] = field(default_factory=Counter)  # model named in the reply -> rows
    temperatures: Counter[float] = field(default_factory=Counter)
    n_backward: int = 0  # rows that end before they start

    def add(self, record: LogRecord) -> None:
        if self.about.plan and len(self.rows) < MAX_ITEMS:
            content = hash_of(record.question, *record.options, *record.targets)
            self.rows[record.item, content, str(record.sample)] += 1
        columns = self.about.columns
        if columns.get("score") and not columns.get("sample") and len(self.runs) < MAX_ITEMS:
            scorers = ", ".join(readout.name for readout in record.readouts)
            self.runs[record.task, record.model, record.item, record.variant, scorers] += 1
        if record.served_model:
            self.served[record.served_model] += 1
        temperature = record.sampling.get("temperature")
        if isinstance(temperature, (int, float)):
            self.temperatures[float(temperature)] += 1
        self.n_backward += record.is_backward

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield (subject, sentence) for each contradiction."""
        yield from self._against_plan()
        items = {(task, item) for task, _, item, *_ in self.runs}
        repeated_items = {(task, item) for (task, _, item, *_), n in self.runs.items() if n > 1}
        if repeated_items:
            yield (
                "rows alike",
                f"{self.file}: {len(repeated_items):,} of {count_of(len(items), 'item')} "
                "stand in several rows that no column tells apart; they are read as reruns of one "
                "prompt. If another column tells them apart: --map sample=COLUMN, scorer=COLUMN.",
            )
        if len(self.served) > 1:
            names = ", ".join(f"{name} ({n:,})" for name, n in self.served.most_common(4))
            yield (
                "several models",
                f"{self.file}: {len(self.served)} models answered under one name: {names}.",
            )
        if len(self.temperatures) > 1:
            values = ", ".join(
                f"{value:g} ({n:,})" for value, n in self.temperatures.most_common(4)
            )
            yield (
                "several temperatures",
                f"{self.file}: the rows were asked at {len(self.temperatures)} temperatures: "
                f"{values}.",
            )
        if self.n_backward:
            ends = count_of(self.n_backward, "sample ends", "samples end")
            yield (
                "times",
                f"{self.file}: {ends} before {'it' if self.n_backward == 1 else 'they'} started.",
            )

    def _against_plan(self) -> Iterator[tuple[str, str]]:
        plan = self.about.plan
        if not plan or not self.rows or len(self.rows) >= MAX_ITEMS:
            return
        # One id with two questions or two right answers counts as two items.
        items = Counter((item, content) for item, content, _ in self.rows)
        n_epochs = int(plan.get("epochs") or 1)
        n_doubled = sum(n - 1 for n in self.rows.values())
        if n_doubled:
            doubled = count_of(n_doubled, "row is", "rows are")
            yield ("rows doubled", f"{self.file}: {doubled} there twice, the same item and epoch.")
        planned_ids = plan.get("ids")
        unplanned_ids = [item for item, _ in items if planned_ids and item not in planned_ids]
        if unplanned_ids:
            n = count_of(len(unplanned_ids), "item is", "items are")
            yield (
                "items of no plan",
                f"{self.file}: {n} not in the log's own list of samples, the first "
                f"{unplanned_ids[0]}.",
            )
        n_planned = int(plan.get("items") or 0)
        n_missing = n_planned - (len(items) - len(unplanned_ids))
        if n_planned and n_missing > 0:
            yield (
                "rows missing",
                f"{self.file}: the log planned {count_of(n_planned, 'item')} × "
                f"{count_of(n_epochs, 'epoch')}; "
                f"{count_of(n_missing, 'item is', 'items are')} missing. "
                "The score is of those that are left.",
            )
        n_extra = len(items) - len(unplanned_ids) - n_planned
        if n_planned and n_extra > 0 and not planned_ids:
            yield (
                "items of no plan",
                f"{self.file}: the log planned {count_of(n_planned, 'item')} and holds "
                f"{len(items):,}.",
            )
        n_all = plan.get("all_items")
        if n_all and n_extra <= 0:
            which = (
                "drawn at random" if plan.get("is_drawn") else "the first ones, not a random part"
            )
            yield (
                PART_OF_ITEMS,
                f"{self.file}: the score is of {n_planned:,} of {n_all:,} items ({which}).",
            )
        n_short = sum(n < n_epochs for n in items.values())
        if n_short:
            yield (
                "epochs missing",
                f"{self.file}: {n_short:,} of {len(items):,} items have fewer than the "
                f"{n_epochs} epochs that were planned.",
            )


@dataclass
class ScoreCounts:
    """Counts of one scorer's scores on one task, to find out on which scale they are."""

    n: int = 0  # rows with a score
    n_none: int = 0  # rows without one
    n_failed: int = 0  # of these, calls of which the file says why they failed
    n_unit: int = 0  # scores from 0 to 1, both included
    n_between: int = 0  # scores strictly between 0 and 1
    n_above_ten: int = 0
    n_whole: int = 0  # whole numbers
    outside: tuple[float, str] | None = None  # the first score outside 0 to 1, and its place

    def add(self, score: float | None, place: str, *, has_failed: bool = False) -> None:
        if score is None:
            self.n_none += 1
            self.n_failed += has_failed
            return
        self.n += 1
        self.n_unit += 0 <= score <= 1
        self.n_between += 0 < score < 1
        self.n_above_ten += score > 10
        self.n_whole += float(score).is_integer()
        if not 0 <= score <= 1 and self.outside is None:
            self.outside = score, place

    def sentences(
        self, name: str, low: float, high: float, *, is_declared: bool
    ) -> Iterator[tuple[str, str]]:
        """Yield (subject, sentence) for each doubt about the scale from `low` to `high`. Raises
        BadInput if shares and percentages are mixed and no scale is declared, because their mean
        says nothing."""
        # an error may be small or large
        is_open = not (is_declared or name.endswith(LOWER_IS_BETTER))
        if is_open and min(self.n_between, self.n_above_ten) > (1 - _NEARLY_ALL) * self.n:
            raise BadInput(
                f"The column {name} holds {self.n_between:,} scores between 0 and 1 "
                f"and {self.n_above_ten:,} up to {high:g}: two scales. Write all on one scale, "
                "or name another column: --map score=COLUMN."
            )
        # The audit names the errors of failed calls, which need no other explanation.
        if self.n_none > self.n_failed and self.n:
            hold = "row holds" if self.n_none == 1 else "rows hold"
            failed = f" {count_of(self.n_failed, 'call')} of them failed." if self.n_failed else ""
            yield (
                "no score",
                f"{name}: {self.n_none:,} of {self.n + self.n_none:,} {hold} no score "
                f"and count in no mean.{failed}",
            )
        if is_declared:
            return
        # a word error rate may be above 1
        is_rate = self.n_unit >= _NEARLY_ALL * self.n and not name.endswith(LOWER_IS_BETTER)
        if self.outside and is_rate:
            value, place = self.outside
            yield (
                "outside the scale",
                f"{name}: {self.n_unit:,} of {self.n:,} scores lie from 0 to 1, and "
                f"{value:g} does not ({place}); the scale is taken to run from {low:g} to "
                f"{high:g}. Correct it, or name another column: --map score=COLUMN.",
            )
        elif self.n_above_ten and 0 <= low and high <= 100 and self.n_whole == self.n:
            yield (
                "percentages",
                # an earlier study of the file has the same id only with the same words
                f"{name} holds whole numbers from {low:g} to {high:g}, read as grades on "
                "that scale. If they are percentages, write 85% as 85% or 0.85.",
            )


class ItemPlace(NamedTuple):
    """The item that a record belongs to: its number among the documents, and its groups."""

    task: str
    document: int
    role: str
    family: str
    subject: str


class ScoreRow(NamedTuple):
    """One scorer's score for one model's answer. `is_right` is None for a score without a verdict.
    `scorer` is NOTHING_READ where no scorer judged the answer. The fields from `task` to `subject`
    are those of the `ItemPlace`."""

    model: str
    task: str
    document: int
    role: str
    family: str
    subject: str
    scorer: str
    score: float | None
    is_right: bool | None


class ReadScores:
    """Scores of the items' first prompts, kept so that they can be shown before anything is stored.
    `is_whole` is False if the rows alone do not tell the score: there are too many rows, or an
    answer that our own extractors have to judge."""

    def __init__(self, corrections: Mapping[str, str]) -> None:
        self.corrections = corrections
        self.reset()

    def reset(self) -> None:
        """Begin anew, because the rows so far will be read again."""
        self.is_whole = True
        # Items by (task, document number).
        self.items_with_versions: set[tuple[str, int]] = set()  # asked with another prompt too
        self.question_hashes: dict[tuple[str, int], int] = {}  # of question and prompt
        self.rows: list[ScoreRow] = []

    def add(self, record: LogRecord, model: str, document: Document, axis: str) -> None:
        if not (record.variant == BASE or (not record.variant and axis == OWN_PROMPT)):
            self.items_with_versions.add((document.task, document.number))
            return
        self.note_question(record, document)
        self.add_readouts(model, self.place_of(record, document), record.readouts)

    def place_of(self, record: LogRecord, document: Document) -> ItemPlace:
        """Return the item of a record that answers the item's first prompt."""
        role = self.corrections.get(f"role:{record.task}") or self.corrections.get("role")
        return ItemPlace(
            document.task, document.number, role or record.role, record.family, record.category
        )

    def add_readouts(self, model: str, place: ItemPlace, readouts: Sequence[LogReadout]) -> None:
        """Add the scores that scorers gave a model's answer to an item."""
        n_before = len(self.rows)
        for readout in readouts:
            is_judged = readout.is_correct is not None or readout.score is not None
            is_empty = readout.answer is None and readout.place is None and not readout.unreadable
            self.is_whole &= is_judged or is_empty
            if is_judged:
                scored = readout.name, readout.score, readout.is_correct
                self.rows.append(ScoreRow(model, *place, *scored))
        if len(self.rows) == n_before:
            self.rows.append(ScoreRow(model, *place, NOTHING_READ, score=None, is_right=None))
        if len(self.rows) > MAX_ITEMS:
            self.is_whole, self.rows = False, []

    def note_question(self, record: LogRecord, document: Document) -> None:
        """Hash the item's question, so that one question under many ids counts as one cluster."""
        item = document.task, document.number
        question, right_answers = record.question.strip() or record.prompt, _right_answers(record)
        key = question_key(question, record.options, "\n".join(right_answers))
        if key is not None:
            question_hash = hash((key, record.prompt or record.question, record.system))
            self.question_hashes[item] = min(
                question_hash, self.question_hashes.get(item, question_hash)
            )

    def scores(self, log_survey: "Survey", readout_name: Callable[[str], str]) -> list[dict]:
        """Return the rows that `store.queries.scores` will return once the log is stored.
        `readout_name` turns the log's name of a scorer into the study's name of the readout."""
        # item -> (role, cluster), both from the item's first row
        first_seen: dict[tuple[str, int], tuple[str, str]] = {}
        rows: list[dict] = []
        keys = []
        # With several models, an item without a score may never have been asked of one of them.
        has_one_model = len({row.model for row in self.rows}) == 1
        for row in self.rows:
            if row.scorer == NOTHING_READ and not has_one_model:
                continue
            item, item_id = (row.task, row.document), f"{row.task}/{row.document}"
            group_names = {"family": row.family, "subject": row.subject}
            group = group_names.get(log_survey.clusters.get(row.task, ""))
            cluster = f"{row.task}/{group}" if group else item_id
            role, cluster = first_seen.setdefault(item, (row.role, cluster))
            low, high = log_survey.scale(row.task, row.scorer) if row.scorer else (0.0, 1.0)
            if not log_survey.declared_scale(row.scorer):
                low, high = usual_scale(low, high)
            is_grade = low < 0 or high > 1
            score = row.score if row.is_right is None or is_grade else float(row.is_right)
            keys.append(self.question_hashes.get(item))
            rows.append(
                {
                    "model": row.model,
                    "task": row.task,
                    "item_id": item_id,
                    "role": role,
                    "extractor": row.scorer and readout_name(row.scorer),
                    "score": score,
                    "family": cluster,
                    "has_versions": item in self.items_with_versions,
                }
            )
        clusters = joined_clusters([score_row["family"] for score_row in rows], keys)
        for score_row, cluster in zip(rows, clusters, strict=True):
            score_row["family"] = cluster
        return rows


NOTHING_READ = ""  # in place of a scorer's name: a call that failed, or a row without a score
# Subjects of questions whose tables are refused later, with another sentence.
REFUSED_LATER = ("score", "percentages")
_MAX_READING_SENTENCES = 3  # sentences on how tables are read
# Where this share of a column's scores lies from 0 to 1, a score outside is a slip, not a grade.
_NEARLY_ALL = 0.9
MAX_REFUSALS = 200  # sentences that are kept on refused rows
_REPORT_EVERY = 2_000  # rows
_N_SHOWN = 8  # records
_PREVIEW_CHARS = 160  # of a text in a preview
ITEMS = -1  # in place of a file's number: `KeptRecords` then holds a plain table's items
_RECORD_CORRECTIONS = ("join", "target", "prompt", "sample")  # corrections that change records


@dataclass(frozen=True)
class LogFile:
    """One file of an import: its reader, its description of itself, and a digest of its bytes."""

    source: Source
    reader: Reader
    about: LogAbout
    revision: str
    settings: str = ""  # of its run, where another file has other settings for this task and model

    def model_of(self, corrections: Mapping[str, str], name: str) -> str:
        """Return the name of a model of its records, with the settings that tell two runs apart."""
        model = model_of(corrections, name)
        if not self.settings:
            return model
        return model_of(corrections, f"{model}, {self.settings}")


@dataclass
class Survey:
    """Files that were recognised, and what was counted in them. `kinds` and `clusters` are by task.
    `models` (with their sampling), `readouts` and `axes` (both with the number of rows) stand in
    the order in which they appear."""

    files: list[LogFile]
    companions: list[Source]  # files that another file needs, such as a harness's results
    unread: list[str]  # a sentence per file that was not read, or not to its end
    corrections: Mapping[str, str] = field(default_factory=dict)
    n_records: int = 0
    n_rows: Counter[str] = field(default_factory=Counter)  # by model
    n_refused: int = 0  # rows
    n_samples: int = 1
    refusals: list[str] = field(default_factory=list)  # sentences for the first refused rows
    kinds: dict[str, str] = field(default_factory=dict)
    models: dict[str, dict] = field(default_factory=dict)
    readouts: dict[str, int] = field(default_factory=dict)
    axes: dict[str, int] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    # tasks whose right answers are formulas that our own extractor can read
    mathematics: list[str] = field(default_factory=list)
    joining: list[str] = field(default_factory=list)  # sentences on how files share items
    n_repeated: int = 0  # prompts that stand under two names within an item
    marks: dict[str, int] = field(default_factory=dict)  # study -> answers to its planned prompts
    has_text: bool = False
    has_scores: bool = False
    # task -> scorer -> (lowest, highest) score
    scales: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    # (task, readout) with a score or an answer in at least one row
    readouts_in_rows: set[tuple[str, str]] = field(default_factory=set)
    # (task, scorer) -> counts; in tables only
    score_counts: dict[tuple[str, str], ScoreCounts] = field(default_factory=dict)
    # (subject, sentence) of each contradiction between rows and their log
    facts: list[tuple[str, str]] = field(default_factory=list)
    first: list[LogRecord] = field(default_factory=list)  # the first records, for a preview
    placed: DocumentIndex = field(default_factory=DocumentIndex)  # the item of each record
    kept: KeptRecords = field(default_factory=KeptRecords)  # records read so far, per file
    is_plain: bool = False  # a table whose rows need not become records; `placed` has its items

    def scale(self, task: str, scorer: str) -> tuple[float, float]:
        """Return the ends of the scale as declared, or else the range of the scores in the rows.
        Raises BadInput for a score beyond the declared scale."""
        low, high = self.scales.get(task, {}).get(scorer, (0.0, 1.0))
        if not (declared := self.declared_scale(scorer)):
            return low, high
        declared_low, declared_high = scale_in(declared)
        if low < declared_low or high > declared_high:
            raise BadInput(
                f"{scorer} holds scores from {low:g} to {high:g}, beyond the scale {declared} "
                "that is declared."
            )
        return declared_low, declared_high

    def declared_scale(self, scorer: str) -> str:
        """Return "1..5", or "" if nobody declared the scorer's scale."""
        return self.corrections.get(f"scale:{scorer}") or self.corrections.get("scale") or ""

    def records(self) -> Iterator[LogRecord]:
        """Yield the records of all files again, without the rows that were refused."""
        for number in range(len(self.files)):
            for record in self.records_of(number):
                if isinstance(record, LogRecord):
                    yield record

    def records_of(self, number: int) -> Iterator[LogRecord | Rejection]:
        """Yield the records of one file as far as it can be read; kept ones are not read again."""
        if self.kept.holds(number):
            yield from self.kept.records(number)
            return
        with suppress(BadInput):  # `unread` has a sentence on it
            yield from self.reread(number)

    def reread(self, number: int) -> Iterator[LogRecord | Rejection]:
        """Read a file again. Raises BadInput at the place where it cannot be read any further."""
        if self.is_plain:
            return self.plain_table().records()
        file = self.files[number]
        records = file.reader.records(file.source, self.companions)
        return corrected(records, self.corrections, file.source.name)

    def plain_table(self) -> PlainTable:
        """Open the plain table, to read its rows once more."""
        (file,) = self.files
        assert file.reader.plain is not None
        return file.reader.plain(file.source)

    @property
    def read_as(self) -> list[str]:
        """Sentences on how the tables were read, each once."""
        return list(dict.fromkeys(file.about.read_as for file in self.files if file.about.read_as))

    @property
    def questions(self) -> list[Question]:
        """Questions that the tables leave open, each once."""
        questions: dict[tuple[str, tuple[str, ...]], Question] = {}
        for file in self.files:
            for question in file.about.questions:
                questions.setdefault((question.about, question.first.words), question)
        return list(questions.values())

    @property
    def is_table(self) -> bool:
        """True if all files are tables that no harness wrote."""
        return all(file.reader.name == TABLE for file in self.files)

    @cached_property
    def is_scored_table(self) -> bool:
        return self.is_table and any(file.about.columns.get("score") for file in self.files)

    @property
    def reported(self) -> list[ReportedScore]:
        """Scores that the logs report, under the names that their models have in this study."""
        scores = []
        for file in self.files:
            for score in file.about.reported:
                model = file.model_of(self.corrections, score.model)
                scores.append(replace(score, model=model))
        return scores

    @property
    def files_of_reported(self) -> list[str]:
        """Revision of each reported score's file; empty where there is one file."""
        if len(self.files) < 2:
            return []
        revisions: list[str] = []
        for file in self.files:
            revisions += [file.revision] * len(file.about.reported)
        return revisions

    @property
    def name(self) -> str:
        """Name of the study: as corrected, else that of a single table, else tasks and models."""
        if self.corrections.get("name"):
            return self.corrections["name"]
        label = ""
        if self.is_table and len(self.files) == 1:
            label = str(self.files[0].about.columns["dataset"])
        label = label or f"{_first_two(list(self.kinds))} by {_first_two(list(self.models))}"
        return f"{label}, recorded"

    def sentences(self) -> list[str]:
        """Return sentences for the user: what was recognised, what is used, what is left out."""
        formats = Counter(file.about.format for file in self.files)
        sentences = self.read_as[:_MAX_READING_SENTENCES] + [
            "Recognised: " + ", ".join(f"{n:,} × {name}" for name, n in formats.items()) + "."
        ]
        n_rows, n_tasks = count_of(self.n_records, "row"), count_of(len(self.kinds), "task")
        sentences.append(
            f"{n_rows} on {n_tasks}; models: {', '.join(self.models)}; "
            f"readouts: {', '.join(self.readouts) or 'none recorded'}."
        )
        kinds = [f"{task}={kind}" for task, kind in list(self.kinds.items())[:12]]
        sentences.append(f"Kinds: {', '.join(kinds)}.")
        answers = ", ".join(f"{n:,} of the study {study_id}" for study_id, n in self.marks.items())
        sentences += [f"Answers to planned prompts: {answers}."] if answers else []
        # As keys of a dictionary, each appears once, in order.
        uses: dict[str, None] = {}
        leftovers: dict[str, None] = {}
        notes: dict[str, None] = {}
        for file in self.files:
            uses |= dict.fromkeys(file.about.uses)
            leftovers |= dict.fromkeys(file.about.leaves)
            notes |= dict.fromkeys(file.about.notes)
        sentences += [f"Read with them: {', '.join(uses)}."] if uses else []
        sentences += [f"Not used: {', '.join(leftovers)}."] if leftovers else []
        sentences += [*notes, *self.joining]
        if self.n_repeated:
            repeats = count_of(self.n_repeated, "prompt stands", "prompts stand")
            sentences.append(f"{repeats} under two names within an item, counted as recorded.")
        if self.n_refused:
            sentences.append(
                f"Rows that were refused: {self.n_refused:,}. The first: {self.refusals[0]}"
            )
        return sentences + self.unread


def _first_two(names: Sequence[str]) -> str:
    n_more = len(names) - 2
    return ", ".join(names[:2]) + (f" and {n_more} more" if n_more > 0 else "")


def recognize_files(
    paths: Sequence[str | Path], corrections: Mapping[str, str] | None = None
) -> tuple[list[LogFile], list[Source], list[str]]:
    """Return (files that a reader knows, their companions, a sentence per other file)."""
    source_readers: list[tuple[Source, Reader | None]] = []
    companions, unread = [], []
    corrections = corrections or {}
    all_sources = sources(paths)
    tables = _tables(all_sources, corrections.get("format", ""))
    table_paths = {table.path for table in tables}
    layouts = layouts_of(tables)
    superseded = first_states(tables, layouts)
    names = names_of_tables((table for table in tables if table.name not in superseded), layouts)
    for source in all_sources:
        if source.name in superseded:
            continue
        try:
            pointer = lfs_pointer(source) if source.size else f"{source.name} is empty."
            if pointer:
                unread.append(pointer)
            elif any(reader.belongs(source) for reader in READERS):
                companions.append(source)
            elif source.path in table_paths:
                name, layout = names.get(source.name), layouts.get(source.path)
                source_readers.append((source, table_reader(source, corrections, name, layout)))
            else:
                source_readers.append((source, _reader(source, corrections)))
        except (BadInput, OSError) as error:
            is_named = len(all_sources) == 1 or source.name in str(error)
            unread.append(str(error) if is_named else f"{source.name}: {error}")
    files = []
    samples = []
    # With one model for all files, further files are runs of it and need no names of their own.
    if not corrections.get("model"):
        samples = [source for source, reader in source_readers if reader is lm_eval.READER]
    names_of_models = lm_eval.names_of_samples(samples, companions)
    for source, reader in source_readers:
        if source.name in names_of_models:
            reader = lm_eval.named_reader(names_of_models[source.name])
        if reader is None:
            if len(all_sources) == 1 or not _BESIDE_LOGS.search(source.name):
                unread.append(f"{source.name}{_UNKNOWN}")
            continue
        try:
            about = reader.about(source, companions)
            about.notes += [
                f"{name} holds less of the same rows, and is left out."
                for name, successor in superseded.items()
                if successor == source.name
            ]
            files.append(LogFile(source, reader, about, _revision(source)))
        except BadInput as error:
            unread.append(str(error))
    return files, companions, unread


_UNKNOWN = " is no log that is known here; it is left out."
_BESIDE_LOGS = re.compile(
    r"(^|/)(LICEN[CS]E|README|NOTICE|COPYING)[^/]*$|\.(md|rst|pdf|png|jpe?g|svg|html|py|sh|ipynb)$"
)


def tables_in(paths: Sequence[str | Path], words: Sequence[str] = ()) -> list[Source]:
    """Return the tables among files; `words` are corrections as "key=value". Empty where a file is
    the log of a known harness, unless `format=table` asks for tables."""
    formats = [word.partition("=")[2] for word in words if word.startswith("format=")]
    return _tables(sources(paths), formats[-1] if formats else "")


def _tables(all_sources: Sequence[Source], wanted_format: str) -> list[Source]:
    if wanted_format not in ("", TABLE):
        return []
    if not wanted_format and any(map(_is_log, all_sources)):
        return []
    return [source for source in all_sources if may_be_table(source)]


def _is_log(source: Source) -> bool:
    try:
        state = source.path.stat()
    except OSError:
        return False  # the reader will raise the reason
    key = source.path, state.st_mtime_ns, state.st_size
    if key not in _known_logs:
        if len(_known_logs) > MAX_KNOWN:
            _known_logs.clear()
        _known_logs[key] = _is_of_harness(source)
    return _known_logs[key]


# (path, time of change, size) -> whether it is a log. The command asks first, then the survey.
_known_logs: dict[tuple[Path, int, int], bool] = {}
MAX_KNOWN = 50_000


def _is_of_harness(source: Source) -> bool:
    try:
        return bool(lfs_pointer(source)) or any(
            reader.belongs(source) or reader.recognises(source) for reader in READERS
        )
    except (BadInput, OSError):
        return False  # the reader will raise the reason


def _reader(source: Source, corrections: Mapping[str, str]) -> Reader | None:
    if corrections.get("format"):
        return next(reader for reader in READERS if reader.name == corrections["format"])
    return next((reader for reader in READERS if reader.recognises(source)), None)


def _revision(source: Source) -> str:
    with source.path.open("rb") as stream:
        return f"recorded-{hashlib.file_digest(stream, 'sha256').hexdigest()[:8]}"


def require_unchanged(log_survey: Survey) -> None:
    """Raise BadInput if a file changed since the survey: the counts belong to its old rows."""
    for file in log_survey.files:
        try:
            is_same = _revision(file.source) == file.revision
        except OSError:
            is_same = False
        if not is_same:
            raise BadInput(f"{file.source.name} changed since it was looked at; import it again.")


def survey(
    paths: Sequence[str | Path],
    corrections: Mapping[str, str] | None = None,
    on_progress: Callable[[int], None] | None = None,
    scores: ReadScores | None = None,
    on_read: Callable[[Survey], None] | None = None,
) -> Survey:
    """Read all files once, and collect the scores of their rows in `scores`, if given.

    `on_read` gets the survey before any row is read, to tell the user how tables are read. Without
    it, an open question that could change a score raises BadInput. So does a selection without a
    log or without a usable row.
    """
    corrections = corrections or {}
    files, companions, unread = recognize_files(paths, corrections)
    if not files:
        no_outputs = (
            f"{', '.join(companion.name for companion in companions[:3])} holds no outputs: it "
            "goes with the log of a harness. Give its folder."
        )
        sentences = unread[:5]
        if unread and all(sentence.endswith(_UNKNOWN) for sentence in unread):
            sentences.append(
                "Give a harness's log or a table of outputs. Items and texts for a model belong "
                "under New study."
            )
        raise BadInput(
            " ".join(sentences)
            or (
                no_outputs
                if companions
                else "There is no file; give a log, a folder of logs or a zip."
            )
        )
    files = in_order(_with_settings(files), corrections, lambda file: file.source.name)
    log_survey = Survey(files, companions, unread, corrections)
    if on_read:
        on_read(log_survey)
    else:
        # Nobody can answer an open question here, so no score may be claimed.
        for question in log_survey.questions:
            if question.moves_score and question.about not in REFUSED_LATER:
                raise BadInput(question_text(question))
    unreadable = [file.about.unreadable for file in files if file.about.unreadable]
    if unreadable:
        raise BadInput(unreadable[0])
    with fewer_collections():
        plain_survey = _count_plain_table(log_survey, scores, on_progress)
        if plain_survey is not None:
            log_survey, counts = plain_survey
        else:
            counts = _InterimCounts(corrections, log_survey.placed)
            for number in range(len(files)):
                _count_file(log_survey, number, counts, scores, on_progress)
    votes, forms, items = counts.votes, counts.forms, counts.items
    if not log_survey.n_records:
        raise BadInput(
            " ".join([*log_survey.refusals[:1], *log_survey.unread[:3]])
            or "The files hold no outputs."
        )
    for task, kind_counts in votes.items():
        guess = "text" if kind_counts["text"] else "number"
        if 2 * kind_counts["choice"] > kind_counts.total():
            guess = "choice"
        log_survey.kinds[task] = corrections.get(f"kind:{task}") or corrections.get("kind") or guess
        declared_cluster = corrections.get(f"cluster:{task}") or corrections.get("cluster")
        if log_survey.kinds[task] == "text" and are_mathematics(forms.get(task, {})):
            log_survey.mathematics.append(task)
        log_survey.clusters[task] = declared_cluster or (
            "family" if items.has_families(task) else "none"
        )
    log_survey.joining = items.sentences(log_survey.clusters)
    if log_survey.mathematics and (reason := EXTRACTORS[WRITTEN_MATH].why_not()):
        tasks = ", ".join(log_survey.mathematics)
        reason += f" Without it the formulas of {tasks} are compared as words."
        log_survey.mathematics, log_survey.joining = [], [*log_survey.joining, reason]
        log_survey.facts.append(("formulas", reason))
    log_survey.facts += _doubts(log_survey)
    return log_survey


class _InterimCounts:
    """Counts from which the survey's guesses are made once all records were read."""

    def __init__(self, corrections: Mapping[str, str], placed: DocumentIndex) -> None:
        self.votes: dict[str, Counter] = {}  # task -> kind of item -> records
        self.forms: dict[str, Counter] = {}  # task -> form of a right answer -> records
        self.items = _Items(corrections.get("join", ""), placed)


def _count_file(
    log_survey: Survey,
    number: int,
    counts: _InterimCounts,
    scores: ReadScores | None,
    on_progress: Callable[[int], None] | None,
) -> None:
    """Count the records of a file, as far as it can be read."""
    file, corrections = log_survey.files[number], log_survey.corrections
    facts = LogFacts(file.source.name, file.about)
    try:
        for record in log_survey.kept.keep(number, log_survey.reread(number)):
            _count_record(record, log_survey, counts.votes, file)
            if isinstance(record, LogRecord):
                if not record.options:
                    forms = counts.forms.setdefault(record.task, Counter())
                    forms.update(map(answer_form, record.targets))
                facts.add(record)
                model = file.model_of(corrections, record.model)
                log_axis, document = counts.items.axis_and_document(
                    record, model, number, file.about.format
                )
                if scores:
                    scores.add(record, model, document, log_axis)
                axis = axis_of(corrections, log_axis)
                log_survey.axes[axis] = log_survey.axes.get(axis, 0) + 1
            if on_progress and (log_survey.n_records + log_survey.n_refused) % _REPORT_EVERY == 0:
                on_progress(log_survey.n_records)
    except BadInput as error:
        log_survey.unread.append(f"{error} What stands before that place is used.")
    log_survey.facts += facts.sentences()


# A plain table has one row per item and model, so each question is examined once per item.


def _count_plain_table(
    log_survey: Survey, scores: ReadScores | None, on_progress: Callable[[int], None] | None
) -> tuple[Survey, _InterimCounts] | None:
    """Count the rows of a plain table; None, with nothing counted, for any other file."""
    if len(log_survey.files) > 1 or log_survey.files[0].reader.plain is None:
        return None
    if any(key.partition(":")[0] in _RECORD_CORRECTIONS for key in log_survey.corrections):
        return None
    table_survey = Survey(
        log_survey.files,
        log_survey.companions,
        [*log_survey.unread],
        log_survey.corrections,
        is_plain=True,
    )
    counts = _InterimCounts(log_survey.corrections, table_survey.placed)
    try:
        items = _count_plain_rows(table_survey, counts, scores, on_progress)
        for _ in table_survey.kept.keep(ITEMS, items):
            pass  # `keep` stores each item as it passes by
    except (NotPlain, BadInput):
        if scores:
            scores.reset()
        return None
    return table_survey, counts


def _count_plain_rows(
    log_survey: Survey,
    counts: _InterimCounts,
    scores: ReadScores | None,
    on_progress: Callable[[int], None] | None,
) -> Iterator[LogRecord]:
    """Count the rows of a plain table; yield the first record of each item, without its output.
    Raises NotPlain at a row that cannot be understood without the records before it."""
    file, table, corrections = log_survey.files[0], log_survey.plain_table(), log_survey.corrections
    items = _PlainItems()
    numbers = array("I")  # row -> number of its item
    places: list[ItemPlace] = []  # item -> its place among the scores
    n_rows: Counter[int] = Counter()  # group of items -> rows
    n_rows_by_model: Counter[str] = Counter()
    for row in table.rows():
        if isinstance(row, Rejection):
            _count_refusal(row, log_survey)
            continue
        model = file.model_of(corrections, row.model)
        number, record = items.number(table, row, model)
        numbers.append(number)
        group_index = items.group_indices[number]
        n_rows[group_index] += 1
        readouts = table.readouts(row)
        task = items.groups[group_index].task
        if record is not None:
            document = Document(number, task, shares_hash=False, is_new=True)
            counts.items.note(record, document)
            if scores and scores.is_whole:
                scores.note_question(record, document)
                places.append(scores.place_of(record, document))
            record.text, record.readouts = None, ()
            yield record
        if len(log_survey.first) < _N_SHOWN:
            log_survey.first.append(table.record(row))
        log_survey.n_records += 1
        n_rows_by_model[row.model] += 1
        text, error = table.text(row)
        log_survey.has_text = log_survey.has_text or text is not None
        if readouts:
            place = f"Line {row.line} of {table.file}"
            _count_readouts(log_survey, task, readouts, place, error=error)
        if scores and scores.is_whole:
            scores.add_readouts(model, places[number], readouts)
        if on_progress and log_survey.n_records % _REPORT_EVERY == 0:
            on_progress(log_survey.n_records)
    items.require_own_prompts()
    for group_index, n in n_rows.items():
        group = items.groups[group_index]
        counts.votes.setdefault(group.task, Counter())[group.kind] += n
        if not group.has_options:
            forms = counts.forms.setdefault(group.task, Counter())
            forms.update(dict.fromkeys(group.forms, 0))
            for form in group.forms:
                forms[form] += n
        axis = axis_of(corrections, group.axis)
        log_survey.axes[axis] = log_survey.axes.get(axis, 0) + n
    for name, n in n_rows_by_model.items():
        log_survey.n_rows[name] += n
        log_survey.models.setdefault(file.model_of(corrections, name), dict(items.sampling))
    tasks = [items.groups[group_index].task for group_index in items.group_indices]
    log_survey.placed.set_all(numbers, tasks)


class _ItemTraits(NamedTuple):
    """Properties that many items of a plain table share; equal ones form a group."""

    task: str
    kind: str
    axis: str
    has_options: bool
    forms: tuple[str, ...]  # of their right answers


class _PlainItems:
    """The items of a plain table, numbered in the order in which they appear."""

    def __init__(self) -> None:
        self.groups: list[_ItemTraits] = []
        self.group_indices = array("I")  # item -> index of its group
        self.sampling: Mapping[str, Any] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._index_of_group: dict[_ItemTraits, int] = {}
        self._contents, self._prompts = array("q"), array("q")  # item -> hash
        self._asked: dict[str, bytearray] = {}  # model -> item -> 1 where a row was seen

    def number(self, table: PlainTable, row: PlainRow, model: str) -> tuple[int, LogRecord | None]:
        """Return (number of the row's item, the record where the item is new, else None). Raises
        NotPlain for a second row of one item and model, and for a row whose item differs from the
        item's first row."""
        number, content = self._numbers.get(row.item), table.content(row)
        record = None
        if number is None:
            record = table.record(row)
            number = self._add(row, record, content)
        elif content != self._contents[number]:
            raise NotPlain
        asked = self._asked.setdefault(model, bytearray())
        if len(asked) <= number:
            # Grow in steps, because items come one by one.
            asked.extend(bytes(number + 1_024 - len(asked)))
        if asked[number]:
            raise NotPlain
        asked[number] = 1
        return number, record

    def _add(self, row: PlainRow, record: LogRecord, content: int) -> int:
        # Without a named axis, the axis depends on the records before this one.
        if not record.axis or record.variant != BASE:
            raise NotPlain
        traits = _ItemTraits(
            record.task,
            kind_of(record),
            record.axis,
            bool(record.options),
            tuple(map(answer_form, record.targets)),
        )
        if traits not in self._index_of_group:
            self._index_of_group[traits] = len(self.groups)
            self.groups.append(traits)
        number = self._numbers[row.item] = len(self._numbers)
        self.group_indices.append(self._index_of_group[traits])
        self._contents.append(content)
        self._prompts.append(hash((record.prompt or record.question, record.system)))
        self.sampling = record.sampling
        return number

    def require_own_prompts(self) -> None:
        """Raise NotPlain if two items share a prompt: only records tell their calls apart."""
        if len(set(self._prompts)) < len(self._prompts):
            raise NotPlain


def _count_refusal(refusal: Rejection, log_survey: Survey) -> None:
    log_survey.n_refused += 1
    if len(log_survey.refusals) < MAX_REFUSALS:
        log_survey.refusals.append(refusal.sentence)


def open_questions(
    paths: Sequence[str | Path], corrections: Mapping[str, str]
) -> tuple[list[str], list[Question]]:
    """Return (sentences on how tables are read, open questions), before any row is read."""
    files, companions, unread = recognize_files(paths, corrections)
    log_survey = Survey(files, companions, unread, corrections)
    return log_survey.read_as, log_survey.questions


def first_rows(paths: Sequence[str | Path], corrections: Mapping[str, str], n: int) -> list[dict]:
    """Return the first `n` rows for a preview. Raises BadInput if they cannot be read."""
    files, companions, _ = recognize_files(paths, corrections)
    rows: list[dict] = []
    for file in files:
        if file.about.unreadable:
            raise BadInput(file.about.unreadable)
        records = file.reader.records(file.source, companions)
        for record in corrected(records, corrections, file.source.name):
            if len(rows) == n:
                return rows
            if isinstance(record, LogRecord):
                rows.append(preview_row(record))
    return rows


def _with_settings(files: Sequence[LogFile]) -> list[LogFile]:
    """Return the files with `settings` set where one task and model ran under several settings. Two
    temperatures are two systems: the mean of both is the score of neither. Runs under the same
    settings stay reruns of one system."""
    settings: dict[tuple[str, str], set[str]] = {}
    for file in files:
        if run := file.about.run:
            settings.setdefault((run.task, run.model), set()).add(run.words)
    models = {model for (_, model), run_settings in settings.items() if len(run_settings) > 1}
    named_files = []
    for file in files:
        run = file.about.run
        if run and run.model in models:
            file = replace(file, settings=run.words)
        named_files.append(file)
    return named_files


def _doubts(log_survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield (subject, sentence) on doubtful scores, refused rows, and files that were left out."""
    for file in log_survey.files:
        yield from file.about.doubts
    for (task, name), counts in log_survey.score_counts.items():
        low, high = log_survey.scale(task, name)
        is_declared = bool(log_survey.declared_scale(name))
        yield from counts.sentences(name, low, high, is_declared=is_declared)
    if log_survey.is_table and log_survey.n_refused:
        were = "row was" if log_survey.n_refused == 1 else "rows were"
        yield (
            "rows refused",
            f"{log_survey.n_refused:,} {were} refused. The first: {log_survey.refusals[0]}",
        )
    if log_survey.is_table and (unread := log_survey.unread):
        yield (
            "files left out",
            unread[0]
            if len(unread) == 1
            else f"{len(unread):,} files were left out. The first: {unread[0]}",
        )
    if any(file.about.columns.get("model_columns") for file in log_survey.files):
        n_all = max(log_survey.n_rows.values())
        gaps = [f"{name} {n_all - n:,}" for name, n in log_survey.n_rows.items() if n < n_all]
        if gaps:
            yield (
                "no score",
                f"Cells without an answer, which count in no score, of {n_all:,}: "
                f"{', '.join(gaps)}.",
            )


def _count_record(
    record: LogRecord | Rejection, log_survey: Survey, votes: dict[str, Counter], file: LogFile
) -> None:
    if isinstance(record, Rejection):
        _count_refusal(record, log_survey)
        return
    log_survey.n_records += 1
    log_survey.n_rows[record.model] += 1
    log_survey.n_repeated += bool(record.repeat)
    if len(log_survey.first) < _N_SHOWN:
        log_survey.first.append(record)
    kind_counts = votes.get(record.task) or votes.setdefault(record.task, Counter())
    kind_counts[kind_of(record)] += 1
    model = file.model_of(log_survey.corrections, record.model)
    if model not in log_survey.models:
        log_survey.models[model] = dict(record.sampling)
    _count_readouts(log_survey, record.task, record.readouts, record.place, error=record.error)
    log_survey.n_samples = max(
        log_survey.n_samples, (record.sample_from or 0) + (record.sample or 0) + 1
    )
    if record.mark:
        log_survey.marks[record.mark.study_id] = log_survey.marks.get(record.mark.study_id, 0) + 1
    log_survey.has_text |= record.text is not None
    log_survey.has_scores |= record.option_scores is not None


def _count_readouts(
    log_survey: Survey, task: str, readouts: Sequence[LogReadout], place: str, *, error: str = ""
) -> None:
    for readout in readouts:
        name, score = readout.name, readout.score
        log_survey.readouts[name] = log_survey.readouts.get(name, 0) + 1
        if score is None and readout.is_correct is not None:
            score = float(readout.is_correct)
        if log_survey.is_scored_table:
            counts = log_survey.score_counts.get((task, name))
            if counts is None:
                counts = log_survey.score_counts[task, name] = ScoreCounts()
            counts.add(score, place, has_failed=error not in ("", NO_TEXT))
        has_answer = readout.answer is not None or readout.place is not None
        if score is not None or has_answer or readout.unreadable:
            log_survey.readouts_in_rows.add((task, name))
        if score is not None:
            scales = log_survey.scales.setdefault(task, {})
            low, high = scales.get(name, (score, score))
            scales[name] = min(low, score), max(high, score)


class _Items:
    """Items of all files, joined as the import will join them, and their families."""

    def __init__(self, join: str, placed: DocumentIndex) -> None:
        self.placed = placed
        self.documents, self._prompts, self._families = Documents(join), HashTable(1), HashTable(1)
        self.n_items: Counter[str] = Counter()
        self.n_families: Counter[str] = Counter()
        self._last: tuple[tuple, Document] | None = None

    def axis_and_document(
        self, record: LogRecord, model: str, source: int, file_format: str
    ) -> tuple[str, Document]:
        """Return (axis, document) of a record. A record without an axis of its own answers either
        the first prompt that its model was given for this item, or another prompt."""
        content = (
            source,
            record.task,
            record.item,
            record.item_hash,
            record.question,
            record.options,
            record.targets,
            record.axis,
        )
        if not self._last or self._last[0] != content:
            document = self.documents.place(record, source, file_format)
            self._last = (content, Document(document.number, document.task, document.shares_hash))
            self.note(record, document)
        else:
            document = self._last[1]
        self.placed.add(document)
        if record.axis:
            return record.axis, document
        owner, prompt = hash_of(model, str(document.number)), hash_of(record.prompt, record.system)
        first_prompt = self._prompts.get(owner)
        if first_prompt is None:
            self._prompts.set(owner, prompt)
            return OWN_PROMPT, document
        return OWN_PROMPT if first_prompt[0] == prompt else OTHER_PROMPT, document

    def note(self, record: LogRecord, document: Document) -> None:
        """Count the item and its family where they are new."""
        if document.is_new:
            self.n_items[document.task] += 1
        if record.family:
            family = hash_of(record.task, record.family)
            if self._families.get(family) is None:
                self._families.set(family, 0)
                self.n_families[record.task] += 1

    def has_families(self, task: str) -> bool:
        """Return whether the items of a task share enough templates or passages to be clusters."""
        return MIN_CLUSTERS <= self.n_families[task] < self.n_items[task]

    def sentences(self, clusters: Mapping[str, str]) -> list[str]:
        """Return sentences on items that were not joined by hash or id, and on clusters."""
        documents, sentences = self.documents, []
        if documents.n_other_text:
            sentences.append(
                f"{documents.n_other_text:,} ids stand for another text than before, so each "
                "text is an item of its own; the first: "
                f"{documents.first_other_text}. If the ids are right, use join=id."
            )
        if documents.n_by_text:
            with_other_ids = count_of(
                documents.n_by_text, "item has another id", "items have other ids"
            )
            sentences.append(f"{with_other_ids} in another file: joined by text.")
        for task, cluster in clusters.items():
            n_families, n_items = self.n_families[task], self.n_items[task]
            shared = f"{task}: {n_items:,} items share {n_families:,} templates or passages"
            if cluster == "family" and n_families:
                sentences.append(f"{shared}; each counts as one cluster.")
            elif 1 < n_families < min(MIN_CLUSTERS, n_items):
                sentences.append(
                    f"{shared}, too few for an "
                    "error bar: each item counts alone, which is too sure where they differ."
                )
        return sentences


def preview_row(record: LogRecord) -> dict:
    """Return a record as a row for a preview: shortened texts, and a column per readout."""
    # A question is recognized by its beginning, and an answer is mostly at the end.
    return {
        "item": record.item[:_PREVIEW_CHARS],
        "question": record.question[:_PREVIEW_CHARS],
        "model": record.model,
        "written": (record.text or "")[-_PREVIEW_CHARS:],
        "right": " or ".join(_right_answers(record))[-_PREVIEW_CHARS // 2 :],
    } | {readout.name: readout.answer or readout.score for readout in record.readouts}


def _right_answers(record: LogRecord) -> list[str]:
    """Return the right answers, an option by its text."""
    n_options = len(record.options)
    are_indices = record.target_is_place and all(
        target.isdecimal() and int(target) < n_options for target in record.targets
    )
    if are_indices and n_options:
        return [record.options[int(target)] for target in record.targets]
    if record.kind == "number":
        return [decimal_text(target) for target in record.targets]
    return list(record.targets)
