"""What is an address of Ray, and a study on a real cluster whose worker is killed (skipped without Ray)."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from flipcore.core.errors import BadInput
from flipcore.runs.cluster import rays
from tests.conftest import ROOT


@pytest.mark.parametrize("text", ["here", "http://head:8000", "ray://", "head", "10.0.0.1:port", "ray://head:1; rm -rf ~"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(BadInput, match="is no place to run a study"):
        rays.address_of(text)


def test_an_address_is_taken_as_it_stands_and_ray_alone_from_the_environment(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert [rays.address_of(one) for one in ("ray", "ray://head:10001", "10.0.0.1:6379")] == [
        "",
        "ray://head:10001",
        "10.0.0.1:6379",
    ]
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.9:6379")
    assert rays.address_of("ray") == "10.0.0.9:6379"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (requirements-ray.txt)")
def test_a_killed_worker_of_a_real_cluster_costs_no_answer_and_no_key(tmp_path):
    """Head and three workers, each a process of its own, in a process of their own: Ray warns more than a test may."""
    words = [sys.executable, "-m", "tests.runs.cluster", "small", str(tmp_path / "bench")]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]
    one = json.loads(ended.stdout.splitlines()[-1])
    assert one["n_worker_kills"] == 1 and one["differing"] == [] and one["n_distinct"] == one["n_calls"] == 400
    assert one["n_repeated"] <= one["n_on_way"] and one["most_often"] <= 2 and one["key_in"] == []
    assert "done. 400 calls, 0 reused, 0 failed" in one["ending"] and "lost once" in one["ending"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (requirements-ray.txt)")
def test_simulated_claims_have_the_same_rows_on_ray_as_here():
    code = (
        "from flipcore.lab.claims.__main__ import run\n"
        "places = [('flips', 0), ('flips', 1)]\n"
        "assert list(run(places, seed=5, runs=3, on='ray')) == list(run(places, seed=5, runs=3, processes=1))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr[-3000:]
