"""Judgements of people or models about pairs, outputs, keys, flips and survey entries.

Each kind has a table, all of the same structure. A `Kind` declares the table, the subject, the
question and the possible answers. Rows are only added. A row that `undoes` another one takes it
back. Of the others, a reviewer's latest on a subject counts (`store.queries.judgements.standing`).

A new kind needs more than an entry in `KINDS`: its table in `store/schema.sql`, a `Rule` in
`RULES` of `access/tables.py` (or only admins may write it), and a page that asks for it. One
question at a time is a module with a `Desk`, such as `pages/paraphrase_review/keys.py`, and a part
in `page.py` beside it.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flipcore.access.acting import Permission, signature
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.stats.flips.human_share import VERDICTS as FLIP_VERDICTS
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.visible import HIDDEN, OPEN

MAX_NAME_CHARS = 80
_ID = re.compile(r"[0-9a-f]{20}")


@dataclass(frozen=True)
class Kind:
    """A kind of judgement: its table, and the question that is asked about each subject.

    - `key`: column with the row's id.
    - `subject`: columns that identify the judged thing.
    - `reviewer`: column with the reviewer's name.
    - `series`: further columns. A reviewer's latest judgement of a subject replaces earlier ones
      only within the same series.
    - `words`: column -> allowed answers; `refusal` is the error for any other answer.
    - `emptied`: values of columns in a row that undoes another one.
    - `has_undo`: False if a second answer simply replaces the first.
    - `is_seen`: SQL condition for rows that may be shown.
    - `order`: columns by which rows are sorted.
    - `reads`: permission to read one's own rows without permission to read results.
    - `in_files`: columns that are written to a file.
    """

    table: str
    key: str
    subject: tuple[str, ...]
    question: str
    reviewer: str = "reviewer"
    series: tuple[str, ...] = ()
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    refusal: str = ""
    has_undo: bool = True
    emptied: Mapping[str, Any] = field(default_factory=dict)
    is_seen: str = f"item_id NOT IN ({HIDDEN})"
    order: tuple[str, ...] = ("created_at",)
    in_files: tuple[str, ...] = ()
    reads: Permission | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table."""
        return tables()[self.table].names

    def row(
        self,
        values: Mapping[str, Any],
        *,
        row_id: str = "",
        created_at: dt.datetime | None = None,
        **further_columns: Any,
    ) -> dict:
        """Return a row of the table.

        Its id is `row_id` if that has the form of an id, else a digest of `values` in their order.
        `further_columns`, such as `by_choice`, do not enter the digest. Raises BadInput for an
        answer that is not among `words`.
        """
        for column, words in self.words.items():
            if values[column] not in words:
                raise BadInput(self.refusal.format(str(values[column])[:40]))
        row = dict(values)
        if self.has_undo:
            row.setdefault("undoes", None)
        row["created_at"] = created_at or now()
        # A browser makes the ids of its judgements, so that a message sent twice is stored once.
        if not _ID.fullmatch(row_id):
            row_id = digest(*map(str, row.values()))
        return {self.key: row_id, **row, **further_columns}

    def undo(
        self, judgement: Mapping, *, row_id: str = "", created_at: dt.datetime | None = None
    ) -> dict:
        """Return the row that takes a judgement back, under its reviewer's name."""
        uncopied_columns = {self.key, "undoes", "created_at", "by_choice", *self.emptied}
        values = {name: judgement[name] for name in self.names if name not in uncopied_columns}
        values |= {**self.emptied, "undoes": judgement[self.key]}
        return self.row(values, row_id=row_id, created_at=created_at)

    def file_rows(self, judgements: Iterable[Mapping]) -> list[dict]:
        """Return judgements as rows for a file."""
        return [{name: judgement[name] for name in self.in_files} for judgement in judgements]

    def stands(self, row: str) -> str:
        """Return SQL for whether `row`, an alias of the table, is a judgement not taken back."""
        if not self.has_undo:
            return "true"
        return (
            f"{row}.undoes IS NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {self.table} u WHERE u.undoes = {row}.{self.key})"
        )


def reviewer_name(name: str) -> str:
    """Return a name trimmed and with single spaces. Raises BadInput for none or too long a name."""
    name = " ".join(str(name).split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise BadInput(
            f"A reviewer's name has 1 to {MAX_NAME_CHARS} printable characters; this one has "
            f"{len(name)}."
        )
    return name


def signed(name: str) -> str:
    """Return the name of the signed-in person, or without access control the given name."""
    return reviewer_name(signature(name))


CHECKS = {
    "meaning": "Does it mean the same?",
    "difficulty": "Is it as hard?",
    "solution_path": "Is it solved the same way?",
}
ANSWER, AMBIGUOUS, UNANSWERABLE = "answer", "ambiguous", "unanswerable"

PAIR_VERDICTS = Kind(
    "verdicts",
    "verdict_id",
    subject=("pair_id",),
    question="Is this the same question?",
    series=("reviewer_kind",),
    emptied={**dict.fromkeys(CHECKS), "note": ""},
    is_seen=f"pair_id NOT IN (SELECT pair_id FROM paraphrases WHERE item_id IN ({HIDDEN}))",
    in_files=(
        *("verdict_id", "pair_id", "reviewer", "reviewer_kind", *CHECKS),
        *("note", "original_hash", "paraphrase_hash", "rule_version", "created"),
    ),
    reads=Permission.JUDGE,
)
OUTPUT_LABELS = Kind(
    "judge_labels",
    "label_id",
    subject=("call_id",),
    question="What does this output answer?",
    # An output may be labeled alone and as one of a pair: the two have different rules.
    series=("rule_version",),
    emptied={"answer": None},
)
KEY_VERDICTS = Kind(
    "key_verdicts",
    "verdict_id",
    subject=("item_id",),
    question="What is the right answer?",
    words={"verdict": (ANSWER, AMBIGUOUS, UNANSWERABLE)},
    refusal=(
        f"A question is answered, or it is {AMBIGUOUS} or {UNANSWERABLE}; this verdict says {{!r}}."
    ),
)
FLIP_MARKS = Kind(
    "flip_verdicts",
    "flip_verdict_id",
    subject=(
        *("study_id", "model", "item_id", "axis"),
        *("variant_id", "other_variant_id", "extractor"),
    ),
    question="Is this flip genuine, or an artifact of the extractor?",
    words={"verdict": FLIP_VERDICTS},
    has_undo=False,
    refusal=f"A flip is marked {', '.join(FLIP_VERDICTS)}; this mark says {{!r}}.",
    is_seen=(
        f"(study_id, item_id) IN (SELECT i.study_id, i.item_id FROM study_items i WHERE {OPEN})"
    ),
)
SURVEY_ANSWERS = Kind(
    "survey_answers",
    "answer_id",
    subject=("survey_id", "position"),
    question="Which one comes from set 2?",
    reviewer="annotator",
    has_undo=False,
    is_seen="true",
    order=("annotator", "position"),
    in_files=(
        *("annotator", "is_model", "position", "kind"),
        *("odd", "chosen", "is_correct", "call_id"),
    ),
    reads=Permission.ANSWER,
)
KINDS = (PAIR_VERDICTS, OUTPUT_LABELS, KEY_VERDICTS, FLIP_MARKS, SURVEY_ANSWERS)
