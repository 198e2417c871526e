"""Where a study may run: what was typed, what a dashboard offers, and the same refusal by page, registry and hand-over."""

import time

import pytest

from flipcore.commands import run as run_command
from flipcore.core.errors import AccessDenied, BadInput, MissingPackage
from flipcore.runs import background, inbox
from flipcore.runs.background import Registry
from flipcore.runs.cluster import ray_cluster, where
from flipcore.runs.cluster.place import ThisProcess
from flipcore.runs.cluster.where import check_offered, offered_places, place_of
from flipcore.store.connection import Store
from tests.runs.cluster.in_process import place
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    opened = Store.open()
    yield opened
    opened.close()


@pytest.fixture
def with_ray(monkeypatch):
    """As if Ray were installed, and nothing in the environment."""
    monkeypatch.setattr(ray_cluster, "why_not", lambda: "")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv(where.VARIABLE, raising=False)


def test_the_default_is_this_process():
    assert isinstance(place_of(""), ThisProcess)


def test_without_ray_a_sentence_says_how_to_install_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="pip install -r requirements-ray.txt"):
        place_of("ray")
    assert offered_places() == {"": "This machine"}
    with pytest.raises(AccessDenied, match="Ray is not installed"):
        check_offered("ray")
    from flipcore.__main__ import main

    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = tmp_path / "study.toml"
    path.write_text(tiny_study().to_toml(), encoding="utf-8")
    assert main(["run", str(path), "--on", "ray"]) == 1
    assert "Ray is not installed" in capsys.readouterr().err


def test_a_dashboard_offers_what_its_admin_named_and_nothing_else(with_ray, monkeypatch):
    monkeypatch.setenv(where.VARIABLE, "ray://head:10001, 10.0.0.1:6379")
    assert list(offered_places()) == ["", "ray", "ray://head:10001", "10.0.0.1:6379"]
    check_offered("10.0.0.1:6379")
    with pytest.raises(AccessDenied, match=f"Let its admin add the address to {where.VARIABLE}"):
        check_offered("evil:6379")


def test_no_way_into_the_dashboard_reaches_a_cluster_that_is_not_offered(with_ray, store):
    """By a page and by a study that the command line left: refused before anything is connected to, and said on the card."""
    registry = Registry(store)
    with pytest.raises(AccessDenied, match="does not run studies at 'evil:6379'"):
        registry.start(tiny_study(), "evil:6379")
    assert registry.running() == {}
    inbox.hand_over(tiny_study(), "evil:6379")
    for study, on in inbox.take():
        registry._take_in(study, on)
    assert store.rows("SELECT state, message FROM studies")[0][0] == "failed"
    assert "does not run studies at" in registry.problem(tiny_study().study_id)


@pytest.mark.slow
def test_the_registry_runs_a_study_where_it_is_told_and_resumes_it_there(with_ray, store, monkeypatch):
    opened = []
    monkeypatch.setattr(background, "place_of", lambda on: opened.append((on, place(2))) or opened[-1][1])
    registry = Registry(store)
    for on in ("ray", None, ""):
        registry.start(tiny_study(), on)
        end = time.monotonic() + 60
        while registry.running() and time.monotonic() < end:
            time.sleep(0.02)
    assert [on for on, _ in opened] == ["ray", "ray", ""]
    assert all(one._cluster.is_closed for _, one in opened) and store.rows("SELECT state FROM studies") == [("done",)]


@pytest.mark.slow
def test_the_terminal_says_what_each_worker_did(store, monkeypatch, tmp_path, capsys):
    store.close()
    monkeypatch.setattr(where, "place_of", lambda on: place(2))
    path = tmp_path / "study.toml"
    path.write_text(tiny_study().to_toml(), encoding="utf-8")
    options = run_command_options("--on", "ray://head:10001", path)
    assert run_command.act(options) == 0
    said = capsys.readouterr()
    assert "machine-0 #1 for simulated-artifact-prone: at work, " in said.out and "by worker " in said.err
    with pytest.raises(BadInput, match="leave out --on"):
        run_command.act(run_command_options("--on", "ray", "--pilot", "2", path))


def run_command_options(*words):
    from flipcore.__main__ import parser

    return parser().parse_args(["run", *map(str, words)])
