"""The map and beside it the inspector: a fragment, so that a click draws these two again and nothing else."""

from __future__ import annotations

import streamlit as st

from pages.common.inspector import inspector_place, open_item
from pages.components.flip_map import flip_map
from pages.flip_surface import below

HEIGHT_PX = 560  # what 900 px leave under the header, the answer and the controls


@st.fragment
def explorer(
    study_id: str, model: str, arrays: tuple, axis: str | None, readouts: tuple[str, str], flip_table: list[dict]
) -> None:
    """`arrays` are the rows, columns and panels of the map; `axis` is the opened one, `readouts` those of the panels;
    `flip_table` is shown while no item is opened."""
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium")
    with left:
        clicked = flip_map(*arrays, key="map", selected=_selected(axis), height=HEIGHT_PX)
    if clicked:
        place = {"axis": axis or clicked["column"], "readout": readouts[clicked["panel"]]}
        open_item(clicked["item"], **place, **({"variant": clicked["column"]} if axis else {}))
    order = [row["id"] for row in arrays[0]]
    with right:
        if not inspector_place(study_id, model, order, readout=readouts[0]):
            below.most_flips(flip_table, axis)


def _selected(axis: str | None) -> dict | None:
    item = st.query_params.get("item")
    return None if not item else {"item": item, "column": st.query_params.get("variant" if axis else "axis", "identity")}
