"""Scores are divided at their median, whatever the threshold was."""

import numpy as np

from flipcore.vectors.classifiers.classifier import around_the_median


def test_the_median_divides_scores_whatever_the_threshold_was():
    scores = around_the_median(np.array([-900.0, -3.0, -2.5, -2.0, 5.0]))
    assert (scores > 0.5).tolist() == [False, False, False, True, True] and scores[2] == 0.5 and np.isfinite(scores).all()
