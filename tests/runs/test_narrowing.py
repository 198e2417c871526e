"""A study on some of its items: only these are asked, in their roles, and what was set aside is never taken."""

from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.runs import plan
from flipcore.runs.asking_again import draft_with_items
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def stored(tmp_path):
    """A store with a declared study that sets half of its items aside; nothing of it was asked."""
    from flipcore.runs import runner

    sources = (ItemSource("flipscope_choice", n=6), ItemSource("flipscope_problems", role="control", n=4))
    study = replace(tiny_study(), items=sources, confirmatory_share=0.5)
    store = Store.open(tmp_path / "flips.duckdb")
    runner.run(study, store)
    yield store, study
    store.close()


def asked_items(study):
    return plan.plan(study).items


def test_a_narrowed_study_asks_the_selected_items_in_their_roles(stored, tmp_path):
    store, study = stored
    items = studies.study_items(store, study.study_id)
    chosen = [items[items["role"] == role]["item_id"].iloc[0] for role in ("benchmark", "control")]
    draft = draft_with_items(store, study.study_id, chosen)
    assert [(source.role, source.where, source.n) for source in draft.study.items] == [
        ("benchmark", {"item_id": [chosen[0]]}, 0),
        ("control", {"item_id": [chosen[1]]}, 0),
    ]
    assert draft.study.axes == study.axes and draft.study.models == study.models and "2 selected items" in draft.study.name
    assert {one.item.item_id for one in asked_items(draft.study)} == set(chosen)


@pytest.mark.slow
def test_what_was_set_aside_is_not_taken(stored, tmp_path):
    store, study = stored
    everything = [one.item.item_id for one in asked_items(study)]
    opened = set(studies.study_items(store, study.study_id)["item_id"])
    assert 0 < len(opened) < len(everything)
    draft = draft_with_items(store, study.study_id, everything)
    assert {one for source in draft.study.items for one in source.where["item_id"]} == opened
    with pytest.raises(BadInput, match="None of the selected items"):
        draft_with_items(store, study.study_id, set(everything) - opened)
