"""A warning about items that repeat an undeclared template.

Claims treat such items as independent, so every page with claims shows the warning.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from flipcore.core.records import Item
from flipcore.reports.flips import PER_WORDING, by_wording, wording_inputs
from flipcore.text.templates import repeated_templates
from pages.common import session
from pages.common.showing import plain


def show(study_id: str) -> None:
    """Warn if the study has such items."""
    _warn(_warning(study_id))


def show_for_items(items: Sequence[Item]) -> None:
    """Warn if these items, of a study or not, repeat a template."""
    rows = [
        (item.dataset, item.question, item.source_id or item.item_id, item.options)
        for item in items
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "question", "family", "options"])
    _warn(repeated_templates(*wording_inputs(frame)))


def _warn(warning: str) -> None:
    if warning:
        st.warning(plain(warning), icon=":material/content_copy:")


@session.cached(is_kept=True)
def _warning(study_id: str) -> str:
    items = session.study_items(study_id)
    warning = repeated_templates(*wording_inputs(items))
    # Reading the answers takes long, and most studies need no warning.
    if not warning:
        return ""
    frame, study = session.readouts(study_id), session.declared(study_id)
    temperatures = {use.name: use.temperature for use in study.models}
    sentences = list(by_wording(frame, items, temperatures, by_task=study.is_recorded).values())
    # All sentences begin with the same words, so only the first model's keeps them.
    later_sentences = [text.removeprefix(PER_WORDING) for text in sentences[1:]]
    return " ".join([warning, *sentences[:1], *later_sentences])
