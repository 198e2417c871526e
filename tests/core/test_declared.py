"""One loader for studies, models and plug-ins' parameters: each wrong value gets its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from flipcore.core.declared import declared, fitting
from flipcore.core.errors import BadInput
from flipcore.models.cards import cards_of


@dataclass(frozen=True)
class Sieve:
    name: str
    width: float = 0.5
    holes: int | None = None
    meshes: tuple[str, ...] = ()
    is_fine: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


def test_a_table_becomes_the_thing_that_it_declares():
    table = {"name": "s", "width": 1, "holes": 3, "meshes": ["a"], "is_fine": True, "more": {"a": [1]}}
    made = declared(Sieve, table, "[s]")
    assert made == Sieve("s", 1.0, 3, ("a",), True, {"a": [1]}) and type(made.width) is float
    assert declared(Sieve, {}, "[s]", {"name": "s"}) == Sieve("s")


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (3, "[s] must be a table, not int."),
        ({}, "[s] is incomplete: name is missing."),
        ({"name": "s", "size": 1}, "[s] has the unknown key 'size'; it may have name, width, holes, meshes, is_fine, more."),
        ({"name": 5}, "[s] has name = '5'; it must be text in quotes."),
        ({"name": "s", "width": "2"}, "[s] has width = '2'; it must be a number."),
        ({"name": "s", "width": True}, "[s] has width = 'True'; it must be a number."),
        ({"name": "s", "holes": 2.5}, "[s] has holes = '2.5'; it must be a whole number."),
        ({"name": "s", "meshes": "a"}, "[s] has meshes = 'a'; it must be a list of texts."),
        ({"name": "s", "meshes": [1]}, "[s] has meshes = '(1,)'; it must be a list of texts."),
        ({"name": "s", "is_fine": 1}, "[s] has is_fine = '1'; it must be true or false."),
        ({"name": "s", "more": []}, "[s] has more = '[]'; it must be a table."),
    ],
)
def test_what_does_not_fit_is_said(table, why):
    with pytest.raises(BadInput) as caught:
        declared(Sieve, table, "[s]")
    assert str(caught.value) == why


@dataclass(frozen=True)
class Foreign:
    """Of a package whose annotation names what is not there."""

    depth: Nowhere = 2  # noqa: F821


def test_where_an_annotation_names_nothing_the_default_decides():
    assert fitting(Foreign, "It", "depth", 5, 2) == 5
    with pytest.raises(BadInput, match="It has depth = 'deep'; it must be a whole number"):
        fitting(Foreign, "It", "depth", "deep", 2)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("abilities = 5", "abilities = '5'; it must be a list of texts"),
        ('n_in_flight = "many"', "n_in_flight = 'many'; it must be a whole number"),
        ("cutoff = 5", "cutoff = '5'; it must be text in quotes"),
        ('probe = "x"', "probe = 'x'; it must be a table"),
        ("refuses = [1]", "refuses = '(1,)'; it must be a list of texts"),
        ('timeout_s = "soon"', "timeout_s = 'soon'; it must be a number"),
    ],
)
def test_a_models_file_gets_the_same_sentences(line, why, tmp_path):
    path = tmp_path / "models.toml"
    path.write_text(f'[mine]\nbackend = "simulated"\n{line}\n')
    with pytest.raises(BadInput) as caught:
        cards_of(path)
    assert why in str(caught.value) and "[mine] in models.toml" in str(caught.value)


def test_a_key_that_was_written_into_the_wrong_place_is_not_repeated(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text('[mine]\nbackend = "openai_compatible"\napi_key_env = ["sk-secret"]\n')
    with pytest.raises(BadInput) as caught:
        cards_of(path)
    assert "sk-secret" not in str(caught.value) and "api_key_env" in str(caught.value)
