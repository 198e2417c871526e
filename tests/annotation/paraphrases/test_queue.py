import math
from collections import Counter

import pytest

from flipcore.annotation.judging import BLOCK, queue, undone
from flipcore.core.errors import BadInput
from tests.annotation.paraphrases.pairs import made_pairs

PAIRS = made_pairs(60, "algebra") + made_pairs(30, "ethics") + made_pairs(30, "ethics", "machine")


def test_a_queue_holds_every_pair_once_and_is_the_same_when_asked_again():
    order = queue(PAIRS, "Ada")
    assert sorted(place.pair_id for place in order) == sorted(pair["pair_id"] for pair in PAIRS)
    assert order == queue(PAIRS[::-1], "Ada")


def test_two_reviewers_have_different_orders_and_share_the_same_pairs():
    ada, bea = queue(PAIRS, "Ada"), queue(PAIRS, "Bea")
    assert ada != bea and {p for p in ada if p.is_shared} == {p for p in bea if p.is_shared}
    # 120 pairs at a share of .3: 36 expected, sd sqrt(120 * .21) = 5
    assert abs(sum(place.is_shared for place in ada) - 36) < 4 * 5


def test_two_who_stop_early_have_judged_the_same_shared_pairs():
    first = [[place.pair_id for place in queue(PAIRS, name) if place.is_shared][: 2 * BLOCK] for name in ("Ada", "Bea")]
    assert set(first[0]) == set(first[1]) and first[0] != first[1]


def test_every_beginning_is_balanced_over_strata():
    # proportional interleaving: of the first half, each stratum has half of its pairs, give or take two for each of the
    # two groups (shared, own)
    half = Counter(place.pair_id.rsplit("-", 1)[0] for place in queue(PAIRS, "Ada")[:60])
    assert abs(half["algebra-maker"] - 30) <= 4
    assert abs(half["ethics-maker"] - 15) <= 4 and abs(half["ethics-machine"] - 15) <= 4


def test_what_another_has_judged_is_left_out_unless_it_is_shared():
    order = queue(PAIRS, "Ada")
    everything = {place.pair_id for place in order}
    assert undone(order, set(), everything) == [place.pair_id for place in order if place.is_shared]
    assert undone(order, {order[0].pair_id}, set()) == [place.pair_id for place in order[1:]]
    assert undone(order, everything, set()) == []


def test_everybody_judges_everything_at_a_share_of_one_and_nothing_twice_at_none():
    assert all(place.is_shared for place in queue(PAIRS, "Ada", shared=1))
    assert not any(place.is_shared for place in queue(PAIRS, "Ada", shared=0))
    with pytest.raises(BadInput, match="between 0 and 1"):
        queue(PAIRS, "Ada", shared=1.5)


def test_the_riskiest_come_first_when_asked_for():
    risk = {PAIRS[7]["pair_id"]: 0.2, PAIRS[70]["pair_id"]: 0.1}
    order = [place.pair_id for place in queue(PAIRS, "Ada", risk=risk)]
    assert order[:2] == [PAIRS[7]["pair_id"], PAIRS[70]["pair_id"]]


def test_new_pairs_leave_the_order_of_the_old_within_their_stratum():
    def own(order):
        return [p.pair_id for p in order if p.pair_id.startswith("algebra") and not p.is_shared]

    before, after = own(queue(PAIRS, "Ada")), own(queue(PAIRS + made_pairs(40, "later"), "Ada"))
    assert before == after and math.isclose(len(before), 42, abs_tol=16)
