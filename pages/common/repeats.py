"""Where items repeat a template that nobody declared: claims take them as independent, on whichever page they stand."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from flipcore.core.records import Item
from flipcore.reports.flips import by_wording, made_from
from flipcore.text.templates import repeated_templates
from pages.common import session
from pages.common.showing import plain


def show(study_id: str) -> None:
    """A warning where there are such items."""
    _warn(_warning(study_id))


def show_of(items: Sequence[Item]) -> None:
    """The same of items that need not be a study's."""
    rows = [(one.dataset, one.question, one.source_id or one.item_id, one.options) for one in items]
    _warn(repeated_templates(*made_from(pd.DataFrame(rows, columns=["dataset", "question", "family", "options"]))))


def _warn(warning: str) -> None:
    if warning:
        st.warning(plain(warning), icon=":material/content_copy:")


@session.cached()
def _warning(study_id: str) -> str:
    items = session.study_items(study_id)
    warning = repeated_templates(*made_from(items))
    if not warning:
        return ""
    frame, study = session.readouts(study_id), session.declared(study_id)
    heat = {use.name: use.temperature for use in study.models}
    return " ".join([warning, *by_wording(frame, items, heat, by_task=study.is_recorded).values()])
