"""From a log to an experiment: its items, its model and axes to begin with; nothing that is set aside."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ModelUse
from flipcore.models.cards import ModelCard
from flipcore.runs import asking_again, runner
from flipcore.runs.asking_again import draft_again
from flipcore.runs.demo import demo_study
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.runs.plan import plan
from tests.datasets.recorded import harness_files as written
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")


def test_an_imported_log_is_asked_again_on_its_own_items(tmp_path, store):
    log = written.inspect_eval(
        tmp_path / "a.eval", [written.inspect_sample(i) for i in (1, 2, 3)], written.inspect_header(1, 3)
    )
    study_id = store_logs(survey([log]), store)
    draft = draft_again(store, study_id)
    assert draft.notes == ("openai/m-1 is not among your models; add it under Models, or choose another.",)
    items = [one.item for one in plan(draft.study, store).items]
    assert {(one.question, one.options, one.target) for one in items} == {
        (f"Which is {i}?", ("oak", "tin", "ash"), "0") for i in (1, 2, 3)
    }
    assert [part.name for part in draft.study.axes] == ["identity", "option_order", "prompt_format"]


def test_the_file_of_the_items_holds_their_letters_as_they_were_written(tmp_path, store):
    """People open it, and look for their question."""
    sample = written.inspect_sample(1) | {"input": "Wie heißt 1?"}
    log = written.inspect_eval(tmp_path / "a.eval", [sample], written.inspect_header(1, 1))
    (source,) = draft_again(store, store_logs(survey([log]), store)).study.items
    assert '"question": "Wie heißt 1?"' in Path(source.path).read_text(encoding="utf-8")


@pytest.mark.slow
def test_roles_and_models_stay_and_what_is_set_aside_does_not_come(tmp_path, store):
    study = tiny_study(name="half aside", confirmatory_share=0.5)
    hidden = {one.item.question for one in plan(study, store).items if one.confirmatory}
    runner.run(study, store)
    draft = draft_again(store, study.study_id).study
    assert [use.name for use in draft.models] == ["simulated-artifact-prone"]
    items = [one.item for one in plan(draft, store).items]
    assert hidden and not hidden & {one.question for one in items} and len(items) == 10 - len(hidden)


def test_answers_in_words_cannot_be_asked_in_another_way(tmp_path, store):
    written.eee(tmp_path / "eee")
    study_id = store_logs(survey([tmp_path / "eee"]), store)
    with pytest.raises(BadInput, match="none can be asked in another way"):
        draft_again(store, study_id)


@pytest.fixture
def recorded(monkeypatch):
    """A recorded study of these models, by name, and its items."""

    def of(uses, kinds=("choice",), targets=("1",)):
        rows = [
            {"item_id": f"{kind}-{target}", "role": "target", "kind": kind, "question": "Which?", "options": ["oak", "tin"]}
            | {"target": target, "category": "", "confirmatory": False}
            for kind in kinds
            for target in targets
        ]
        study = tiny_study(name="log", models=uses, budget_usd=2.5)
        monkeypatch.setattr(asking_again.studies, "declared", lambda store, study_id: study)
        monkeypatch.setattr(asking_again.studies, "study_items", lambda store, study_id: pd.DataFrame(rows))
        return asking_again.draft_again(None, "s")

    return of


def test_models_are_found_by_name_or_by_what_their_server_calls_them(recorded, monkeypatch):
    cards = {"mine": ModelCard("mine", "openai_compatible", "gpt-x"), "own": ModelCard("own", "simulated")}
    monkeypatch.setattr(asking_again, "model_cards", lambda: cards)
    uses = [ModelUse("openai/gpt-x", 0.5, 3, seed=4, max_tokens=5, top_p=0.9, stop=("x",)), ModelUse("own"), ModelUse("lost")]
    draft = recorded(tuple(uses))
    assert list(draft.study.models) == [replace(uses[0], name="mine"), uses[1]]
    assert draft.notes == ("lost is not among your models; add it under Models, or choose another.",)
    assert (draft.study.name, draft.study.budget_usd) == ("log, asked again", 2.5)
    nobody = recorded((ModelUse("lost"),))
    assert [use.name for use in nobody.study.models] == [demo_study().models[0].name]


@pytest.mark.parametrize(
    ("kinds", "axes"),
    [(("choice",), ["identity", "option_order", "prompt_format"]), (("number",), ["identity", "prompt_format"])],
)
def test_options_are_reordered_where_there_are_options(recorded, kinds, axes):
    assert [part.name for part in recorded((ModelUse("simulated-clean"),), kinds=kinds).study.axes] == axes


def test_items_that_cannot_be_asked_are_counted(recorded):
    draft = recorded((ModelUse("simulated-clean"),), kinds=("choice", "number"), targets=("1", "0\n1", None))
    assert draft.notes == ("4 of 6 items are left out: their right answer is text, several, or missing.",)
    assert [(source.role, "options" in source.columns) for source in draft.study.items] == [("target", True), ("target", False)]
    turned = recorded((ModelUse("simulated-clean"),), kinds=("number", "choice"))
    assert turned.notes == () and ["options" in source.columns for source in turned.study.items] == [False, True]
    items = [one.item for one in plan(draft.study).items]
    assert sorted((item.kind, item.options, item.target, item.category) for item in items) == [
        ("choice", ("oak", "tin"), "1", "-"),
        ("number", (), "1", "-"),
    ]
