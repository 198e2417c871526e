"""Cards of models: where a model is, its abilities, its price, the end of its training."""

import math
import re
import tomllib
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flipcore.core.declared import declared
from flipcore.core.errors import BadInput
from flipcore.core.paths import MODELS_TOML, own_models_toml
from flipcore.core.records import ABILITIES
from flipcore.text.dates import span

APIS = ("chat", "completions")
# Parameters that a server may refuse, and that are then left out. A refused system prompt is put
# before the question.
REFUSABLE = ("temperature", "top_p", "seed", "stop", "system", "reasoning_effort")
SERVED, WEIGHTS = "openai_compatible", "transformers"
ADDED = (SERVED, WEIGHTS)  # kinds of model that a user may add
# Abilities that are assumed before a test.
UNTESTED = {SERVED: ("generate",), WEIGHTS: ABILITIES}
DTYPES = ("float32", "bfloat16", "float16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:[0-9]{1,2})?")
_MAX_CHARS = 200
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{2,63}")
_NUMBERS = {  # key -> (lowest, highest)
    "price_in": (0.0, 1e5),
    "price_out": (0.0, 1e5),
    "n_in_flight": (1, 4_096),
    "timeout_s": (0.1, 7_200.0),
    "requests_per_minute": (1, 10_000_000),
    "tokens_per_minute": (1, 10_000_000_000),
}


@dataclass(frozen=True)
class ModelCard:
    """One [name] table of data/models.toml or of the user's own models.toml.

    Prices are US dollars per million tokens; None means unknown. `cutoff` is the end of its
    training. `n_in_flight` limits the calls in flight. `refuses` are parameters that are never
    sent. `probe` is the record of the last test (`probe_record`). `after_rl` says that its maker
    trained it by reinforcement learning after pre-training.
    """

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
    refuses: tuple[str, ...] = ()
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    preset: str = ""
    probe: dict = field(default_factory=dict)
    after_rl: bool = False


def place_of(card: ModelCard) -> str:
    """Return where an added model is, and its API: "m at http://localhost:8000/v1, chat API"."""
    if card.backend == WEIGHTS:
        prompt = "its chat template" if card.api == "chat" else "raw text"
        return f"{card.model} in this process, {prompt}, {card.options.get('dtype', DTYPES[0])}"
    return f"{card.model} at {card.endpoint}, {card.api} API"


def is_near(endpoint: str) -> bool:
    """Tell whether an address means this machine."""
    host = ""
    with suppress(ValueError):  # no valid address, or a host name instead of an IP number
        host = urlsplit(endpoint).hostname or ""
        return ip_address(host).is_loopback
    return host == "localhost"


def with_own_price(card: ModelCard) -> ModelCard:
    """Return the card, with a price of 0 for a server of this machine without a price."""
    if card.price_in is None and card.price_out is None and is_near(card.endpoint):
        return replace(card, price_in=0.0, price_out=0.0)
    return card


def model_cards(path: Path | None = None) -> dict[str, ModelCard]:
    """Return all declared models by name; the user's own override shipped ones of the same name.
    With `path` only the models of that file. BadInput names the table and the key that is wrong."""
    if path is not None:
        return cards_of(path)
    own_file = own_models_toml()
    return cards_of(MODELS_TOML) | (cards_of(own_file) if own_file.is_file() else {})


def cards_of(path: Path) -> dict[str, ModelCard]:
    """Return the models of one file by name."""
    try:
        cards = _checked_cards(path.read_text(encoding="utf-8"), path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path.name} cannot be read: {error}. Mend it at {path}.") from error
    # Callers may change the tables in their cards, so they get copies of the cached ones.
    return {
        name: replace(card, options=deepcopy(card.options), probe=deepcopy(card.probe))
        for name, card in cards.items()
    }


@lru_cache(maxsize=8)
def _checked_cards(text: str, path: Path) -> dict[str, ModelCard]:
    """Parse and check a file's text; the same text is not parsed again."""
    return {name: _card(name, table, path=path) for name, table in tomllib.loads(text).items()}


def _card(name: str, table: Any, path: Path) -> ModelCard:
    where = f"[{name}] in {path.name}"
    return checked(declared(ModelCard, table, where=where, own_fields={"name": name}), where)


def checked(card: ModelCard, where: str = "") -> ModelCard:
    """Return the card after all checks; BadInput names the wrong field."""
    where = where or f"The model {card.name[:60]!r}"
    for key, words in (("abilities", ABILITIES), ("refuses", REFUSABLE)):
        if set(getattr(card, key)) - set(words):
            raise BadInput(
                f"{where} has an unknown entry in {key}; known are {', '.join(words)} (an ability "
                "or a parameter)."
            )
    for key, (low, high) in _NUMBERS.items():
        _check_number(where, key, value=getattr(card, key), low=low, high=high)
    if card.backend == SERVED:
        _check_server(card, where)
    if card.backend == WEIGHTS:
        _check_weights(card, where)
    return card


def check_own(card: ModelCard) -> ModelCard:
    """Return a card that a user adds or edits, after all checks; BadInput names the wrong field.

    Beyond `checked`, it needs a name that a study can use, a model, and the address of its server.
    """
    name = card.name
    if (
        not name.strip()
        or name != name.strip()
        or len(name) > 80
        or not name.isprintable()
        or ":" in name
    ):
        raise BadInput(
            f"The name {name[:80]!r} cannot be used: take 1 to 80 letters, digits, dots or "
            "hyphens, and no colon."
        )
    shipped = cards_of(MODELS_TOML).get(name)
    if shipped and shipped.backend not in ADDED:
        raise BadInput(
            f"{name} is the name of a shipped model whose results carry a label. Take another name."
        )
    if card.backend not in ADDED:
        raise BadInput(
            "A model that is added is a server that speaks the OpenAI API or open weights, not "
            f"{card.backend!r}."
        )
    if card.backend == SERVED and not card.endpoint:
        raise BadInput(
            "The address of the server is missing, for example http://localhost:8000/v1."
        )
    if not card.model.strip() or len(card.model) > _MAX_CHARS:
        which = "which folder or name the weights have"
        if card.backend == SERVED:
            which = "which model of the server is meant"
        raise BadInput(f"Say {which}, in at most {_MAX_CHARS} characters.")
    if card.cutoff:
        span("end of its training", card.cutoff)
    return checked(card)


def _check_number(where: str, key: str, value: Any, low: float, high: float) -> None:
    if value is None and key not in ("n_in_flight", "timeout_s"):
        return
    # Python counts True as a number.
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
        or not low <= value <= high
    ):
        raise BadInput(
            f"{where} has {key} = {str(value)[:60]!r}; it must be a number from {low:,} to "
            f"{high:,}."
        )


def _check_weights(card: ModelCard, where: str) -> None:
    """Check the settings of open weights: API, precision, device and batch."""
    _check_api(card, where)
    if card.endpoint or card.api_key_env:
        raise BadInput(f"{where} is computed in this process; leave endpoint and api_key_env out.")
    dtype, device, batch = (
        card.options.get(key, default)
        for key, default in (("dtype", DTYPES[0]), ("device", "auto"), ("batch", 1))
    )
    if dtype not in DTYPES:
        raise BadInput(
            f"{where} has dtype = {str(dtype)[:40]!r}; it must be one of {', '.join(DTYPES)}."
        )
    if not isinstance(device, str) or not _DEVICE.fullmatch(device):
        raise BadInput(
            f"{where} has device = {str(device)[:40]!r}; it must be auto, cpu, mps or cuda, for "
            "example cuda:1."
        )
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= 1_024:
        raise BadInput(
            f"{where} has batch = {str(batch)[:40]!r}; it must be a whole number from 1 to 1,024."
        )


def _check_api(card: ModelCard, where: str) -> None:
    if card.api not in APIS:
        raise BadInput(f"{where} has api = {card.api[:40]!r}; it must be {' or '.join(APIS)}.")


def _check_server(card: ModelCard, where: str) -> None:
    """Check that the address is valid and holds no key, and that the key is a variable's name.
    The messages do not repeat what was typed, because it may be the key."""
    _check_api(card, where)
    try:
        address = urlsplit(card.endpoint)
        # Reading `port` raises ValueError where it is no number.
        is_valid = (
            address.scheme in ("http", "https")
            and bool(address.hostname)
            and (address.port or 1) > 0
        )
    except ValueError:
        is_valid = False
    if not is_valid:
        raise BadInput(
            f"{where} has an endpoint that is no address; it must begin with http:// or https://."
        )
    if address.username or address.password or address.query or address.fragment:
        raise BadInput(
            f"{where} has an endpoint with a key or a query in it. Put the key into an environment "
            "variable."
        )
    if card.api_key_env and not _VARIABLE.fullmatch(card.api_key_env):
        raise BadInput(
            f"{where} has an api_key_env that is no name of an environment variable, for example "
            "OPENAI_API_KEY. Put the key itself into that variable, never here."
        )
