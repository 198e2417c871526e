"""What is known of each model before it is asked: where it is, what it can do, what it costs, when its training ended."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.paths import MODELS_TOML
from flipcore.core.records import ABILITIES


@dataclass(frozen=True)
class ModelCard:
    """One [name] table of data/models.toml. Prices are US dollars a million tokens; None means unknown."""

    name: str
    backend: str
    model: str = ""
    endpoint: str = ""
    api: str = "chat"
    api_key_env: str = ""
    abilities: tuple[str, ...] = ABILITIES
    price_in: float | None = None
    price_out: float | None = None
    cutoff: str | None = None
    n_in_flight: int = 64
    timeout_s: float = 120.0
    options: dict = field(default_factory=dict)
    notes: str = ""


def model_cards(path: Path | None = None) -> dict[str, ModelCard]:
    """All declared models by name; BadInput names the table and the key that is wrong."""
    path = path or MODELS_TOML
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path.name} cannot be read: {error}.") from error
    return {name: _card(name, table, path) for name, table in tables.items()}


def _card(name: str, table: dict, path: Path) -> ModelCard:
    keys = {f.name for f in fields(ModelCard)}
    unknown = sorted(set(table) - keys)
    if unknown:
        raise BadInput(f"[{name}] in {path.name} has the unknown key {unknown[0]!r}; it may have {', '.join(sorted(keys))}.")
    if "backend" not in table:
        raise BadInput(f"[{name}] in {path.name} names no backend.")
    abilities = tuple(table.get("abilities", ABILITIES))
    if set(abilities) - set(ABILITIES):
        raise BadInput(f"[{name}] in {path.name} has an unknown ability; known are {', '.join(ABILITIES)}.")
    return ModelCard(name, **dict(table) | {"abilities": abilities})
