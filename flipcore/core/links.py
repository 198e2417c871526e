"""The part of a link that others may be handed: which view at which settings, without what belongs
to one person."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

OWN = frozenset({"as", "view", "embed", "embed_options", "token", "code", "decision"})
MOST_CHARACTERS = 2_000  # of the settings in a link


def shared_query(query: str) -> str:
    """The query of a link without the parameters that belong to one person's visit."""
    pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if name not in OWN])


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as one word of a link, "level:0.9,policy:own_class", without unset values."""
    return ",".join(f"{key}:{value}" for key, value in settings.items() if value is not None)


def settings_from(text: str, start: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `start`'s settings that a link's word holds, of the kind that they have there (a
    number for one that is not set); what is none of them is left out, because anybody writes a
    link."""
    pairs = (part.partition(":")[::2] for part in text[:MOST_CHARACTERS].split(","))
    values = {key: _like(value, start[key]) for key, value in pairs if key in start}
    return {key: value for key, value in values.items() if value is not None}


def _like(text: str, start: Any) -> Any:
    if isinstance(start, str):
        return text if text.isprintable() and text else None
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if isinstance(start, int) and not isinstance(start, bool) else number
