"""Signatures of links and cookies, with a secret of this machine that only its owner may read.

The secret is in no database, log or export, so a copied or merged database gives nobody access. The
purpose is signed too, so the token of a link is never a valid cookie.
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
LINK, COOKIE = "link", "cookie"  # purposes
_BYTES = 32


def secret_path() -> Path:
    """Return the path of the secret, in the user's own folder and never in the clone."""
    return home() / FILE


def secret() -> bytes:
    """Return the secret, made on first use; raises BadInput if the file is unsafe or has none."""
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
    # Another process may have made it in the meantime, and must not lose its secret.
    with suppress(FileExistsError):
        write(path, secrets.token_hex(_BYTES), over=False, mode=0o600)


def signed(purpose: str, key: str, content: Mapping[str, Any]) -> str:
    """Return the token `key.signature` of a link or a cookie; `content` is signed, not included."""
    return f"{key}.{_signature(purpose, key, content)}"


def key_of(token: str) -> str:
    """Return the key of a token, which nobody may trust before `is_signed`."""
    return token.partition(".")[0]


def is_signed(purpose: str, token: str, content: Mapping[str, Any]) -> bool:
    """Return whether this machine signed exactly this content for this purpose."""
    key, _, signature = token.partition(".")
    expected = _signature(purpose, key, content=content)
    # As bytes, because `compare_digest` takes texts only in ASCII.
    return hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode("ascii"))


def _signature(purpose: str, key: str, content: Mapping[str, Any]) -> str:
    fields = sorted((name, str(value)) for name, value in content.items())
    text = json.dumps([purpose, key, fields], ensure_ascii=True)
    digest = hmac.new(secret(), text.encode("ascii"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")
