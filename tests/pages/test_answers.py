"""One answer to each question of a study: card, page, command line, notebook and report show the same, computed once."""

import json
import re

import pytest

from flipcore.api import StudyView
from flipcore.claims import ranking as ranking_claims
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports import memory as memory_reports
from flipcore.reports import score as score_reports
from flipcore.reports.answer import Question
from flipcore.reports.exports.document import report
from flipcore.reports.rows import as_json
from flipcore.reports.whole_study import whole_study
from flipcore.store.connection import Store
from tests.claims.walks import sent
from tests.pages.opening import PAGE_MARKS, clear_caches, opened
from tests.reports.exports.reading import everything_in
from tests.stores import store_with

pytestmark = PAGE_MARKS
STUDY = Study(
    "two models",
    (ItemSource("flipscope_choice", "target", 12), ItemSource("pocket_choice", "retro", 12)),
    (
        Part("identity"),
        Part("combined", {"n": 3, "parts": ["option_order", "label_set"]}),
        Part("paraphrase", {"unreviewed": True}),
    ),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy"), ModelUse("simulated-clean")),
)
S, FIRST = STUDY.study_id, "simulated-noisy"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("answers"), STUDY, shipped=True)


def printed(answer) -> str:
    return json.dumps(as_json(answer.as_dict()), sort_keys=True, default=str)


def ascii_of(text: str) -> str:
    """The letters of a text without spaces, which stay on a line, and without what a message or Markdown escapes."""
    return re.sub(r"\\+(u[0-9a-f]{4}|[0-7]{3})|\\| |[^ -~]", "", text)


PAGES = {
    Question.SCORE: ("score", lambda view: view.score()),
    Question.RANKING: ("ranking", lambda view: view.ranking()),
    Question.FLIPS: ("flips", lambda view: view.decomposition(FIRST)),
    Question.MEMORY: ("memorization", lambda view: view.memory(FIRST)),
    Question.HOLDOUT: ("holdout", lambda view: view.holdout()),
}


@pytest.mark.parametrize("question", PAGES)
def test_pages_json_report_and_notebook_give_the_same_answer(path, question):
    name, in_notebook = PAGES[question]
    page = ascii_of(sent(opened(f"{name}/page.py", study=S, sets=f"study:{S}")))
    clear_caches()
    store = Store.open(path)
    whole, answer = whole_study(store, S), in_notebook(StudyView(store, S))
    said = json.loads(json.dumps(as_json(whole.as_dict()), default=str))
    of_json = json.loads(printed(answer))
    if question in (Question.FLIPS, Question.MEMORY):
        assert of_json.items() <= said["models"][FIRST].items()
    else:
        assert of_json == ({name: said[name] for name in of_json} if question is Question.HOLDOUT else said[question])
    headline = of_json.get("memory_headline") or answer.claims[0].text
    assert len(answer.frame) and answer.withheld == tuple(dict.fromkeys(filter(None, (one.withheld for one in answer.claims))))
    assert headline in whole.text() and headline in everything_in(report(store, S, 0))
    # The page Flips opens with all axes at once, and the answer with each of them.
    assert ascii_of(headline) in page or question is Question.FLIPS
    store.close()


def test_card_pages_and_report_share_one_computation(path, monkeypatch):
    """The card, the page and the report each computed the ranking, the score and memory anew."""
    contests, scores, memory = [], [], []
    contest, model_score, detect = ranking_claims.contest, score_reports._model_score, memory_reports.detector_measurements
    monkeypatch.setattr(ranking_claims, "contest", lambda *args, **kwargs: contests.append(1) or contest(*args, **kwargs))
    monkeypatch.setattr(score_reports, "_model_score", lambda *args: scores.append(args[1]) or model_score(*args))
    monkeypatch.setattr(memory_reports, "detector_measurements", lambda *args: memory.append(1) or detect(*args))
    for page, link in (
        ("studies/page.py", {}),
        ("ranking/page.py", {"study": S}),
        ("score/page.py", {"study": S}),
        ("memorization/page.py", {"study": S}),
        ("report/page.py", {"study": S, "part": "Tables"}),
    ):
        assert not opened(page, **link).exception
    assert contests == [1] and sorted(scores) == ["simulated-clean", "simulated-noisy"] and memory == [1, 1]
