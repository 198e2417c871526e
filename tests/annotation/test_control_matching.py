"""Controls matched from a study's own controls and from another set, stored as pairs, and then deciding a paired drop gap."""

import shutil
import time
from contextlib import closing
from dataclasses import replace

import pytest

from flipcore.__main__ import main
from flipcore.annotation import control_matching
from flipcore.annotation.control_matching import matched_from_set, matched_in_study, paired_study, store_matching
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import locks, pairs, planning, studies
from tests.reports.test_memory_headline import memory_tests
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "paired",
    (
        ItemSource("pocket_problems", "benchmark", 30, 3, where={"dose": [256]}),
        ItemSource("pocket_problems", "control", 90, 3, where={"split": "control"}),
    ),
    (Part("identity"), Part("numeric_resample")),
    (Part("regex"),),
    (ModelUse("simulated-memorized"),),
    control="paired",
    confirmatory_share=0.4,
)
S = STUDY.study_id
BY = ["length", "steps", "subject"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The study, run once; every test gets a copy of its own."""
    path = tmp_path_factory.mktemp("paired") / "flips.duckdb"
    opened = Store.open(path)
    runner.run(STUDY, opened)
    opened.close()
    return path


@pytest.fixture
def store(filled, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", shutil.copy(filled, tmp_path / "flips.duckdb").as_posix())
    opened = Store.open(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


def gap_of(store, lock=None):
    frame = studies.readouts(store, S, lock=lock, everything=True)
    items = studies.study_items(store, S)
    tests = memory_tests(frame, STUDY, items, pairs=pairs.control_pairs(store, S, lock))["simulated-memorized"]
    return next(one for one in tests if one.detector == "drop gap, numbers resampled")


@pytest.mark.slow
def test_stored_pairs_decide_the_paired_drop_gap(store):
    assert "no pairs are stored" in gap_of(store).claim.text
    matching = matched_in_study(store, S, BY)
    assert len(matching.pairs) > 15 and all(abs(one.after) <= 0.25 for one in matching.balance)
    store_matching(store, matching, "Ada")
    claim = gap_of(store).claim
    assert not claim.withheld and "length in words" in claim.detail and "pairs" in claim.detail


@pytest.mark.slow
def test_what_was_set_aside_is_paired_with_what_was_set_aside(store):
    aside = {row["item_id"]: row["confirmatory"] for row in planning.members(store, S)}
    matching = matched_in_study(store, S, BY)
    assert any(aside[one] for one in matching.pairs)
    assert all(aside[first] == aside[second] for first, second in matching.pairs.items())


@pytest.mark.slow
def test_pairs_that_are_not_alike_withhold_the_claim(store):
    matching = matched_in_study(store, S, BY)
    row = matching.balance[0]
    worse = replace(matching, balance=(replace(row, after=0.4), *matching.balance[1:]))
    store_matching(store, worse, "Ada")
    assert "still differ in length in words by 0.40 SD" in gap_of(store).claim.text


@pytest.mark.slow
def test_a_lock_keeps_the_pairs_of_its_moment(store):
    store_matching(store, matched_in_study(store, S, BY), "Ada")
    then = pairs.control_pairs(store, S).control_of
    time.sleep(0.01)
    lock = locks.keep_lock(store, S, "memorization", {"margin": 0.05}, "Ada")
    first = gap_of(store, lock).claim
    swapped = dict(zip(then, [*list(then.values())[1:], next(iter(then.values()))], strict=True))
    pairs.store_pairs(store, swapped, {}, "Bea").result(10)
    assert pairs.control_pairs(store, S).control_of != then
    assert pairs.control_pairs(store, S, lock).control_of == then
    assert gap_of(store, lock).claim == first


@pytest.mark.slow
def test_matching_again_replaces_and_a_pair_can_come_back(store):
    pairs.store_pairs(store, {"b": "c", "d": "e"}, {}, "Ada").result(10)
    pairs.store_pairs(store, {"b": "f"}, {}, "Ada", unpaired=["d"]).result(10)
    assert pairs.control_pairs(store).control_of == {"b": "f"}
    pairs.store_pairs(store, {"b": "c"}, {}, "Ada").result(10)
    assert pairs.control_pairs(store).control_of == {"b": "c"}


@pytest.mark.slow
def test_controls_come_from_another_set_without_what_the_study_holds(store):
    matching = matched_from_set(store, S, ItemSource("pocket_problems"), BY)
    members = {row["item_id"] for row in planning.members(store, S)}
    assert matching.pairs and not set(matching.pairs.values()) & members
    study = paired_study(STUDY, matching, ItemSource("pocket_problems"))
    assert Study.from_toml(study.to_toml()) == study
    runner.run(study, store)
    roles = {row["item_id"]: row["role"] for row in planning.members(store, study.study_id)}
    assert {item for item, role in roles.items() if role == "control"} == set(matching.pairs.values())


@pytest.mark.slow
def test_what_another_study_set_aside_is_no_control(store):
    other = replace(STUDY, name="other", items=(ItemSource("flipscope_problems", n=20),), confirmatory_share=0.9)
    runner.run(other, store)
    hidden = {row["item_id"] for row in planning.members(store, other.study_id) if row["confirmatory"]}
    matching = matched_from_set(store, S, ItemSource("flipscope_problems"), ["length"], caliper=5)
    assert hidden and not hidden & set(matching.pairs.values())


def test_a_model_under_test_is_no_reference(tmp_path):
    sources = tuple(replace(source, n=2) for source in STUDY.items)
    study = replace(STUDY, items=sources, axes=(Part("identity"),), confirmatory_share=0.0)
    with closing(Store.open(store_with(tmp_path, study))) as store:
        assert control_matching.reference_models(store, study) == []
        with pytest.raises(BadInput, match="simulated-memorized is under test"):
            matched_in_study(store, study.study_id, BY, models=["simulated-memorized"])


@pytest.mark.slow
def test_the_accuracy_of_reference_models_is_matched(store):
    other = replace(STUDY, name="reference", models=(ModelUse("simulated-noisy"),), control="other", confirmatory_share=0.0)
    runner.run(other, store)
    assert control_matching.reference_models(store, STUDY) == ["simulated-noisy"]
    matching = matched_in_study(store, S, ["accuracy", "length"], models=["simulated-noisy"])
    assert matching.by == ("accuracy", "length") and matching.how()["models"] == ["simulated-noisy"]
    assert abs(next(one for one in matching.balance if one.trait == "accuracy").after) <= 0.25


@pytest.mark.slow
def test_the_command_matches_stores_and_writes_the_study(store, capsys, tmp_path):
    store.close()
    path = tmp_path / "paired.toml"
    words = ["match", S, "--by", *BY, "--keep", "Ada", "--from", "pocket_problems", "--write", str(path)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "benchmark items have a control of their own" in said and "pairs are stored." in said and "before" in said
    assert Study.read(path).control == "paired"
    assert main(["match", S, "--by", "mood"]) == 1
    assert "cannot be matched by 'mood'" in capsys.readouterr().err
