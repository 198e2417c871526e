"""A model's reply to a triple counts when it names one text."""

import pytest

from flipcore.annotation.surveys import models as survey_models


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("2", 1),
        (" Text 3.", 2),
        ("**1**", 0),
        ("1 or 2", None),
        ("", None),
        ("12", None),
        ("none", None),
        ("2.5", None),
        ("The answer is 2. Yes, 2.", 1),
        ("v1", None),
    ],
)
def test_a_reply_counts_when_it_names_one_text(reply, place):
    assert survey_models.place_in(reply) == place
