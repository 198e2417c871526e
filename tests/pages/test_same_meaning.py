"""Pages of a study whose free answers are read by sameness of meaning, without a key; and the same reader over a log, on Audit."""

import pytest

from flipcore.runs import runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.pages.opening import opened, words
from tests.runs.test_same_meaning import World, by_city, declared, log, with_models

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
SAID = {
    "flips/page.py": "The answer differs between two prompts of one question",
    "score/page.py": "Nothing was judged right or wrong here, so there is no score.",
    "ranking/page.py": "There is nothing to rank: no two models have answers that are right or wrong.",
    "memorization/page.py": "add items with the role control",
    "paraphrase_review/page.py": "Is this the same question?",
    "report/page.py": "Not claimed: too little was reviewed of same meaning.",
}


@pytest.fixture
def world(monkeypatch, tmp_path):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    with World() as server:
        with_models(server, monkeypatch)
        yield server


def test_every_page_shows_a_study_without_a_key(tmp_path, world):
    study, store = declared(tmp_path, with_key=False), Store.open()
    assert runner.run(study, store).state == "done"
    store.close()
    for page, sentence in SAID.items():
        app = opened(page, study=study.study_id)
        assert not app.exception and sentence in words(app), (page, words(app)[:400])
        assert "No item has all of its answers" not in words(app) and "No answer has come back" not in words(app)


def test_audit_offers_it_over_a_log_at_a_price_that_is_an_upper_bound(tmp_path, world, monkeypatch):
    monkeypatch.setattr(world, "verdict_of", by_city)
    store = Store.open()
    study_id = store_logs(survey([log(tmp_path)], {"model": "m"}), store)
    store.close()
    app = opened("audit/page.py", {"judge-form": True}, study=study_id)
    app.selectbox(key="judge-model").select("judge").run()
    app.selectbox(key="judge-how").select("same_meaning").run()
    assert "judge: as if no two answers meant the same, at most " in words(app) and not app.text_area
    app.number_input(key="judge-budget").set_value(1.0).run()
    app.button(key="judge-now").click().run()
    assert not app.exception and world.judged and "same_meaning v1 and" in words(app)
