"""Words and files from outside, made safe to show and to keep."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.store.connection import default_path

# Streamlit's own refusal of a larger file is an icon, so the limit stands where a file is chosen
UPLOAD_LIMIT = f"at most {MAX_UPLOAD_MB} MB (split a larger file)"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:])")


def plain(text: object) -> str:
    """Text from data, escaped so that Markdown shows it letter by letter."""
    return _SPECIAL.sub(r"\\\1", str(text))


@contextmanager
def shown_problem():
    """A mistake that a user can mend becomes its sentence on the page; nothing else is swallowed."""
    try:
        yield
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")


def saved_upload(upload) -> Path:
    """An upload kept beside the database under its content's hash, so that a study can name it and be run again."""
    content = upload.getvalue()
    folder = default_path().parent / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    suffix = re.sub(r"[^.A-Za-z0-9]", "", Path(upload.name).suffix)[:10]
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(upload.name).stem)[:40].strip("-")  # so that a sentence names the file
    path = folder / f"{stem or 'upload'}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    if not path.exists():
        path.write_bytes(content)
    return path
