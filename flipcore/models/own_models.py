"""The user's own models: one TOML file in the user's own folder, read with the shipped ones and
written here alone; the kinds of server to start one from (`servers.toml`); and testing one of them,
whatever its kind."""

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
from flipcore.models.probe_record import FOUND_OUT, card_after, record_of, report

NEVER = "never tried against the service"


@dataclass(frozen=True)
class Preset:
    """Kind of server. `source` is its documentation, `trial` what was asked of it here."""

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
PRESETS = {table["name"]: Preset(**table) for table in _FILE["servers"]}


def card_from(name: str, preset_name: str, model: str, **changes) -> ModelCard:
    """A model of that preset before it was tested: it can generate, and nothing else is assumed.
    BadInput lists the presets that there are."""
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
    """Say of a preset what its documentation says, where, and whether anybody tried it."""
    parts = [
        preset.about,
        f"Its documentation: {preset.source}." if preset.source else "",
        f"This preset was {preset.trial}." if preset.trial else "",
    ]
    return " ".join(filter(None, parts))


def provenance(card: ModelCard) -> str:
    """Preset from which a model was added, and whether that was tried."""
    preset = PRESETS.get(card.preset)
    if preset is None or not preset.trial:
        return ""
    return f"Added as {preset.title}: the preset was {preset.trial}."


_HEAD = (
    f"# Models that were added in the dashboard or by `{command('models')}`; remarks of your "
    "own are not kept.\n"
)
_HEAD += (
    "# Keys are read from the environment variable named in api_key_env and are never stored.\n\n"
)
# The file is read, changed and written as one act: two sessions may save at once.
_writing = threading.Lock()


def own_cards() -> dict[str, ModelCard]:
    """The user's own models by name."""
    path = own_models_toml()
    return cards_of(path) if path.is_file() else {}


def own_card(name: str) -> ModelCard:
    """One of the user's own models; BadInput names those that there are."""
    cards = own_cards()
    if name not in cards:
        raise BadInput(
            f"{name!r} is none of your own models; there are {', '.join(cards) or 'none yet'}."
        )
    return cards[name]


def save(card: ModelCard, replaces: str = "") -> None:
    """Adds the model, or changes it where it is called what `replaces` says. Raises BadInput for a
    name that is there already, and for a card that cannot be asked."""
    require(Permission.MODELS)
    check_own(card)
    with _writing:
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
    """Forgets one of the user's own models; what it answered stays in the database."""
    require(Permission.MODELS)
    with _writing:
        own_card(name)
        _write({own_name: card for own_name, card in own_cards().items() if own_name != name})
    tell("removed a model", name)


def edited(card: ModelCard, **changes: Any) -> ModelCard:
    """The card with other values. One that now means another model has to be tested again: what was
    found out is forgotten."""
    after = with_own_price(replace(card, **changes))
    if all(
        getattr(after, key) == getattr(card, key) for key in ("endpoint", "model", "api")
    ) and _dtype(after) == _dtype(card):
        return after
    options = {key: value for key, value in card.options.items() if key not in FOUND_OUT}
    return replace(after, abilities=UNTESTED[after.backend], refuses=(), options=options, probe={})


def _dtype(card: ModelCard) -> str:
    return card.options.get("dtype", "")


def table_of(card: ModelCard) -> dict[str, Any]:
    """The card as its TOML table: what differs from the defaults."""
    default = ModelCard(card.name, backend="")
    table = {}
    for card_field in fields(card):
        name = card_field.name
        if getattr(card, name) != getattr(default, name):
            table[name] = getattr(card, name)
    table.pop("name", None)
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in table.items()
        if value is not None
    }


def _write(cards: dict[str, ModelCard]) -> None:
    """A reader sees the old file or the new one; it may hold keys, so nobody else may read it."""
    import tomli_w

    write(
        own_models_toml(),
        _HEAD + tomli_w.dumps({name: table_of(card) for name, card in cards.items()}),
        mode=0o600,
    )


def ask_and_keep(card: ModelCard) -> list[str]:
    """Tests one of the user's own models, keeps what was found out, and returns what to say. Raises
    BadInput where the model cannot be asked; the card then stays as it was."""
    require(Permission.MODELS)
    tell("tested a model", card.name)
    before, record = record_of(card), probed(card)
    after = card_after(card, record)
    save(after, card.name)
    return report(after, before, record=record)
