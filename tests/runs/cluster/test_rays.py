"""What is an address of Ray, and what is none."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.runs.cluster import rays


@pytest.mark.parametrize("text", ["here", "http://head:8000", "ray://", "head", "10.0.0.1:port", "ray://head:1; rm -rf ~"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(BadInput, match="is no place to run a study"):
        rays.address_of(text)


def test_an_address_is_taken_as_it_stands_and_ray_alone_from_the_environment(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert [rays.address_of(one) for one in ("ray", "ray://head:10001", "10.0.0.1:6379")] == [
        "",
        "ray://head:10001",
        "10.0.0.1:6379",
    ]
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.9:6379")
    assert rays.address_of("ray") == "10.0.0.9:6379"
