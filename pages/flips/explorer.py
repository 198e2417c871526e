"""The flip map, and next to it the inspector or the items that flip most.

Items that are selected on the map can be stepped through, reviewed, asked again or exported.
"""

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.steps import Steps
from flipcore.runs.asking_again import draft_with_items
from flipcore.stats.flips.map_cells import column_id, column_parts
from flipcore.store.export import safe
from flipcore.store.queries import review
from pages.common import screen, session
from pages.common.drafts import open_draft
from pages.common.inspector import draw_inspector, open_item
from pages.common.showing import offer_file, plain, show_table
from pages.components.boards import flip_map, map_events
from pages.flips.map_data import DrawnMap, View
from pages.paraphrase_review.which_pairs import SELECTED

# What a screen of 900 px leaves between the controls above the map and the tour below it.
HEIGHT_PX = 536
# Keys of the session state: axes that show their variants, and the selected items.
OPENED_AXES_KEY = "opened"
SELECTION_KEY = "map-selection"
AXIS_TOGGLED_KEY = "axis-toggled"  # True until the page is drawn again


def draw_explorer(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """Draw the map and the part next to it; `flip_table` has one row per item, most flips first."""
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium")
    # The map stands outside the fragment, so that a click does not send it again.
    with left, screen.reserved_space("map", HEIGHT_PX, HEIGHT_PX):
        flip_map(
            flipmap.arrays,
            version=flipmap.version,
            key="map",
            caption=flipmap.caption,
            name=f"flip-map-{view.study_id}",
            height=HEIGHT_PX,
        )
    with right:
        _show_details(view, flipmap, flip_table)


# A fragment, so that a click draws only this part again and not the map, which holds every row.
@st.fragment
def _show_details(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """Show the selection, and the inspector or the items that flip most."""
    map_events(
        key="map-events",
        selected=_opened_cell(view),
        n_selected=len(selected_items(view, flipmap)),
        on_cell=lambda clicked: _open_cell(view, flipmap, clicked),
        on_brush=lambda brush: store_selection(view, flipmap, brush),
        on_column=_toggle_axis,
    )
    if st.session_state.pop(AXIS_TOGGLED_KEY, False):
        st.rerun()
    show_selection(view, flipmap)
    steps = steps_of(view, flipmap)
    if not draw_inspector(view.study_id, _inspected_model(view), steps, readout=view.compared):
        show_most_flips(flip_table)


def _open_cell(view: View, flipmap: DrawnMap, clicked: dict) -> None:
    """Write the clicked cell into the link; do nothing if the map has changed meanwhile."""
    # The browser may still show an earlier map, whose positions mean other items.
    if clicked["version"] != flipmap.version:
        return
    axis, variant = column_parts(clicked["column"])
    position = int(clicked["position"])
    # A browser may send any position.
    if not 0 <= position < len(flipmap.items):
        return
    # Panel 0 shows the compared extractor, the other one the reference.
    readout = view.compared if clicked["panel"] == 0 else view.reference
    link_values = {"variant": variant} if variant else {}
    if view.group == "model":
        # The link's "of" is the opened model on pages that show several.
        link_values["of"] = flipmap.models[position]
    open_item(flipmap.items[position], axis=axis, readout=readout, **link_values)


def _inspected_model(view: View) -> str:
    """Return the opened row's model if the rows are grouped by model, else the view's model."""
    model = st.query_params.get("of", "")
    return model if view.group == "model" and model in view.models else view.model


def _toggle_axis(clicked: dict) -> None:
    """Show or hide the variants of the axis whose column name was clicked."""
    opened_axes = list(st.session_state.get(OPENED_AXES_KEY, ()))
    axis = clicked["axis"]
    if axis in opened_axes:
        opened_axes = [name for name in opened_axes if name != axis]
    else:
        opened_axes.append(axis)
    st.session_state[OPENED_AXES_KEY] = opened_axes
    # This callback belongs to the fragment. It asks for a run of the whole page, because only that
    # draws the map again.
    st.session_state[AXIS_TOGGLED_KEY] = True


def _opened_cell(view: View) -> dict | None:
    """Return the cell of the link, which the map marks; None without one."""
    item = st.query_params.get("item")
    if not item:
        return None
    axis, variant = st.query_params.get("axis", IDENTITY), st.query_params.get("variant", "")
    return {"item": item, "column": column_id(axis, variant), "model": _inspected_model(view)}


def store_selection(view: View, flipmap: DrawnMap, brush: dict) -> None:
    """Select the items in the row ranges [from, to) of a brush; without a range select none.

    Do nothing if the map has changed meanwhile.
    """
    if brush["version"] != flipmap.version:
        return
    positions: list[int] = []
    end = 0
    # A browser may send any ranges, so clip them to existing rows and take each row once.
    for low, high in sorted(brush["ranges"]):
        positions += range(max(int(low), end), min(int(high), len(flipmap.items)))
        end = max(end, int(high))
    # An item has one row per model if the rows are grouped by model.
    ids = list(dict.fromkeys(flipmap.items[i] for i in positions))
    selection = {"study": view.study_id, "version": flipmap.version, "ids": ids}
    st.session_state[SELECTION_KEY] = selection


def selected_items(view: View, flipmap: DrawnMap) -> list[str]:
    """Return the ids of the selected items; none if the map has changed since."""
    selection = st.session_state.get(SELECTION_KEY, {})
    if (selection.get("study"), selection.get("version")) == (view.study_id, flipmap.version):
        return selection["ids"]
    return []


def steps_of(view: View, flipmap: DrawnMap) -> Steps:
    """Return the items that the keys J and K step through.

    These are the selected items if the opened item is one of them, else all items of the map.
    """
    selection = selected_items(view, flipmap)
    return Steps(selection) if st.query_params.get("item") in selection else flipmap.steps


def show_selection(view: View, flipmap: DrawnMap) -> None:
    """Show how many items are selected and what can be done with them, if any are."""
    selection = selected_items(view, flipmap)
    if not selection:
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="map-selection-bar"
    ):
        st.markdown(
            f"**{len(selection):,} {'item' if len(selection) == 1 else 'items'} selected**",
            width="content",
        )
        _offer_review(view, selection)
        if st.button(
            "New study",
            key="selection-study",
            icon=":material/add_circle:",
            help="Ask these items again",
        ):
            _open_new_study(view, selection)
        offer_file(
            "Export",
            data=lambda: _csv(view, selection),
            file_name=f"flip-map-{view.study_id}-selection.csv",
            mime="text/csv",
            key="selection-export",
            help="Their readouts as CSV",
        )
        st.button(
            "Deselect",
            key="selection-off",
            icon=":material/deselect:",
            on_click=st.session_state.pop,
            args=(SELECTION_KEY, None),
            help="Key: Escape on the map",
        )


def _offer_review(view: View, selection: list[str]) -> None:
    """Offer to mark the flips of the selected items here, and to review their paraphrases."""
    if st.button(
        "Review flips",
        key="selection-flips",
        icon=":material/checklist:",
        help="Step through with J and K, mark with G, A, U",
    ):
        st.query_params["item"] = selection[0]
        st.rerun(scope="fragment")
    # Only items with stored paraphrases have pairs to review.
    materials = review.materials(session.store(), view.study_id)
    selection_set = set(selection)
    pairs = sorted({pair for (item, _), pair in materials.items() if item in selection_set})
    if pairs and st.button(
        "Review paraphrases", key="selection-review", icon=":material/rate_review:"
    ):
        st.session_state["review-pairs"] = pairs
        st.switch_page("paraphrase_review/page.py", query_params={"source": SELECTED})


def _open_new_study(view: View, selection: list[str]) -> None:
    """Open New study with a draft of this study on the selected items only."""
    try:
        draft = draft_with_items(session.store(), view.study_id, selection)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return
    open_draft(f"selection-{view.study_id}", draft)


def _csv(view: View, selection: list[str]) -> str:
    frame = session.readouts(view.study_id)
    selected = frame["item_id"].isin(selection) & frame["model"].isin(view.models)
    # `safe` prevents a spreadsheet from running a cell as a formula.
    return safe(frame[selected]).to_csv(index=False)


def show_most_flips(table: list[dict]) -> None:
    """List the items that flip most.

    A selected row opens its item in the inspector, at the column in which it flips most.
    """
    st.markdown(
        "**Which items flip most?** Click a cell of the map, or choose a row here, to read the "
        "two outputs behind it."
    )

    def open_row() -> None:
        for row in st.session_state["most-flips"].selection.rows:
            open_item(table[row]["id"], axis=table[row]["column"])

    show_table(
        "most-flips",
        table,
        key="most-flips",
        on_select=open_row,
        selection_mode="single-row",
        height=480,
        column_config={
            # Hidden, but needed by `open_row`.
            "id": None,
            "column": None,
            "question": st.column_config.TextColumn(width="medium"),
            **{
                name: st.column_config.NumberColumn(format="percent")
                for name in table[0]
                if name.endswith(", share")
            },
        },
    )
