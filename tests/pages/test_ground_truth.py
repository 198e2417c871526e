"""The tab for a known truth, on planted scores: what it says, draws and leaves out."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.charts.memory import auc_by_dose, roc_by_dose, scores_by_dose
from flipcore.charts.theme import LIGHT
from flipcore.stats.memory.ground_truth import ground_truth
from tests.pages.opening import words
from tests.stats.memory.test_ground_truth import made

pytestmark = pytest.mark.slow


def planted():
    from tests.stats.memory.test_ground_truth import made

    sharp, doses = made(1.0)
    return {"question loss": sharp, "answer loss": made(0.0, name="b")[0]}, doses


def page(what: str):
    from pages.memorization import truth
    from tests.pages.test_ground_truth import planted

    scores, doses = planted()
    if what == "nothing known":
        doses = dict.fromkeys(doses)
    if what == "few never seen":
        doses = {item: dose for item, dose in doses.items() if dose or int(item.removeprefix("never")) < 60}
    if what == "some unknown":
        doses |= dict.fromkeys(list(doses)[:3])
    truth._show_ground_truth({} if what == "no scores" else scores, doses)


def shown(what: str = "") -> AppTest:
    st.cache_data.clear()
    app = AppTest.from_function(page, args=(what,), default_timeout=60).run()
    assert not app.exception
    return app


def test_the_first_sentence_says_who_sees_what():
    text = words(shown())
    assert "Question loss finds single items that were read 16 times or more" in text
    assert "Nothing is shown by answer loss." in text


def test_every_detector_has_a_row_with_its_doses_and_its_false_positives():
    table = shown().dataframe[0].value
    assert list(table["detector"]) == ["question loss", "answer loss"] and list(table["sees from"]) == ["16×", "–"]
    assert {"flagged at 1×", "flagged at 16×", "flagged at 256×"} <= set(table)
    assert table["fresh"].tolist() == [100, 100]


def test_another_detector_is_looked_at_closely():
    app = shown()
    app.selectbox(key="truth-detector").set_value("answer loss").run()
    assert not app.exception and "answer loss shows nothing, however often items were read" in words(app)
    app.selectbox(key="truth-rule-tolerance").set_value("conformal").run()
    assert not app.exception


def test_the_bound_is_taken_where_never_seen_items_suffice_and_else_the_rule_that_needs_fewer():
    # of 200 never-seen items half set the cut-off, which is enough for the bound (59); of 60 it is 30
    assert shown().selectbox(key="truth-rule-tolerance").value == "tolerance"
    few = shown("few never seen")
    assert few.selectbox(key="truth-rule-conformal").value == "conformal" and "read 16 times or more" in words(few)


def test_where_nothing_is_known_the_page_says_what_to_do():
    for what in ("nothing known", "no scores"):
        assert "run the memory study" in words(shown(what))


def test_items_of_unknown_dose_are_counted():
    assert "3 items have unknown exposure" in words(shown("some unknown"))


def all_detectors():
    from pages.memorization import truth

    truth.show_every_detector()


def test_every_detector_stands_in_one_table_with_those_that_fail():
    app = AppTest.from_function(all_detectors, default_timeout=60).run()
    table = app.dataframe[0].value.set_index(["detector", "items"])
    assert not app.exception and table.index.is_unique and len(table) >= 23
    assert {"completion, ROUGE-L", "min-k %++", "published answer to new numbers", "CoDeC"} <= set(
        table.index.get_level_values(0)
    )
    assert table.loc[("question loss", "problems"), "256×"].startswith("1.00 [") and "never read" in table


def test_the_figures_hold_each_item_once():
    scores, doses = made(1.0)
    one = ground_truth({"x": scores}, doses).detectors[0]
    figure = auc_by_dose([one], LIGHT)
    assert list(figure.data[0].y) == [at.auc.value for at in one.doses]
    points = [trace for trace in scores_by_dose(one, LIGHT).data if trace.mode == "markers"]
    assert sum(len(trace.y) for trace in points) == 100 + 3 * 40
    curves = [trace for trace in roc_by_dose(one, LIGHT).data if trace.name]
    assert [trace.name for trace in curves] == ["1×", "16×", "256×"]
    assert all(trace.x[0] == trace.y[0] == 0 and trace.x[-1] == trace.y[-1] == 1 for trace in curves)
