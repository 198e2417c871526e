"""Protocols: each says which calls come next for an item.

A pilot is single shot over the first items; a judge is an extractor's own need.
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
    """The protocol with its parameters set; raises BadInput for an unknown name or parameter."""
    return plugins.plugin_of(PROTOCOLS, "protocol", name=name, params=params)
