"""Parts of every page that show words, tables, figures and files safely."""

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

# Streamlit refuses a larger file with an icon alone, so the limit stands where a file is chosen.
UPLOAD_LIMIT = f"at most {MAX_UPLOAD_MB} MB (split a larger file)"
RETRO = "Send items of a holdout, too"  # the label of the box
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:])")
_ADDRESS = re.compile(r"(?i)(https?:|www(?=\.)|@(?=[\w-]+\.))")
# Blanks of a p-value are made unbreakable, so that no line ends inside one.
_P_VALUE = re.compile(r"\bp ([=<>]) (?=\.\d)")


def plain(text: object) -> str:
    """Escape text from data so that Markdown shows it letter by letter.

    A p-value stays on one line, and an address is no link.
    """
    # Markdown makes links of bare addresses after it took escapes away, so a joiner without width
    # goes inside of them.
    return _SPECIAL.sub(
        r"\\\1", _ADDRESS.sub("\\1\u2060", _P_VALUE.sub("p\u00a0\\1\u00a0", str(text)))
    )


def nothing_yet() -> None:
    st.info(
        "Nothing has come back yet. This page fills as answers arrive.",
        icon=":material/hourglass_empty:",
    )


@contextmanager
def shown_problem():
    """Show a mistake that a user can mend as its sentence; swallow nothing else."""
    try:
        yield
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")


def saved_upload(upload) -> Path:
    """Keep an upload next to the database; its bytes leave memory."""
    kept = kept_uploads()
    content = upload.getvalue()
    # An upload that was kept before is empty, and its path is known.
    if content or upload.file_id not in kept:
        kept[upload.file_id] = keep_upload(upload.name, content)
        release(upload)
    return kept[upload.file_id]


def kept_uploads() -> dict[str, Path]:
    """Return where this session's uploads were kept, by the id that Streamlit gave them."""
    return st.session_state.setdefault("kept-uploads", {})


def release(upload) -> None:
    """Empty an upload that was kept next to the database.

    Streamlit holds the bytes twice, as the widget's value and in its manager of uploads, until the
    session ends. The entry stays in both, so that the uploader goes on showing the file.
    """
    upload.seek(0)
    upload.truncate(0)
    context = get_script_run_ctx()
    manager = context.uploaded_file_mgr if context else None
    # No other manager is known to hold bytes in memory, nor to have `add_file`.
    if context and isinstance(manager, MemoryUploadedFileManager):
        empty = UploadedFileRec(upload.file_id, upload.name, upload.type, b"")
        manager.add_file(context.session_id, empty)


def how_to_read(text: str, *, example: str = "") -> None:
    """Explain the page; `text` is its own Markdown, `example` puts its numbers into it."""
    with st.expander("How to read this", icon=":material/menu_book:"):
        st.markdown(text)
        # The page's own numbers explain a term better than invented ones.
        if example:
            st.markdown(f"**Here:** {plain(example)}")
        st.markdown("[Glossary: terms, formulas and papers](glossary)")


LOG = logging.getLogger("flipscope")


def tell(error: Exception) -> bool:
    """Show a sentence for a fault of ours on a page; the traceback goes to the server's log.

    True tells Streamlit that the error has been shown. What the person may not do is no fault of
    ours.
    """
    # A refusal is an answer, not a fault: no details in the log.
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


# Tables and figures are shown by Streamlit; tables are saved as CSV, Markdown or LaTeX, each with
# its escapes. All files are saved by one button, so that the log of acts says who saved which.


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
    """Offer a button that saves `data` as `file_name`; where access is on, the log says who did."""
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
        store().told("saved a file", file_name)
    # The file is saved by now, so this may only be said.
    except FlipscopeError as error:
        st.toast(plain(error), icon=":material/error:")


def show_figure(
    key: str, draw: Callable[[Colours], Any], *, place: Any = st, **options: Any
) -> Any:
    """Show what `draw` makes in the colours of the theme.

    `options` are those of `st.plotly_chart`, whose answer is returned. Plotly's own bar is not
    there unless they say so.
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
    """Show `rows` as a table under `name`, the name of its file, used once per page.

    `options` are those of `st.dataframe`, whose answer is returned. Columns that `column_config`
    hides are in no file.
    """
    answer = place.dataframe(rows, hide_index=True, column_config=column_config, **options)
    without = [key for key, value in (column_config or {}).items() if value is None]
    offer_table(name, rows, place=place, without=without)
    return answer


def offer_table(name: str, rows: Rows, *, place: Any = st, without: Sequence[str] = ()) -> None:
    """Offer the menu that saves `rows` under `name`; none for a table without rows.

    A file is written when it is asked for.
    """
    if not len(rows):
        return
    with place.popover("Save", icon=":material/download:", type="tertiary", key=f"save-{name}"):
        for format, title in FORMATS.items():
            offer_file(
                title,
                # Written on a click: many tables are shown, few are saved.
                partial(shown_text, rows, without, format),
                f"{name}.{format}",
                key=f"save-{name}-{format}",
                help=f"Save this table as {title}",
                icon=None,
                type="tertiary",
            )
