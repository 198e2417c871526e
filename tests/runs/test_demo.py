"""The first start's studies where the pocket model is missing."""

from flipcore.core.paths import DATA
from flipcore.core.study import Study
from flipcore.runs import demo


def test_without_the_pocket_model_two_simulated_ones_answer_each_shipped_item_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "POCKET", tmp_path)
    (study,) = demo.demo_studies()
    asked = [(use.name, use.n_samples) for use in study.models]
    assert asked == [("simulated-artifact-prone", 2), ("simulated-brittle", 2)]
    assert [(source.dataset, source.n) for source in study.items] == [("flipscope_choice", 20), ("flipscope_problems", 12)]
    shipped = Study.read(DATA / "demo.toml")
    assert (study.axes, study.extractors) == (shipped.axes, shipped.extractors) and "simulated" in study.name


def test_every_shipped_paraphrase_is_of_a_shipped_item():
    pairs = [(pair["dataset"], pair["item_key"]) for pair in demo._lines("shipped.jsonl")]
    items = demo._items({dataset for dataset, _ in pairs})
    assert pairs and all(items[pair].dataset == pair[0] for pair in pairs)
