"""New numbers, with the gold recomputed by the problem's own chain."""

import json
from fractions import Fraction

import numpy as np
import pytest

from flipcore.axes import made as made_axis
from flipcore.axes.chains import gold, steps
from flipcore.axes.numeric_resample import AXIS, Refusal, Resample, resample
from flipcore.axes.quantities import mentions
from flipcore.axes.refusals import coverage, refusal_table
from flipcore.contracts import Material
from flipcore.datasets import load
from flipcore.errors import BadInput
from flipcore.records import Item
from flipcore.stats.operands import operand_check
from flipcore.study import ItemSource

EGGS = ("Nora has ducks that lay 16 eggs per day. She eats three and sells the rest for $2 per egg. How many dollars does "
        "she make every day?")
CHAIN = "She sells 16 - 3 = <<16-3=13>>13 eggs.\nShe makes 13 * 2 = $<<13*2=26>>26.\n#### 26"


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_gold_is_what_the_chain_gives_for_the_new_numbers():
    made = resample(EGGS, CHAIN, rng())
    assert isinstance(made, Resample)
    new = {old: drawn for old, drawn in made.operands}
    eggs, eaten, price = (new.get(Fraction(n), Fraction(n)) for n in (16, 3, 2))
    assert made.target == (eggs - eaten) * price != 26
    assert {mention.value for mention in mentions(made.question)} == {eggs, eaten, price}


def test_the_same_seed_gives_the_same_rewriting_and_others_differ():
    assert resample(EGGS, CHAIN, rng(5)) == resample(EGGS, CHAIN, rng(5))
    assert len({resample(EGGS, CHAIN, rng(seed)).question for seed in range(8)}) > 1


def test_whole_numbers_stay_whole_and_positive():
    for seed in range(40):
        made = resample("Ada shares 24 pears equally among 6 friends. How many pears does each get?",
                        "Each gets 24/6=<<24/6=4>>4.\n#### 4", rng(seed))
        assert isinstance(made, Refusal) or (made.target.denominator == 1 and made.target > 0)


@pytest.mark.parametrize("question, solution, kind", [
    ("He has 3 cats.", "#### 3", "no chain"),
    ("He has 3 cats and 4 dogs.", "3+4=<<3+4=7>>7\n#### 8", "final step"),
    ("He has 3 cats and 4 dogs.", "3+4=<<3+4=8>>8\n#### 8", "inexact step"),
    ("He has 3 cats and 4 dogs.", "He has <<7=7>>7.\n#### 7", "algebra or mental step"),
    ("He has 3 cats and 4 dogs.", "3*19=<<3*19=57>>57\n#### 57", "literal cannot be traced"),
])
def test_a_refusal_has_a_class(question, solution, kind):
    assert resample(question, solution, rng()).kind == kind


def test_clock_times_years_ordinals_and_fractions_stay():
    frozen = {m.text: m.frozen for m in mentions("In 1999 at 5 p.m. the 3rd of 40 boys ate 1/2 of 12 pies.")}
    assert frozen["1999"] == "year" and frozen["5"] == "clock time" and frozen["3"] == "ordinal"
    assert frozen["1"] and frozen["2"] and not frozen["40"] and not frozen["12"]


def test_every_shipped_problem_is_resampled_exactly_or_refused_with_a_class():
    made = [resample(item.question, item.solution, rng(i)) for i, item in enumerate(load(ItemSource("flipscope_problems")))]
    kept = [one for one in made if isinstance(one, Resample)]
    assert len(kept) > len(made) / 2 and all(one.operands for one in kept)


def item(question=EGGS, solution=CHAIN, target="26"):
    return Item.make(dataset="t", key="1", kind="number", question=question, target=target, solution=solution)


def test_a_rewriting_is_a_variant_with_its_own_target_and_says_what_it_changed():
    base, *rewritten = made_axis("numeric_resample", {"n": 3}).variants(item(), "plain", rng(), Material())
    assert [one.key for one in rewritten] == ["resample-1", "resample-2", "resample-3"] and base.target == "26"
    for one in rewritten:
        assert one.compared_with == base.key and one.target != "26" and one.params["steps"][-1] == one.target
        assert {mention.value for mention in mentions(one.prompt.text)} >= set(map(Fraction, one.params["operands"]))
        assert set(one.params["was"]) <= {16, 3, 2}
        assert operand_check(one.params["was"], one.params["operands"]).n == len(one.params["operands"])


def test_a_refused_item_keeps_its_base_and_is_counted_by_class():
    refused = item("He has 3 cats.", "#### 3", "3")
    (base,) = AXIS.variants(refused, "plain", rng(), Material())
    assert base.params["refusal"] == "no chain" and base.params["why"].endswith(".")
    found = coverage(AXIS, [item(), refused], seed=1)
    assert [one.is_covered for one in found] == [True, False] and refusal_table(found) == [("no chain", 1)]


def test_the_number_of_rewritings_is_bounded():
    with pytest.raises(BadInput, match="from 1 to 100"):
        made_axis("numeric_resample", {"n": 0})


def test_the_pocket_models_problems_are_resampled():
    found = coverage(AXIS, list(load(ItemSource("pocket_problems")))[:300], seed=0)
    assert len(found) == 300 and sum(one.is_covered for one in found) > 150


def test_coverage_of_the_real_test_split_and_its_table_of_refusals(shared_data, capsys):
    from collections import Counter

    rows = [json.loads(line) for line in (shared_data / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    made = [resample(row["question"], row["answer"], rng(i)) for i, row in enumerate(rows)]
    refused = Counter(one.kind for one in made if isinstance(one, Refusal))
    with capsys.disabled():
        print(f"\n{len(made) - sum(refused.values()):,} of {len(made):,} covered; refused: {dict(refused.most_common())}")
    assert len(made) == 1_319 and len(made) - sum(refused.values()) > 800
    assert all(steps(row["answer"])[-1].result == gold(row["answer"])
               for row, one in zip(rows, made, strict=True) if isinstance(one, Resample))
