"""What is an address of Ray, and a study on a real cluster whose worker is killed (skipped without Ray)."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from flipcore.core.errors import BadInput
from flipcore.runs.cluster import ray_cluster
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.parametrize("text", ["here", "http://head:8000", "ray://", "head", "10.0.0.1:port", "ray://head:1; rm -rf ~"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(BadInput, match="is no place to run a study"):
        ray_cluster.address_of(text)


def test_an_address_is_taken_as_it_stands_and_ray_alone_from_the_environment(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert [ray_cluster.address_of(one) for one in ("ray", "ray://head:10001", "10.0.0.1:6379")] == [
        "",
        "ray://head:10001",
        "10.0.0.1:6379",
    ]
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.9:6379")
    assert ray_cluster.address_of("ray") == "10.0.0.9:6379"


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


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """Way -> what came of it, on a real cluster in a process of its own."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed (requirements-ray.txt)")
    words = [sys.executable, "-m", "tests.runs.cluster", "ways", str(tmp_path_factory.mktemp("ways") / "bench")]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("way", ["client", "environment"])
def test_a_study_runs_by_the_client_and_by_the_address_of_the_environment(ways, way):
    (words,) = ways[way]["words"]
    if way == "client" and "could not be reached" in words:
        pytest.skip("Ray's server for this client did not come up in time, three times; a busy machine")
    assert words.startswith("0 ") and "done. 240 calls, 0 reused, 0 failed" in words
    assert words.count(": at work, ") == 2 and ways[way]["n_requests"] == 240 and ways[way]["differing"] == []


@pytest.mark.slow
def test_machines_without_flipscope_are_a_sentence_and_nothing_is_asked(ways):
    (words,) = ways["not installed"]["words"]
    if "could not be reached" in words:
        pytest.skip("Ray's server for this client did not come up in time, three times; a busy machine")
    assert words.startswith("1 ") and "Traceback" not in words and ways["not installed"]["n_requests"] == 0
    assert "Install the same version of Flipscope on every machine of the cluster, its head too; nothing was asked." in words


@pytest.mark.slow
def test_a_study_that_the_terminal_cancelled_is_resumed_and_asks_nothing_twice(ways):
    first, second = ways["terminal"]["words"]
    assert first.startswith("130 ") and "cancelled." in first and "Resume makes only the missing calls" in first
    assert second.startswith("0 ") and "done. 240 calls, " in second and " 0 reused" not in second
    assert ways["terminal"]["n_requests"] == 240 and ways["terminal"]["differing"] == []


@pytest.mark.slow
def test_a_study_that_the_page_cancelled_is_resumed_on_its_cluster(ways):
    (words,) = ways["registry"]["words"]
    assert "cancelled 2 workers" in words and "\ndone" in words
    assert ways["registry"]["n_requests"] == 240 and ways["registry"]["differing"] == []


@pytest.mark.slow
def test_two_runs_of_two_processes_share_what_the_server_takes(ways):
    """Its card says eight, and it is taken to stand on each of the two machines."""
    two = ways["two runs"]
    assert len(two["words"]) == 2 and all("done. 240 calls, 0 reused, 0 failed" in words for words in two["words"])
    assert two["n_requests"] == 480 and two["differing"] == []
    assert ways["environment"]["most_at_once"] <= 16 and 8 < two["most_at_once"] <= 16  # 32 when each run went by its card


@pytest.mark.slow
def test_a_worker_that_fails_every_call_is_set_aside_and_named(ways):
    (words,) = ways["wrong worker"]["words"]
    assert words.startswith("0 ") and "done. 240 calls, 0 reused, 0 failed" in words
    assert "1 of 2 workers get no calls (" in words and "for lab: set aside" in words
    assert 240 < ways["wrong worker"]["n_requests"] <= 240 + 2 * 8 and ways["wrong worker"]["differing"] == []


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (requirements-ray.txt)")
def test_simulated_claims_have_the_same_rows_on_ray_as_here():
    code = (
        "from tests.lab.claims.__main__ import run\n"
        "places = [('flips', 0), ('flips', 1)]\n"
        "assert list(run(places, seed=5, runs=3, on='ray')) == list(run(places, seed=5, runs=3, processes=1))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr[-3000:]
