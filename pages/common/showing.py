"""What every page shows: words and files from outside, safe to show and to keep; how to read what is shown; every table and figure; and
files that are taken away."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from flipcore.access.acting import is_access_on
from flipcore.charts.theme import Colours, colours
from flipcore.core.errors import AccessDenied, FlipscopeError
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.reports.exports.data_tables import Rows, shown_text
from flipcore.store.uploads import keep_upload
from flipcore.text.tables import FORMATS
from pages.common.opened import store

# Streamlit's own refusal of a larger file is an icon, so the limit stands where a file is chosen
UPLOAD_LIMIT = f"at most {MAX_UPLOAD_MB} MB (split a larger file)"
RETRO = "Send items of a holdout, too"  # the label of the box
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:])")
_ADDRESS = re.compile(r"(?i)(https?:|www(?=\.)|@(?=[\w-]+\.))")
_P_VALUE = re.compile(r"\bp ([=<>]) (?=\.\d)")  # no line ends inside one


def plain(text: object) -> str:
    """Text from data, escaped so that Markdown shows it letter by letter; a p-value stays on one line, and an address is no link:
    Markdown makes links of bare ones after it took escapes away, so that a joiner without width stands inside of them."""
    return _SPECIAL.sub(r"\\\1", _ADDRESS.sub("\\1\u2060", _P_VALUE.sub("p\u00a0\\1\u00a0", str(text))))


def nothing_yet() -> None:
    st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")


@contextmanager
def shown_problem():
    """A mistake that a user can mend becomes its sentence on the page; nothing else is swallowed."""
    try:
        yield
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")


def saved_upload(upload) -> Path:
    """An upload kept beside the database."""
    return keep_upload(upload.name, upload.getvalue())


def how_to_read(text: str, *, example: str = "", title: str = "How to read this") -> None:
    """`text` is Markdown of the page's own, a test counts its words; `example` puts the page's numbers into it."""
    with st.expander(title, icon=":material/menu_book:"):
        st.markdown(text)
        if example:
            st.markdown(f"**Here:** {plain(example)}")
        st.markdown("[Glossary: terms, formulas and papers](glossary)")


LOG = logging.getLogger("flipscope")


def tell(error: Exception) -> bool:
    """A fault of ours on a page: shows a sentence in the place of the traceback, which goes to the server's log; True tells Streamlit
    that the error has been shown. What the person may not do is no fault of ours."""
    if isinstance(error, AccessDenied):
        st.error(plain(error), icon=":material/lock:")
        return True
    LOG.error("A page failed", exc_info=error)
    st.error(
        f"This page met a fault of Flipscope's own ({type(error).__name__}). Nothing that was stored is lost. Reload the page, or "
        "choose another study; the details are in the terminal in which the dashboard was started.",
        icon=":material/bug_report:",
    )
    return True


# Every table and figure: shown by Streamlit, tables saved as CSV, Markdown or LaTeX in the escapes of each; and one button for all files
# that are taken away, so that the log of acts says who saved which.


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
        store().told("saved a file", file_name)
    except FlipscopeError as error:
        st.toast(plain(error), icon=":material/error:")


def show_figure(key: str, draw: Callable[[Colours], Any], *, place: Any = st, **options: Any) -> Any:
    """What `draw` makes in the colours of the theme; `options` are those of `st.plotly_chart`, whose answer is returned. Plotly's own bar
    is not there unless they say so."""
    own = {"config": {"displayModeBar": False}} | options
    return place.plotly_chart(draw(colours(st.context.theme.type)), key=key, theme=None, **own)


def show_table(
    name: str, rows: Rows, *, place: Any = st, column_config: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """`rows` as a table under `name`, which is its file's name and stands once on a page; `options` are those of
    `st.dataframe`, whose answer is returned. Columns that `column_config` hides are in no file."""
    answer = place.dataframe(rows, hide_index=True, column_config=column_config, **options)
    offer_table(name, rows, place=place, without=[key for key, value in (column_config or {}).items() if value is None])
    return answer


def offer_table(name: str, rows: Rows, *, place: Any = st, without: Sequence[str] = ()) -> None:
    """The menu that saves `rows` under `name`; none for a table without rows. A file is written when it is asked for."""
    if not len(rows):
        return
    with place.popover("Save", icon=":material/download:", type="tertiary", key=f"save-{name}"):
        for format, title in FORMATS.items():
            offer_file(
                title,
                partial(shown_text, rows, without, format),
                f"{name}.{format}",
                key=f"save-{name}-{format}",
                help=f"Save this table as {title}",
                icon=None,
                type="tertiary",
            )
