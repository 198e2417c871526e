"""A file is whole or absent, and one function writes it."""

import ast
import errno
import os
import re
import subprocess
import sys

import pytest

from flipcore.core import whole_files
from flipcore.core.errors import BadInput, NotStored
from flipcore.core.whole_files import leftovers, whole_file, write
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.core.file_kills import WORKS, killed

pytestmark = pytest.mark.usefixtures("allowed_folders")

# modules that write files which nobody keeps: parts of a sort, what a zip holds, and a stranger's tables, in folders of the system; and
# two that write into pipes between processes
SCRATCH = {
    "flipcore/datasets/recorded/grouping.py",
    "flipcore/datasets/reading/log_files.py",
    "flipcore/store/merge_source.py",
    "flipcore/store/whole_copy.py",
    "flipcore/extractors/written/expressions.py",
    "flipcore/core/sandboxed.py",
}
WRITING = {"write_text", "write_bytes", "to_parquet", "to_csv", "to_excel", "to_feather", "copyfile", "copy2", "copytree", "move",
           "mkstemp", "NamedTemporaryFile", "savez", "fdopen", "symlink_to", "hardlink_to", "link", "extractall"}  # fmt: skip


_CALLED = re.compile(rf"\b(open|{'|'.join(sorted(WRITING))})\s*\(")


def _writes(call):
    """Whether a call may write a file that is no draft."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    names = {
        node.id
        for one in [*call.args, *[k.value for k in call.keywords]]
        for node in ast.walk(one)
        if isinstance(node, ast.Name)
    }
    if owner == "draft" or "draft" in names or not (name in WRITING or name == "open"):
        return False
    if name in ("link", "move", "copytree"):
        return owner in ("os", "shutil")
    if name in ("to_csv", "to_parquet"):
        return bool(call.args) and "buffer" not in names  # else a text
    if name == "open":
        modes = [one.value for one in [*call.args, *[k.value for k in call.keywords]] if isinstance(one, ast.Constant)]
        is_os = owner == "os"
        return is_os or any(isinstance(mode, str) and set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
    return True


@pytest.mark.slow
def test_nothing_else_opens_a_file_for_writing():
    found = []
    for path in sorted([*(ROOT / "flipcore").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]):
        name = path.relative_to(ROOT).as_posix()
        if name in SCRATCH | {"flipcore/core/whole_files.py"}:
            continue
        text = path.read_text(encoding="utf-8")
        if not _CALLED.search(text):  # parsing every file takes two seconds
            continue
        tree = ast.parse(text)
        found += [f"{name}:{one.lineno}" for one in ast.walk(tree) if isinstance(one, ast.Call) and _writes(one)]
    assert found == []


def test_a_block_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path):
    path = write(tmp_path / "a" / "x.txt", "first")

    def half(error):
        with whole_file(path) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(ZeroDivisionError):
        half(ZeroDivisionError())
    assert path.read_text() == "first" and list(path.parent.iterdir()) == [path]
    with pytest.raises(FileExistsError):
        write(path, "second", over=False)
    assert path.read_text() == "first" and list(path.parent.iterdir()) == [path]
    assert write(path, b"second").read_text() == "second"


@pytest.mark.parametrize(
    "number, kind, words", [(errno.ENOSPC, NotStored, "Make room"), (errno.EACCES, BadInput, "another place")], ids=str
)
def test_a_disk_that_does_not_take_it_is_a_sentence(tmp_path, monkeypatch, number, kind, words):
    def full(handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(whole_files.os, "fsync", full)
    with pytest.raises(kind, match=words):
        write(tmp_path / "x.txt", "x")
    assert list(tmp_path.iterdir()) == []


def test_what_reads_otherwise_than_it_was_written_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_files.Path, "read_bytes", lambda self: b"other")
    with pytest.raises(BadInput, match="reads otherwise"):
        write(tmp_path / "x.txt", "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="rights are posix's")
def test_a_secret_is_nobody_elses_from_its_first_byte(tmp_path):
    with whole_file(tmp_path / "secret", mode=0o600) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
        draft.write_text("x")
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_a_draft_of_a_process_that_is_gone_is_named_at_the_start(tmp_path, caplog):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(30)
    (tmp_path / "uploads").mkdir()
    left = tmp_path / "uploads" / f".a.csv.{gone.pid}.abcdef.unfinished"
    for path in (left, tmp_path / f".b.csv.{os.getpid()}.abcdef.unfinished"):  # the second is being written
        path.write_text("half")
    assert leftovers([tmp_path], [tmp_path / "uploads"]) == [left]
    Store.open(tmp_path / "flips.duckdb").close()
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [str(left)]


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_a_kill_while_files_are_written_leaves_no_half_file(tmp_path, work):
    n_at_work, wrong, same = killed(work, 2, tmp_path)
    assert n_at_work and not wrong and same
