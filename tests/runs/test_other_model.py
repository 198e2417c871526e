"""Replies that name another model than the one that was asked."""

import pytest

from flipcore.reports.badges import badges_of
from flipcore.store.queries import studies as queries
from tests.models.server import Server
from tests.runs.test_endings import declared, ended, items, study

pytestmark = pytest.mark.usefixtures("allowed_folders")

__all__ = ["declared", "items"]  # fixtures


class Renamed(Server):
    """Answers properly, under a name of its own."""

    def _proper(self, request, body):
        return super()._proper(request, body) | {"model": "cheap-model"}


def test_replies_of_another_model_are_said_by_the_run_and_stay_on_the_study(store, items, declared):
    with Renamed() as server:
        declared(server.url)
        last = ended(study(items, n=4), store)
    assert last.state == "done" and "another model than the one asked: cheap-model" in last.message
    (row,) = queries.studies(store).to_dict("records")
    assert ("OTHER MODEL", "OTHER MODEL: cheap-model") in badges_of(row, 0, judge_is_closed=False)


@pytest.mark.slow
def test_a_server_that_names_no_model_is_not_accused(store, items, declared):
    with Server() as server:
        declared(server.url)
        last = ended(study(items, n=4), store)
    (row,) = queries.studies(store).to_dict("records")
    assert "another model" not in last.message and badges_of(row, 0, judge_is_closed=False) == []
