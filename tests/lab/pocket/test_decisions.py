"""The product's own decision on what the shipped model read a known number of times, and on what it never read."""

from functools import partial

import numpy as np
import pytest

from flipcore.claims.memory_truth import record_claim
from flipcore.core.paths import POCKET
from flipcore.detectors import DETECTORS as DETECTORS_SHIPPED
from flipcore.models.pocket_inference import PocketModel
from flipcore.reports.memory import decide_on_doses, record_rows, shipped_rows
from tests.lab.pocket.card import PUBLISHED, by_dose, dose_rows
from tests.lab.pocket.items import read_items
from tests.lab.pocket.measures import min_k
from tests.lab.pocket.scores import BEFORE, DETECTORS, DROP, PEARL, TITLES, own_test, read_scores, right

KINDS = ("problems", "choices", "prose")


@pytest.fixture(scope="module")
def found():
    """Min-k of problems by dose: one scored prompt an item, 60 controls, 80 fresh."""
    model, groups = PocketModel.load(), by_dose(list(read_items("problems")), 80)
    scores = {name: min_k(model, groups[name][:60]) for name in ("0", "1", "64", "256")}
    fresh = min_k(model, groups["fresh"])
    return decide_on_doses("min-k %", scores["0"], fresh, {dose: scores[str(dose)] for dose in (1, 64, 256)})


@pytest.mark.slow
def test_what_was_read_often_is_called_memory_and_what_never_was_is_not(found):
    by_dose = {one.dose: one.is_claimed for one in found.decisions}
    assert by_dose[256] and by_dose[64]
    assert (found.n_clean, found.n_accused) == (2, 0)
    assert record_claim([found]).text.startswith(f"The decisions accuse {found.hits} of 3 sets that were read, and 0 of 2")
    assert record_rows([found])[0]["never-seen sets accused"] == "0 of 2"


@pytest.fixture(scope="module")
def scores():
    return read_scores()[1]


@pytest.mark.slow
def test_stored_scores_are_those_of_the_shipped_model(scores):
    model, groups = PocketModel.load(), by_dose(list(read_items("problems")), 3)
    assert read_scores()[0] == model.revision
    for name in ("0", "256", "fresh"):
        assert scores["min-k %, problems"][name][:3] == pytest.approx(min_k(model, groups[name]), abs=1e-3)
        before, after = right(model, groups[name])
        assert np.array_equal(scores[DROP][name][:3], before - after, equal_nan=True)


@pytest.mark.parametrize("title", [*DETECTORS, DROP, PEARL])
def test_the_decision_of_every_detector_where_the_truth_is_known(scores, title):
    """Never-seen sets are accused no more often than .05 allows (10 sets: P(more than 3) is .001); what the card prints is this."""
    values = scores[title]
    by_dose = {int(name): values[name] for name in ("1", "4", "16", "64", "256")}
    record = decide_on_doses(title, values["0"], values["fresh"], by_dose, partial(own_test, title))
    assert record.n_clean == 10 and record.n_accused <= 3
    if ("loss" in title and "answer" not in title) or "min-k" in title:
        assert all(decision.is_claimed for decision in record.decisions if decision.dose >= 16)
    row = record_rows([record])[0]
    assert f"| {' | '.join(row.values())} |" in (POCKET / "CARD.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_detectors_against_doses_is_what_the_stored_scores_give(scores):
    """One row of the shipped table made again, with every row there, and no detector accusing what was never read beyond nominal."""
    rows = {f"{row['detector']}, {row['items']}": row for row in shipped_rows()}
    assert set(rows) == {*TITLES, PUBLISHED}
    title = "min-k %, choices"
    assert dose_rows({title: scores[title]}) == [rows[title]]
    for title, row in rows.items():
        nominal = 0.025 if title in (PUBLISHED, DROP) else 0.05
        assert float(row["never read"].partition("[")[2].partition(",")[0]) <= nominal, title


# Shipped detectors without a row, and why: no other rewriting and no second measure of PEARL was measured directly. `once.md` has what
# the ordinary pipeline measured of them.
WITHOUT_ROW = ("drop_entity_rename", "drop_paraphrase", "pearl_completion_ncd")
WITHOUT_ROW += ("pearl_summary_rouge_l", "pearl_summary_ncd")
WITHOUT_ROW += ("hardness_curve",)  # needs five models and more, of other strengths, and makes no verdict


def test_a_detector_has_its_row_of_doses_before_it_is_shipped(scores):
    named = {"drop_numeric_resample": DROP, "pearl_completion_rouge_l": PEARL, "published_score": BEFORE}
    for name, one in DETECTORS_SHIPPED.items():
        rows = [title for title in scores if title in (named.get(name, ""), *(f"{one.title}, {kind}" for kind in KINDS))]
        assert bool(rows) is (name not in WITHOUT_ROW), name
