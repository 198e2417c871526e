"""Only models from before the target enter the difficulty test; without one the reason is said."""

import pandas as pd

from flipcore.reports.holdout import difficulty_result, ways
from flipcore.stats.holdout.difficulty import conditions, pre_release
from flipcore.stats.holdout.verdict import difficulty_test
from tests.stats.holdout.test_difficulty import rows

STATES = {"m": pre_release("m", "2020-01-01", ["2022-01-01"]), "n": pre_release("n", "2024-01-01", ["2022-01-01"])}


def test_a_model_that_may_have_seen_the_target_is_left_out():
    of_both = conditions(pd.DataFrame(rows() + rows(model="n", right=lambda i: True)))
    test, how = difficulty_result(of_both, STATES)
    assert test.estimate == difficulty_test(6, 12, 6, 12, 0.1).estimate and how.startswith("conditions 1 (m")


def test_without_a_model_from_before_there_is_a_reason_and_no_test():
    assert difficulty_result([], {}) == (
        None,
        "Not run: no model has answered both sets. Declare a study with these sets as target and retro.",
    )
    test, why = difficulty_result(conditions(pd.DataFrame(rows(model="n"))), {"n": STATES["n"]})
    assert (
        test is None and why == f"Not run: it needs a model trained before the benchmark was published. {STATES['n'].sentence}"
    )


def test_the_plain_layout_and_the_preferred_extractor_come_first():
    several = conditions(
        pd.DataFrame(rows(layout="helpful") + rows(extractor="cloze") + rows(extractor="first_token") + rows())
    )
    assert ways(several) == [("regex", "plain"), ("first_token", "plain"), ("cloze", "plain"), ("regex", "helpful")]
