"""The part of a link that may be shared: the view and its settings, nothing personal."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

PERSONAL = frozenset({"as", "view", "embed", "embed_options", "token", "code", "decision"})
MAX_CHARACTERS = 2_000  # of the settings in a link


def shared_query(query: str) -> str:
    """Return a link's query without the parameters that belong to one person's visit."""
    pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if name not in PERSONAL])


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as one parameter of a link, "level:0.9,policy:own_class", without Nones."""
    return ",".join(f"{key}:{value}" for key, value in settings.items() if value is not None)


def settings_from(text: str, start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a link's parameter, in the types that they have in `start`.

    A setting that is None in `start` must be a number. Anything else in the text is ignored,
    because anybody can write a link.
    """
    pairs = (part.partition(":")[::2] for part in text[:MAX_CHARACTERS].split(","))
    values = {key: _in_type_of(start[key], value) for key, value in pairs if key in start}
    return {key: value for key, value in values.items() if value is not None}


def _in_type_of(start: Any, text: str) -> Any:
    """Return the text as a value of `start`'s type; None if it is no such value."""
    if isinstance(start, str):
        return text if text.isprintable() and text else None
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if isinstance(start, int) and not isinstance(start, bool) else number
