"""The map: do the two sets cover the same ground, and what lies where they do not?"""

from collections.abc import Sequence

import streamlit as st

from flipcore.charts.entry_map import Colouring, entry_map
from flipcore.charts.likeness import nearest_histogram
from flipcore.charts.theme import colours
from flipcore.claims.likeness import compared_claims
from flipcore.core.records import Item
from flipcore.stats.holdout.comparison import Comparison
from flipcore.store.connection import Store
from flipcore.store.queries import vectors
from pages.common.notes import how_to_read, plain, shown_problem
from pages.holdout import entry_panel, excluding, labels, map_drawing, selection
from pages.holdout.likeness import comparison_of, embedding_choice, layouts

COLOURS = {
    "set": "set",
    "length": "length in words",
    "category": "category",
    "difficulty": "share of right answers",
    "closest": "cosine with the nearest entry of the other set",
    "label": "my labels",
}
UMAP, PCA = "UMAP", "components"
CLICK, LASSO = "click", "lasso"


@st.fragment
def show(target: Sequence[Item], retro: Sequence[Item], store: Store, whole_id: str = "") -> None:
    """The tab, drawn again on its own when something on it is chosen. The map shows the whole sets; `whole_id` names them, and
    the sentence above leaves out what was excluded by hand."""
    with shown_problem():
        embedding = embedding_choice(len(target) + len(retro), "map")
        if embedding is None:
            return
        comparison = comparison_of(target, retro, store, embedding)
        out = excluding.excluded(whole_id)
        of_target, of_retro = ([item for item in items if item.item_id not in out] for items in (target, retro))
        rest = comparison_of(of_target, of_retro, store, embedding) if out else comparison
        st.markdown(f"## {plain(compared_claims(rest)[0].text)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if "map-colour-next" in st.session_state:
                st.session_state["map-colour"] = st.session_state.pop("map-colour-next")
            colour = st.selectbox(
                "Colour by",
                list(COLOURS),
                key="map-colour",
                bind="query-params",
                format_func=lambda name: f"Colour by {COLOURS[name]}",
                width=330,
                label_visibility="collapsed",
            )
            layout = st.segmented_control(
                "Places", [UMAP, PCA], default=UMAP, key="map-places", required=True, label_visibility="collapsed"
            )
            pointer = st.segmented_control(
                "Pointer", [CLICK, LASSO], default=CLICK, key="map-pointer", required=True, label_visibility="collapsed"
            )
            drawing = map_drawing.choice(layout == UMAP)
        places, axes = map_drawing.places(comparison, layouts(store), embedding, drawing)
        crossed = [row for row, item in enumerate(comparison.items) if item.item_id in out]
        colouring = _colouring(comparison, colour, store)
        _pictures(comparison, places, axes, colouring, store, lasso=pointer == LASSO, crossed=crossed, whole_id=whole_id)
    _how_to_read()


def _colouring(comparison: Comparison, colour: str, store: Store) -> Colouring:
    title = COLOURS[colour]
    if colour == "length":
        return Colouring(title, numbers=comparison.lengths.astype(float))
    if colour == "category":
        return Colouring(title, groups=[item.category for item in comparison.items])
    if colour == "label":
        names = labels.labels()
        return Colouring(title, groups=[names.get(item.item_id, "no label") for item in comparison.items])
    if colour == "closest":
        return Colouring(title, numbers=comparison.across[1][:, 0])
    if colour == "difficulty":
        accuracy_by_id = vectors.accuracies(store, [item.item_id for item in comparison.items])
        if not accuracy_by_id:
            st.caption("No model has answered these entries yet, so none has a share of right answers.")
        return Colouring(title, numbers=comparison.per_item(accuracy_by_id))
    return Colouring(title)


def _pictures(
    comparison: Comparison,
    places,
    axes: tuple[str, str],
    colouring: Colouring,
    store: Store,
    *,
    lasso: bool,
    crossed: Sequence[int],
    whole_id: str,
) -> None:
    """Map left, what is chosen right; under them how close the other set comes, which chooses too."""
    theme, key = colours(st.context.theme.type), f"{comparison.sets_id}-{comparison.described}"
    on_map, in_bars = selection.rows_on_map(key), comparison.within(selection.spans(key))
    left, right = st.columns([3, 2])
    with left, st.container(key=selection.MAP):
        st.plotly_chart(
            entry_map(
                places,
                comparison.labels,
                comparison.texts,
                colouring,
                theme,
                axes=axes,
                ringed=in_bars,
                crossed=crossed,
                lasso=lasso,
            ),
            key=selection.chart_key(selection.MAP),
            on_select=lambda: selection.from_map(key),
            theme=None,
            config={"displayModeBar": True, "modeBarButtonsToRemove": ["autoScale2d", "select2d"]},
            alt="Every entry of both sets as a point; alike entries lie close together.",
        )
        st.caption(plain(f"{comparison.described}; {len(comparison.items):,} entries. ● target ◇ retro."))
    with right:
        entry_panel.panel(comparison, on_map or in_bars, places, store, whole_id)
    st.markdown(f"**{plain(comparison.coverage_sentence())}**")
    with st.container(key=selection.BARS):
        st.plotly_chart(
            nearest_histogram(comparison.across[1][:, 0], comparison.labels, theme, selection=on_map),
            theme=None,
            key=selection.chart_key(selection.BARS),
            on_select=lambda: selection.from_bars(key),
            selection_mode="points",
            config={"displayModeBar": False},
            alt="Histogram of the cosine between each entry and the nearest entry of the other set.",
        )
    st.caption("Click a bar to highlight its entries on the map and list them. Entries selected on the map are marked here.")
    entry_panel.loners(comparison)


def _how_to_read() -> None:
    how_to_read(
        "Each point is an entry; alike texts lie close together. UMAP keeps neighbourhoods and little else: the size of a "
        "cluster and the distance between clusters say little. **Trustworthiness** is how far neighbours on the map are "
        "neighbours in all dimensions; 1 is all. Components keep large distances and hide small ones. The sentence above "
        "does not come from the picture: it counts an entry's ten nearest neighbours in all dimensions.",
        title="How to read the map",
    )
