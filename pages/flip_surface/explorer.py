"""The map and the inspector under it: a fragment, so that a click draws these two again and nothing else."""

from __future__ import annotations

import streamlit as st

from pages.common.inspector import inspector, open_item
from pages.components.flip_map import flip_map


@st.fragment
def explorer(study_id: str, model: str, arrays: tuple, axis: str | None, readouts: tuple[str, str]) -> None:
    """`arrays` are the rows, columns and panels of the map; `axis` is the opened one, `readouts` those of the panels."""
    clicked = flip_map(*arrays, key="map", selected=_selected(axis), height=460)
    if clicked:
        place = {"axis": axis or clicked["column"], "readout": readouts[clicked["panel"]]}
        open_item(clicked["item"], **place, **({"variant": clicked["column"]} if axis else {}))
    if st.query_params.get("item"):
        if st.query_params["item"] not in {row["id"] for row in arrays[0]}:
            st.caption("The item below is not among the rows that the filters leave.")
        with st.container(border=True, key="inspector"):
            inspector(
                study_id,
                model,
                st.query_params["item"],
                st.query_params.get("axis", "identity"),
                st.query_params.get("readout", readouts[0]),
                [row["id"] for row in arrays[0]],
            )
    else:
        st.caption("Click a cell to read the outputs behind it. On the map: arrow keys or j / k move, Enter opens.")


def _selected(axis: str | None) -> dict | None:
    item = st.query_params.get("item")
    return None if not item else {"item": item, "column": st.query_params.get("variant" if axis else "axis", "identity")}
