"""New numbers, with the gold recomputed by the problem's own chain."""

import hashlib
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from flipcore.axes import axis_of
from flipcore.axes.numeric.chains import MIXED, PROSE, gold, steps
from flipcore.axes.numeric.quantities import mentions
from flipcore.axes.numeric.structure import Structure, structure
from flipcore.axes.numeric.tracing import results
from flipcore.axes.numeric_resample import AXIS, Refusal, Resample
from flipcore.core.contracts import Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.memory.operand_size import operand_check
from tests.axes.coverage import coverage, refusal_table
from tests.axes.resampling import resample
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("allowed_folders")

EGGS = (
    "Nora has ducks that lay 16 eggs per day. She eats three and sells the rest for $2 per egg. How many dollars does "
    "she make every day?"
)
CHAIN = "She sells 16 - 3 = <<16-3=13>>13 eggs.\nShe makes 13 * 2 = $<<13*2=26>>26.\n#### 26"


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_gold_is_what_the_chain_gives_for_the_new_numbers():
    made = resample(EGGS, CHAIN, rng())
    assert isinstance(made, Resample)
    new = dict(made.operands)
    eggs, eaten, price = (new.get(Fraction(n), Fraction(n)) for n in (16, 3, 2))
    assert made.target == (eggs - eaten) * price != 26
    assert {mention.value for mention in mentions(made.question)} == {eggs, eaten, price}


def test_the_same_seed_gives_the_same_rewriting_and_others_differ():
    assert resample(EGGS, CHAIN, rng(5)) == resample(EGGS, CHAIN, rng(5))
    assert len({resample(EGGS, CHAIN, rng(seed)).question for seed in range(8)}) > 1


def test_whole_numbers_stay_whole_and_positive():
    for seed in range(40):
        made = resample(
            "Ada shares 24 pears equally among 6 friends. How many pears does each get?",
            "Each gets 24/6=<<24/6=4>>4.\n#### 4",
            rng(seed),
        )
        assert isinstance(made, Refusal) or (made.target.denominator == 1 and made.target > 0)


@pytest.mark.parametrize(
    "question, solution, kind",
    [
        ("He has 3 cats.", "#### 3", "no chain"),
        ("He has 3 cats and 4 dogs.", "3+4=<<3+4=7>>7\n#### 8", "final step"),
        ("He has 3 cats and 4 dogs.", "3+4=<<3+4=8>>8\n#### 8", "inexact step"),
        ("He has 3 cats and 4 dogs.", "He has <<7=7>>7.\n#### 7", "no chain"),
        (
            "He has 30 pets, 4 more cats than dogs.",
            "Let x be dogs.\nx = (30-4)/2 = <<(30-4)/2=13>>13\n#### 13",
            "algebra or mental step",
        ),
        ("Buy one book at $8 and get one free. He takes 6.", "<<6/2=3>>3\n<<3*8=24>>24\n#### 24", "non-linear keyword"),
        ("He has 4 cats. Each has 4 toys of 2 dollars.", "<<4*2=8>>8\n<<4*8=32>>32\n<<32-3=29>>29\n#### 32", "final step"),
        ("They all had 5 minutes.", "There are 5*60=<<5*60=300>>300.\n<<300/300=1>>1\n#### 1", "gold never changes"),
        ("He has 3 cats and 4 dogs.", "3*19=<<3*19=57>>57\n#### 57", "literal cannot be traced"),
    ],
)
def test_a_refusal_has_a_class(question, solution, kind):
    assert resample(question, solution, rng()).kind == kind


@pytest.mark.slow
def test_every_shipped_problem_is_resampled_exactly_or_refused_with_a_class():
    made = [resample(item.question, item.solution, rng(i)) for i, item in enumerate(load(ItemSource("flipscope_problems")))]
    kept = [one for one in made if isinstance(one, Resample)]
    assert len(kept) > len(made) / 2 and all(one.operands for one in kept)


def item(question=EGGS, solution=CHAIN, target="26"):
    return Item.make(dataset="t", key="1", kind="number", question=question, target=target, solution=solution)


def test_a_rewriting_is_a_variant_with_its_own_target_and_says_what_it_changed():
    base, *rewritten = axis_of("numeric_resample", {"n": 3}).variants(item(), "plain", rng(), Material())
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
    with pytest.raises(BadInput, match="at least 1"):
        axis_of("numeric_resample", {"n": 0})


@pytest.mark.slow
def test_the_pocket_models_problems_are_resampled():
    found = coverage(AXIS, list(load(ItemSource("pocket_problems")))[:300], seed=0)
    assert len(found) == 300 and sum(one.is_covered for one in found) > 150


def new_numbers(made):
    return [str(mention.value) for mention in mentions(made.question)]


def test_numbers_of_a_relation_that_the_chain_leaves_out_keep_it():
    question = "A club of 30 people, 12 women and 18 men, pays 5 dollars a man and 4 dollars a woman. How much is that?"
    solution = "Men pay 18*5=<<18*5=90>>90. Women pay 12*4=<<12*4=48>>48. All pay 90+48=<<90+48=138>>138.\n#### 138"
    for seed in range(20):
        total, women, men, *_ = map(int, new_numbers(resample(question, solution, rng(seed))))
        assert total == women + men


@pytest.mark.slow
def test_a_limit_is_never_crossed():
    question = "He earns 15 dollars an hour, and 5 dollars more if he works more than 6 days. He works 7 days of 8 hours."
    solution = "He works 7*8=<<7*8=56>>56 hours for 56*15=<<56*15=840>>840 dollars, in all 840+5=<<840+5=845>>845.\n#### 845"
    for seed in range(20):
        made = resample(question, solution, rng(seed))
        assert "more than 6 days" in made.question and int(new_numbers(made)[3]) > 6


def test_a_result_worked_out_in_prose_is_not_mistaken_for_a_stated_number():
    # 4 cartons (60/15, in prose) at 4 dollars: 4*4 squares neither.
    question = "A carton has 15 servings and costs $4.00. How much do 60 servings cost?"
    solution = "He needs 60/15 = 4 cartons.\nThey cost 4*4=$<<4*4=16>>16.\n#### 16"
    made = resample(question, solution, rng())
    assert isinstance(made, Refusal) or made.target == Fraction(new_numbers(made)[2]) / Fraction(
        new_numbers(made)[0]
    ) * Fraction(new_numbers(made)[1])


def test_a_count_that_the_solution_found_in_its_head_freezes_what_it_may_come_from():
    question = "There are five phones. The main phone costs $30, twice as much as each other one. How much do all cost?"
    solution = "Each other costs 30/2=$<<30/2=15>>15. Four cost 4*15=$<<4*15=60>>60. All cost 60+30=$<<60+30=90>>90.\n#### 90"
    for seed in range(20):
        made = resample(question, solution, rng(seed))
        assert "five phones" in made.question and made.target == 3 * Fraction(new_numbers(made)[1])


def test_percents_stay_below_100_and_articles_fit():
    question = "A shop has a 15-dollar hat with a 20% discount. How much is it?"
    solution = "The discount is 15*20/100=<<15*20/100=3>>3. It costs 15-3=<<15-3=12>>12.\n#### 12"
    for seed in range(40):
        made = resample(question, solution, rng(seed))
        price, percent = map(int, new_numbers(made))
        assert 0 < percent < 100 and made.target == price - Fraction(price * percent, 100)
        assert (" an " in made.question) == (str(price)[0] == "8" or price in (11, 18))


def test_a_choice_between_two_results_is_not_lost_where_prose_repeats_the_steps():
    # Without the second plan the larger of the two could not be known for other numbers.
    question = "Plan A is worth $5,000 and gains 2.5%, plan B is worth $8,000 and gains 1.2%. What does the better one gain?"
    solution = (
        "A gains 5000*(2.5/100) = $<<5000*(2.5/100)=125>>125.\nB gains 8000*(1.2/100) = $<<8000*(1.2/100)=96>>96.\n"
        "Since 125 > 96, it is $<<125=125>>125.\n#### 125"
    )
    assert resample(question, solution, rng()).kind == "final step"


def test_a_number_on_which_the_gold_does_not_depend_stays():
    # 12 inches are worked out, and then called one foot.
    question = "Sam jumps 12 times as high as Pom, who jumps 1 inch. Kay jumps 4 times as high as Sam. How many feet is that?"
    solution = "Sam jumps 12*1=12 inches, a foot. Kay jumps 4*1=<<4*1=4>>4 feet.\n#### 4"
    for seed in range(20):
        made = resample(question, solution, rng(seed))
        assert "12 times as high as Pom" in made.question and made.target == int(new_numbers(made)[2])


def test_a_share_may_pass_a_count_where_nothing_else_can_be_drawn():
    # 2 % lies between no number and 3 months; as a share it has no order among months.
    made = resample(
        "Ann owes $100 at 2% a month. What does she owe after 3 months?",
        "A month is 100*2/100=$<<100*2/100=2>>2. 3 are 2*3=$<<2*3=6>>6. She owes 100+6=<<100+6=106>>106.\n#### 106",
        rng(),
    )
    assert isinstance(made, Resample)


def test_a_stated_30_is_not_the_days_of_a_month():
    question = "She loses 30 pounds at 400 calories each from April 1 to the end of June. How many calories is that a day?"
    solution = (
        "April and June have 30 days, May has 31: 2*30+31=<<2*30+31=91>>91 days.\n30*400=<<30*400=12000>>12000.\n"
        "12000-91=<<12000-91=11909>>11909.\n#### 11909"
    )
    for seed in range(10):
        assert "30 pounds" in resample(question, solution, rng(seed)).question


def test_buying_two_and_getting_one_free_is_no_line():
    assert (
        resample(
            "Buy 2 scoops, get 1 scoop free. A scoop costs $2. How many for $8?",
            "2*2=$<<2*2=4>>4 for 3. 8/4=<<8/4=2>>2. 2*3=<<2*3=6>>6.\n#### 6",
            rng(),
        ).kind
        == "non-linear keyword"
    )


def test_the_parts_of_a_written_fraction_are_no_results():
    made = resample(
        "She cuts 12 slices and gives 1/3 to Bo and 1/4 to Mo. How many slices are left?",
        "Bo gets 12*1/3=<<12*1/3=4>>4. Mo gets 12*1/4=<<12*1/4=3>>3. 12-4-3=<<12-4-3=5>>5 are left.\n#### 5",
        rng(),
    )
    n = int(new_numbers(made)[0])
    assert made.target == n - Fraction(n, 3) - Fraction(n, 4)


def test_a_problem_whose_published_gold_is_disputed_is_refused():
    disputed = replace(item(), meta={"gold": "disputed"})
    assert [one.params.get("refusal") for one in AXIS.variants(disputed, "plain", rng(), Material())] == ["gold is disputed"]


@pytest.mark.stand_in("test_every_shipped_problem_is_resampled_exactly_or_refused_with_a_class")
@pytest.mark.simulation
@pytest.mark.slow
def test_coverage_of_the_real_test_split_and_its_table_of_refusals(shared_data, capsys):
    items = list(load(ItemSource("gsm8k", path=str(shared_data / "gsm8k" / "test.jsonl"))))
    found = coverage(AXIS, items, seed=0)
    covered = sum(one.is_covered for one in found)
    with capsys.disabled():
        print(f"\n{covered:,} of {len(found):,} covered; refused: {dict(refusal_table(found))}")
    assert len(found) == 1_319 and covered >= 1_042


@pytest.mark.stand_in("test_every_reading_of_a_shipped_problem_gives_its_published_gold")
@pytest.mark.slow
def test_every_reading_of_a_covered_problem_gives_its_published_gold(shared_data):
    rows = [json.loads(line) for line in (shared_data / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows[:300]:
        known = structure(row["question"], row["answer"])
        if isinstance(known, Structure):
            assert {results(known.steps, reading, {})[-1] for reading in known.readings} == {gold(row["answer"])}


def test_every_reading_of_a_shipped_problem_gives_its_published_gold():
    structures = {
        item.item_id: (structure(item.question, item.solution), item) for item in load(ItemSource("flipscope_problems"))
    }
    of_covered = [(one, item) for one, item in structures.values() if isinstance(one, Structure)]
    assert len(of_covered) > len(structures) / 2
    for one, item in of_covered:
        assert {results(one.steps, reading, {})[-1] for reading in one.readings} == {gold(item.solution)}


# The audit. A sample of 150 rewritten problems was drawn with `seed` after the operator's last change and solved from the new
# text alone, before looking at the new golds. A verdict is right (the answers agree), implausible (they agree, but nobody would
# write such a story), slip (the solver miscalculated, and agrees on a second look), inherited (they differ because the
# published gold misreads its own text in the same way) or wrong.
def rewritten(source, seed):
    """The items of a source, and item id -> rewriting of those that are covered."""
    items = list(load(source))
    made = {one.item_id: AXIS.variants(one, "bare", generator(seed, one.item_id, AXIS.name), Material()) for one in items}
    return items, {item_id: variants[1] for item_id, variants in made.items() if len(variants) > 1}


def outputs_hash(variants) -> str:
    rows = sorted([item_id, one.prompt.text, one.target] for item_id, one in variants.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def audit():
    head, *rows = [json.loads(line) for line in (ROOT / "tests/axes/numeric_audit.jsonl").read_text("utf-8").splitlines()]
    return head, rows


def test_the_audit_found_at_most_two_wrong_golds_in_150(capsys):
    head, rows = audit()
    verdicts = Counter(row["verdict"] for row in rows)
    assert (
        len(rows)
        == len({row["id"] for row in rows})
        == 150
        == sum(verdicts[v] for v in ("right", "implausible", "slip", "inherited", "wrong"))
    )
    assert all((row["answer"] == row["gold"]) == (row["verdict"] in ("right", "implausible")) for row in rows)
    not_right = verdicts["wrong"] + verdicts["inherited"]
    low, high = clopper_pearson(not_right, 150)
    with capsys.disabled():
        print(f"\n{dict(verdicts)}; wrong or inherited {not_right / 150:.1%} [{low:.1%}, {high:.1%}]")
    assert verdicts["wrong"] <= 2 and high <= 0.05


@pytest.mark.simulation
@pytest.mark.slow
def test_the_audited_operator_is_the_shipped_one():
    """By what it writes of the problems in the repository; the whole of the audit is recomputed by the next test."""
    head, _ = audit()
    made = {name: rewritten(ItemSource(name), head["seed"])[1] for name in ("flipscope_problems", "pocket_problems")}
    assert {name: outputs_hash(variants) for name, variants in made.items()} == head["shipped"], (
        "the operator changed after its audit: run the next test where the public data are; if its outputs are the audited "
        "ones, write the new hashes into numeric_audit.jsonl, otherwise draw a new sample and audit it"
    )


@pytest.mark.stand_in("test_the_audited_operator_is_the_shipped_one")
@pytest.mark.simulation
@pytest.mark.slow
def test_the_golds_of_the_audit_are_recomputed(shared_data):
    head, rows = audit()
    items, variants = rewritten(ItemSource("gsm8k", path=str(shared_data / "gsm8k" / "test.jsonl")), head["seed"])
    assert (len(items), len(variants), outputs_hash(variants)) == (head["n_items"], head["n_covered"], head["outputs"])
    assert {row["id"]: row["gold"] for row in rows} == {row["id"]: variants[row["id"]].target for row in rows}
    sizes = operand_check(
        [x for one in variants.values() for x in one.params["was"]],
        [x for one in variants.values() for x in one.params["operands"]],
    )
    assert sizes.p > 0.05 and 0.9 < sizes.median_ratio < 1.1, sizes.sentence()
    drawn = generator(head["seed"], "audit").choice(len(variants), 150, replace=False)
    assert [row["id"] for row in rows] == [sorted(variants)[i] for i in drawn]


# Steps of a worked solution, from annotations and from prose.


@pytest.mark.parametrize(
    ("line", "literals", "result"),
    [
        ("She sells 16 - 3 = <<16-3=13>>13 eggs.", "16 3", 13),
        ("3 times 5 equals 15", "3 5", 15),
        ("2(60) = 120", "2 60", 120),
        ("20% of $50 = $10", "1/5 50", 10),
        ("4/8 = .5 * 100% = 50%", "1/2 100", 50),
        ("15 / .5 = <<30=30>>30", "15 1/2", 30),
        ("$12 000 x 5/100 = $600", "12000 5 100", 600),
        ("3 miles/hour * 2 hours = 6 miles", "3 2", 6),
    ],
)
def test_equations_are_read_from_annotations_and_from_prose(line, literals, result):
    last = steps(line)[-1]
    assert (last.result, last.literals) == (result, tuple(map(Fraction, literals.split())))


def test_prose_may_stand_in_for_an_annotation_and_a_wrong_one_is_no_step():
    line = "He pays .5*(20+10) = <<.5*30=15>>15."
    assert [len(step.literals) for step in steps(line, MIXED)] == [3, 2]
    assert [len(step.literals) for step in steps(line, PROSE)] == [3]
    assert steps("So 3 + 4 = 8 and nothing else.") == []
    with pytest.raises(ValueError, match="<<3\\+4=8>> is not exact"):
        steps("So <<3+4=8>>8")


# Which numbers of a problem may be drawn anew, and which stay.


def test_clock_times_years_ordinals_and_fractions_stay():
    frozen = {m.text: m.why_frozen for m in mentions("In 1999 at 5 p.m. the 3rd of 40 boys ate 1/2 of 12 pies.")}
    assert frozen["1999"] == "year" and frozen["5"] == "clock time" and frozen["3"] == "ordinal"
    assert frozen["1"] and frozen["2"] and not frozen["40"] and not frozen["12"]


@pytest.mark.parametrize(
    "text, number, kind",
    [
        ("He has six $20 bills.", "20", "name of a thing"),
        ("He has two 20 dollar bills.", "20", "name of a thing"),
        ("There are 31 days in March.", "31", "unit definition"),
        ("He works in a 30 day month.", "30", "unit definition"),
        ("He rides for 5 days, and twice on the other days.", "5", "part of a week"),
        ("His bills come to $20.", "20", ""),
    ],
)
def test_what_has_one_value_only_in_this_world_stays(text, number, kind):
    assert {m.text: m.why_frozen for m in mentions(text)}[number] == kind
