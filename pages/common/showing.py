"""Parts of every page that show text, tables, figures and files safely."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from flipcore.access.acting import is_access_on
from flipcore.charts.theme import Colours, colours
from flipcore.core.errors import AccessDenied, FlipscopeError
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.reports.exports.data_tables import Rows, shown_text
from flipcore.store.uploads import keep_upload
from flipcore.text.tables import FORMATS
from pages.common.opened import store

# Streamlit refuses a larger file without a message, so each uploader names the limit.
UPLOAD_LIMIT = f"at most {MAX_UPLOAD_MB} MB (split a larger file)"
SEND_HOLDOUT_LABEL = "Send items of a holdout, too"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:])")
_ADDRESS = re.compile(r"(?i)(https?:|www(?=\.)|@(?=[\w-]+\.))")
# The spaces in a p-value become non-breaking, so that no line ends inside it.
_P_VALUE = re.compile(r"\bp ([=<>]) (?=\.\d)")


def plain(text: object) -> str:
    """Escape text from data, so that Markdown shows it unchanged.

    A p-value stays on one line, and an address does not become a link.
    """
    one_line = _P_VALUE.sub("p\u00a0\\1\u00a0", str(text))
    # Markdown turns bare addresses into links after it has removed the escapes. An invisible
    # joiner inside the address prevents that.
    without_links = _ADDRESS.sub("\\1\u2060", one_line)
    return _SPECIAL.sub(r"\\\1", without_links)


def show_nothing_yet(*, is_recorded: bool = False) -> None:
    """Say that the page has no answers, and whether they may still come."""
    if is_recorded:
        st.info("Nothing here says right or wrong: these are grades. Score shows them.")
        return
    st.info(
        "Nothing has come back yet. This page fills as answers arrive.",
        icon=":material/hourglass_empty:",
    )


@contextmanager
def shown_problem():
    """Show an error that the user can mend as its sentence; raise all others."""
    try:
        yield
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")


def saved_upload(upload) -> Path:
    """Store an upload next to the database, free its memory, and return the file's path."""
    paths_by_id = upload_paths()
    content = upload.getvalue()
    # An upload that was stored in an earlier run is empty, and its path is known.
    if content or upload.file_id not in paths_by_id:
        paths_by_id[upload.file_id] = keep_upload(upload.name, content)
        release(upload)
    return paths_by_id[upload.file_id]


def upload_paths() -> dict[str, Path]:
    """Return Streamlit's file id -> path of the uploads that this session has stored."""
    return st.session_state.setdefault("kept-uploads", {})


def release(upload) -> None:
    """Free the memory of an upload that was stored next to the database.

    Streamlit keeps the bytes twice until the session ends: in the widget's value and in its manager
    of uploads. Both keep an empty entry, so that the uploader still shows the file.
    """
    upload.seek(0)
    upload.truncate(0)
    context = get_script_run_ctx()
    manager = context.uploaded_file_mgr if context else None
    # Other managers need not keep the bytes in memory or have `add_file`.
    if context and isinstance(manager, MemoryUploadedFileManager):
        empty = UploadedFileRec(upload.file_id, upload.name, upload.type, b"")
        manager.add_file(context.session_id, empty)


def how_to_read(text: str, *, example: str = "") -> None:
    """Explain the page in an expander.

    `text` is Markdown; `example` is plain text that applies the terms to the page's own numbers.
    """
    with st.expander("How to read this", icon=":material/menu_book:"):
        st.markdown(text)
        if example:
            st.markdown(f"**Here:** {plain(example)}")
        st.markdown("[Glossary: terms, formulas and papers](glossary)")


LOG = logging.getLogger("flipscope")


def show_fault(error: Exception) -> bool:
    """Show an unexpected error of a page as a sentence and log its traceback.

    Returns True, which tells Streamlit that the error has been shown.
    """
    # A refused permission is not a fault of the program, so nothing is logged.
    if isinstance(error, AccessDenied):
        st.error(plain(error), icon=":material/lock:")
        return True
    LOG.error("A page failed", exc_info=error)
    st.error(
        f"This page met a fault of Flipscope's own ({type(error).__name__}). Nothing that was "
        "stored is lost. Reload the page, or "
        "choose another study; the details are in the terminal in which the dashboard was started.",
        icon=":material/bug_report:",
    )
    return True


# Every file is offered by `offer_file`, so that the log of acts has a row for each saved file.


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
    """Offer a button that saves `data` as `file_name`.

    A callable makes the data on the click. If access is on, the click is logged.
    """
    # "ignore" saves a run of the page, which would change nothing.
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
        on_click=(lambda: _log_saved_file(file_name)) if is_access_on() else "ignore",
    )


def _log_saved_file(file_name: str) -> None:
    try:
        store().record_act("saved a file", file_name)
    except FlipscopeError as error:
        # The browser has saved the file by now, so the error cannot stop it.
        st.toast(plain(error), icon=":material/error:")


def show_figure(
    key: str, draw: Callable[[Colours], Any], *, place: Any = st, **options: Any
) -> Any:
    """Show the figure that `draw` makes in the colours of the theme.

    `options` go to `st.plotly_chart`, whose result is returned. Plotly's own toolbar is hidden
    unless they say otherwise.
    """
    chart_options = {"config": {"displayModeBar": False}} | options
    return place.plotly_chart(
        draw(colours(st.context.theme.type)), key=key, theme=None, **chart_options
    )


def show_table(
    name: str,
    rows: Rows,
    *,
    place: Any = st,
    column_config: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Show `rows` as a table, and offer to save it as a file called `name`.

    `name` must be unique on the page. `options` go to `st.dataframe`, whose result is returned.
    Files leave out the columns that `column_config` hides.
    """
    result = place.dataframe(rows, hide_index=True, column_config=column_config, **options)
    hidden_columns = [key for key, value in (column_config or {}).items() if value is None]
    offer_table(name, rows, place=place, without=hidden_columns)
    return result


def offer_table(name: str, rows: Rows, *, place: Any = st, without: Sequence[str] = ()) -> None:
    """Offer a menu that saves `rows` as a file called `name`; nothing if there are no rows.

    Files leave out the columns `without`.
    """
    if not len(rows):
        return
    with place.popover("Save", icon=":material/download:", type="tertiary", key=f"save-{name}"):
        for format, title in FORMATS.items():
            offer_file(
                title,
                # Made on the click, because many tables are shown and few are saved.
                partial(shown_text, rows, without, format),
                f"{name}.{format}",
                key=f"save-{name}-{format}",
                help=f"Save this table as {title}",
                icon=None,
                type="tertiary",
            )
