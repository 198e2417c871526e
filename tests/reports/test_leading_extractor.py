"""The headline of Flips speaks of an extractor that read something."""

import numpy as np
import pytest

from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.flips import headline
from flipcore.store.queries import studies
from tests.models.server import Server
from tests.runs.test_endings import declared, ended

__all__ = ["declared"]  # a fixture


@pytest.fixture
def frame(store, declared):
    """Readouts of a chat model without log-probabilities that answers B whatever stands there."""
    choice = Study(
        "no log-probabilities",
        (ItemSource("flipscope_choice", n=12),),
        (Part("option_order", {"n": 3}),),
        (Part("first_token"), Part("regex")),
        (ModelUse("lab", max_tokens=16),),
    )
    with Server(logprobs="none") as server:
        declared(server.url, abilities=("generate",))
        assert ended(choice, store).state == "done"
    return studies.readouts(store, choice.study_id)


def test_an_extractor_that_read_nothing_does_not_lead(frame):
    absent = frame[frame["extractor"] == FIRST_TOKEN]
    assert absent.empty or absent["answer"].isna().all()
    said = headline(frame)
    assert said.flips is None or said.flips.extractor == WRITTEN_ANSWER
    assert "first token" not in " ".join(claim.text for claim in said.claims)
    assert "yet" not in " ".join(claim.text for claim in said.claims)


@pytest.mark.slow
def test_the_flips_of_the_extractor_that_read_are_the_headline(frame):
    said = headline(frame)
    assert said.flips is not None and said.flips.T.value > 0.3  # B is another option in each order


@pytest.mark.slow
def test_a_finished_study_without_a_rate_does_not_say_yet(frame):
    silent = frame.assign(answer=np.nan, value=np.nan)
    text = " ".join(claim.text for claim in headline(silent).claims)
    assert "yet" not in text
