"""Flip surface: where do answers flip, and is it the model or the extractor?"""

import streamlit as st

from flipcore.boards.flip_map import map_arrays, map_rows
from flipcore.extractors import title_of
from flipcore.stats.flips.label_mass import unreadable_labels
from pages.common import screen, session
from pages.common.header import page_header
from pages.common.notes import how_to_read, plain
from pages.flip_surface import below, cached
from pages.flip_surface.explorer import explorer

SORTS = {
    "field": "most flips, compared extractor",
    "faithful": "most flips, reference extractor",
    "difference": "largest difference",
    "study": "the study's own order",
}


def controls(frame, leading: str):
    """What is opened, searched and filtered in sight; model, readouts and order behind "View"; all of it in the link."""
    models, names, axes = (list(dict.fromkeys(frame[column])) for column in ("model", "extractor", "axis"))
    with screen.view_button():
        model = st.selectbox("Model", models, key="model", bind="query-params")
        field = st.selectbox(
            "Compared extractor",
            names,
            index=cached.index_of(names, leading, 0),
            key="field",
            bind="query-params",
            format_func=title_of,
        )
        faithful = st.selectbox(
            "Reference extractor",
            names,
            index=cached.index_of(names, "regex", -1),
            key="faithful",
            bind="query-params",
            format_func=title_of,
        )
        sort = st.selectbox("Rows sorted by", list(SORTS), key="sort", bind="query-params", format_func=SORTS.__getitem__)
    opened = [axis for axis in axes if axis != "identity"]  # the noise floor has no variants to open
    axis = st.selectbox(
        "Columns",
        ["all axes", *opened],
        key="opened",
        bind="query-params",
        format_func=lambda name: name.replace("_", " ") if name == "all axes" else f"variants of {name.replace('_', ' ')}",
        width=230,
        label_visibility="collapsed",
    )
    search = st.text_input(
        "Find",
        key="item-search",
        bind="query-params",
        placeholder="Find words of a question",
        width=220,
        label_visibility="collapsed",
    )
    only = st.toggle("Flips only", key="flips-only", bind="query-params")
    screen.view_line(model, f"{title_of(field).lower()} v {title_of(faithful).lower()}", SORTS[sort])
    return model, field, faithful, None if axis == "all axes" else axis, sort, search, only


def picture(study_id: str, frame) -> None:
    """The answer, the controls, the map with its inspector."""
    answer_place = st.container(gap=None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line"):
        model, field, faithful, axis, sort, search, only = controls(frame, cached.leading_extractor(study_id))
    questions = cached.questions(study_id)
    cells = cached.cells(study_id, model, field, faithful, axis)
    answer = cached.answer(study_id, model, field, faithful, axis)
    answer_place.markdown(f"### {plain(answer.text)}")
    answer_place.caption(plain(answer.detail))
    for warning in unreadable_labels(frame[frame["model"] == model]):
        st.warning(plain(warning), icon=":material/label_off:")
    rows = map_rows(*cells, sort, search, only, questions)
    titles = title_of(field), title_of(faithful)
    if rows:
        table = below.flip_table(*cells, rows, questions, titles)
        explorer(
            study_id,
            model,
            map_arrays(*cells, rows, questions, titles, cached.families(study_id)),
            axis,
            (field, faithful),
            table,
        )
    else:
        st.info("No item is left by these filters.", icon=":material/filter_alt_off:")
    below.disagreement(study_id, model, title_of)


study_id = page_header("Flip surface", "Where do answers flip, and is it the model or the extractor?")
if study_id is not None:
    frame = session.readouts(study_id)
    if frame.empty:
        st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")
    else:
        picture(study_id, frame)

how_to_read(
    "A row is an item, a column one kind of harmless change. The darker a cell, the more pairs of its variants get "
    "different answers. **Noise floor** compares repeated samples of one prompt. Hatched: nothing to compare. Dots: "
    "answers that could not be read. A folded corner: answers that were cut off. The thin bar is the item's mean. Where "
    "the left map is dark and the right one light, the pair flips under the compared extractor alone."
)
