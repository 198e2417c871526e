"""The shipped paraphrases belong to shipped items and say something else than these do."""

import json
from collections import Counter
from datetime import date

from tests.conftest import ROOT
from tests.data.test_items import CHOICE, PROBLEMS

PAIRS = [json.loads(line) for line in (ROOT / "data/paraphrases/shipped.jsonl").read_text("utf-8").splitlines()]
FIELDS = {"pair_id", "dataset", "item_key", "original", "paraphrase", "generator", "created"}
QUESTIONS = {
    (dataset, item["key"]): item["question"]
    for dataset, items in (("flipscope_choice", CHOICE), ("flipscope_problems", PROBLEMS))
    for item in items
}


def test_there_are_enough_pairs_for_a_gate_on_each_dataset():
    # The gate wants 50 reviewed pairs of a dataset (statistics: paraphrase gate); items with two count twice.
    assert len(PAIRS) >= 110
    n_pairs = Counter(pair["dataset"] for pair in PAIRS)
    n_items = Counter(dataset for dataset, _ in {(pair["dataset"], pair["item_key"]) for pair in PAIRS})
    assert min(n_pairs.values()) >= 50 and min(n_items.values()) >= 44


def test_every_pair_has_its_fields_and_an_id_of_its_own():
    assert all(set(pair) == FIELDS for pair in PAIRS)
    assert len({pair["pair_id"] for pair in PAIRS}) == len(PAIRS)
    assert {pair["generator"] for pair in PAIRS} == {"flipscope-authors"}
    assert all(date.fromisoformat(pair["created"]) for pair in PAIRS)


def test_the_original_is_the_question_of_its_item():
    for pair in PAIRS:
        assert pair["original"] == QUESTIONS[pair["dataset"], pair["item_key"]], pair["pair_id"]
        assert pair["pair_id"].startswith(f"{pair['dataset']}/{pair['item_key']}/")


def test_no_paraphrase_repeats_a_question_or_another_paraphrase():
    texts = Counter(" ".join(pair["paraphrase"].casefold().split()) for pair in PAIRS)
    assert max(texts.values()) == 1
    assert not set(texts) & {" ".join(question.casefold().split()) for question in QUESTIONS.values()}


def test_no_pair_tells_a_reviewer_what_to_think():
    told = ("flaw", "wrong on purpose", "ambiguous on purpose", "reject", "accept")
    assert [pair["pair_id"] for pair in PAIRS for word in told if word in pair["paraphrase"].lower()] == []
