"""Drafts that other pages hand over to New study."""

import pytest

from flipcore.runs.asking_again import Draft
from flipcore.runs.demo import demo_study, example_holdout
from pages.common import drafts


@pytest.fixture(autouse=True)
def session_state(monkeypatch):
    state = {}
    monkeypatch.setattr(drafts.st, "session_state", state)
    return state


def test_a_draft_is_found_under_the_key_of_its_link():
    draft = Draft(demo_study(), notes=("One item was left out.",))
    assert drafts.offer_draft("again-s", draft) == {"from_study": "again-s"}
    assert drafts.offered_draft("again-s") == draft and drafts.offered_draft("again-t") is None


def test_another_draft_under_the_key_replaces_the_open_one(session_state):
    drafts.offer_draft("paired-s", Draft(demo_study(), notes=()))
    session_state["draft-of"] = "paired-s"
    drafts.offer_draft("paired-s", Draft(demo_study(), notes=()))
    assert session_state["draft-of"] == "paired-s"  # the same draft, so that what the user changed stays
    drafts.offer_draft("paired-s", Draft(example_holdout(), notes=()))
    assert "draft-of" not in session_state
