"""The map, and beside it in a fragment of its own what a click on it shows: a click draws the fragment and nothing else."""

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

HEIGHT_PX = 560  # what 900 px leave under the header, the answer and the controls
OPENED = "opened"  # the control that says which axes stand with their variants


def explorer(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """`flip_table` is shown while no item is opened."""
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium")
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


@st.fragment
def _beside(view: View, flipmap: DrawnMap, flip_table: list[dict]) -> None:
    """What was selected, and the inspector or the items that flip most."""
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


# Items that were brushed on the flip map: to step through, to send to review, to a new study, to export.

PLACE = "map-selection"


def keep(view: View, flipmap: DrawnMap, brush: dict) -> None:
    """The rows of a brush, as [from, to) of the map's order, become the selection; none lets it go. Nothing where the map is another
    one now."""
    if brush["version"] != flipmap.version:
        return
    positions = [i for low, high in brush["ranges"] for i in range(max(int(low), 0), min(int(high), len(flipmap.items)))]
    ids = list(dict.fromkeys(flipmap.items[i] for i in positions))
    st.session_state[PLACE] = {"study": view.study_id, "version": flipmap.version, "ids": ids}


def ids(view: View, flipmap: DrawnMap) -> list[str]:
    """The selected items; none where the map is another one now."""
    selection = st.session_state.get(PLACE, {})
    return selection["ids"] if (selection.get("study"), selection.get("version")) == (view.study_id, flipmap.version) else []


def order(view: View, flipmap: DrawnMap) -> Steps:
    """The items that J and K step through: the selected ones from one of them on, or all on the map."""
    selection = ids(view, flipmap)
    return Steps(selection) if st.query_params.get("item") in selection else flipmap.steps


def bar(view: View, flipmap: DrawnMap) -> None:
    """How many are selected and what can be done with them."""
    selection = ids(view, flipmap)
    if not selection:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="map-selection-bar"):
        st.markdown(f"**{len(selection):,} {'item' if len(selection) == 1 else 'items'} selected**", width="content")
        _review(view, selection)
        if st.button("New study", key="selection-study", icon=":material/add_circle:", help="Ask these items again"):
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
    """Their flips are marked here, one after another; their paraphrases, where the study asked any, on the page for it."""
    if st.button(
        "Review flips", key="selection-flips", icon=":material/checklist:", help="Step through with J and K, mark with G, A, U"
    ):
        st.query_params["item"] = selection[0]
        st.rerun(scope="fragment")
    subset = set(selection)
    pairs = sorted({pair for (item, _), pair in review.materials(session.store(), view.study_id).items() if item in subset})
    if pairs and st.button("Review paraphrases", key="selection-review", icon=":material/rate_review:"):
        st.session_state["review-pairs"] = pairs
        st.switch_page("paraphrase_review/page.py", query_params={"source": SELECTED})


def _new_study(view: View, selection: list[str]) -> None:
    """A draft of this study on these items alone."""
    try:
        draft = narrowed(session.store(), view.study_id, selection)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return
    key = f"selection-{view.study_id}"
    st.session_state.setdefault("offered-drafts", {})[key] = draft.study
    st.session_state.setdefault("draft-notes", {})[key] = draft.notes
    st.session_state.pop("draft-of", None)  # another selection of the same study is another draft
    st.switch_page("new_study/page.py", query_params={"from_study": key})


def _csv(view: View, selection: list[str]) -> str:
    frame = session.readouts(view.study_id)
    return safe(frame[frame["item_id"].isin(selection) & frame["model"].isin(view.models)]).to_csv(index=False)


def most_flips(table: list[dict]) -> None:
    """Beside the map while nothing is opened; a row opens in the inspector where it flips most."""
    st.markdown("**Which items flip most?** Click a cell of the map, or choose a row here, to read the two outputs behind it.")

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
            "id": None,
            "column": None,
            "question": st.column_config.TextColumn(width="medium"),
            **{name: st.column_config.NumberColumn(format="%.2f") for name in table[0] if name.endswith(", share")},
        },
    )
