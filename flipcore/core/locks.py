"""What a lock is called: the hash of its settings, which hold the state of the moment when it was stored."""

import json
from collections.abc import Mapping
from typing import Any

from flipcore.core.records import digest

STATE = "state"


def lock_id(settings: Mapping[str, Any]) -> str:
    """The hash that a lock is stored under."""
    return digest(json.dumps(settings, sort_keys=True, ensure_ascii=False))
