"""The inspector: the mark "flipped" is that of the extractor that is shown, and log-probabilities that came back are shown."""

import json
from types import SimpleNamespace

import pytest

from flipcore.core.records import ABSENT, CUT
from flipcore.core.study import ModelUse
from flipcore.reports.audit import audit
from flipcore.reports.compared_pairs import flips, has_both, sides
from flipcore.runs import runner
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection
from pages.common import differences as marks_of_words
from pages.common.showing import plain
from tests.pages.opening import PAGE_MARKS, opened, quiet
from tests.reports.test_findings_open import write_table
from tests.runs.test_runner import tiny_study

pytestmark = PAGE_MARKS
MODEL, AXIS = "simulated-artifact-prone", "option_order"


def marks(store: Store, study_id: str, item_id: str, extractor: str) -> list[str]:
    """What the list of variants must say."""
    pairs = sides(inspection(store, study_id, MODEL, item_id, AXIS), extractor)
    return [f"{key} – flipped" if flips(pair) else key for key, pair in pairs.items()]


def test_the_mark_and_the_log_probabilities_are_those_of_the_extractor_shown(tmp_path, monkeypatch):
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    store, study = Store.open(tmp_path / "flips.duckdb"), tiny_study()
    runner.run(study, store)
    items = studies.study_items(store, study.study_id)
    choices = items[items["kind"] == "choice"]["item_id"]
    wanted = {item: [marks(store, study.study_id, item, name) for name in ("first_token", "regex")] for item in choices}
    item = next(item for item, (first, text) in wanted.items() if first != text)
    store.close()
    keys = []
    for name, said in zip(("first_token", "regex"), wanted[item], strict=True):
        unfolded = {f"raw-{place}-{sample}": True for place in ("left", "right") for sample in range(2)}
        app = opened("flips/page.py", unfolded, study=study.study_id, item=item, axis=AXIS, readout=name)
        assert not app.exception
        (chosen,) = [box for box in app.selectbox if box.label == "Compared with the original"]
        assert list(chosen.options) == said
        keys.append(chosen.key)
        shown = [json.loads(block.value) for block in app.json]
        returned = [block for block in shown if isinstance(block, list) and block and "logprob" in block[0]]
        assert bool(returned) == (name == "first_token")
    assert len(set(keys)) == 2


def test_outputs_stand_above_their_prompts_below_who_flips(tmp_path, monkeypatch):
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    store, study = Store.open(tmp_path / "flips.duckdb"), tiny_study()
    runner.run(study, store)
    items = studies.study_items(store, study.study_id)
    both = {
        item: [flips(sides(view, name)[key]) for name in ("first_token", "regex")]
        for item in items[items["kind"] == "choice"]["item_id"]
        for view in [inspection(store, study.study_id, MODEL, item, AXIS)]
        for key in [next(iter(sides(view, "first_token")))]
    }
    item = next(item for item, (first, text) in both.items() if first and not text)
    key = next(iter(sides(inspection(store, study.study_id, MODEL, item, AXIS), "first_token")))
    store.close()
    app = opened("flips/page.py", study=study.study_id, item=item, axis=AXIS, readout="regex", variant=key)
    assert not app.exception
    shown = [one.value for one in [*app.main] if one.type in ("markdown", "caption")]
    (who,) = [at for at, text in enumerate(shown) if text.startswith("The answer ")]
    assert shown[who].startswith("The answer **flips** under First token; stays under Written answer")
    assert (
        who < shown.index("**Original**") < next(i for i, t in enumerate(shown) if "Sample 1" in t) < shown.index("The prompt")
    )


@pytest.mark.parametrize(("status", "compares"), [("ok", True), ("unreadable", True), (CUT, False), (ABSENT, False)])
def test_nothing_stays_where_one_side_has_no_answer_that_is_in_a_pair(status, compares):
    before, after = ([SimpleNamespace(answer="0", status=one)] for one in ("ok", status))
    assert has_both(((None, before), (None, after))) is compares and not has_both(((None, before), (None, before)))


def test_a_text_that_somebody_judges_is_shown_whole_and_a_prompt_beside_outputs_by_its_ends(monkeypatch):
    shown = []
    monkeypatch.setattr(marks_of_words, "_text", lambda data, key: shown.append("".join(text for _, text in data["runs"])))
    monkeypatch.setattr(marks_of_words, "_palette", dict)
    text = "word " * 1_000
    marks_of_words.show_differences(text, text + "more", key="judged")
    marks_of_words.show_differences(text, text + "more", key="beside", shorten=True)
    assert shown[0] == text + "more" and len(shown[1]) < 600 and shown[1].endswith("more")


def link_of(app):
    """Parameter -> value. AppTest gives a list before the page wrote it and a text afterwards."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


def test_an_item_of_a_comparison_shows_what_both_models_wrote(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", str(tmp_path))
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    store = Store.open(tmp_path / "flips.duckdb")
    study_id = store_logs(survey([str(write_table(tmp_path / "table.jsonl"))]), store)
    number, finding = audit(store, study_id).compared[0]
    store.close()
    app = opened("audit/page.py", study=study_id)
    app.button(key=f"look-{number}").click().run()
    said = [text.value for text in app.markdown]
    assert not app.exception and {f"**{plain(finding.model)}**", f"**{plain(finding.other_model)}**"} <= set(said)
    first, second = (text for text in said if text.startswith("Sample 1: "))
    assert first.endswith("right") and second.endswith("wrong")
    assert link_of(app)["beside"] == "m-2"
    app.button(key="inspect-next").click().run()
    assert link_of(app)["beside"] == "m-2" and link_of(app)["item"] != finding.items[0]
    app.button(key="inspect-close").click().run()
    assert "beside" not in app.query_params


def test_another_model_can_be_chosen_where_there_are_variants(tmp_path, monkeypatch):
    quiet(monkeypatch, tmp_path / "flips.duckdb")
    store, study = Store.open(tmp_path / "flips.duckdb"), tiny_study(models=(ModelUse(MODEL), ModelUse("simulated-brittle")))
    runner.run(study, store)
    items = studies.study_items(store, study.study_id)
    item = next(iter(items[items["kind"] == "choice"]["item_id"]))
    store.close()
    app = opened("flips/page.py", study=study.study_id, item=item, axis=AXIS, readout="regex")
    (chosen,) = [box for box in app.selectbox if box.label == "Compared with the original"]
    assert not app.exception and chosen.options[-1] == "simulated-brittle, same prompt"
    chosen.set_value(("beside", "simulated-brittle")).run()
    assert not app.exception and f"**{plain('simulated-brittle')}**" in [text.value for text in app.markdown]
    assert link_of(app)["beside"] == "simulated-brittle" and "variant" not in app.query_params
