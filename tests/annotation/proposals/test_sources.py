"""Which questions and which models paraphrases may come from; nothing that a study set aside is handed to a model."""

from flipcore.annotation.proposals.sources import items_to_paraphrase, question_sources, writers
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies

STUDY = Study(
    "half aside",
    (ItemSource("flipscope_choice", n=12),),
    (Part("identity"),),
    (Part("regex"),),
    (ModelUse("simulated-clean"),),
    confirmatory_share=0.5,
)


def test_writers_leave_out_simulated_models_and_put_the_pocket_model_last():
    names = writers()
    assert names[-1] == "pocket" and "clean" not in names


def test_of_a_study_only_open_items_are_offered_and_none_twice(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    demo.fill_store(store)
    runner.run(STUDY, store)
    key = f"study:{STUDY.study_id}"
    assert question_sources(store)[key] == "study: half aside"
    frame = studies.study_items(store, STUDY.study_id)
    ids = {item.item_id for item in items_to_paraphrase(store, key, 50, "nobody")}
    assert ids == set(frame[~frame["confirmatory"]]["item_id"]) and 0 < len(ids) < 12
    states = studies.paraphrase_states(store)
    generator = states[states["item_id"].isin([item.item_id for item in load(ItemSource("flipscope_choice"))])][
        "generator"
    ].iloc[0]
    left = {item.item_id for item in items_to_paraphrase(store, "flipscope_choice", 500, generator)}
    assert not left & set(states[states["generator"] == generator]["item_id"])
    assert len(items_to_paraphrase(store, "flipscope_choice", 2, "nobody")) == 2
    store.close()
