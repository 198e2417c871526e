"""Signatures of links and cookies: by a secret of this machine, in a file that its owner alone may
read.

The secret is in no database, log or export, so a copied or merged database opens no door. Two
purposes never share a signature: a link is no cookie.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.paths import home
from flipcore.core.whole_files import write

FILE = "access-secret"
LINK, COOKIE = "link", "cookie"
_BYTES = 32


def secret_path() -> Path:
    """Beside the user's own models, never in the clone."""
    return home() / FILE


def secret() -> bytes:
    """The secret, made when it is first needed. Raises BadInput where others may read its file, or
    where it is none."""
    path = secret_path()
    try:
        if not path.exists():
            _create(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise BadInput(
                f"Others may read {path}, which signs the invitation links. Run: chmod 600 {path}"
            )
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path}, which signs the invitation links, cannot be read or written: {error}."
        ) from error
    if len(text) < 2 * _BYTES:
        raise BadInput(
            f"{path} holds no secret. Delete it: a new one is made, and every invitation has to be "
            "issued again."
        )
    return text.encode("ascii")


def _create(path: Path) -> None:
    """Never over one that another process made meanwhile."""
    with suppress(FileExistsError):
        write(path, secrets.token_hex(_BYTES), over=False, mode=0o600)


def signed(purpose: str, key: str, content: Mapping[str, Any]) -> str:
    """`key.signature`: what a link or a cookie carries. `content` is signed and not carried."""
    return f"{key}.{_signature(purpose, key, content)}"


def key_of(token: str) -> str:
    """The key that a token names; it says nothing before `is_signed` has looked at the rest."""
    return token.partition(".")[0]


def is_signed(purpose: str, token: str, content: Mapping[str, Any]) -> bool:
    """Tell whether this machine signed exactly this content for this purpose."""
    key, _, signature = token.partition(".")
    return hmac.compare_digest(
        signature.encode("utf-8", "replace"),
        _signature(purpose, key, content=content).encode("ascii"),
    )


def _signature(purpose: str, key: str, content: Mapping[str, Any]) -> str:
    text = json.dumps(
        [purpose, key, sorted((name, str(value)) for name, value in content.items())],
        ensure_ascii=True,
    )
    return (
        base64.urlsafe_b64encode(hmac.new(secret(), text.encode("ascii"), hashlib.sha256).digest())
        .decode("ascii")
        .rstrip("=")
    )
