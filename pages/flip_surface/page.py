"""Flip surface: where do answers flip, and is it the model or the readout?"""

import streamlit as st

from flipcore.extractors import EXTRACTORS
from flipcore.stats.flips.label_mass import unreadable_labels
from pages.common import session
from pages.common.header import page_header
from pages.common.notes import plain
from pages.flip_surface import below, shown
from pages.flip_surface.explorer import explorer

SORTS = {
    "field": "most flips, compared extractor",
    "faithful": "most flips, reference extractor",
    "difference": "largest difference",
    "study": "the study's own order",
}


def title_of(extractor: str) -> str:
    return EXTRACTORS[extractor].title if extractor in EXTRACTORS else extractor


def controls(frame):
    """Model, the two readouts, what is opened, how rows are sorted and filtered; all of it in the link."""
    models, names, axes = (list(dict.fromkeys(frame[column])) for column in ("model", "extractor", "axis"))
    first, second, third, fourth = st.columns(4)
    model = first.selectbox("Model", models, key="model", bind="query-params")
    field = second.selectbox(
        "Compared extractor",
        names,
        index=shown.index_of(names, "first_token", 0),
        key="field",
        bind="query-params",
        format_func=title_of,
    )
    faithful = third.selectbox(
        "Reference extractor",
        names,
        index=shown.index_of(names, "regex", -1),
        key="faithful",
        bind="query-params",
        format_func=title_of,
    )
    opened = [axis for axis in axes if axis != "identity"]  # asking again has no variants to open
    axis = fourth.selectbox(
        "Columns",
        ["all axes", *opened],
        key="opened",
        bind="query-params",
        format_func=lambda name: name.replace("_", " ") if name == "all axes" else f"variants of {name.replace('_', ' ')}",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sort = st.selectbox(
            "Rows sorted by", list(SORTS), key="sort", bind="query-params", format_func=SORTS.__getitem__, width=280
        )
        search = st.text_input("Find", key="item-search", bind="query-params", placeholder="words of a question", width=260)
        only = st.toggle("Flips only", key="flips-only", bind="query-params")
    return model, field, faithful, None if axis == "all axes" else axis, sort, search, only


study_id = page_header("Flip surface", "Where do answers flip, and is it the model or the readout?")
if study_id is not None:
    frame = session.readouts(study_id)
    if frame.empty:
        st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")
    else:
        model, field, faithful, axis, sort, search, only = controls(frame)
        questions = shown.questions(study_id)
        cells = shown.cells(study_id, model, field, faithful, axis)
        answer = shown.answer(study_id, model, field, faithful, axis)
        st.markdown(f"### {plain(answer.text)}")
        st.caption(plain(answer.detail))
        for warning in unreadable_labels(frame[frame["model"] == model]):
            st.warning(plain(warning), icon=":material/label_off:")
        rows = shown.rows(*cells, sort, search, only, questions)
        titles = title_of(field), title_of(faithful)
        if rows:
            explorer(study_id, model, shown.arrays(*cells, rows, questions, titles), axis, (field, faithful))
        else:
            st.info("No item is left by these filters.", icon=":material/filter_alt_off:")
        below.disagreement(study_id, model, title_of)
        below.most_flips(*cells, rows, questions, titles, axis)

with st.expander("How to read this"):
    st.markdown(
        "A row is an item, a column one kind of harmless change. The darker a cell, the larger the share of pairs of "
        "variants whose answers, mapped back to the option itself, differ. **Asked again** compares repeated samples of "
        "the same prompt: what is dark there is noise, not wording. A hatched cell is undefined: fewer than two answers to "
        "compare, or none that could be read. Dots mark answers that could not be read; a folded corner marks answers that were "
        "cut off, which are in no pair. The thin bar at the end "
        "of a row is the item's mean over the changes (asked again left out). Where the left map is dark and the right one "
        "light, the pair flips under the compared extractor alone."
    )
