"""Files of pairs and verdicts: reading, storing and writing them.

A row has a pair (original, paraphrase), a verdict (a reviewer and their answers) on a stored pair,
or both. Originals may also come from a second file, row by row. A bad row is refused with its line
number and the others are read. Reading the same file again adds nothing.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flipcore.annotation.judging import Refusal, read_each
from flipcore.annotation.paraphrases.random_order import count_beginnings
from flipcore.annotation.paraphrases.verdicts import (
    ADJUDICATION,
    CHECKS,
    PERSON,
    RULE_VERSION,
    verdict_row,
)
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, digest
from flipcore.core.wordings import checked_change
from flipcore.datasets import LOADERS
from flipcore.datasets.dataset import item_of
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.store.connection import Store
from flipcore.store.export import as_meant
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.merge import merge
from flipcore.store.queries import judgements, planning, review, studies
from flipcore.store.queries.review import IMPORT_NOTE
from flipcore.text.answers import canonical_number
from flipcore.text.counts import count_of
from flipcore.text.tables import csv_text

# Column -> names that files use for it, the first match wins.
COLUMNS = {
    "original": ("original", "original_question", "question", "source_text", "text_1", "sentence1"),
    "paraphrase": (
        "paraphrase",
        "paraphrased",
        "rephrased",
        "rewording",
        "reworded",
        "paraphrase_text",
        "text_2",
        "sentence2",
    ),
    "pair_id": ("pair_id", "pair"),
    "dataset": ("dataset", "benchmark"),
    "generator": ("generator", "paraphraser", "generated_by"),
    "item_id": ("item_id",),
    "answer": ("answer", "target", "gold", "label"),
    "reviewer": ("reviewer", "annotator", "rater", "judge", "annotator_id"),
    "reviewer_kind": ("reviewer_kind", "annotator_kind"),
    "meaning": ("meaning", "same_meaning", "semantic_equivalence", "equivalent"),
    "difficulty": ("difficulty", "same_difficulty"),
    "solution_path": ("solution_path", "same_path"),
    "note": ("note", "comment", "reason"),
    "original_hash": ("original_hash",),
    "paraphrase_hash": ("paraphrase_hash",),
    "created": ("created", "created_at"),
    "rule_version": ("rule_version",),
    "verdict_id": ("verdict_id",),
    "change": ("change", "language", "lang", "target_language"),
}
MAX_ROWS, MAX_CHARS = 50_000, 20_000
# A cell of a check -> the answer; None for an empty cell.
_WORDS = {
    **dict.fromkeys(("yes", "y", "true", "1", "kept"), "yes"),
    **dict.fromkeys(("no", "n", "false", "0", "lost"), "no"),
    **dict.fromkeys(("unsure", "u", "?", "maybe"), "unsure"),
    **dict.fromkeys(("", "none", "nan")),
}
# A text with the frame "Question: … Answer: …" of a prompt around it.
_PROMPT_FRAME = re.compile(
    r"\A\s*(?:Question|Q)\s*:\s*(.*?)(?:\n\s*(?:Answer|A)\s*:.*)?\Z", re.DOTALL
)


@dataclass(frozen=True)
class Incoming:
    """Rows for the store, refusals of bad rows, and sentences about the whole file."""

    pairs: tuple[dict, ...]
    items: tuple[Item, ...]
    verdicts: tuple[dict, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inventory:
    """Contents of the store: pair id -> pair, and question (`spaceless`) -> item id."""

    pairs: Mapping[str, Mapping] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)


def inventory_of(store: Store) -> Inventory:
    """Return the inventory of a store, with set-aside questions, which are never shown."""
    return Inventory(
        {pair["pair_id"]: pair for pair in review.pairs(store)},
        {spaceless(question): item for question, item in planning.item_of_question(store).items()},
    )


def file_rows(path: str | Path) -> list[Row]:
    """Return the rows of a file; CSV cells made harmless for spreadsheets get their text back."""
    rows = list(read_rows(path))
    if Path(path).suffix.lower() not in (".csv", ".tsv"):
        return rows
    original_rows = []
    for row in rows:
        values = {
            name: as_meant(cell) if isinstance(cell, str) else cell
            for name, cell in row.values.items()
        }
        original_rows.append(replace(row, values=values))
    return original_rows


def row_originals(dataset: str, path: str | Path) -> list[Item | str]:
    """Return one item per row of a file as `dataset` reads it, or why the row is none."""
    loader = LOADERS[dataset]
    rows = list(loader.rows(str(path)))
    make_item = loader.making(rows, {})
    originals: list[Item | str] = []
    for row in rows:
        try:
            originals.append(item_of(make_item, row))
        except BadInput as error:
            originals.append(str(error))
    return originals


def guessed_columns(names: Iterable[str]) -> dict[str, str]:
    """Return key of `COLUMNS` -> the file's name for it, without keys that match no name."""
    name_of_alias = {re.sub(r"[\s-]+", "_", str(name).strip().lower()): name for name in names}
    guessed = {}
    for column, aliases in COLUMNS.items():
        matches = [name_of_alias[alias] for alias in aliases if alias in name_of_alias]
        if matches:
            guessed[column] = matches[0]
    return guessed


def incoming(
    rows: Sequence[Row],
    columns: Mapping[str, str],
    *,
    dataset: str,
    generator: str,
    inventory: Inventory,
    originals: Sequence[Item | str] | None = None,
    reviewer_kind: str = PERSON,
) -> Incoming:
    """Read the rows of a file; `columns` maps keys of `COLUMNS` to the file's names.

    `originals` are those of `row_originals` if the file has none. `dataset`, `generator` and
    `reviewer_kind` (person or model) are for rows that do not name them. Raises BadInput for a file
    that can have neither pairs nor verdicts, or for another number of originals than rows.
    """
    _check_file(rows, columns, originals=originals)
    has_frames = originals is not None and _have_prompt_frames(rows, columns["paraphrase"])
    pairs: dict[str, dict] = {}
    items: dict[str, Item] = {}
    verdicts: dict[str, dict] = {}

    def take(index: int, row: Row) -> None:
        reader = _Reader(
            row,
            columns,
            dataset=dataset,
            generator=generator,
            inventory=inventory,
            earlier_pairs=pairs,
            has_frames=has_frames,
            reviewer_kind=reviewer_kind,
        )
        pair, item = reader.pair(originals[index] if originals is not None else None)
        verdict = reader.verdict(pair)
        pairs[pair["pair_id"]] = pair
        if item is not None:
            items[item.item_id] = item
        if verdict is not None:
            verdicts[verdict["verdict_id"]] = verdict

    refusals = read_each(rows, take)
    new = tuple(pair for pair_id, pair in pairs.items() if pair_id not in inventory.pairs)
    notes = []
    if has_frames:
        notes.append("“Question:” and what follows “Answer:” were taken off the paraphrases.")
    if "reviewer" not in columns and set(CHECKS) & set(columns):
        notes.append(
            "No column names the reviewers, so what the rows say of the pairs is not taken in."
        )
    if any(verdict["reviewer_kind"] == PERSON for verdict in verdicts.values()):
        notes.append(IMPORT_NOTE)
    n_stored = len(pairs) - len(new)
    if n_stored:
        notes.append(f"{n_stored:,} of the pairs are stored already.")
    return Incoming(
        new,
        tuple(items.values()),
        verdicts=tuple(verdicts.values()),
        refusals=refusals,
        notes=tuple(notes),
    )


def _check_file(
    rows: Sequence[Row], columns: Mapping[str, str], originals: Sequence[Item | str] | None
) -> None:
    """Raise BadInput for a file that cannot be used as a whole."""
    if not rows:
        raise BadInput("The file has no rows.")
    if all(row.problem for row in rows):
        raise BadInput(f"No row of the file can be read. {rows[0].place} {rows[0].problem}.")
    if len(rows) > MAX_ROWS:
        raise BadInput(
            f"The file has {len(rows):,} rows; at most {MAX_ROWS:,} are read at once. Split it."
        )
    if originals is None:
        if "pair_id" not in columns and not {"original", "paraphrase"} <= set(columns):
            raise BadInput(
                "Say which columns hold the original and the paraphrase, or, for verdicts alone, "
                "the pair_id."
            )
        return
    if "paraphrase" not in columns:
        raise BadInput("Say which column holds the paraphrase.")
    if len(originals) != len(rows):
        raise BadInput(
            "Originals and paraphrases belong together row by row, but there are "
            f"{len(originals):,} originals and {len(rows):,} paraphrases."
        )


def _have_prompt_frames(rows: Sequence[Row], column: str) -> bool:
    """Return whether nearly all texts begin with "Question:"."""
    texts = [str(row.values.get(column) or "") for row in rows if not row.problem]
    n_framed = sum(bool(_PROMPT_FRAME.match(text)) for text in texts)
    return bool(texts) and n_framed >= 0.9 * len(texts)


@dataclass(frozen=True)
class _Reader:
    """Reads the pair and the verdict of one row; BadInput messages follow the row's place."""

    row: Row
    columns: Mapping[str, str]
    dataset: str
    generator: str
    inventory: Inventory
    earlier_pairs: Mapping[str, Mapping]
    has_frames: bool
    reviewer_kind: str

    def text(self, name: str) -> str:
        """Return the cell of a key of `COLUMNS`; "" without one."""
        value: Any = self.row.values.get(self.columns.get(name, ""))
        return "" if value is None else str(value).replace("\r\n", "\n").strip()

    def pair(self, original: Item | str | None) -> tuple[dict, Item | None]:
        """Return the row's pair, and its item if the item is new; `original` is as read."""
        if isinstance(original, str):
            raise BadInput(f"has an original that is no item: it {original}")
        pair_id = self.text("pair_id")
        original_text = original.question if original else self.text("original")
        paraphrase = self.text("paraphrase")
        if self.has_frames and (frame := _PROMPT_FRAME.match(paraphrase)):
            paraphrase = frame[1].strip()
        if known_pair := self.inventory.pairs.get(pair_id) or self.earlier_pairs.get(pair_id):
            texts = known_pair["original"].strip(), known_pair["paraphrase"].strip()
            if not (original_text or paraphrase) or (original_text.strip(), paraphrase) == texts:
                return dict(known_pair), None
            raise BadInput(
                f"names the pair {pair_id[:60]!r}, which stands for another text already"
            )
        self._check_texts(original_text, paraphrase, pair_id)
        dataset = self.text("dataset") or self.dataset
        generator = self.text("generator") or self.generator
        item_id = self.text("item_id") or self.inventory.items.get(spaceless(original_text), "")
        item = original or (None if item_id else self._item(original_text, dataset))
        pair = {
            "pair_id": pair_id
            or f"{dataset}/{digest(dataset, generator, original_text, paraphrase)}",
            "dataset": dataset,
            "item_id": item.item_id if item else item_id,
            "original": original_text,
            "paraphrase": paraphrase,
            "generator": generator,
            "change": self._change(),
        }
        return pair, item

    def _change(self) -> str:
        """Return the kind of change: a translation if the row names a language, else paraphrase."""
        try:
            return checked_change(self.text("change"))
        except BadInput as error:
            raise BadInput(f"has a change that is none: {str(error).rstrip('.')}") from error

    def _check_texts(self, original: str, paraphrase: str, pair_id: str) -> None:
        if not original or not paraphrase:
            if pair_id and not original and not paraphrase:
                raise BadInput(f"names the pair {pair_id[:60]!r}, which is not stored here")
            raise BadInput(f"has no {'paraphrase' if original else 'original'}")
        if max(len(original), len(paraphrase)) > MAX_CHARS:
            raise BadInput(f"holds a text of more than {MAX_CHARS:,} characters")
        if "\0" in original + paraphrase:
            raise BadInput("holds a NUL character; save the file as UTF-8 text")
        if spaceless(original) == spaceless(paraphrase):
            raise BadInput("has a paraphrase that repeats the original word for word")

    def _item(self, question: str, dataset: str) -> Item:
        answer = self.text("answer")
        number = canonical_number(answer) if answer else None
        return Item.make(
            dataset=dataset,
            key=digest(question)[:10],
            kind="completion" if number is None else "number",
            question=question,
            target=number or answer or None,
        )

    def verdict(self, pair: Mapping) -> dict | None:
        """Return the row's verdict; None without answers, or if the file names no reviewers."""
        reviewer = self.text("reviewer")
        if "reviewer" not in self.columns:
            return None
        answers = {check: self._answer(check) for check in CHECKS}
        if not any(answers.values()):
            return None
        if not reviewer:
            raise BadInput("says something of the pair and names no reviewer")
        for name in ("original", "paraphrase"):
            stated = self.text(f"{name}_hash")
            if stated and stated != digest(pair[name]):
                raise BadInput(
                    f"was given on another {name} than the pair {pair['pair_id'][:60]!r} has here"
                )
        rule = self.text("rule_version") or RULE_VERSION
        if rule not in (RULE_VERSION, ADJUDICATION):
            raise BadInput(
                f"was given under the rule {rule[:40]!r}; known are {RULE_VERSION} and "
                f"{ADJUDICATION}"
            )
        verdict_id = self.text("verdict_id") or digest(
            "imported",
            pair["pair_id"],
            reviewer,
            answers,
            self.text("note"),
            rule,
            self.text("created"),
        )
        try:
            return verdict_row(
                pair,
                reviewer,
                answers=answers,
                note=self.text("note"),
                verdict_id=verdict_id,
                reviewer_kind=self.text("reviewer_kind").lower() or self.reviewer_kind,
                # Whatever the file states, because `random_order` decides which are random.
                by_choice=True,
                rule_version=rule,
                created_at=self._created(),
            )
        except BadInput as error:
            raise BadInput(f"holds no usable verdict ({error})") from error

    def _answer(self, check: str) -> str | None:
        value = self.text(check).lower()
        if value not in _WORDS:
            raise BadInput(f"says {value[:40]!r} about {check}; write yes, no or unsure")
        return _WORDS[value]

    def _created(self) -> dt.datetime | None:
        stated = self.text("created")
        if not stated:
            return None
        try:
            created = dt.datetime.fromisoformat(stated)
        except ValueError:
            raise BadInput(f"has the date {stated[:40]!r}; write it as 2026-11-21 09:30") from None
        return created if created.tzinfo else created.replace(tzinfo=dt.UTC)


def spaceless(text: str) -> str:
    """Return the text with single spaces and folded case, to recognize the same question."""
    return " ".join(text.split()).casefold()


PAIR_COLUMNS = (
    *("pair_id", "dataset", "generator", "item_id", "original", "paraphrase", "change", "state"),
    *("n_reviewers", "n_kept", "n_models", "n_models_kept", "settled_by", "settled_why"),
)


def pair_rows(store: Store) -> list[dict]:
    """Return every stored pair with its current state, without items that are set aside."""
    rows = []
    for state in studies.paraphrase_states(store).to_dict("records"):
        if not state["set_aside"]:
            row = {column: state[column] for column in PAIR_COLUMNS}
            # pandas stores counts as floats where some are missing.
            row |= {column: int(row[column]) for column in row if column.startswith("n_")}
            rows.append(row)
    return rows


def verdict_rows(store: Store) -> list[dict]:
    """Return all verdicts that were not taken back."""
    return PAIR_VERDICTS.file_rows(judgements.standing(store, PAIR_VERDICTS))


def file_bytes(rows: Sequence[Mapping], kind: str) -> bytes:
    """Return rows as the bytes of a "csv" or "jsonl" file in UTF-8."""
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
    return csv_text(rows).encode("utf-8")


def store_incoming(store: Store, batch: Incoming) -> str:
    """Store the pairs and verdicts of a file, and say how many. Raises AccessDenied."""
    review.keep_pairs(store, batch.pairs, items=batch.items)
    judgements.keep(store, PAIR_VERDICTS, batch.verdicts)
    sentence = (
        f"{count_of(len(batch.pairs), 'pair')} and {count_of(len(batch.verdicts), 'verdict')} are "
        "stored."
    )
    return " ".join([sentence, *_count_sentences(store, has_verdicts=bool(batch.verdicts))])


def merge_files(paths: Iterable[str | Path], store: Store) -> list[str]:
    """Add database files, and return one sentence per fact. Raises BadInput for a bad file."""
    report = merge(paths, store)
    return [
        *report.sentences(),
        *_count_sentences(store, has_verdicts=report.added["verdicts"] > 0),
    ]


def _count_sentences(store: Store, *, has_verdicts: bool) -> list[str]:
    """Mark verdicts as drawn at random where possible, and say how many; [] for none."""
    n = count_beginnings(store) if has_verdicts else 0
    if not n:
        return []
    verdicts_count = f"{n:,} verdict{'s' * (n != 1)} from elsewhere now count{'s' * (n == 1)}"
    return [f"{verdicts_count} as drawn at random."]
