"""A fresh server computes nothing twice of a finished study, and nothing stale is ever read."""

import os
import pickle
import shutil
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from flipcore.core.paths import home
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store import commits, kept_results, packing
from flipcore.store.connection import Store, results_folder
from flipcore.store.export import export
from flipcore.store.merge import merge
from flipcore.store.queries import studies
from tests.stores import copy_of

STUDY = Study(
    "kept",
    (ItemSource("flipscope_choice", n=8),),
    (Part("option_order", {"n": 3}),),
    (Part("regex"),),
    (ModelUse("simulated-noisy"),),
)
S = STUDY.study_id
NAMES = ("pages.flips.headline", "0.95")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "flips.duckdb"
    store = Store.open(path)
    assert runner.run(STUDY, store).state == "done"
    store.close()
    return path


@pytest.fixture(scope="module")
def filled_and_packed(filled, tmp_path_factory):
    path = copy_of(filled, tmp_path_factory.mktemp("packed"))
    with closing(Store.open(path)) as store:
        assert packing.pack(store, S)
    return path


@pytest.fixture
def path(filled, tmp_path, monkeypatch):
    """The path of a study that is not packed, and with `store` that of its packed twin."""
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    return copy_of(filled, tmp_path)


@pytest.fixture
def store(path, filled_and_packed):
    store = Store.open(copy_of(filled_and_packed, path.parent))
    yield store
    store.close()


class Counted:
    """A computation that counts how often it was made."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> dict:
        self.n += 1
        return {"flips": 0.4, "n": self.n}


def kept(store, make, names=NAMES):
    return kept_results.kept(store, S, names, make)


def files(path):
    return sorted(results_folder(path).rglob("*.result"))


def write(store, sql):
    store.writer.transact(lambda connection: connection.execute(sql), changes=()).result(60)


@pytest.mark.slow
def test_a_fresh_server_reads_what_another_computed(store, path):
    make = Counted()
    assert kept(store, make) == kept(store, make) == {"flips": 0.4, "n": 1}
    store.close()
    fresh = Store.open(path)
    assert kept(fresh, make) == {"flips": 0.4, "n": 1} and make.n == 1
    fresh.close()


@pytest.mark.slow
def test_another_setting_is_another_result(store):
    make = Counted()
    kept(store, make)
    assert kept(store, make, (NAMES[0], "0.9"))["n"] == 2


def test_nothing_is_kept_of_a_study_that_is_not_packed(path):
    make, store = Counted(), Store.open(path)
    kept(store, make)
    kept(store, make)
    assert make.n == 2 and not results_folder(path).exists()
    store.close()


CHANGES = {
    "a judge's label": "INSERT INTO judge_labels VALUES ('l', 'i', 'c', 'Ada', '1', 'h', 'r', NULL, now(), false)",
    "a word on a key": "INSERT INTO key_verdicts VALUES ('k', 'i', 'Ada', 'ambiguous', NULL, 'h', 'r', NULL, now(), false)",
    "a verdict on a paraphrase": "INSERT INTO verdicts (verdict_id, pair_id, reviewer, note, original_hash, "
    "paraphrase_hash, rule_version, created_at) VALUES ('v', 'p', 'Ada', '', '', '', 'r', now())",
    "an answer in a survey": "INSERT INTO survey_answers (answer_id, survey_id, annotator, position, kind, odd, chosen, "
    "is_correct, is_model, created_at) VALUES ('a', 's', 'Ada', 0, 'mixed', 0, 0, true, false, now())",
    "a lock": f"INSERT INTO locks VALUES ('l', '{S}', '{{}}', 'Ada', now())",
    "a key": f"UPDATE items SET target = 'another' WHERE item_id IN (SELECT min(item_id) FROM study_items WHERE study_id = '{S}')",
    "a role": f"UPDATE study_items SET role = 'control' WHERE study_id = '{S}'",
    "an answer in the place of another": "UPDATE completions SET text = 'x', created_at = now() "
    "WHERE call_id IN (SELECT min(call_id) FROM completions)",
    "a failed call's answer": "UPDATE completions SET status = 'error' WHERE call_id IN (SELECT min(call_id) FROM completions)",
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_has_the_result_computed_again(store, path, change):
    make = Counted()
    kept(store, make)
    write(store, CHANGES[change])
    assert kept(store, make)["n"] == 2
    assert len(files(path)) == 1, "the result of the earlier state is removed"


def test_a_changed_readout_has_the_result_computed_again(store):
    make = Counted()
    kept(store, make)
    sql = f"UPDATE readouts SET answer = '0' WHERE study_id = '{S}'"
    store.writer.transact(lambda connection: connection.execute(sql), changes={S}).result(60)
    assert kept(store, make)["n"] == 2
    assert packing.pack(store, S)
    assert kept(store, make)["n"] == 3, "packed again, it is another state"


@pytest.mark.slow
def test_another_study_changes_nothing(store):
    make = Counted()
    kept(store, make)
    other = Study("other", (ItemSource("flipscope_problems", n=3),), (Part("identity"),), (Part("regex"),), STUDY.models)
    assert runner.run(other, store).state == "done"
    assert kept(store, make)["n"] == 1


def test_other_code_has_the_result_computed_again(store, path, monkeypatch):
    make = Counted()
    kept(store, make)
    store.close()
    monkeypatch.setattr(kept_results, "code", lambda: "of another version")
    fresh = Store.open(path)
    assert kept(fresh, make)["n"] == 2
    fresh.close()


@pytest.mark.parametrize("kind", [".py", ".json", ".toml", ".sql"])
def test_a_file_of_any_kind_beside_the_code_makes_other_code(monkeypatch, kind):
    """The measured coverage of intervals is JSON, and estimates quote it."""
    before, read = kept_results.code.__wrapped__(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"" if path.suffix == kind else read(path))
    assert kept_results.code.__wrapped__() != before


def test_rows_that_come_while_a_result_is_computed_keep_it_from_being_kept(store, path):
    def make():
        write(store, CHANGES["a judge's label"])
        return 1

    assert kept(store, make) == 1 and files(path) == []


class Hostile:
    """A pickle that writes a file when it is read."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return open, (str(self.target), "w")


@pytest.mark.parametrize("signature", [b"", b"\0" * 32])
def test_a_file_that_somebody_else_wrote_is_not_read(store, path, tmp_path, signature):
    make = Counted()
    kept(store, make)
    (file,) = files(path)
    file.write_bytes(signature + pickle.dumps(Hostile(tmp_path / "run")))
    assert kept(store, make)["n"] == 2 and not (tmp_path / "run").exists()


def test_a_result_in_the_place_of_another_is_not_read(store, path):
    make = Counted()
    kept(store, make)
    (first,) = files(path)
    kept(store, make, ("another",))
    (second,) = [file for file in files(path) if file != first]
    second.write_bytes(first.read_bytes())
    assert kept(store, make, ("another",))["n"] == 3


def test_the_secret_of_another_user_opens_nothing(store, path):
    make = Counted()
    kept(store, make)
    (home() / kept_results.SECRET).unlink()
    assert kept(store, make)["n"] == 2


def test_where_no_secret_can_be_kept_everything_is_computed(store, path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "file"))
    make = Counted()
    kept(store, make)
    assert kept(store, make)["n"] == 2 and files(path) == []


def test_what_no_file_can_hold_is_returned_all_the_same(store, path):
    assert kept(store, lambda: lambda: 3)() == 3 and files(path) == []


def test_deleting_the_folder_loses_nothing_and_a_damaged_file_is_computed_again(store, path):
    make = Counted()
    kept(store, make)
    (file,) = files(path)
    file.write_bytes(file.read_bytes()[:-3])
    assert kept(store, make)["n"] == 2

    shutil.rmtree(results_folder(path))
    assert kept(store, make)["n"] == 3


def test_a_deleted_study_leaves_no_result(store, path):
    kept(store, Counted())
    studies.delete_study(store, S)
    assert files(path) == []


@pytest.mark.slow
def test_merge_and_export_know_nothing_of_results(store, path, tmp_path):
    kept(store, Counted())
    exported = export(store, S, tmp_path / "exports", "csv")
    store.close()
    other = Store.open(tmp_path / "other.duckdb")
    merge([path], other)
    assert not results_folder(other.path).exists() and len(exported) > 0
    other.close()


def test_results_of_two_sets_are_kept_by_what_the_sets_hold_and_the_oldest_go(path, monkeypatch):
    monkeypatch.setattr(kept_results, "MAX_CONTENT_FILES", 2)
    make, store = Counted(), Store.open(path)
    for content in ("a", "a", "b", "c", "d"):
        kept_results.kept_of_content(store, ["prediction", content], make)
    assert make.n == 4 and len(files(path)) == 2
    assert kept_results.kept_of_content(store, ["prediction", "d"], make)["n"] == 4
    store.close()


def test_nothing_is_kept_beside_plug_ins_whose_code_may_change(store, path, monkeypatch):
    kept_results.has_plugins.cache_clear()
    monkeypatch.setattr(kept_results, "installed", lambda: SimpleNamespace(groups={"flipscope.detectors"}))
    make = Counted()
    assert [kept(store, make)["n"], kept(store, make)["n"]] == [1, 2] and files(path) == []
    kept_results.has_plugins.cache_clear()


@pytest.fixture
def result_file(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "study" / "state" / "a.result"


def test_results_and_the_secret_are_for_this_user_alone(result_file):
    kept_results._write(result_file, {"flips": 0.4})
    assert kept_results._read(result_file) == ({"flips": 0.4},)
    for file in (result_file, home() / kept_results.SECRET):
        assert file.stat().st_mode & 0o777 == 0o600
    assert len((home() / kept_results.SECRET).read_bytes()) == 64
    kept_results._write(result_file, None)
    assert kept_results._read(result_file) == (None,) and kept_results._read(result_file.with_name("b.result")) is None


@pytest.mark.parametrize(
    ("mode", "n_bytes", "is_taken"),
    [(0o600, 64, True), (0o400, 64, True), (0o640, 64, False), (0o604, 64, False), (0o600, 63, False)],
)
def test_a_secret_that_others_can_read_or_that_was_cut_is_none(result_file, mode, n_bytes, is_taken):
    home().mkdir(parents=True, exist_ok=True)
    (home() / kept_results.SECRET).write_bytes(b"a" * n_bytes + b"\n")
    (home() / kept_results.SECRET).chmod(mode)
    kept_results._write(result_file, 1)
    assert kept_results._read(result_file) == ((1,) if is_taken else None) and result_file.exists() == is_taken


@pytest.mark.parametrize("spare", [0, -1])
def test_a_result_that_is_too_large_is_not_kept(result_file, monkeypatch, spare):
    monkeypatch.setattr(kept_results, "MAX_BYTES", len(pickle.dumps("result", protocol=5)) + spare)
    kept_results._write(result_file, "result")
    assert result_file.exists() == (spare == 0)


def test_the_oldest_results_of_other_content_go(tmp_path):
    for number in range(102):
        (tmp_path / f"{number}.result").touch()
        os.utime(tmp_path / f"{number}.result", (number, number))
    kept_results._remove_oldest(tmp_path)
    assert sorted(int(path.stem) for path in tmp_path.iterdir()) == list(range(2, 102))


def test_what_cannot_be_removed_keeps_no_earlier_state_from_being_removed(tmp_path, monkeypatch):
    for name in ("a", "c", "d"):
        (tmp_path / name).mkdir()
    (tmp_path / "b").touch()  # no folder, so removing it fails
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([folder / name for name in "abcd"]))
    kept_results._remove_other_states(tmp_path / "d")
    assert sorted(os.listdir(tmp_path)) == ["b", "d"]


def test_a_database_in_memory_keeps_no_result_of_content(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    make = Counted()
    in_memory = SimpleNamespace(path=Path(commits.MEMORY))
    assert [kept_results.kept_of_content(in_memory, ["a"], make)["n"] for _ in range(2)] == [1, 2]
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_is_gone_already_keeps_no_older_one(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_results, "MAX_CONTENT_FILES", 1)
    files = [tmp_path / f"{number}.result" for number in range(4)]
    for number, path in enumerate(files):
        path.touch()
        os.utime(path, (number, number))
    unlink = Path.unlink

    def also_by_another_server(path, missing_ok=False):
        if path == files[0]:
            unlink(path)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", also_by_another_server)
    kept_results._remove_oldest(tmp_path)
    assert list(tmp_path.iterdir()) == files[3:]
