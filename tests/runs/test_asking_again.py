"""From a log to an experiment: its items, its model and axes to begin with; nothing that is set aside."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.runs import runner
from flipcore.runs.asking_again import draft_again
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
