"""What the inspector is handed: log-probabilities of every place that a first-token reading looked at."""

import math

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import _stored_axis, inspection

pytestmark = pytest.mark.usefixtures("allowed_folders")

DIGITS = Study(
    "digits",
    (ItemSource("pocket_choice", n=1, seed=1),),
    (Part("label_set", {"sets": ["digits"]}),),
    (Part("first_token"), Part("regex")),
    (ModelUse("pocket"),),
)


@pytest.mark.slow
def test_a_reading_through_a_blank_shows_both_distributions_that_came_back(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    assert runner.run(DIGITS, store).state == "done"
    (item,) = studies.study_items(store, DIGITS.study_id)["item_id"]
    view = inspection(store, DIGITS.study_id, "pocket", item, "label_set")
    by_extractor = {(variant.key, one.extractor): one for variant in view.variants for one in variant.readings}
    through = by_extractor["digits", "first_token"]
    store.close()
    assert "p(label | blank)" in through.reason
    returned = through.log_probabilities
    assert list(returned) == ["first token", "first token after ' '"]
    blank, behind = returned.values()
    assert blank[0]["token"].strip() == "" and [one["logprob"] for one in behind] == sorted(
        (one["logprob"] for one in behind), reverse=True
    )
    digits = {one["token"].strip(): math.exp(one["logprob"]) for one in behind if one["token"].strip().isdigit()}
    p_blank = math.exp(blank[0]["logprob"])
    option, share = max(through.probabilities, key=lambda pair: pair[1])
    assert share == pytest.approx(p_blank * digits[str(int(option) + 1)], abs=0.02) and option == through.answer
    assert not by_extractor["digits", "regex"].log_probabilities


def test_an_own_prompt_is_looked_up_under_identity_first(store):
    key = {"study_id": "s", "item_id": "i", "compared_with": "base", "params": "{}", "position": 0}
    rows = [
        key | {"axis": "entity_rename", "variant_id": "base", "key": "base"},
        key | {"axis": "identity", "variant_id": "own", "key": "base"},
        key | {"axis": "versions", "variant_id": "table", "key": "base", "item_id": "other"},
    ]
    store.writer.add("study_variants", rows).result()
    assert _stored_axis(store, "s", "i", "identity") == "identity"
    assert _stored_axis(store, "s", "other", "identity") == "versions"  # an imported table's own prompt
    assert _stored_axis(store, "s", "other", "entity_rename") == "entity_rename"
    assert _stored_axis(store, "s", "unknown", "identity") == "identity"
