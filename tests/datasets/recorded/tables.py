"""Tables of outputs in tests: by a recording, as the words that people write, and a table's rows as the pipeline's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.columns import KEYS, Recording
from flipcore.datasets.recorded.formats.tables import reader_of
from flipcore.datasets.recorded.log_documents import DocumentIndex, Documents
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.datasets.recorded.log_rows import Builder, Joining
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import Survey, survey


def words_of(recording: Recording) -> list[str]:
    words = [f"{key}={getattr(recording, key)}".replace("\n", "\\n") for key in (*KEYS, "dataset")]
    return words + ([f"read:{one.extractor}={one.column}" for one in recording.fields] or ["read="])


def imported(path, recording: Recording | Iterable[str], name: str = "") -> Survey:
    words = words_of(recording) if isinstance(recording, Recording) else list(recording)
    return survey([path], corrections_of([*words, *([f"name={name}"] if name else [])], of_tables=True))


@dataclass
class Report:
    records: tuple
    refusals: tuple  # (line, sentence)

    @property
    def n_repeated(self) -> int:
        return sum(one.is_repeated for one in self.records)


def recorded(path, recording: Recording) -> Report:
    source = Source(Path(path), Path(path).name)
    rows = list(reader_of(recording).records(source, ()))
    documents, placed = Documents(), DocumentIndex()
    records, refusals = [], [(int(one.sentence.split()[1]), one.sentence) for one in rows if not isinstance(one, LogRecord)]
    for one in rows:
        if isinstance(one, LogRecord):
            placed.add(documents.place(one, 0))
    builder = Builder(Joining({recording.dataset: recording.kind}), placed)
    for one in rows:
        if isinstance(one, LogRecord):
            row = builder.entry(one, 0, "recorded-1", one.model)
            ((call, completion),) = row.calls
            records.append(
                SimpleNamespace(
                    item=row.item,
                    variant=row.variant,
                    call=call,
                    completion=completion,
                    readouts=row.readouts,
                    sample=row.sample,
                    role=row.role,
                    is_repeated="repeat" in row.variant.params,
                )
            )
    if not records:
        raise BadInput(refusals[0][1] if refusals else "no rows")
    return Report(tuple(records), tuple(refusals))
