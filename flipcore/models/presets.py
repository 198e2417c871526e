"""Kinds of server to start a model from: `servers.toml`, read once. `trial` says whether that service was tried here."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.models.cards import SERVED, UNTESTED, ModelCard, with_own_price

NEVER = "never tried against the service"


@dataclass(frozen=True)
class Preset:
    """A kind of server. `source` is its documentation, `trial` what was asked of it here; local ones cost nothing."""

    name: str
    title: str
    endpoint: str
    api_key_env: str = ""
    api: str = "chat"
    is_local: bool = False
    example: str = ""
    about: str = ""
    source: str = ""
    trial: str = NEVER
    backend: str = SERVED
    options: dict = field(default_factory=dict)


_FILE = tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))
PRESETS = {one["name"]: Preset(**one) for one in _FILE["servers"]}


def preset(name: str) -> Preset:
    """The preset of that name; BadInput lists what there is."""
    if name not in PRESETS:
        raise BadInput(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def card_from(name: str, preset_name: str, model: str, **changes) -> ModelCard:
    """A model of that preset before it was tested: it can generate, and nothing else is assumed."""
    one = preset(preset_name)
    prices = {"price_in": 0.0, "price_out": 0.0} if one.is_local else {}
    own: dict[str, Any] = {
        "endpoint": one.endpoint,
        "api": one.api,
        "api_key_env": one.api_key_env,
        "options": one.options,
        **prices,
    }
    overrides = {key: value for key, value in changes.items() if value is not None}
    card = ModelCard(name, one.backend, model, abilities=UNTESTED[one.backend], preset=preset_name, **own | overrides)
    return with_own_price(card)


def preset_line(one: Preset) -> str:
    """What its documentation says, where that stands, and whether anybody tried it."""
    parts = [
        one.about,
        f"Its documentation: {one.source}." if one.source else "",
        f"This preset was {one.trial}." if one.trial else "",
    ]
    return " ".join(filter(None, parts))


def provenance(card: ModelCard) -> str:
    """Which preset a model was added from, and whether that was tried."""
    one = PRESETS.get(card.preset)
    return f"Added as {one.title}: the preset was {one.trial}." if one and one.trial else ""
