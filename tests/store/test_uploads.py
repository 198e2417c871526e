"""An upload is kept under its content, and its name cannot lead out of the folder."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name
from flipcore.core.study import ItemSource
from flipcore.core.whole_files import write
from flipcore.datasets import load_report
from flipcore.store import uploads
from flipcore.store.archiving import problems
from flipcore.store.connection import Store
from flipcore.store.uploads import keep_files, keep_upload, uploads_folder


@pytest.fixture(autouse=True)
def beside_a_database(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


def test_the_same_content_is_the_same_file():
    first, again, other = keep_upload("a.csv", b"1"), keep_upload("a.csv", b"1"), keep_upload("a.csv", b"2")
    assert first == again != other and first.read_bytes() == b"1" and first.suffix == ".csv"


def test_a_packed_file_stays_what_it_is_and_is_called_as_its_user_knows_it():
    path = keep_upload("HumanEval.jsonl.gz", b"1")
    assert path.suffixes == [".jsonl", ".gz"] and spoken_name(path) == "HumanEval.jsonl.gz"
    assert spoken_name(keep_upload("a.csv", b"1")) == "a.csv" and spoken_name(keep_upload("noend", b"1")) == "noend"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("My file (2).CSV", "My-file-2-{}.CSV"),
        ("a.j s-o_n", "a-{}.json"),
        ("-.abcdefghijk", "upload-{}.abcdefghi"),
        ("x" * 41 + ".gz", "x" * 40 + "-{}.gz"),
    ],
)
def test_letters_and_digits_of_a_name_are_kept(name, kept):
    assert keep_upload(name, b"1").name == kept.format("6b86b273ff34fce1")  # the SHA-256 of "1"


@pytest.mark.parametrize(
    "name", ["../../x.jsonl.gz", "../../etc/passwd", "..\\x.csv", "", "/", "a/b.jsonl", "ü" * 300 + ".csv"]
)
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


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_of_one_name_are_all_kept_and_one_that_comes_twice_is_kept_once():
    """Two runs of HELM have their files under the same names, and a browser sends no folders."""
    sent = [("a.json", b"1"), ("b.json", b"2"), ("a.json", b"3"), ("x/b.json", b"4"), ("a.json", b"1"), ("../a.json", b"5")]
    folder = keep_files(sent)[0]
    kept = {"a.json": b"1", "b.json": b"2", "2/a.json": b"3", "2/b.json": b"4", "3/a.json": b"5"}
    assert files_in(folder) == kept and folder.parent == uploads_folder()
    assert keep_files(sent)[0] == folder and files_in(folder) == kept and len(list(uploads_folder().iterdir())) == 1


def test_a_folder_of_uploads_is_whole_or_absent(monkeypatch):
    """Whoever is cut off after the first of two files leaves no folder under the name of both."""
    written = []

    def one_alone(path, content):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(uploads, "write", one_alone)
        with pytest.raises(KeyboardInterrupt):
            keep_files([("a.json", b"1"), ("b.json", b"2")])
    assert written and list(uploads_folder().iterdir()) == []


def test_a_folder_of_uploads_that_was_changed_is_named_and_becomes_whole_again(tmp_path):
    sent = [("a.json", b"1"), ("b.json", b"2")]
    folder = keep_files(sent)[0]
    store = Store.open(tmp_path / "flips.duckdb")
    assert problems(store) == []
    for change in (lambda: (folder / "a.json").write_bytes(b""), lambda: (folder / "b.json").unlink()):
        change()
        assert [str(folder) in one and "cut or changed" in one for one in problems(store)] == [True]
        assert keep_files(sent)[0] == folder and problems(store) == []
    store.close()
