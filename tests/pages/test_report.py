"""The Report page: what it offers to take home, part by part."""

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.document import N_OUTPUTS, report
from flipcore.store.connection import Store
from flipcore.store.queries import decisions
from pages.common import session
from tests.conftest import ROOT
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("allowed_folders")]
STUDY = Study(
    name="to take home",
    items=(ItemSource("flipscope_choice", n=12),),
    axes=(Part("identity"), Part("option_order", {"n": 3})),
    extractors=(Part("first_token"), Part("regex")),
    models=(ModelUse("simulated-noisy"),),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("report-page"), STUDY)


@pytest.fixture
def page(path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(path))

    def opened(part):
        app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=120).run()
        app.query_params["study"], app.query_params["part"] = STUDY.study_id, part
        return app.switch_page("report/page.py").run()

    return opened


def test_every_part_hands_something_on(page):
    app = page("Report")
    app.button(key="report-write").click().run()
    assert not app.exception and any("Save the report" in one.proto.label for one in app.get("download_button"))
    app.segmented_control(key="part").set_value("Sentences").run()
    assert not app.exception and any("of pairs flip" in one.value for one in app.code)
    app.segmented_control(key="part").set_value("Methods").run()
    assert not app.exception and "12 items (12 benchmark)" in app.code[1].value and "@article" in app.code[2].value
    app.segmented_control(key="part").set_value("Tables").run()
    app.segmented_control(key="report-format").set_value("tex").run()
    assert not app.exception and r"\begin{tabular}" in app.code[1].value
    app.segmented_control(key="part").set_value("Dataset").run()
    app.button(key="report-pack").click().run()
    assert not app.exception and any("12 items with their answers" in one.value for one in app.markdown)
    app.text_input(key="report-language").set_value("no code!").run()
    app.button(key="report-pack").click().run()
    assert any("is no code" in one.value for one in app.error)


def test_a_report_that_is_written_again_holds_the_decision_that_was_written_meanwhile(path, page, monkeypatch):
    texts = []

    def take(label, text, *_args, **_rest):
        if label.startswith("Save the report"):
            texts.append(text)

    monkeypatch.setattr("streamlit.download_button", take)
    app = page("Report")
    app.button(key="report-write").click().run()
    decisions.keep_decision(session.store(), STUDY.study_id, "decomposition", "explore", "We go on.", {"level": 0.9}, "Ada")
    app.button(key="report-write").click().run()
    assert not app.exception and ["We go on." in text for text in texts] == [False, True]


def test_the_page_writes_what_the_command_writes(path):
    store = Store.open(path)
    try:
        text = report(store, STUDY.study_id, N_OUTPUTS)
    finally:
        store.close()
    assert text.startswith("<!DOCTYPE html>") and STUDY.name in text
