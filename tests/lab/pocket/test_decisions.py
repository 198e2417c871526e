"""The product's own decision on what the shipped model read a known number of times, and on what it never read."""

import numpy as np
import pytest

from flipcore.claims.memory_truth import record_claim
from flipcore.lab.pocket.card import by_dose
from flipcore.lab.pocket.items import read_items
from flipcore.lab.pocket.measures import min_k
from flipcore.models.pocket_inference import PocketModel
from flipcore.reports.known_doses import record, record_rows


@pytest.fixture(scope="module")
def found():
    """Min-k of problems by dose: one scored prompt an item, 60 controls, 80 fresh."""
    model, groups = PocketModel.load(), by_dose(list(read_items("problems")), 80)
    scores = {name: min_k(model, groups[name][:60]) for name in ("0", "1", "64", "256")}
    fresh = min_k(model, groups["fresh"])
    return record("min-k %", scores["0"], fresh, {dose: scores[str(dose)] for dose in (1, 64, 256)})


@pytest.mark.slow
def test_what_was_read_often_is_called_memory_and_what_never_was_is_not(found):
    by_dose = {one.dose: one.is_claimed for one in found.at}
    assert by_dose[256] and by_dose[64]
    assert (found.n_clean, found.n_accused) == (2, 0)
    assert record_claim([found]).text.startswith(
        f"The decisions: “memory” on {found.hits} of 3 sets that were read, and on 0 of 2"
    )
    assert record_rows([found])[0]["never-seen sets accused"] == "0 of 2"


def test_sets_that_are_no_different_are_accused_no_more_often_than_promised():
    rng = np.random.default_rng(5)
    made = [record("x", rng.normal(size=150), rng.normal(size=400), {256: rng.normal(size=40)}) for _ in range(60)]
    accused, clean = sum(one.n_accused for one in made), sum(one.n_clean for one in made)
    assert clean == 600 and accused / clean < 0.08
    assert sum(one.hits for one in made) <= 9  # 60 null doses at .05: P(more than 9) is .0008
