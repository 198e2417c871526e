"""Rows gathered by way of the disk give what rows gathered in memory give."""

import gzip
import json
import random
from collections import Counter

import pytest

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded import grouping
from flipcore.datasets.recorded.columns import Recording
from flipcore.datasets.recorded.formats.tables import reader_of
from flipcore.datasets.recorded.log_records import LogRecord, Rejection
from tests.datasets.recorded.tables import recorded

pytestmark = pytest.mark.usefixtures("allowed_folders")

RECORDING = Recording("made", "m", "prompt", item="id", variant="version", text="said", target="gold", models="by")


def rows(n_items: int, seed: int = 0) -> list[dict]:
    """Outputs of two models on three versions of each item, shuffled; some are no rows, some have no prompt, some repeat."""
    draw = random.Random(seed)
    table = [
        {
            "id": f"q{i}",
            "prompt": f"{version} {i} + 1 =",
            "version": version,
            "said": str(i + 1),
            "gold": str(i + 1),
            "by": model,
        }
        for i in range(n_items)
        for version in ("base", "turned", "spelled")
        for model in ("one", "two")
    ]
    table += [row | {"said": "again"} for row in draw.sample(table, n_items // 5)]
    table += [row | {"prompt": None} for row in draw.sample(table, n_items // 5)]
    draw.shuffle(table)
    return table


def write(path, table, opened=open):
    with opened(path, "wt", encoding="utf-8") as file:
        for number, row in enumerate(table):
            file.write(json.dumps(row) + "\n" + "{half\n" * (number % 50 == 7))
    return str(path)


def shape(records) -> Counter:
    return Counter(
        (one.item.item_id, one.variant.variant_id, one.call.model, one.sample, one.completion.text, one.role, one.is_repeated)
        for one in records
    )


@pytest.mark.parametrize("packed", [False, True])
def test_parts_on_disk_hold_what_memory_holds(tmp_path, monkeypatch, packed):
    path = write(tmp_path / ("rows.jsonl.gz" if packed else "rows.jsonl"), rows(60), gzip.open if packed else open)
    whole = recorded(path, RECORDING)
    monkeypatch.setattr(grouping, "IN_MEMORY", 500)
    n_batches = sum(isinstance(one, list) for one in grouping.batches(path, RECORDING))
    parts = recorded(path, RECORDING)
    assert n_batches > 10 and len(parts.records) > 300 and len(parts.refusals) > 10
    assert shape(parts.records) == shape(whole.records) and sorted(parts.refusals) == sorted(whole.refusals)
    assert len({one.call.call_id for one in parts.records}) == len(parts.records)
    assert {one.item for one in parts.records} == {one.item for one in whole.records}


def test_a_prompt_that_two_items_share_is_two_calls_in_two_batches(tmp_path, monkeypatch):
    table = [{"id": f"q{i}", "prompt": "1 + 1 =", "said": "2", "version": "base", "gold": "2", "by": "one"} for i in range(30)]
    monkeypatch.setattr(grouping, "IN_MEMORY", 200)
    records = recorded(write(tmp_path / "rows.jsonl", table), RECORDING).records
    assert len({one.call.call_id for one in records}) == 30


def test_items_of_one_row_are_read_a_row_at_a_time(tmp_path):
    table = [{"prompt": f"{i} + 1 =", "said": str(i + 1)} for i in range(3)]
    path = tmp_path / "rows.jsonl"
    write(path, table)
    with open(path, "a", encoding="utf-8") as file:
        file.write("{half\n")
    read = list(reader_of(Recording("made", "m", "prompt", text="said")).records(Source(path, "rows.jsonl"), ()))
    assert [type(one) for one in read] == [LogRecord, LogRecord, LogRecord, Rejection]
    assert read[3].sentence.startswith("Line 4 of rows.jsonl is not valid JSON")


def test_the_base_comes_first_wherever_it_stands(tmp_path):
    table = [row for row in rows(1) if row["by"] == "one" and row["prompt"] and row["said"] != "again"]
    last = sorted(table, key=lambda row: row["version"] == "base")
    (several,) = grouping.batches(write(tmp_path / "rows.jsonl", last), RECORDING)
    assert [one.name for one in several[0][1]] == ["base", *(row["version"] for row in last if row["version"] != "base")]


def test_a_changed_answer_is_no_repeated_prompt(tmp_path):
    table = [
        {"id": "q", "prompt": f"{n} apples", "said": "2", "version": name, "gold": "2", "by": "one", "same": name == "base"}
        for n, name in enumerate(("base", "other"))
    ]
    path = write(tmp_path / "rows.jsonl", table)
    recording = Recording("made", "m", "prompt", item="id", variant="version", text="said", target="gold", harmless="same")
    report = recorded(path, recording)
    assert report.records[1].variant.params == {"harmless": False} and report.n_repeated == 0


def test_a_half_packed_file_gets_a_sentence(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows(40)).encode())[:-20])
    with pytest.raises(BadInput, match="damaged or half-written gzip file"):
        recorded(str(path), RECORDING)
