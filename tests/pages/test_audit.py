"""The Audit page: findings of an imported log, and the items behind them."""

from dataclasses import replace

import pytest

from flipcore.claims.audit_input import Finding
from flipcore.claims.claim import Claim
from flipcore.reports.audit import audit
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made
from tests.pages.opening import opened

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    store = Store.open()
    study_id = store_logs(survey([made.lm_eval(tmp_path / "run", n=30, n_right=20).parent]), store)
    store.close()
    return study_id


def test_a_score_opens_its_outputs_and_those_that_are_wrong_come_first(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    store = Store.open()
    rows = [f"What is {i} plus {i}?,{2 * i},It is {2 * i + (i == 7)}" for i in range(20)]
    (tmp_path / "table.csv").write_text("\n".join(["question,answer,output", *rows]), encoding="utf-8")
    study_id = store_logs(survey([tmp_path / "table.csv"]), store)
    store.close()
    app = opened("audit/page.py", study=study_id)
    score = next(text.value for text in app.markdown if "95% right" in text.value)
    app.button(key="look-score-1").click().run()
    said = [text.value for text in app.markdown]
    assert not app.exception and f"**{score}**" in said and "Sample 1: read as **15** · wrong" in said
    assert "Right answer: 14 · 1 of 20" in [text.value for text in app.caption]
    app.button(key="inspect-next").click().run()
    assert any(text.value.endswith("· right") for text in app.markdown)


def test_findings_stand_worst_first_and_open_the_items_behind_them(imported):
    app = opened("audit/page.py", study=imported)
    assert not app.exception
    words = [one.value for one in app.markdown]
    headline, *grades = [one for one in words if one.startswith("#")]
    assert "checks could be made; none failed, but " in headline and "the score less sure" in headline
    assert [one.rpartition(" (")[0] for one in grades] == ["### Makes the score less sure"]
    assert any("scores higher " in one for one in words)
    app.button(key="look-1").click().run()
    assert not app.exception
    assert app.query_params["item"] and any("Right answer" in one.value for one in app.caption)
    (readouts,) = [one.value for one in app.dataframe if "Extractor" in one.value.columns]  # both filters, one text, two clicks
    answers = readouts.set_index("Extractor")["Answer"].to_dict()
    assert answers["strict-match"] == "The filter strict-match found no answer." and answers["flexible-extract"].isdecimal()


def test_a_log_is_read_again_and_its_items_open_a_new_study(imported):
    app = opened("audit/page.py", study=imported)
    app.selectbox(key="reread-extractor").select("pattern").run()
    app.text_input(key="reread-pattern").set_value(r"makes (\d)").run()
    app.button(key="reread-now").click().run()
    assert not app.exception
    assert any("pattern v1 and regex read" in one.value.replace("\\", "") for one in app.markdown)
    (button,) = [one for one in app.button if one.label == "Ask again"]
    button.click().run()
    assert not app.exception
    notes = " ".join(one.value for one in app.caption).replace("\\", "")
    assert "m-1 is not among your models" in notes


def test_a_judge_is_priced_once_somebody_wants_one(imported, monkeypatch):
    monkeypatch.setattr("flipcore.runs.rereading.priced", lambda *given: pytest.fail("nobody asked what a judge costs"))
    app = opened("audit/page.py", study=imported)
    assert not app.exception and not [one for one in app.text_area if one.key == "judge-prompt"]


def test_a_judge_that_was_chosen_for_another_study_does_not_get_in_the_way(imported):
    """New study keeps its judge under a key of the same session."""
    assert not opened("audit/page.py", {"judge": "simulated-noisy"}, study=imported).exception


def test_a_judge_is_priced_and_reads_the_stored_texts(imported):
    app = opened("audit/page.py", {"judge-form": True}, study=imported)
    app.text_area(key="judge-prompt").set_value("Final: without the text").run()
    assert any("must hold {text}" in one.value.replace("\\", "") for one in app.error)
    app.text_area(key="judge-prompt").set_value("{text} Final:").run()
    app.selectbox(key="judge-model").select("pocket").run()
    assert any("30 calls" in one.value and "$0.00" in one.value for one in (_Plain(one) for one in app.caption))
    app.button(key="judge-now").click().run()
    assert not app.exception
    assert any("judge v1 and regex read" in one.value.replace("\\", "") for one in app.markdown)


class _Plain:
    """A text of the page without the marks that show it letter by letter."""

    def __init__(self, element):
        self.value = element.value.replace("\\", "")


def test_a_log_without_a_finding_says_how_many_checks_could_be_made(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    store = Store.open()
    study_id = store_logs(
        survey([made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(0)], made.inspect_header(1.0, 1))]), store
    )
    report = audit(store, study_id)
    store.close()
    app = opened("audit/page.py", study=study_id)
    assert not app.exception and report.findings == ()
    words = [one.value.replace("\\", "") for one in app.markdown]
    assert f"## {report.headline}" in words and "checks could be made" in report.headline
    assert any("Repeated prompts: no prompt was asked twice." in one for one in words)


def test_findings_that_do_not_touch_the_score_lie_behind_a_line(imported, monkeypatch):
    made = [Finding("prompts" if n < 6 else "repeats", Claim(None, "described", f"said {n}"), 1.0) for n in range(1, 8)]
    monkeypatch.setattr("pages.audit.cached.audit", lambda *given: replace(audit(*given), findings=tuple(made)))
    app = opened("audit/page.py", study=imported)
    assert not app.exception
    folds = [one for one in app.expander if any("said" in block.value for block in one.markdown)]
    folded = [[block.value for block in one.markdown] for one in folds]
    assert [one.label for one in folds] == ["Worth knowing (7)"]
    assert folded == [[f"**said {n}**" for n in range(1, 8)]]
