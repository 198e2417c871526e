"""Under "How to read this" stand the page's own numbers, in at most 18 words, and never a number that is missing."""

import numpy as np

from flipcore.reports.worked_examples import flips_example, holdout_example, loss_example, pearl_example, truth_example
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.memory.ground_truth import ground_truth
from flipcore.stats.memory.loss_analysis import loss_test
from tests.stats.flips.test_surface import asked, frame
from tests.stats.memory.test_ground_truth import made


def cells(first, written):
    rows = [row for i in range(12) for row in asked(f"i{i}", first, extractor="first_token") + asked(f"i{i}", written)]
    return decompositions(coded_answers(frame(rows)), "regex", tests=False)


def test_the_largest_artifact_is_taken_apart():
    # A, B, C under the first token: all pairs differ; written A, A, A: none
    said = flips_example(cells("ABC", "AAA"))
    assert "first token: T 100% − G 0% = A 100 points; no noise floor; 12 items." in said
    assert len(said.split()) <= 18
    assert flips_example([one for one in cells("ABC", "AAA") if one.is_reference]) == ""


def test_losses_and_doses_are_said_with_their_numbers():
    test = loss_test([str(i) for i in range(20)], np.full(20, 3.0), np.linspace(-1, 1, 41))
    assert loss_example(test) == "The median D is 3.00 nats for 20 items and 0.00 for 41 controls."
    assert loss_example(test, "") == "The median D is 3.00 for 20 items and 0.00 for 41 controls."
    scores, doses = made(1.0)
    said = truth_example(ground_truth({"question loss": scores}, doses))
    assert said.startswith("question loss on items read 1 time: ") and "AUC " in said and "false positives " in said


def test_without_a_number_there_is_no_line():
    nothing = type("Pearl", (), {"sensitivity": np.array([np.nan]), "non_members": np.array([])})()
    assert holdout_example({}) == "" and pearl_example(nothing) == ""
