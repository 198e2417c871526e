"""Protocols: each decides which calls come next for an item.

A pilot is single shot over the first items. Calls to a judge belong to the extractor that needs it.
"""

from collections.abc import Mapping
from typing import Any

from flipcore.core import plugins
from flipcore.core.contracts import CallProtocol
from flipcore.protocols import rotation, single_shot

PROTOCOLS: dict[str, CallProtocol] = {
    module.PROTOCOL.name: module.PROTOCOL for module in (single_shot, rotation)
}


def protocol_of(name: str, params: Mapping[str, Any] | None = None) -> CallProtocol:
    """Return a protocol with its parameters; raises BadInput for an unknown name or parameter."""
    return plugins.plugin_of(PROTOCOLS, "protocol", name=name, params=params)
