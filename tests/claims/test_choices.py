"""A decision survives every choice only by the p of the coarsest units too."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from flipcore.claims.choices import DIRECTION, SURVIVED, survives_claim
from flipcore.claims.decisions import Decision
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.material import ArrayMaterial


@dataclass(frozen=True)
class CoarseTests:
    """One p for every specification."""

    value: float

    def p(self, null, *, below=False):
        return np.full(2, self.value)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("p", "level", "outcome"),
    [
        (0.025, 0.95, SURVIVED),
        (0.026, 0.95, DIRECTION),
        (0.026, 0.9, SURVIVED),
        (0.051, 0.9, DIRECTION),
        (np.nan, 0.95, DIRECTION),
    ],
)
def test_what_every_way_shows_survives_by_half_of_alpha_over_the_coarsest_units(sign, p, level, outcome):
    lead = np.full(40, 1.0 * sign)
    lead[:10] = 0
    options = tuple(Option(name, name, "") for name in "ab")
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    states = {("a",): lead, ("b",): lead * (np.arange(40) > 10)}
    material = ArrayMaterial((extractor,), ("extractor",), states, {}, np.arange(40), np.zeros(40, dtype=int))
    curve = replace(count(material), coarse_tests=CoarseTests(p))
    claim = survives_claim(curve, Decision("A", "B"), level)
    assert (claim.outcome, claim.is_made) == (outcome, outcome == SURVIVED)
