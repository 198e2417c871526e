"""An upload is kept under its content, and its name cannot lead out of the folder."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.store.uploads import keep_upload, uploads_folder


@pytest.fixture(autouse=True)
def beside_a_database(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


def test_the_same_content_is_the_same_file():
    first, again, other = keep_upload("a.csv", b"1"), keep_upload("a.csv", b"1"), keep_upload("a.csv", b"2")
    assert first == again != other and first.read_bytes() == b"1" and first.suffix == ".csv"


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\x.csv", "", "/", "a/b.jsonl", "ü" * 300 + ".csv"])
def test_no_name_leaves_the_folder(name):
    path = keep_upload(name, b"content")
    assert path.resolve().parent == uploads_folder().resolve() and len(path.name) < 80


def test_an_upload_that_an_earlier_release_left_cut_becomes_whole_when_it_comes_again():
    path = keep_upload("a.csv", b"whole")
    path.write_bytes(b"wh")
    assert keep_upload("a.csv", b"whole") == path and path.read_bytes() == b"whole"
    assert [one.name for one in uploads_folder().iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"question\n", b"question,question\n1,2\n", "q\n".encode("utf-16")])
def test_what_is_wrong_with_an_upload_names_it_as_the_user_does(content):
    """Not by the name under which it is kept, which holds the hash of its content."""
    with pytest.raises(BadInput, match=r"^mine\.csv "):
        load_report(ItemSource("file", path=str(keep_upload("mine.csv", content))))
