"""Every table and figure of every page: shown by Streamlit, tables saved as CSV, Markdown or LaTeX in the escapes of each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from flipcore.charts.theme import Colours, colours
from flipcore.reports.exports.data_tables import Rows, shown_text
from flipcore.text.tables import FORMATS
from pages.common.files import offer_file


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
