"""One answer to each question of a study: card, page, command line, notebook and report show the same, computed once."""

import json
import re

import pytest

from flipcore.api import StudyView
from flipcore.claims import ranking as ranking_claims
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports import score as score_reports
from flipcore.reports.answer import Question
from flipcore.reports.exports.document import report
from flipcore.reports.rows import plain
from flipcore.reports.whole_study import whole_study
from flipcore.runs import demo
from flipcore.store.connection import Store
from tests.claims.walks import sent
from tests.pages.opening import clear_caches, opened, quiet
from tests.reports.exports.reading import everything_in
from tests.stores import store_with

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders"),
]  # Streamlit's own: threads without a script context
STUDY = Study(
    "two models",
    (ItemSource("flipscope_choice", n=24),),
    (Part("identity"), Part("combined", {"n": 3, "parts": ["option_order", "label_set"]})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy"), ModelUse("simulated-clean")),
)
S = STUDY.study_id


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("answers"), STUDY)


@pytest.fixture
def path(file, monkeypatch):
    quiet(monkeypatch, file)
    monkeypatch.setattr(demo, "demo_studies", list)
    clear_caches()
    yield file
    clear_caches()


def as_json(answer) -> str:
    return json.dumps(plain(answer.as_dict()), sort_keys=True, default=str)


def ascii_of(text: str) -> str:
    """The text without other signs, which a message to the browser escapes."""
    return re.sub(r"\\+(u[0-9a-f]{4}|[0-7]{3})|[^ -~]", "", text)


@pytest.mark.parametrize("question", [Question.SCORE, Question.RANKING])
def test_pages_json_report_and_notebook_give_the_same_answer(path, question):
    page = sent(opened(f"{question}/page.py", study=S))
    clear_caches()
    store = Store.open(path)
    whole, view = whole_study(store, S), StudyView(store, S)
    answer = whole.answer(question)
    said = json.loads(json.dumps(plain(whole.as_dict()), default=str))
    in_notebook = getattr(view, question)()
    headline = answer.claims[0].text
    assert as_json(in_notebook) == as_json(answer) and in_notebook.claims == answer.claims
    assert in_notebook.frame.to_csv() == answer.frame.to_csv() and len(answer.frame)
    assert said[question] == json.loads(as_json(answer))
    assert headline in json.dumps(said, ensure_ascii=False) and headline in whole.text()
    assert headline in everything_in(report(store, S, 0)) and ascii_of(headline) in ascii_of(page)
    store.close()


def test_card_pages_and_report_share_one_computation(path, monkeypatch):
    """The card, the page and the report each computed the ranking and the score anew."""
    contests, scores = [], []
    contest, model_score = ranking_claims.contest, score_reports._model_score
    monkeypatch.setattr(ranking_claims, "contest", lambda *args, **kwargs: contests.append(1) or contest(*args, **kwargs))
    monkeypatch.setattr(score_reports, "_model_score", lambda *args: scores.append(args[1]) or model_score(*args))
    for page, link in (
        ("studies/page.py", {}),
        ("ranking/page.py", {"study": S}),
        ("score/page.py", {"study": S}),
        ("report/page.py", {"study": S, "part": "Tables"}),
    ):
        assert not opened(page, **link).exception
    assert contests == [1] and sorted(scores) == ["simulated-clean", "simulated-noisy"]
