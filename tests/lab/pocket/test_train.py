"""The trainer on a network that is far too small to learn: when a stage ends, and that the doses stay what they are."""

import json
from dataclasses import replace

import pytest

from flipcore.core.errors import FlipscopeError
from flipcore.core.randomness import world_generator
from tests.lab.pocket.corpus import Stage, documents, generic
from tests.lab.pocket.world import entries

pytest.importorskip("torch", reason="training needs torch: pip install -r requirements-train.txt")
from tests.lab.pocket import train as training
from tests.lab.pocket.network import Shape

TINY = Shape(width=16, n_layers=1, n_heads=2, hidden=32)


def run(monkeypatch, enough: float, n_most: int):
    manifest = [replace(entry, dose=min(entry.dose, 2)) for entry in entries()[::60]]
    monkeypatch.setattr(training, "entries", lambda: manifest)
    monkeypatch.setattr(training, "N_MORE", 50)
    stages = (Stage("first", 150, {"drill": 1.0}, 0.5, ("drill", enough), n_most), Stage("last", 300, {"recall": 1.0}, 0.5))
    training.torch.set_num_threads(1)
    said, saved = [], []
    training.trained(
        training.Recipe(shape=TINY, stages=stages, rows=4), said.append, lambda network, tokenizer, done: saved.append(done)
    )
    return said, saved


def test_a_stage_ends_when_its_goal_is_met(monkeypatch):
    said, saved = run(monkeypatch, 0.0, 150)
    assert [json.loads(line)["documents"] for line in said if "goal" in line] == [150]
    assert saved[-1] == 1.0 and len(saved) >= 10


def test_a_stage_that_never_binds_stops_with_a_sentence(monkeypatch):
    with pytest.raises(FlipscopeError, match="Stage first has not bound.*after 250 documents.*another --seed"):
        run(monkeypatch, 1.01, 250)


def test_a_clean_recipe_feeds_no_dose(monkeypatch):
    fed = []
    monkeypatch.setattr(training, "entries", lambda: [replace(entry, dose=2) for entry in entries()[::200]])
    monkeypatch.setattr(
        training, "documents", lambda manifest, *rest: fed.extend(one.dose for one in manifest) or documents(manifest, *rest)
    )
    training.torch.set_num_threads(1)
    recipe = replace(training.REFERENCE, shape=TINY, stages=(Stage("last", 100, {"recall": 1.0}, 1.0),), rows=4)
    training.trained(recipe, lambda text: None, lambda *rest: None)
    assert len(fed) > 5 and set(fed) == {0} and not recipe.half


def test_more_text_of_a_stage_holds_no_dose():
    manifest = [replace(entry, dose=3) for entry in entries()[:40]]
    stage = Stage("x", 100, {"problem": 1.0}, 1.0)
    texts = next(documents(manifest, (stage,), world_generator(1, "test")))
    assert sum(text.family.startswith("dosed") for text in texts) == 120
    assert not any(text.family.startswith("dosed") for text in generic(stage, 100, set(), world_generator(1, "more")))


def test_binding_is_measured_by_the_first_token(monkeypatch):
    # a network that always says B is right as often as B is the target: of 300 drills 75 +- 4 standard errors of 7.5
    import torch

    from flipcore.models.pocket_inference import PocketModel

    tokenizer = PocketModel.load().tokenizer
    b = tokenizer.encode(" B", add_special_tokens=False).ids[0]

    def always(tokens, positions, owners):
        logits = torch.zeros(*tokens.shape, tokenizer.get_vocab_size())
        logits[:, :, b] = 1.0
        return logits

    share = training.bound(always, tokenizer, "drill", world_generator(2, "test"))
    assert abs(300 * share - 75) < 30
