"""Rows of good, broken and hostile files."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.core.errors import BadInput
from flipcore.datasets.reading import rows as reading
from flipcore.datasets.reading.rows import read_rows
from tests.datasets.files import CHOICES, written

pytestmark = pytest.mark.usefixtures("allowed_folders")

ROW = {"question": "What is 2 + 2?", "answer": "4"}


def rows(tmp_path, name, content):
    return list(read_rows(written(tmp_path / name, content).path))


def good(found):
    return [row.values for row in found if not row.problem]


def test_json_lines_keep_their_line_numbers_past_blank_and_broken_lines(tmp_path):
    found = rows(tmp_path, "a.jsonl", f'{json.dumps(ROW)}\n\n{{"question": "half\n[1]\n{json.dumps(ROW)}\n')
    assert [row.line for row in found] == [1, 3, 4, 5]
    assert "not valid JSON" in found[1].problem and "list instead of an object" in found[2].problem
    assert good(found) == [ROW, ROW]


def test_a_row_without_a_filled_cell_is_none(tmp_path):
    """Spreadsheets save rows of commas: 19 "rows that repeat another" stood beside 15 samples."""
    found = rows(tmp_path, "a.csv", "question,answer\n,\nWhat?,4\n,,,,\n\nWhy?,\n")
    assert [(row.line, row.values) for row in found] == [
        (3, {"question": "What?", "answer": "4"}),
        (6, {"question": "Why?", "answer": ""}),
    ]
    # without a second column an empty cell is an output, and its place tells which
    assert len(rows(tmp_path, "b.csv", 'output\nyes\n""\nno\n')) == 3


@pytest.mark.parametrize(
    "wrap",
    [
        lambda all_: all_,
        lambda all_: {"data": all_},
        lambda all_: {"features": [{"x": 1}], "rows": [{"row_idx": 0, "row": r} for r in all_]},
    ],
)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_json_document_may_wrap_its_rows(tmp_path, wrap, suffix):
    assert good(rows(tmp_path, f"a.{suffix}", json.dumps(wrap(CHOICES)))) == CHOICES


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"17": ROW, "x": ROW | {"more": 1}}, id="by id"),
        pytest.param(
            {"when": "today", "score": 0.5, "questions": {"17": ROW, "x": ROW | {"more": 1}}}, id="by id in one value"
        ),
    ],
)
def test_rows_that_stand_under_their_ids_keep_them(tmp_path, document):
    found = rows(tmp_path, "a.json", json.dumps(document, indent=1))
    assert good(found) == [{"id": "17"} | ROW, {"id": "x"} | ROW | {"more": 1}]
    assert good(rows(tmp_path, "b.json", json.dumps(document))) == good(found)


def test_what_a_document_says_of_its_model_is_said_of_each_row(tmp_path):
    for content in ({"a": ROW, "b": ROW}, [ROW, ROW]):
        found = good(rows(tmp_path, "a.json", json.dumps({"model": "m-1", "accuracy": 0.5, "results": content})))
        assert [row["model"] for row in found] == ["m-1", "m-1"] and not any("accuracy" in row for row in found)
    (own, _) = good(rows(tmp_path, "a.json", json.dumps({"model": "m-1", "results": [ROW | {"model": "m-2"}, ROW]})))
    assert own["model"] == "m-2"


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({name: {"0": value, "1": "two"} for name, value in ROW.items()}, id="as pandas writes them"),
        pytest.param({name: [value, "two"] for name, value in ROW.items()}, id="as lists"),
        pytest.param({"predictions": [ROW["question"], "two"], "answer": [ROW["answer"], "two"]}, id="called like rows"),
    ],
)
def test_an_object_of_columns_is_a_table(tmp_path, columns):
    found = good(rows(tmp_path, "a.json", json.dumps(columns)))
    assert [list(row.values()) for row in found] == [list(ROW.values()), ["two", "two"]]
    assert [*found[0]] == [*columns]


@pytest.mark.parametrize(
    "item",
    [
        ROW | {"options": ["4", "5"], "weights": [1, 2]},
        {"question": {"stem": "Two?", "image": None}, "answer": {"letter": "A", "text": "2"}},
        {"options": ["4", "5"], "weights": [1, 2, 3]},
    ],
)
def test_a_document_that_is_one_row_stays_one(tmp_path, item):
    assert good(rows(tmp_path, "a.json", json.dumps(item))) == [item]


def test_what_is_no_object_among_objects_is_refused_alone(tmp_path):
    found = rows(tmp_path, "a.json", json.dumps({"results": ["none", ROW, 3, ROW]}))
    assert good(found) == [ROW, ROW]
    assert sorted(row.problem.split()[1] for row in found if row.problem) == ["int", "str"]


def test_json_lines_under_the_name_json_are_read_too(tmp_path):
    assert good(rows(tmp_path, "a.json", CHOICES)) == CHOICES


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_finds_its_delimiter_and_counts_lines_of_the_file(tmp_path, delimiter):
    text = 'question;answer\n"two\nlines";4\nshort\n"a;b";5;6\nlast;7\n'.replace(";", delimiter)
    found = rows(tmp_path, "a.csv", text)
    assert [(row.line, bool(row.problem)) for row in found] == [(2, False), (4, True), (5, True), (6, False)]
    assert good(found) == [{"question": "two\nlines", "answer": "4"}, {"question": "last", "answer": "7"}]


def test_csv_that_ends_within_quotes_says_so(tmp_path):
    found = rows(tmp_path, "a.csv", 'question,answer\nfine,4\n"cut off,5')
    assert good(found) == [{"question": "fine", "answer": "4"}]
    assert found[1].line == 3 and "half-written" in found[1].problem


def test_a_broken_quote_spoils_its_own_row_only(tmp_path):
    found = rows(tmp_path, "a.csv", 'question,answer\n"x"y,1\n\nfine,2\n')
    assert [(row.line, bool(row.problem)) for row in found] == [(2, True), (4, False)]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    assert good(rows(tmp_path, "a.csv", b"\xef\xbb\xbfquestion,answer\nx,1\n")) == [{"question": "x", "answer": "1"}]


def test_parquet_gives_the_same_rows(tmp_path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(CHOICES), tmp_path / "a.parquet")
    assert good(read_rows(tmp_path / "a.parquet")) == CHOICES


@pytest.mark.parametrize("content", [b"PAR1 and then nothing", b"\x00" * 50])
def test_a_half_written_parquet_file_gets_a_sentence(tmp_path, content):
    with pytest.raises(BadInput, match="could not be read as Parquet"):
        rows(tmp_path, "a.parquet", content)


def test_bytes_that_are_not_utf8_spoil_their_own_row_only(tmp_path):
    found = rows(tmp_path, "a.csv", "question,answer\nthé,1\n".encode() + b"caf\xe9,2\nfine,3\n")
    assert [(row.line, row.problem) for row in found if row.problem] == [
        (3, "holds bytes that are not UTF-8; save the file as UTF-8")
    ]
    assert len(good(found)) == 2


def test_a_table_from_an_old_spreadsheet_is_read_in_its_encoding(tmp_path):
    """Rows with ä, é or the euro sign were left out, and the score was that of the other rows."""
    found = rows(tmp_path, "a.csv", "Frage;Punkte\nWo ist das Büro?;1\nKostet es 3 €?;0\nWann?;1\n".encode("cp1252"))
    assert [row.values["Frage"] for row in found] == ["Wo ist das Büro?", "Kostet es 3 €?", "Wann?"]
    # letters of another script would become others
    found = rows(tmp_path, "b.csv", "вопрос,score\nГде бюро?,1\n".encode("cp1251"))
    assert [row.problem for row in found] == ["holds bytes that are not UTF-8; save the file as UTF-8"]


def test_a_lone_surrogate_escape_is_refused_as_it_cannot_be_stored(tmp_path):
    found = rows(tmp_path, "a.jsonl", '{"question": "\\ud800", "answer": "1"}\n{"question": "x", "answer": "1"}\n')
    assert [bool(row.problem) for row in found] == [True, False]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.jsonl", "", "is empty"),
        ("a.txt", "x", "not of a known kind"),
        ("a.csv", "q,q\n1,2\n", "names a column twice"),
        ("a.json", '[{"question": "x"', "may be half-written"),
        ("a.json", "3", "'3' stands where"),
        ("a.json", "[" * 200_000, "nested too deeply|half-written"),
        ("a.csv", "q,a\n".encode("utf-16"), "UTF-16"),
        ("a.jsonl", b"PK\x03\x04zip", "under another name"),
        ("a.jsonl", b"\x1f\x8bgz", "under another name"),
    ],
)
def test_files_that_cannot_be_read_get_a_sentence(tmp_path, name, content, why):
    with pytest.raises(BadInput, match=why):
        rows(tmp_path, name, content)


def test_an_absent_file_gets_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="There is no file 'a.csv'"):
        read_rows(tmp_path / "a.csv")


def test_a_file_over_the_limit_is_refused_by_its_size_before_reading(tmp_path, monkeypatch):
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate(500_000_000)  # sparse: takes no room on disk
    monkeypatch.setattr(reading.Source, "open", lambda source: pytest.fail("the file was read"))
    with pytest.raises(BadInput, match="has 500 MB and the limit is 200 MB"):
        read_rows(tmp_path / "big.csv")


def test_a_document_is_as_large_as_lines_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_UPLOAD_MB", 0.001)
    table = json.dumps([{"question": "x" * 90, "answer": "1"} for _ in range(40)])
    lines = "".join(json.dumps(row) + "\n" for row in json.loads(table))
    for name, text in (("a.json", table), ("a.jsonl", lines)):
        assert len(list(read_rows(written(tmp_path / name, text).path, most_mb=10))) == 40


def test_a_gzip_file_of_several_members_is_read_to_its_end(tmp_path):
    lines = [gzip.compress(json.dumps({"question": str(i), "answer": "1"}).encode() + b"\n") for i in range(3)]
    assert [row.values["question"] for row in rows(tmp_path, "a.jsonl.gz", b"".join(lines))] == ["0", "1", "2"]


def test_old_ends_of_lines_are_ends_of_lines(tmp_path):
    found = rows(tmp_path, "a.csv", b'question,answer\rone,1\r\ntwo,2\n"th\nree",3\r')
    assert [row.values["question"] for row in found] == ["one", "two", "th\nree"] and not any(row.problem for row in found)


@given(content=st.binary(max_size=200), suffix=st.sampled_from(["jsonl", "json", "csv", "parquet"]))
def test_any_bytes_give_rows_or_a_sentence(tmp_path_factory, content, suffix):
    path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
    path.write_bytes(content)
    try:
        found = list(read_rows(path))
    except BadInput as error:
        assert len(str(error)) > 20
    else:
        assert all(row.problem or isinstance(row.values, dict) for row in found)


def test_titles_above_the_header_are_no_rows(tmp_path):
    """A sheet saved as CSV was refused: it "names a column twice: Results 2026, , "."""
    path = tmp_path / "a.csv"
    path.write_text("Results 2026,,\n,,\nquestion,answer,correct\nWhat?,5,1\n", encoding="utf-8")
    (row,) = read_rows(path)
    assert row.values == {"question": "What?", "answer": "5", "correct": "1"}


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Export from EvalTool 2.3\nof May\nid;q;ok\n1;What;0\n", ["id", "q", "ok"]),
        ("answer\nyes\nno\n", ["answer"]),  # one column
        ("answer\n", []),
        ("a\nb\nc\nd\ne\nf\ng,h,i\n", ["a"]),  # far below the beginning
    ],
)
def test_titles_in_one_cell_above_a_header_of_several_are_no_rows(tmp_path, text, columns):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    rows = list(read_rows(path))
    assert [list(row.values) for row in rows if not row.problem][:1] == ([columns] if columns else [])


@pytest.mark.parametrize(
    "header",
    [
        "essay,topic,Model X,,Model Y,\n,,style,logic,style,logic",
        "essay,topic,Model X,Model X,Model Y,Model Y\nessay,topic,style,logic,style,logic",
    ],
)
def test_a_header_of_two_lines_is_joined(tmp_path, header):
    """It named columns twice, or the second line was a row."""
    (row,) = good(rows(tmp_path, "a.csv", f"{header}\nE1,School,4,5,3,2\n".encode()))
    names = ["Model X style", "Model X logic", "Model Y style", "Model Y logic"]
    assert [row[name] for name in names] == ["4", "5", "3", "2"]


def test_a_row_with_equal_cells_below_a_header_with_gaps_is_a_row(tmp_path):
    assert len(good(rows(tmp_path, "a.csv", b"id,x,\na,yes,yes\nb,no,yes\n"))) == 2
    with pytest.raises(BadInput, match="names a column twice: id, x, x"):
        rows(tmp_path, "b.csv", b"id,x,x\n1,2,3\n")
    with pytest.raises(BadInput, match="names a column twice: id, x, x"):
        rows(tmp_path, "c.csv", b"id,x,x\n")
