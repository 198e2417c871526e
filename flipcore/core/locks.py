"""A lock's id and its manifest. The id is the hash of the settings, which include the state of the
data at the moment of the lock."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.records import digest

STATE = "state"
# Keys of a manifest, by which others check a lock; the settings hold the hashes.
MANIFEST = ("lock_id", "study_id", "settings", "reviewer")


def manifest(name: str) -> dict[str, Any]:
    """Read a lock from the manifest at path `name`; BadInput if it is none or was changed."""
    try:
        lock = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"{name} cannot be read: {error.strerror or error}. Give the manifest of a lock."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{name} is no JSON ({error}). Give the manifest of a lock, which a study's report "
            "offers."
        ) from error
    if (
        not isinstance(lock, dict)
        or not isinstance(lock.get("settings"), dict)
        or not {"lock_id", "study_id"} <= set(lock)
    ):
        raise BadInput(
            f"{name} is no manifest of a lock: it needs lock_id, study_id and settings. A study's "
            "report offers one."
        )
    if lock_id(lock["settings"]) != lock["lock_id"]:
        raise BadInput(
            f"{name} was changed: its lock_id is not the hash of its settings. Ask for the file "
            "again."
        )
    return lock


def lock_id(settings: Mapping[str, Any]) -> str:
    """Return the hash under which a lock is stored."""
    return digest(json.dumps(settings, sort_keys=True, ensure_ascii=False))
