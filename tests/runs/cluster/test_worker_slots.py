"""How many workers a model has, where, and how many calls each takes: never more than a server takes in all."""

import pytest

from flipcore.core.errors import FlipscopeError
from flipcore.models import ModelCard
from flipcore.runs.cluster.place import Machine, shares, worker_slots

MACHINES = [Machine("a", "10.0.0.1", 0), Machine("b", "10.0.0.2", 4, 2), Machine("c", "10.0.0.3", 2)]  # the head gives none


def rooms(card, machines=MACHINES):
    return [(one.node_id, one.n_at_once) for one in worker_slots(card, machines, "lab", "the cluster")]


def served(endpoint, n=10):
    return ModelCard("lab", "openai_compatible", endpoint=endpoint, n_in_flight=n)


def test_a_computed_model_has_a_worker_a_processor():
    assert rooms(ModelCard("lab", "pocket", n_in_flight=8)) == [("b", 8)] * 4 + [("c", 8)] * 2
    assert rooms(None) == [("b", 4)] * 4 + [("c", 4)] * 2


def test_one_server_is_never_sent_more_than_it_takes():
    assert rooms(served("https://api.example.com/v1")) == [("b", 5), ("c", 5)]
    assert rooms(served("https://api.example.com/v1", 1)) == [("b", 1)]
    assert sum(shares(64, 7)) == 64 and max(shares(64, 7)) - min(shares(64, 7)) <= 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_a_server_on_every_machine_takes_its_number_on_every_machine(host):
    assert rooms(served(f"http://{host}:8000/v1")) == [("b", 10), ("c", 10)]


def test_a_model_that_needs_graphics_processors_goes_where_they_are():
    assert rooms(ModelCard("lab", "package", n_in_flight=8, options={"gpus": 1})) == [("b", 8)] * 2
    assert rooms(ModelCard("lab", "package", n_in_flight=8, options={"gpus": 0.5})) == [("b", 8)] * 4
    with pytest.raises(FlipscopeError, match="no machine with 4 graphics processors for lab"):
        rooms(ModelCard("lab", "package", options={"gpus": 4}))


def test_a_cluster_without_processors_is_a_sentence():
    with pytest.raises(FlipscopeError, match="the cluster has no machine with a processor for lab"):
        rooms(None, MACHINES[:1])
