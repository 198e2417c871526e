"""Planted memory: gaps over seeds of the model scatter as stated."""

import numpy as np
import pytest

from tests.lab.simulations.planted_memory import PlantedModel


def test_memorized_gaps_over_model_seeds_scatter_as_stated():
    # .256, sd .037 over 300 model seeds (127 items, ability .74)
    ids = [f"b{k}" for k in range(127)]
    models = [PlantedModel(0.74, recall=1.0, seed=seed) for seed in range(300)]
    gaps = [float(np.subtract(*model.answers(ids, published=True)).mean()) for model in models]
    assert np.mean(gaps) == pytest.approx(0.258, abs=0.008) and np.std(gaps) == pytest.approx(0.038, abs=0.006)
