"""PEARL end to end on the pocket model and on a server that speaks the OpenAI API: on real text (Genesis and HumanEval), and on
shipped passages where the real text is not at hand."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import cards, model_cards
from flipcore.runs import runner
from flipcore.stats.memory import frames
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.pearl_analysis import pearl
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.conftest import SHARED_DATA
from tests.models.server import Server

pytestmark = pytest.mark.usefixtures("allowed_folders")

real = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="the real texts are not beside this checkout")
LEVELS = (0.0, 2.0, 4.0)


def study(model: str) -> Study:
    texts = {"path": str(SHARED_DATA / "genesis" / "genesis.zip")}
    sources = (
        ItemSource("text", "benchmark", 8, options={"file": "english-kjv", "n_words": 20}, **texts),
        ItemSource("text", "non_member", 24, options={"file": "lolcat", "n_words": 20}, **texts),
        ItemSource("humaneval", "benchmark", 4, path=str(SHARED_DATA / "humaneval" / "HumanEval.jsonl.gz")),
    )
    axes = (Part("bit_flip", {"levels_pct": LEVELS, "n_samples": 3}),)
    return Study("real texts", sources, axes, (Part("rouge_l"), Part("ncd", {"compressor": "zlib"})), (ModelUse(model),))


def shipped_study(model: str) -> Study:
    fables = ItemSource("flipscope_passages", "benchmark", 4, categories=("fable",))
    others = ItemSource("flipscope_passages", "non_member", 19, categories=("description", "letter", "instructions", "recipe"))
    sources = (fables, others)
    axes = (Part("bit_flip", {"levels_pct": LEVELS, "n_samples": 2}),)
    return Study("shipped texts", sources, axes, (Part("rouge_l"), Part("ncd", {"compressor": "zlib"})), (ModelUse(model),))


def judged(store: Store, declared: Study, metric: str, model: str):
    frame = studies.readouts(store, declared.study_id, everything=True)
    scores, left_out = frames.pearl_scores(frame, metric, ["benchmark"])
    known, known_left_out = frames.pearl_scores(frame, metric, ["non_member"])
    setting = Setting(model, "completion", metric, "zlib", LEVELS, 3)
    return pearl(scores, known, setting, rule="conformal"), left_out + known_left_out


@pytest.mark.stand_in("test_on_shipped_passages_that_it_never_read_the_pocket_model_breaks_off_nowhere")
@pytest.mark.simulation
@pytest.mark.slow
@real
def test_on_the_pocket_model_which_never_read_them_no_text_breaks_off(store):
    """What it read 256 times falls by more than .8 between two levels; here there is nothing to fall from."""
    declared = study("pocket")
    progress = runner.run(declared, store)
    assert progress.state == "done" and progress.n_done == 36 * 3 * 3
    found, left_out = judged(store, declared, "rouge_l", "pocket")
    assert len(found.item_ids) + left_out == 12 and found.sensitivity.max() < 0.2


@pytest.mark.stand_in("test_on_a_server_every_shipped_passage_is_continued_over_http")
@pytest.mark.slow
@real
def test_on_a_server_every_text_is_continued_over_http(store, monkeypatch):
    with Server() as server:
        known = model_cards() | {
            "lab": cards.ModelCard(
                "lab", "openai_compatible", model="m", endpoint=server.url, api="completions", price_in=0.0, price_out=0.0
            )
        }
        for module in ("flipcore.runs.plan", "flipcore.runs.runner"):
            monkeypatch.setattr(f"{module}.model_cards", lambda: known)
        declared = study("lab")
        progress = runner.run(declared, store)
        assert (progress.state, progress.n_failed) == ("done", 0)
        assert {body["temperature"] for body in server.bodies} == {0.7} and len(server.bodies) == 36 * 3 * 3
    found, left_out = judged(store, declared, "ncd", "lab")
    assert left_out == 0 and len(found.item_ids) == 12
    assert (abs(found.sensitivity) < 1e-9).all()  # the server says the same whatever it is shown, so nothing falls


@pytest.mark.slow
def test_on_shipped_passages_that_it_never_read_the_pocket_model_breaks_off_nowhere(store):
    declared = shipped_study("pocket")
    progress = runner.run(declared, store)
    assert (progress.state, progress.n_done) == ("done", 23 * 3 * 2)
    result, left_out = judged(store, declared, "rouge_l", "pocket")
    assert len(result.item_ids) + left_out == 4 and result.sensitivity.max() < 0.2


@pytest.mark.slow
def test_on_a_server_every_shipped_passage_is_continued_over_http(store, monkeypatch):
    with Server() as server:
        card = cards.ModelCard(
            "lab", "openai_compatible", model="m", endpoint=server.url, api="completions", price_in=0.0, price_out=0.0
        )
        for module in ("flipcore.runs.plan", "flipcore.runs.runner"):
            monkeypatch.setattr(f"{module}.model_cards", lambda: model_cards() | {"lab": card})
        declared = shipped_study("lab")
        progress = runner.run(declared, store)
        assert (progress.state, progress.n_failed, len(server.bodies)) == ("done", 0, 23 * 3 * 2)
    result, left_out = judged(store, declared, "ncd", "lab")
    assert left_out == 0 and (abs(result.sensitivity) < 1e-9).all()  # the server says the same whatever it is shown
