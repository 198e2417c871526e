"""Records of a survey on the disk: an import that follows reads no file again."""

import pickle
from collections.abc import Iterator

import pytest

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.datasets.recorded import kept_records
from flipcore.datasets.recorded.kept_records import KeptRecords
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord, PlanMark, Rejection
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import Survey, survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files

READOUTS = (
    LogReadout("strict", "12", is_correct=True, score=1.0),
    LogReadout("loose", unreadable=True, reason="No number.", place=None),
)


def _records(n_records: int) -> list[LogRecord | Rejection]:
    records: list[LogRecord | Rejection] = []
    for number in range(n_records):
        if number % 7 == 3:
            records.append(Rejection(f"Line {number} is no row."))
            continue
        record = LogRecord(f"Line {number}", "t", str(number), "What?\ud800", "Say:", "m")
        record.text = None if number % 5 == 0 else "x" * number
        record.readouts = READOUTS[: number % 3]
        record.options, record.order = ("tin", "oak"), (1, 0)
        record.top_logprobs = {"A": -0.5}
        record.mark = PlanMark("study", "m", "v", sample=2)
        records.append(record)
    return records


@pytest.mark.parametrize("n_records", [0, 1, 9, 10, 41])
def test_records_come_back_as_they_were(n_records, monkeypatch):
    monkeypatch.setattr(kept_records, "CHUNK", 10)
    kept, records = KeptRecords(), _records(n_records)
    assert list(kept.keep(0, records)) == records
    assert list(kept.keep(1, records[:3])) == records[:3]
    assert [list(kept.records(number)) for number in (0, 1)] == [records, records[:3]]


def _broken(records: list) -> Iterator:
    yield from records
    raise BadInput("The file is half-written.")


def test_what_stands_before_a_broken_place_is_kept():
    kept, records = KeptRecords(), _records(5)
    with pytest.raises(BadInput, match="half-written"):
        list(kept.keep(0, _broken(records)))
    assert list(kept.records(0)) == records


def test_a_file_that_was_left_in_its_middle_is_not_kept():
    kept = KeptRecords()
    next(kept.keep(0, _records(5)))
    assert not kept.holds(0)


def test_a_full_disk_and_values_that_cannot_be_written_leave_the_file_to_be_read(monkeypatch):
    kept, records = KeptRecords(), _records(3)
    records[0].meta = {"call": lambda: None}
    assert list(kept.keep(0, records)) == records
    assert not kept.holds(0)

    def refuse() -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(kept_records.tempfile, "TemporaryFile", refuse)
    assert len(list(KeptRecords().keep(0, _records(3)))) == 3


def test_a_copy_in_another_process_holds_nothing():
    kept = KeptRecords()
    list(kept.keep(0, _records(3)))
    assert not pickle.loads(pickle.dumps(kept)).holds(0)


def test_an_import_reads_no_file_again(tmp_path, monkeypatch):
    folders.admit(tmp_path)
    rows = [harness_files.lm_eval_row(i, f"That makes {i}.", str(i), True) for i in range(5)]
    path = harness_files.lines(tmp_path / "samples_gsm8k_2025.jsonl", rows)
    found = survey([path])
    monkeypatch.delattr(Survey, "reread")
    store = Store.open(":memory:")
    try:
        store_logs(found, store)
        assert store.rows("SELECT count(*) FROM completions") == [(5,)]
    finally:
        store.close()
