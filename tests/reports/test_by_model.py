"""The questions side by side: rows of every panel are the same items, and each model keeps its own numbers."""

import numpy as np
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.by_model import flip_panels, flip_rows, flips_by_model
from flipcore.reports.flips import headline
from flipcore.reports.whole_study import WholeStudy
from flipcore.runs import runner
from flipcore.stats.flips.surface import surface
from flipcore.store.connection import Store
from flipcore.store.queries import studies

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "two models",
    (ItemSource("flipscope_choice", n=20),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 2})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-artifact-prone"), ModelUse("simulated-clean")),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    store = Store.open(tmp_path_factory.mktemp("models") / "flips.duckdb")
    runner.run(STUDY, store)
    yield store
    store.close()


@pytest.fixture(scope="module")
def frame(filled):
    return studies.readouts(filled, STUDY.study_id)


@pytest.mark.slow
def test_a_report_says_what_flips_of_the_models_that_the_card_leaves_out(filled):
    study = WholeStudy(filled, STUDY.study_id)
    claims = study.flips["simulated-clean"].headline.claims
    said = study.sentences_of_other_models()
    assert said == [f"simulated-clean: {claims[0].text}"] and study.models[0] == "simulated-artifact-prone"


@pytest.mark.slow
def test_panels_hold_each_models_own_surface_on_the_same_rows(frame):
    panels = flip_panels(frame, "first_token")
    assert list(panels.rates) == ["simulated-artifact-prone", "simulated-clean"] and panels.items_a_row == 1
    for model, rates in panels.rates.items():
        own = surface(frame[frame["model"] == model], "first_token")
        assert sorted(rates[:, 1].tolist()) == sorted(own.rate[:, own.columns.index("option_order")].tolist())
    means = np.nanmean(np.stack(list(panels.rates.values())), axis=(0, 2))
    assert (np.diff(means) <= 1e-12).all()


@pytest.mark.slow
def test_many_items_share_a_row_which_is_their_mean(frame, monkeypatch):
    whole = flip_panels(frame, "first_token")
    monkeypatch.setattr("flipcore.reports.by_model.MAX_ROWS", 7)
    few = flip_panels(frame, "first_token")
    rates, own = few.rates["simulated-artifact-prone"], whole.rates["simulated-artifact-prone"]
    assert few.items_a_row == 3 and rates.shape[0] == 7
    for model, means in few.means.items():
        assert means == pytest.approx(np.nanmean(whole.rates[model], axis=0))
    assert rates[0, 1] == pytest.approx(own[:3, 1].mean()) and rates[-1, 1] == pytest.approx(own[18:, 1].mean())


@pytest.mark.slow
def test_a_row_a_model_has_the_numbers_of_its_card(frame):
    rows = flips_by_model(frame, "regex")
    card = headline(frame[frame["model"] == "simulated-clean"], temperature=None).flips
    mine = next(one for one in rows if one.model == "simulated-clean" and one.cell.extractor == card.extractor)
    assert mine.cell.T.text() == card.T.text() and mine.cell.A_plus.text() == card.A_plus.text()
    assert all(row["pairs that flip"].endswith(("%", "]")) for row in flip_rows(rows))
    assert [row["verdict"] for row in flip_rows(rows) if row["extractor"] == "Written answer"] == ["reference"] * 2


@pytest.mark.slow
def test_what_a_gate_closes_is_not_claimed(frame):
    rows = flips_by_model(frame, "regex", {"first_token": "Not reviewed."})
    assert {one.claim.word for one in rows if one.cell.extractor == "first_token"} == {"not claimed"}
    assert flips_by_model(frame, "regex", {"option_order": "Not reviewed."}) == []
