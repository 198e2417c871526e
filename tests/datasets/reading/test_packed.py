"""Excel files, tab-separated files and packed ones: the rows that the plain file has, or a sentence."""

import gzip
import sys

import pyarrow
import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput
from flipcore.datasets.reading.rows import read_rows
from flipcore.datasets.tables.reading import read_table
from flipcore.datasets.tables.sentence import sentence
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import survey

pytestmark = pytest.mark.usefixtures("allowed_folders")

ROWS = [{"id": f"q{i}", "model": "m", "correct": i % 3 > 0} for i in range(30)]
LINES = ["id,model,correct", *(f"{row['id']},{row['model']},{row['correct']}" for row in ROWS)]
TEXT = "\n".join(LINES)


def write_sheet(path, sheets):
    """An Excel file with these sheets of lines."""
    openpyxl = pytest.importorskip("openpyxl", reason="requirements-excel.txt installs it")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def write_zstd(path, text):
    with pyarrow.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(text.encode())
    return path


SCORES = [["id", "model", "correct"], *([row["id"], row["model"], row["correct"]] for row in ROWS)]


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    path = write_sheet(tmp_path / "scores.xlsx", {"Scores": [[], *SCORES], "Key": [["a", 1]], "Notes": []})
    assert [row.values for row in read_rows(path)] == ROWS
    reading = read_table(path)
    assert reading.n_items == 30 and reading.scores["", "correct"] == pytest.approx(2 / 3)
    assert "sheets that are not read: Key, Notes" in sentence(reading)


def test_another_sheet_is_read_where_it_is_named(tmp_path):
    """An overview came first, and the outputs had to be saved as CSV."""
    path = write_sheet(tmp_path / "scores.xlsx", {"Overview": [["Made by", "Ada"]], "Scores": SCORES})
    words = corrections_of(["sheet=Scores"], of_tables=True)
    seen = survey([path], words)
    assert seen.n_records == 30 and seen.files[0].about.columns["sheet"] == "Scores"
    with pytest.raises(BadInput, match=r"If the outputs stand in another one \(Scores\): --map sheet=NAME"):
        survey([path])
    with pytest.raises(BadInput, match="has no sheet 'Notes'; it has Overview, Scores"):
        survey([path], corrections_of(["sheet=Notes"], of_tables=True))


def test_an_empty_header_is_a_column_without_a_name(tmp_path):
    path = write_sheet(tmp_path / "scores.xlsx", {"Scores": [[None, "id"], [0, "a"], [1, None]]})
    assert [row.values for row in read_rows(path)] == [{"Unnamed: 0": 0, "id": "a"}, {"Unnamed: 0": 1, "id": None}]


def test_without_openpyxl_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = write_sheet(tmp_path / "scores.xlsx", {"Scores": SCORES})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(BadInput, match="needs openpyxl: pip install -r requirements-excel.txt. Or save it as CSV."):
        list(read_rows(path))


@pytest.mark.parametrize("content", [b"no zip", b"PK\x03\x04 half"])
def test_a_damaged_excel_file_gets_a_sentence(tmp_path, content):
    pytest.importorskip("openpyxl", reason="requirements-excel.txt installs it")
    (tmp_path / "scores.xlsx").write_bytes(content)
    with pytest.raises(BadInput, match="could not be read as an Excel file"):
        list(read_rows(tmp_path / "scores.xlsx"))


def test_packed_tables_are_read_as_they_are_unpacked(tmp_path):
    (tmp_path / "plain.csv").write_text(TEXT)
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "tabs.tsv").write_text(TEXT.replace(",", "\t"))
    write_zstd(tmp_path / "packed.csv.zst", TEXT)
    rows = [row.values for row in read_rows(tmp_path / "plain.csv")]
    assert len(rows) == 30
    for name in ("packed.csv.gz", "tabs.tsv", "packed.csv.zst"):
        assert [row.values for row in read_rows(tmp_path / name)] == rows
        assert read_table(tmp_path / name).scores == read_table(tmp_path / "plain.csv").scores


def test_a_half_written_zstd_file_gets_a_sentence(tmp_path):
    path = write_zstd(tmp_path / "packed.csv.zst", TEXT)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(BadInput, match="damaged or half-written zstd file"):
        list(read_rows(path))


OTHER_KINDS = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("csv.gz", "tsv")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xlsx", "csv.zst", *OTHER_KINDS])
def test_audit_reads_each_of_them(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"scores.{kind}"
    if kind == "xlsx":
        write_sheet(path, {"Scores": SCORES})
    elif kind == "csv.zst":
        write_zstd(path, TEXT)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path.write_text(TEXT.replace(",", "\t"))
    assert command.main(["audit", path.name]) == 0
    assert "67% right" in capsys.readouterr()[0]


def test_titles_above_the_header_of_a_sheet_are_no_rows(tmp_path):
    """ "No row that can be read": the title was the header, and had one cell."""
    titles = [["Test of invoices, week 7"], [], ["checked by Ada"]]
    path = write_sheet(tmp_path / "scores.xlsx", {"Scores": [*titles, ["id", "score", "note"], [1, 0.5, None], [2, 1, "ok"]]})
    found = [row.values for row in read_rows(path)]
    assert found == [{"id": 1, "score": 0.5, "note": None}, {"id": 2, "score": 1, "note": "ok"}]


def test_a_header_of_two_lines_in_a_sheet_is_joined(tmp_path):
    lines = [[None, "Model X", None, "Model Y"], ["Essay", "Style", "Logic", "Style", "Logic"], ["E1", 4, 5, 3, 2]]
    (row,) = read_rows(write_sheet(tmp_path / "scores.xlsx", {"Scores": lines}))
    assert row.values == {"Essay": "E1", "Model X Style": 4, "Model X Logic": 5, "Model Y Style": 3, "Model Y Logic": 2}


def test_sheets_with_the_header_of_the_first_are_one_table(tmp_path):
    """The numbers were those of the first topic alone."""
    header = ["Question", "Bot v1"]
    sheets = {
        "Codebook": [["name", "says"], ["Bot v1", "ok"]],
        "Retail": [header, ["a?", 1]],
        "Cards": [header, ["b?", 0], ["a?", 1]],
    }
    path = write_sheet(tmp_path / "scores.xlsx", sheets)
    assert [(row.values["sheet"], row.values["Question"]) for row in read_rows(path)] == [
        ("Retail", "a?"),
        ("Cards", "b?"),
        ("Cards", "a?"),
    ]
    assert [row.values for row in read_rows(path, sheet="Retail")] == [{"Question": "a?", "Bot v1": 1}]
