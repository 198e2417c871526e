"""The one way in which pages remember what they computed: once a study, revision and settings, for all who look."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import streamlit as st

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from pages.common import session
from pages.common.computing import computed

T = TypeVar("T")
_SIGNATURE = inspect.signature(lambda at, *settings: None)


def revision(study_id: str) -> int:
    """The newest revision of a study."""
    return session.store().revision(study_id)


def cached(
    step: str = "", max_entries: int = 24, revision: Callable[[str], Any] = revision
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Above a function of a study's id, or of a view that has one, and of hashable settings: it is computed again when the study's
    `revision` is another. What takes long says `step` meanwhile. What is remembered was read by somebody else, so who asks must be
    allowed to read. A view's own statistics depend on what its fields say and on nothing that the session holds."""

    def of(make: Callable[..., T]) -> Callable[..., T]:
        @wraps(make)
        def remembered(at: Any, *settings: Any) -> T:
            return make(*settings)

        remembered.__signature__ = _SIGNATURE  # type: ignore[attr-defined]  # else Streamlit takes that of `make`
        memory = st.cache_resource(show_spinner=False, max_entries=max_entries)(remembered)
        waited = computed(step)(memory) if step else memory

        @wraps(make)
        def read(first: Any, *settings: Any) -> T:
            require(Permission.READ)
            return waited(revision(first if isinstance(first, str) else first.study_id), first, *settings)

        return read

    return of
