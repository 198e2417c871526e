"""Excel files that somebody made to do harm: each is rows or a sentence, soon and in little memory."""

import io
import time
import zipfile

import pytest

from flipcore.core.errors import BadInput
from flipcore.datasets.reading import rows, sheets
from flipcore.datasets.reading.rows import read_rows

openpyxl = pytest.importorskip("openpyxl", reason="requirements-excel.txt installs it")
pytestmark = pytest.mark.usefixtures("allowed_folders")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
LINKED = '<!DOCTYPE worksheet [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
GROWING = '<!DOCTYPE worksheet [<!ENTITY a "ha"><!ENTITY b "{}"><!ENTITY x "{}">]>'.format("&a;" * 1_000, "&b;" * 1_000)


def cell(place, value, kind="str"):
    return f'<c r="{place}" t="{kind}"><v>{value}</v></c>'


def line(number, *cells):
    return f'<row r="{number}">{"".join(cells)}</row>'


HEADER = line(1, cell("A1", "id"), cell("B1", "model"))


def sheet(body, size="A1:B9", before=""):
    cells = f'<dimension ref="{size}"/><sheetData>{HEADER}{body}</sheetData>'
    return f'<?xml version="1.0"?>{before}<worksheet xmlns="{MAIN}">{cells}</worksheet>'


def write(path, content, text=""):
    """A workbook whose first sheet is this XML, and whose one shared text is `text`."""
    stream = io.BytesIO()
    openpyxl.Workbook().save(stream)
    with zipfile.ZipFile(stream) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in whole.namelist():
            part = whole.read(name).decode()
            if text and name == "[Content_Types].xml":
                part = part.replace("</Types>", f'<Override PartName="/xl/texts.xml" ContentType="{STRINGS}"/></Types>')
            changed.writestr(name, content if name == SHEET else part)
        if text:
            changed.writestr("xl/texts.xml", f'<sst xmlns="{MAIN}"><si><t>{text}</t></si></sst>')
    return path


FAULTS = {
    "half a sheet": sheet("")[:200],
    "a file of the server": sheet(line(2, cell("A2", "&x;")), before=LINKED),
    "a text that grows": sheet(line(2, cell("A2", "&x;")), before=GROWING),
    "a column that Excel lacks": sheet(line(2, cell("ZZZZZ2", "q"))),
    "a number that is none": sheet(line(2, cell("A2", "abc", "n"))),
    "a number of 6,000 digits": sheet(line(2, cell("A2", "9" * 6_000, "n"))),
    "a shared text that is not there": sheet(line(2, cell("A2", "77", "s"))),
    "a line that is no number": sheet('<row r="abc"><c r="A2"><v>1</v></c></row>'),
    "a place that is none": sheet(line(2, cell("??", "q"))),
    "a date that is none": sheet(line(2, cell("A2", "soon", "d"))),
    "a truth value that is none": sheet(line(2, cell("A2", "x", "b"))),
    "a size that is none": sheet("", size="nonsense"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sheet_with_a_fault_gets_a_sentence_without_a_place_of_the_server(tmp_path, fault):
    path = write(tmp_path / "scores.xlsx", FAULTS[fault])
    with pytest.raises(BadInput, match="could not be read as an Excel file") as refused:
        list(read_rows(path))
    assert str(tmp_path) not in str(refused.value) and len(str(refused.value)) < 400


def test_bytes_of_a_sheet_that_changed_get_a_sentence(tmp_path):
    path = write(tmp_path / "scores.xlsx", sheet(line(2, cell("A2", "q"))))
    with zipfile.ZipFile(path) as packed:
        start = packed.getinfo(SHEET).header_offset
    content = bytearray(path.read_bytes())
    content[start + 80] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadInput, match="could not be read as an Excel file"):
        list(read_rows(path))


def test_a_sheet_that_says_a_wrong_size_loses_no_line_and_takes_no_time(tmp_path):
    body = line(30_000, cell("A30000", "q"))
    for size in ("A1:XFD1048576", "A1:A1"):
        start = time.process_time()
        (row,) = read_rows(write(tmp_path / "scores.xlsx", sheet(body, size)))
        assert row.line == 30_000 and row.values == {"id": "q", "model": None}
        assert time.process_time() - start < 2


@pytest.mark.slow
def test_cells_too_far_apart_get_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "_MAX_CELLS", 1_000_000)
    far = sheet(line(99_999_999, cell("A99999999", "q")))
    wide = sheet("".join(line(number, cell(f"ZZZ{number}", "q")) for number in range(2, 100)))
    for content in (far, wide):
        with pytest.raises(BadInput, match="cells too far apart"):
            list(read_rows(write(tmp_path / "scores.xlsx", content)))


def test_one_text_in_many_cells_is_held_against_the_limit(tmp_path):
    body = "".join(line(number, cell(f"A{number}", "0", "s")) for number in range(2, 100))
    path = write(tmp_path / "scores.xlsx", sheet(body), text="x" * 100_000)
    with pytest.raises(BadInput, match="would unpack to 2 MB"):
        list(read_rows(path, most_mb=2))


def test_a_line_of_more_than_a_row_may_have_is_refused_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MAX_ROW", 1_000)
    body = line(2, cell("A2", "x" * 600), cell("B2", "x" * 600)) + line(3, cell("A3", "q"))
    first, second = read_rows(write(tmp_path / "scores.xlsx", sheet(body)))
    assert "give each row a line of its own" in first.problem and second.values["id"] == "q"


def test_a_formula_is_its_stored_value_and_none_without_one(tmp_path):
    stored = '<c r="A2"><f>WEBSERVICE("http://localhost/")</f><v>7</v></c>'
    bare = '<c r="B2"><f>cmd|"/c calc"!A1</f></c>'
    (row,) = read_rows(write(tmp_path / "scores.xlsx", sheet(line(2, stored, bare))))
    assert row.values == {"id": 7, "model": None}
