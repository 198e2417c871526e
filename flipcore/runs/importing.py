"""Recorded outputs -> an ordinary study: items, variants, completions as they were stored, and readouts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.records import WRITTEN_ANSWER, Readout, correctness
from flipcore.core.study import RECORDED, ItemSource, ModelUse, Part, Study
from flipcore.datasets.recorded.columns import mapping_of
from flipcore.datasets.recorded.outputs import Record, Recording, recorded
from flipcore.extractors import EXTRACTORS
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.text.answers import answer_text

# generated text of a recording is read by the written answer, the default reference, and short answers in words by their match
READ_TEXT, READ_WORDS = WRITTEN_ANSWER, "text_match"


@dataclass(frozen=True)
class Imported:
    """A study with its records, not stored yet; `readouts` are the recorded ones and those read from the text."""

    study: Study
    records: tuple[Record, ...]
    readouts: tuple[Readout, ...]
    refusals: tuple[tuple[int, str], ...]
    n_repeated: int

    @property
    def n_items(self) -> int:
        return len({record.item.item_id for record in self.records})

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        models, names = ([one.name for one in several] for several in (self.study.models, self.study.extractors))
        sentence = (
            f"{len(self.records):,} recorded outputs on {self.n_items:,} items by {', '.join(models)}, read by "
            f"{', '.join(names)}."
        )
        if self.n_repeated:
            sentence += f" {self.n_repeated:,} prompts stand under two names within their item and count as recorded."
        if self.refusals:
            sentence += f" Rows that were refused: {len(self.refusals):,}. The first: {self.refusals[0][1]}"
        return sentence


def imported(path: str | Path, recording: Recording, name: str = "") -> Imported:
    """What a recording holds, as a study. Raises BadInput when nothing of it fits, or nothing of it can be read."""
    report = recorded(str(path), recording)
    readouts = [readout for record in report.records for readout in record.readouts]
    names = [field.extractor for field in recording.fields]
    own_name = READ_WORDS if recording.kind == "text" else READ_TEXT
    if recording.text and own_name in names:
        raise BadInput(
            f"Two readouts would be called {own_name!r}: a recorded one and the one read from the text. Give the "
            "recorded one another name."
        )
    if len(set(names)) < len(names):
        raise BadInput(f"Two readouts are called {max(names, key=names.count)!r}; give each its own name.")
    if recording.text:
        readouts += [_read(record, own_name) for record in report.records]
        names.append(own_name)
    if not names:
        raise BadInput(
            "The recording names neither a column of answers or scores nor one of generated text, so there is "
            "nothing to read. Name at least one."
        )
    study = _study(
        recording,
        [record.call.model for record in report.records],
        report.records[0].call.revision,
        names,
        name or f"{recording.dataset}, recorded",
        list(dict.fromkeys(record.variant.axis for record in report.records)),
    )
    return Imported(study, report.records, tuple(readouts), report.refusals, report.n_repeated)


def store_imported(outputs: Imported, store: Store) -> str:
    """Writes everything, the study's row last, and returns the study's id. Importing the same again changes nothing."""
    study_id, write = outputs.study.study_id, store.writer.add
    first_of = {record.item.item_id: record.item for record in reversed(outputs.records)}
    variants = {(record.item.item_id, record.variant.variant_id): record.variant for record in outputs.records}
    roles = {record.item.item_id: record.role for record in reversed(outputs.records)}
    by_item: dict[str, list] = {}
    for (item_id, _), variant in variants.items():
        by_item.setdefault(item_id, []).append(variant)
    readouts, sources = rows.readout_rows(study_id, outputs.readouts)
    futures = [
        write("items", [rows.item_row(item) for item in first_of.values()]),
        write(
            "study_items",
            [
                {"study_id": study_id, "item_id": item_id, "role": roles[item_id], "position": place, "confirmatory": False}
                for place, item_id in enumerate(by_item)
            ],
        ),
        write("variants", [rows.variant_row(variant) for variant in variants.values()]),
        write("study_variants", [row for several in by_item.values() for row in rows.study_variant_rows(study_id, several)]),
        write("completions", [rows.completion_row(record.call, record.completion, False) for record in outputs.records]),
        write("study_calls", [{"study_id": study_id, "call_id": record.call.call_id} for record in outputs.records]),
        write("readouts", readouts),
        write("readout_sources", sources),
    ]
    for one in futures:
        one.result()
    row = rows.study_row(
        outputs.study, "done", f"Imported: {outputs.sentence}", n_calls=len(outputs.records), ended_at=rows.now()
    )
    write("studies", [row]).result()
    return study_id


def _read(record: Record, name: str) -> Readout:
    """The written answer of one record's text."""
    reading = EXTRACTORS[name].read(record.item, record.variant, [record.completion])
    return Readout(
        record.call.model,
        record.item.item_id,
        record.variant.axis,
        record.variant.variant_id,
        record.sample,
        name,
        reading,
        correctness(reading, record.variant.target),
        (record.call.call_id,),
    )


def _study(
    recording: Recording, models: Sequence[str], revision: str, names: Sequence[str], name: str, axes: Sequence[str]
) -> Study:
    """The declaration says where the outputs came from and how they were read; the file's digest makes it this file's."""
    source = ItemSource(RECORDED, columns=mapping_of(recording), options={"content": revision})
    return Study(
        name,
        (source,),
        tuple(Part(axis) for axis in axes),
        tuple(Part(one) for one in names),
        tuple(ModelUse(model) for model in dict.fromkeys(models)),
        protocol=Part(RECORDED),
    )


def preview_row(record: Record, readouts: Sequence[Readout]) -> dict:
    """One record as a row: the question, the version, and what each readout says."""
    row = {
        "question": record.item.question[:200],
        "version": record.variant.key,
        "options shown": " | ".join(record.item.options[place] for place in record.variant.order),
    }
    for readout in readouts:
        if record.call.call_id in readout.source_ids:
            row[readout.extractor] = answer_text(record.item, readout.reading.answer)
    return row
