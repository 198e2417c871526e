"""The user's own models, the presets to start one from (`servers.toml`), and their tests.

The models are in a TOML file in the user's own folder, which is written only here.
"""

import threading
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from flipcore.access.acting import Permission, require, tell
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.core.paths import own_models_toml
from flipcore.core.whole_files import write
from flipcore.models.cards import SERVED, UNTESTED, ModelCard, cards_of, check_own, with_own_price
from flipcore.models.kinds import probed
from flipcore.models.probe_record import TESTED_OPTIONS, card_after, record_of, report

NEVER = "never tried against the service"


@dataclass(frozen=True)
class Preset:
    """A kind of server with its usual settings.
    `source` is the address of its documentation; `trial` says how this preset was tried."""

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


_TABLES = tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))
PRESETS = {table["name"]: Preset(**table) for table in _TABLES["servers"]}


def card_from(name: str, preset_name: str, model: str, **changes) -> ModelCard:
    """Return an untested card of a preset; BadInput lists the presets.
    `changes` override the preset; None in them means no change."""
    if preset_name not in PRESETS:
        raise BadInput(f"There is no preset {preset_name!r}; choose one of {', '.join(PRESETS)}.")
    preset = PRESETS[preset_name]
    prices = {"price_in": 0.0, "price_out": 0.0} if preset.is_local else {}
    preset_fields: dict[str, Any] = {
        "endpoint": preset.endpoint,
        "api": preset.api,
        "api_key_env": preset.api_key_env,
        "options": preset.options,
        **prices,
    }
    overrides = {key: value for key, value in changes.items() if value is not None}
    card = ModelCard(
        name,
        preset.backend,
        model=model,
        abilities=UNTESTED[preset.backend],
        preset=preset_name,
        **preset_fields | overrides,
    )
    return with_own_price(card)


def preset_line(preset: Preset) -> str:
    """Return a preset's description, its documentation, and whether anybody tried it."""
    parts = [
        preset.about,
        f"Its documentation: {preset.source}." if preset.source else "",
        f"This preset was {preset.trial}." if preset.trial else "",
    ]
    return " ".join(filter(None, parts))


def provenance(card: ModelCard) -> str:
    """Return from which preset a model was added and whether anybody tried that; "" if none."""
    preset = PRESETS.get(card.preset)
    if preset is None or not preset.trial:
        return ""
    return f"Added as {preset.title}: the preset was {preset.trial}."


_HEAD = (
    f"# Models that were added in the dashboard or by `{command('models')}`; remarks of your "
    "own are not kept.\n"
    "# Keys are read from the environment variable named in api_key_env and are never stored.\n\n"
)
# Held while the file is read, changed and written: two sessions may save at once.
_file_lock = threading.Lock()


def own_cards() -> dict[str, ModelCard]:
    """Return the user's own models by name."""
    path = own_models_toml()
    return cards_of(path) if path.is_file() else {}


def own_card(name: str) -> ModelCard:
    """Return one of the user's own models; BadInput lists their names."""
    cards = own_cards()
    if name not in cards:
        raise BadInput(
            f"{name!r} is none of your own models; there are {', '.join(cards) or 'none yet'}."
        )
    return cards[name]


def save(card: ModelCard, replaces: str = "") -> None:
    """Add a model, or change the model named `replaces`.
    BadInput for a name that another model has, and for a card that fails its checks."""
    require(Permission.MODELS)
    check_own(card)
    with _file_lock:
        cards = own_cards()
        if card.name != replaces and card.name in cards:
            raise BadInput(
                f"You have a model called {card.name!r} already. Take another name, or edit that "
                "one."
            )
        is_change = card.name in cards or replaces in cards
        cards.pop(replaces, None)
        _write(cards | {card.name: card})
    tell("changed a model" if is_change else "added a model", card.name)


def remove(name: str) -> None:
    """Remove one of the user's own models; its answers stay in the database."""
    require(Permission.MODELS)
    with _file_lock:
        own_card(name)
        _write({own_name: card for own_name, card in own_cards().items() if own_name != name})
    tell("removed a model", name)


def edited(card: ModelCard, **changes: Any) -> ModelCard:
    """Return the card with other values.
    If the card now means another model, its test no longer counts and its findings are dropped."""
    after = with_own_price(replace(card, **changes))
    if _identity(after) == _identity(card):
        return after
    options = {key: value for key, value in card.options.items() if key not in TESTED_OPTIONS}
    return replace(after, abilities=UNTESTED[after.backend], refuses=(), options=options, probe={})


def _identity(card: ModelCard) -> tuple[str, ...]:
    """Return the values that decide which model a card means."""
    return card.endpoint, card.model, card.api, card.options.get("dtype", "")


def table_of(card: ModelCard) -> dict[str, Any]:
    """Return the card as its TOML table, without the name and without values at their default."""
    default = ModelCard(card.name, backend="")
    table = {}
    for card_field in fields(card):
        name, value = card_field.name, getattr(card, card_field.name)
        if value is not None and value != getattr(default, name):
            table[name] = list(value) if isinstance(value, tuple) else value
    return table


def _write(cards: dict[str, ModelCard]) -> None:
    import tomli_w

    write(
        own_models_toml(),
        _HEAD + tomli_w.dumps({name: table_of(card) for name, card in cards.items()}),
        mode=0o600,  # an entry may hold a key by mistake
    )


def ask_and_keep(card: ModelCard) -> list[str]:
    """Test one of the user's own models, save its findings, and return the lines to show.
    BadInput where the model cannot be asked; its card then stays as it was."""
    require(Permission.MODELS)
    tell("tested a model", card.name)
    before, record = record_of(card), probed(card)
    after = card_after(card, record)
    save(after, card.name)
    return report(after, before, record=record)
