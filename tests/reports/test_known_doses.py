"""The decision where the truth is known: true hits, and false accusations no oftener than promised."""

import numpy as np

from flipcore.reports.memory import decide_gap, decide_on_doses, decide_score, decide_set, decision_function


def test_sets_that_are_no_different_are_accused_no_more_often_than_promised():
    rng = np.random.default_rng(5)
    made = [decide_on_doses("x", rng.normal(size=150), rng.normal(size=400), {256: rng.normal(size=40)}) for _ in range(60)]
    accused, clean = sum(one.n_accused for one in made), sum(one.n_clean for one in made)
    assert clean == 600 and accused / clean < 0.08
    assert sum(one.hits for one in made) <= 9  # 60 null doses at .05: P(more than 9) is .0008


def test_a_published_score_is_decided_by_its_shares():
    right, never = np.repeat([1.0, 0.0], [20, 0]), np.repeat([1.0, 0.0], [50, 50])
    assert decide_score(right, never)[0] and not decide_set(right, never)[0]
    assert decision_function("published score, x") is decide_score and decision_function("drop, x") is decide_gap


def test_a_drop_gap_is_decided_by_its_gap_and_a_set_by_its_test():
    drops, never = np.repeat([1.0, 0.0], [16, 24]), np.repeat([1.0, 0.0], [15, 135])
    assert decide_gap(drops, never)[0] and decide_on_doses("drop, x", never, never[15:55], {256: drops}).hits == 1
    assert not decide_set(drops, never)[0] and decide_on_doses("loss, x", never, never[15:55], {256: drops}).hits == 0
