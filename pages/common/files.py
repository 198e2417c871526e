"""A file that is taken away: one button for all of them, so that the log of acts says who saved which."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from flipcore.access.acting import is_access_on
from flipcore.core.errors import FlipscopeError
from pages.common import session
from pages.common.notes import plain


def offer_file(
    label: str,
    data: str | bytes | Callable[[], str | bytes],
    file_name: str,
    mime: str | None = None,
    *,
    key: str,
    icon: str | None = ":material/download:",
    type: Literal["secondary", "tertiary"] = "secondary",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """A button that saves `data` as `file_name`. Where access is on, the log says who did."""
    st.download_button(
        label,
        data,
        file_name,
        mime,
        key=key,
        icon=icon,
        type=type,
        help=help,
        disabled=disabled,
        on_click=(lambda: _told(file_name)) if is_access_on() else "ignore",
    )


def _told(file_name: str) -> None:
    try:
        session.store().told("saved a file", file_name)
    except FlipscopeError as error:
        st.toast(plain(error), icon=":material/error:")
