"""Texts as passages, and HumanEval: from real files where they are, and by hand."""

import gzip
import json
import re
import zipfile

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.datasets import load, load_report
from flipcore.datasets.generic.text_files import passages
from tests.conftest import SHARED_DATA

pytestmark = pytest.mark.usefixtures("allowed_folders")

TEXT = "One two three four. Five six seven! Eight nine ten eleven? Twelve."
shared = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="the real texts are not beside this checkout")


def test_a_passage_ends_at_a_sentence_and_a_short_rest_is_left_out():
    assert passages(TEXT, 6) == ["One two three four. Five six seven!", "Eight nine ten eleven? Twelve."]
    assert passages(TEXT, 7) == ["One two three four. Five six seven!", "Eight nine ten eleven? Twelve."]
    assert passages(TEXT, 11) == ["One two three four. Five six seven! Eight nine ten eleven?"]
    assert passages("", 5) == []


def long_text(n=60):
    return " ".join(f"Sentence {i} of it has exactly eight words here." for i in range(n))


def test_a_zip_and_a_folder_give_the_same_passages(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(long_text())
    (folder / "b.xml").write_text(f"<book><p>{long_text(30)}</p></book>")
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        for name in ("a.txt", "b.xml"):
            archive.write(folder / name, f"inside/{name}")
    first, second = (load(ItemSource("text", path=str(path))) for path in (folder, tmp_path / "texts.zip"))
    assert [item.item_id for item in first] == [item.item_id for item in second] and len(first) > 3
    assert {item.category for item in first} == {"a", "b"} and all("<" not in item.question for item in first)
    only = load(ItemSource("text", path=str(folder), options={"file": "b.", "n_words": 40}))
    assert {item.category for item in only} == {""} and all(40 <= len(item.question.split()) < 60 for item in only[:-1])


@pytest.mark.parametrize(
    ("name", "content", "options", "why"),
    [
        ("a.doc", b"x", {}, "not of a known kind"),
        ("a.txt", b"a\x00b", {}, "no text"),
        ("a.zip", b"PK broken", {}, "could not be read"),
        ("a.txt", b"Hello there.", {"n_words": 5}, "from 20 to 2,000"),
        ("a.txt", b"Hello.", {"speed": 1}, "takes n_words and file"),
        ("a.txt", b"Hello.", {"file": "z"}, "named like 'z'"),
        ("a.txt", b"Hello.", {}, "has no rows"),
    ],
)
def test_a_bad_text_gets_a_sentence(tmp_path, name, content, options, why):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=re.escape(why)):
        load(ItemSource("text", path=str(path), options=options))


def test_text_without_a_path_says_what_it_needs():
    with pytest.raises(BadInput, match="need a local path"):
        load(ItemSource("text"))


def test_humaneval_is_read_packed_or_plain(tmp_path):
    line = json.dumps(
        {"task_id": "HumanEval/7", "prompt": "def f():\n", "canonical_solution": "    return 1\n", "entry_point": "f"}
    )
    (tmp_path / "h.jsonl").write_text(line)
    (tmp_path / "h.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    for name in ("h.jsonl", "h.jsonl.gz"):
        (item,) = load(ItemSource("humaneval", path=str(tmp_path / name)))
        assert (item.kind, item.question, item.published) == ("completion", "def f():\n    return 1", "2021-07-07")
        assert item.item_id.startswith("humaneval/7@")
    (tmp_path / "bad.jsonl.gz").write_bytes(b"not packed")
    with pytest.raises(BadInput, match="not valid JSON"):
        load(ItemSource("humaneval", path=str(tmp_path / "bad.jsonl.gz")))


@pytest.mark.stand_in("test_a_zip_and_a_folder_give_the_same_passages")
@shared
def test_the_real_genesis_and_humaneval():
    path = str(SHARED_DATA / "genesis" / "genesis.zip")
    genesis = load_report(ItemSource("text", path=path, options={"file": "english-kjv"}))
    assert 250 < len(genesis.items) < 350 and not genesis.refusals
    assert genesis.items[0].question.startswith("In the beginning God created the heaven and the earth")
    assert len(load(ItemSource("humaneval", path=str(SHARED_DATA / "humaneval" / "HumanEval.jsonl.gz")))) == 164
