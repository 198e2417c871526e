"""Vectors that were kept come back as they were; accuracies are those of the base prompt."""

import numpy as np
import pytest

from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies, vectors
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")


def test_vectors_come_back_exactly_and_only_those_asked_for(store):
    kept = {"a": np.array([1.5, -2.25, 1e-7], dtype=np.float32), "b": np.zeros(3, dtype=np.float32)}
    vectors.keep(store, "made", "1", kept)
    found = vectors.vectors(store, "made", "1", ["a", "c", "a"])
    assert list(found) == ["a"] and found["a"].dtype == np.float32 and np.array_equal(found["a"], kept["a"])
    assert vectors.vectors(store, "made", "2", ["a"]) == {} == vectors.vectors(store, "other", "1", ["a"])
    assert vectors.vectors(store, "made", "1", []) == {}


def test_the_first_vector_of_a_text_stays(store):
    for value in (1.0, 2.0):
        vectors.keep(store, "made", "1", {"a": np.array([value], dtype=np.float32)})
    assert vectors.vectors(store, "made", "1", ["a"])["a"].tolist() == [1.0]


def test_vectors_survive_the_process(tmp_path):
    store = Store.open(tmp_path / "kept.duckdb")
    vectors.keep(store, "made", "1", {"a": np.arange(5, dtype=np.float32)})
    store.close()
    store = Store.open(tmp_path / "kept.duckdb")
    assert vectors.vectors(store, "made", "1", ["a"])["a"].tolist() == [0, 1, 2, 3, 4]
    store.close()


@pytest.mark.slow
def test_accuracies_are_shares_of_right_answers_to_the_base_prompt(store):
    study = tiny_study()
    runner.run(study, store)
    frame = studies.readouts(store, study.study_id)
    base = frame[(frame["variant"] == "base") & frame["is_correct"].notna()]
    by_hand = base.assign(right=base["is_correct"].astype(float)).groupby("item_id")["right"].mean().to_dict()
    assert by_hand and vectors.accuracies(store, [*by_hand, "unknown"]) == pytest.approx(by_hand)
