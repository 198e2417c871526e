"""The map, and next to it in a fragment of its own what a click on it shows."""

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.steps import Steps
from flipcore.runs.asking_again import narrowed
from flipcore.stats.flips.map_cells import column_id, column_parts
from flipcore.store.export import safe
from flipcore.store.queries import review
from pages.common import screen, session
from pages.common.inspector import inspector_place, open_item
from pages.common.showing import offer_file, plain, show_table
from pages.components.boards import flip_map, map_events
from pages.flips.map_data import DrawnMap, View
from pages.paraphrase_review.which_pairs import SELECTED

# A screen of 900 px leaves this under the header, the answer and the controls, and over the tour.
HEIGHT_PX = 536
# The key of the control that says which axes show their variants.
OPENED = "opened"


def explorer(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium")
    # The map stands outside the fragment, so that a click does not send it again.
    with left, screen.room("map", HEIGHT_PX, HEIGHT_PX):
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


# A fragment: a click draws this part again and not the map, which holds every row.
@st.fragment
def _beside(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """Show the selection, and the inspector or the items that flip most."""
    map_events(
        key="map-events",
        selected=_selected(view),
        n_selected=len(ids(view, flipmap)),
        on_cell=lambda clicked: _open(view, flipmap, clicked),
        on_brush=lambda brush: keep(view, flipmap, brush),
        on_column=_turn_column,
    )
    if st.session_state.pop("column-turned", False):
        st.rerun()
    bar(view, flipmap)
    if not inspector_place(view.study_id, _model(view), order(view, flipmap), readout=view.field):
        most_flips(flip_table)


def _open(view: View, flipmap: DrawnMap, clicked: dict) -> None:
    """Put the outputs behind a cell into the link; nothing where the map has changed."""
    # The browser may still show the map before the last change, whose positions mean other items.
    if clicked["version"] != flipmap.version:
        return
    axis, variant = column_parts(clicked["column"])
    position = int(clicked["position"])
    # The browser sends the position, so it is checked before it is used.
    if not 0 <= position < len(flipmap.items):
        return
    readout = view.field if clicked["panel"] == 0 else view.faithful
    more = {"variant": variant} if variant else {}
    if view.group == "model":
        more["of"] = flipmap.models[position]
    open_item(flipmap.items[position], axis=axis, readout=readout, **more)


def _model(view: View) -> str:
    """Return the model whose outputs are read: that of the row where models share one map."""
    model = st.query_params.get("of", "")
    return model if view.group == "model" and model in view.models else view.model


def _turn_column(turn: dict) -> None:
    """Open or close the variants of the axis whose head was clicked."""
    opened = list(st.session_state.get(OPENED, ()))
    axis = turn["axis"]
    st.session_state[OPENED] = (
        [name for name in opened if name != axis] if axis in opened else [*opened, axis]
    )
    # The callback runs in the fragment, and only a run of the whole page draws the map again.
    st.session_state["column-turned"] = True


def _selected(view: View) -> dict | None:
    item = st.query_params.get("item")
    if not item:
        return None
    axis, variant = st.query_params.get("axis", IDENTITY), st.query_params.get("variant", "")
    return {"item": item, "column": column_id(axis, variant), "model": _model(view)}


# Items that were brushed on the flip map: to step through, to send to review, to a new study, to
# export.

PLACE = "map-selection"


def keep(view: View, flipmap: DrawnMap, brush: dict) -> None:
    """Make the rows of a brush the selection; an empty brush lets it go.

    The rows are [from, to) of the map's order. Nothing happens where the map is another one now.
    """
    if brush["version"] != flipmap.version:
        return
    positions: list[int] = []
    end = 0
    # The browser sends the ranges: they are cut to the rows that exist, each row taken once.
    for low, high in sorted(brush["ranges"]):
        positions += range(max(int(low), end), min(int(high), len(flipmap.items)))
        end = max(end, int(high))
    # An item has several rows where models are the groups.
    ids = list(dict.fromkeys(flipmap.items[i] for i in positions))
    st.session_state[PLACE] = {"study": view.study_id, "version": flipmap.version, "ids": ids}


def ids(view: View, flipmap: DrawnMap) -> list[str]:
    """Return the selected items; none where the map is another one now."""
    selection = st.session_state.get(PLACE, {})
    if (selection.get("study"), selection.get("version")) == (view.study_id, flipmap.version):
        return selection["ids"]
    return []


def order(view: View, flipmap: DrawnMap) -> Steps:
    """Return the items that J and K step through: the selection from its items, else the map's."""
    # With a selection J and K stay within it.
    selection = ids(view, flipmap)
    return Steps(selection) if st.query_params.get("item") in selection else flipmap.steps


def bar(view: View, flipmap: DrawnMap) -> None:
    """Say how many items are selected and offer what can be done with them."""
    selection = ids(view, flipmap)
    if not selection:
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="map-selection-bar"
    ):
        st.markdown(
            f"**{len(selection):,} {'item' if len(selection) == 1 else 'items'} selected**",
            width="content",
        )
        _review(view, selection)
        if st.button(
            "New study",
            key="selection-study",
            icon=":material/add_circle:",
            help="Ask these items again",
        ):
            _new_study(view, selection)
        offer_file(
            "Export",
            data=lambda: _csv(view, selection),
            file_name=f"flip-map-{view.study_id}-selection.csv",
            mime="text/csv",
            key="selection-export",
            help="Their readouts as CSV",
        )
        st.button(
            "Let go",
            key="selection-off",
            icon=":material/deselect:",
            on_click=st.session_state.pop,
            args=(PLACE, None),
            help="Key: Escape on the map",
        )


def _review(view: View, selection: list[str]) -> None:
    """Offer to mark the flips of the selection here, and to review its paraphrases.

    Paraphrases are reviewed on a page of their own, where the study asked any.
    """
    if st.button(
        "Review flips",
        key="selection-flips",
        icon=":material/checklist:",
        help="Step through with J and K, mark with G, A, U",
    ):
        st.query_params["item"] = selection[0]
        st.rerun(scope="fragment")
    subset = set(selection)
    # Only items with stored paraphrases have pairs to review.
    pairs = sorted(
        {
            pair
            for (item, _), pair in review.materials(session.store(), view.study_id).items()
            if item in subset
        }
    )
    if pairs and st.button(
        "Review paraphrases", key="selection-review", icon=":material/rate_review:"
    ):
        st.session_state["review-pairs"] = pairs
        st.switch_page("paraphrase_review/page.py", query_params={"source": SELECTED})


def _new_study(view: View, selection: list[str]) -> None:
    """Offer a draft of this study on the selected items alone."""
    try:
        draft = narrowed(session.store(), view.study_id, selection)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return
    key = f"selection-{view.study_id}"
    st.session_state.setdefault("offered-drafts", {})[key] = draft.study
    st.session_state.setdefault("draft-notes", {})[key] = draft.notes
    # Another selection of the same study is another draft.
    st.session_state.pop("draft-of", None)
    st.switch_page("new_study/page.py", query_params={"from_study": key})


def _csv(view: View, selection: list[str]) -> str:
    frame = session.readouts(view.study_id)
    # Cells that a spreadsheet would run as a formula are made harmless.
    return safe(frame[frame["item_id"].isin(selection) & frame["model"].isin(view.models)]).to_csv(
        index=False
    )


def most_flips(table: list[dict]) -> None:
    """List the items that flip most while nothing is opened.

    A row opens in the inspector where its item flips most.
    """
    st.markdown(
        "**Which items flip most?** Click a cell of the map, or choose a row here, to read the "
        "two outputs behind it."
    )

    def opened() -> None:
        for row in st.session_state["most-flips"].selection.rows:
            open_item(table[row]["id"], axis=table[row]["column"])

    show_table(
        "most-flips",
        table,
        key="most-flips",
        on_select=opened,
        selection_mode="single-row",
        height=480,
        column_config={
            # Hidden, but needed to open the row.
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
