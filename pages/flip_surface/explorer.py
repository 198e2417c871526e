"""The map, and beside it in a fragment of its own what a click on it shows: a click draws the fragment and nothing else."""

import streamlit as st

from flipcore.core.records import IDENTITY
from flipcore.stats.flips.map_cells import column_id, column_parts
from pages.common.inspector import inspector_place, open_item
from pages.components.flip_map import flip_map, map_events
from pages.flip_surface import selected_items, under_map
from pages.flip_surface.cached import View
from pages.flip_surface.drawing import DrawnMap

HEIGHT_PX = 560  # what 900 px leave under the header, the answer and the controls
OPENED = "opened"  # the control that says which axes stand with their variants


def explorer(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """`flip_table` is shown while no item is opened."""
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium")
    with left:
        flip_map(
            flipmap.arrays,
            version=flipmap.version,
            key="map",
            caption=flipmap.caption,
            name=f"flip-map-{view.study_id}",
            height=HEIGHT_PX,
        )
    with right:
        _beside(view, flipmap, flip_table)


@st.fragment
def _beside(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """What was selected, and the inspector or the items that flip most."""
    map_events(
        key="map-events",
        selected=_selected(view),
        n_selected=selected_items.n_selected(view, flipmap),
        on_cell=lambda clicked: _open(view, flipmap, clicked),
        on_brush=lambda brush: _keep(view, flipmap, brush),
        on_column=_turn_column,
    )
    if st.session_state.pop("column-turned", False):
        st.rerun()
    selected_items.bar(view, flipmap)
    if not inspector_place(view.study_id, _model(view), selected_items.order(view, flipmap), readout=view.field):
        under_map.most_flips(flip_table)


def _open(view: View, flipmap: DrawnMap, clicked: dict) -> None:
    """The outputs behind a cell, into the link; nothing where the map is another one now."""
    if clicked["version"] != flipmap.version:
        return
    axis, variant = column_parts(clicked["column"])
    position = int(clicked["position"])
    if not 0 <= position < len(flipmap.items):
        return
    readout = view.field if clicked["panel"] == 0 else view.faithful
    more = {"variant": variant} if variant else {}
    if view.group == "model":
        more["of"] = flipmap.models[position]
    open_item(flipmap.items[position], axis=axis, readout=readout, **more)


def _keep(view: View, flipmap: DrawnMap, brush: dict) -> None:
    if brush["version"] == flipmap.version:
        selected_items.keep(view, flipmap, brush["ranges"])


def _model(view: View) -> str:
    """The model whose outputs are read: that of the row where models stand on one map."""
    of = st.query_params.get("of", "")
    return of if view.group == "model" and of in view.models else view.model


def _turn_column(turn: dict) -> None:
    """An axis's head was clicked: its variants come beside it, or go."""
    opened = list(st.session_state.get(OPENED, ()))
    axis = turn["axis"]
    st.session_state[OPENED] = [one for one in opened if one != axis] if axis in opened else [*opened, axis]
    st.session_state["column-turned"] = True


def _selected(view: View) -> dict | None:
    item = st.query_params.get("item")
    if not item:
        return None
    axis, variant = st.query_params.get("axis", IDENTITY), st.query_params.get("variant", "")
    return {"item": item, "column": column_id(axis, variant), "model": _model(view)}
