"""A seeded sample of the long tables (soak.md, kills.md, hostile_files.md); each whole table is one command."""

import os
import random
from dataclasses import replace

import pytest

from flipcore.models.openai import retries
from flipcore.runs import plan, runner
from tests import hostile_files
from tests.runs import kills, soak

pytestmark = pytest.mark.usefixtures("allowed_folders")

SEED = int(os.environ.get("FLIPSCOPE_SAMPLE_SEED", "0"))


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """The soak declares its model by hand; here that is undone."""
    for held, name in ((runner, "model_cards"), (plan, "model_cards"), (retries, "FIRST_WAIT_S")):
        monkeypatch.setattr(held, name, getattr(held, name))


@pytest.mark.slow
def test_a_sampled_fault_of_a_server_ends_true_and_resumes(tmp_path):
    fault = random.Random(SEED).choice(list(soak.FAULTS))
    one = soak.soaked(fault, 20, tmp_path)
    assert one.problem == "", (fault, one)


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_tables(tmp_path):
    small = replace(kills.STUDY, models=tuple(replace(use, n_samples=4) for use in kills.STUDY.models))
    outcome = kills.killed("run", 2, tmp_path, seed=SEED, study=small)
    assert outcome.differing == () and outcome.n_kills == 2 and outcome.most_sent <= 3


@pytest.mark.slow
@pytest.mark.parametrize("what, n", [("studies", 16), ("files", 16), ("databases", 3)])
def test_sampled_malformed_input_is_a_result_or_a_sentence(what, n):
    rng = random.Random(SEED)
    counts, _ = hostile_files.counted(what, rng.sample(range(hostile_files.COUNTS[what]), n))
    assert set(counts) <= {"result", "sentence"} and counts.total() == n
