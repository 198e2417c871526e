"""The part of a link that others may be handed: which view, without what belongs to one person."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

OWN = frozenset({"as", "view", "embed", "embed_options", "token", "code", "decision"})


def shared_query(query: str) -> str:
    """The query of a link without the parameters that belong to one person's visit."""
    pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if name not in OWN])
