"""What is read is bounded by unpacked bytes, by line and by item, however small the file is that holds it."""

import errno
import gzip
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import deque
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import MAX_VALUES, json_lines
from flipcore.datasets.reading.log_files import Source, sources
from flipcore.datasets.reading.rows import MAX_ROW, MAX_UPLOAD_MB, read_rows

pytestmark = pytest.mark.usefixtures("allowed_folders")

LONG = "x" * (MAX_ROW + 1)


def packed(path, text, level=1):
    with gzip.open(path, "wt", compresslevel=level) as stream:
        stream.write(text)
    return path


def test_a_long_line_is_refused_and_the_rows_around_it_are_read(tmp_path):
    rows = [{"question": "a"}, {"question": LONG}, {"question": "b"}]
    path = packed(tmp_path / "a.jsonl.gz", "".join(json.dumps(row) + "\n" for row in rows))
    first, long, last = read_rows(path)
    assert first.values == rows[0] and last.values == rows[2] and last.line == 3
    assert long.problem.startswith("has more than 10 MB") and not long.values


@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_long_row_of_a_table_is_refused(tmp_path, ending):
    quoted = '"' + ("y" * 999_999 + "\n") * 11 + '"'
    (tmp_path / "a.csv").write_text(f"q,r\n1,2\n{LONG},3\n4,5\n{quoted},6{ending}")
    rows = list(read_rows(tmp_path / "a.csv"))
    assert [row.values for row in rows if not row.problem][:2] == [{"q": "1", "r": "2"}, {"q": "4", "r": "5"}]
    assert any("more than 10 MB" in row.problem for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("most_mb", [20, pytest.param(MAX_UPLOAD_MB, marks=pytest.mark.slow)])
def test_a_packed_file_unpacks_to_no_more_than_a_file_may_have(tmp_path, monkeypatch, most_mb):
    monkeypatch.setattr("flipcore.datasets.reading.rows.MAX_UPLOAD_MB", most_mb)
    line = json.dumps({"question": "x" * 5_000_000}) + "\n"
    n_lines = most_mb // 5 + 5
    for name in ("a.jsonl.gz", "a.json.gz"):
        path = packed(tmp_path / name, line * n_lines if "jsonl" in name else f"[{','.join([line] * n_lines)}]")
        with pytest.raises(BadInput, match=f"unpacks to more than {most_mb} MB"):
            list(read_rows(path, most_mb=most_mb))


@pytest.mark.slow
def test_a_table_of_one_text_often_unpacks_to_no_more_than_a_file_may_have(tmp_path):
    """A Parquet file of 100 kB with 1.5 GB of text: its parts are small, and there was no end to their rows."""
    places = pa.array([0] * 15_000, pa.int32())
    often = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 100_000]))
    pa.parquet.write_table(pa.table({"question": often}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    with pytest.raises(BadInput, match="unpacks to more than 200 MB"):
        deque(read_rows(tmp_path / "a.parquet"), maxlen=0)


@pytest.mark.slow
def test_a_part_of_a_table_that_unpacks_to_a_thousand_times_its_size_is_refused_unread(tmp_path):
    pa.parquet.write_table(pa.table({"question": ["x" * 120_000_000]}), tmp_path / "a.parquet", compression="zstd")
    with pytest.raises(BadInput, match="would unpack from"):
        list(read_rows(tmp_path / "a.parquet"))


UNPACKS = """
import sys
from flipcore.core import folders
from flipcore.datasets.reading.log_files import sources
folders.admit(sys.argv[1].rpartition("/")[0])
print(*{one.path.parent for _ in range(3) for one in sources(sys.argv[1:])})
"""


def of_two_files(path):
    with zipfile.ZipFile(path, "w") as packed:
        for name in ("a.jsonl", "b.jsonl"):
            packed.writestr(name, "{}\n")
    return path


def test_a_zip_that_is_read_again_and_again_is_unpacked_once_and_leaves_nothing(tmp_path):
    path = of_two_files(tmp_path / "logs.zip")
    ended = subprocess.run([sys.executable, "-c", UNPACKS, str(path)], capture_output=True, text=True, check=True)
    (folder,) = ended.stdout.split()  # three before, and all of them stayed
    assert "-log-" in Path(folder).name and Path(folder).parent.name.startswith("flipscope-") and not Path(folder).exists()


def test_a_disk_that_has_no_room_for_what_is_unpacked_is_a_sentence(tmp_path, monkeypatch):
    path, place = of_two_files(tmp_path / "logs.zip"), tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    def full(self, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(BadInput, match=r"could not be unpacked in .*No space left.*Make room"):
            sources([path])
    assert not list(place.glob("*/*")) and [one.name for one in sources([path])] == ["logs/a.jsonl", "logs/b.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ['{"a": [%s]}', '[{"a": [%s]}, {"b": 1}]', '{"rows": [{"a": [%s]}]}', '{"a": [%s]}\n{"b": 1}'])
def test_short_nested_lists_are_counted(tmp_path, text):
    (tmp_path / "a.json").write_text(text % ",".join(["[[]]"] * 510_000))
    try:
        (refused,) = [row for row in read_rows(tmp_path / "a.json") if row.problem]
        why = refused.problem
    except BadInput as error:
        why = str(error)
    assert "holds" in why and "500,000" in why


def test_a_line_of_a_log_is_bounded_by_its_values(tmp_path):
    (tmp_path / "a.jsonl").write_text("[" + ",".join(["[]"] * MAX_VALUES) + "]\n{}\n")
    (_, value, why), (_, last, _) = json_lines(Source(tmp_path / "a.jsonl", "a.jsonl"))
    assert value is None and "values" in why and last == {}


def test_a_document_is_read_a_row_at_a_time_and_to_its_end(tmp_path):
    (tmp_path / "a.json").write_text('{"about": 1, "rows": [{"q": 1}, 2, {"q": 3}], "data": [{"q": 4}]}')
    assert [(row.values, bool(row.problem)) for row in read_rows(tmp_path / "a.json")] == [
        ({"q": 1}, False),
        ({}, True),
        ({"q": 3}, False),
    ]
    (tmp_path / "a.json").write_text('[{"q": 1}] and more')
    with pytest.raises(BadInput, match="half-written"):
        list(read_rows(tmp_path / "a.json"))


CHILD = """
import resource, sys
from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.datasets.reading.rows import read_rows
folders.admit(sys.argv[1].rpartition("/")[0])
import pyarrow.parquet
before, kept = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
try:
    kept += read_rows(sys.argv[1])
except BadInput as error:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet", "one.parquet"])
def test_a_small_file_takes_little_memory(tmp_path, name):
    """Sixty rows of 20 MB in about a megabyte: 1.3 GB before anything was bounded, as one value of 400 MB took."""
    path = tmp_path / name
    if name.endswith(".gz"):
        packed(path, (json.dumps({"question": "x" * 20_000_000, "answer": "y"}) + "\n") * 60, level=9)
    else:
        texts = ["x" * 400_000_000] if name == "one.parquet" else ["x" * 20_000_000] * 60
        pa.parquet.write_table(pa.table({"question": pa.array(texts)}), path, compression="zstd")
    assert path.stat().st_size < 2_500_000
    ended = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 800_000, f"{int(ended.stdout) / 1000:.0f} MB"  # kB


def test_a_column_of_one_long_text_a_million_times_is_refused_at_once(tmp_path):
    """A file of 1.5 MB kept `audit` busy for minutes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    texts = pa.array(["x" * 20_000 + str(i) for i in range(60)])
    n = 150_000
    asked = pa.DictionaryArray.from_arrays(pa.array(np.arange(n, dtype="int32") % 60), texts)
    pyarrow.parquet.write_table(pa.table({"question": asked, "correct": np.arange(n) % 2}), tmp_path / "a.parquet")
    with pytest.raises(
        BadInput, match=r"unpack its column 'question' from [\d,]+ to 3,000,275,000 bytes, and at most 2,000,000,000"
    ):
        next(iter(read_rows(tmp_path / "a.parquet")))
    short = pa.table({"question": asked.slice(0, 500).dictionary_decode(), "correct": np.arange(500) % 2})
    pyarrow.parquet.write_table(short, tmp_path / "b.parquet")
    assert len(list(read_rows(tmp_path / "b.parquet"))) == 500
