"""The map: do the two sets cover the same ground, and what lies where they do not?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from flipcore.charts.entry_map import Colouring, entry_map
from flipcore.charts.likeness import nearest_histogram
from flipcore.charts.theme import colours
from flipcore.claims.likeness import compared_claims
from flipcore.core.records import Item
from flipcore.store.connection import Store
from flipcore.store.queries import vectors
from flipcore.vectors import embeddings
from flipcore.vectors.comparison import Comparison
from pages.common.notes import plain, shown_problem
from pages.holdout import selection
from pages.holdout.likeness import compared, embedding_choice, layouts

COLOURS = {
    "set": "set",
    "length": "length in words",
    "category": "category",
    "difficulty": "share of right answers",
    "closest": "cosine with the nearest entry of the other set",
}
UMAP, PCA = "UMAP", "components"
CLICK, LASSO = "click", "lasso"


@st.fragment
def show(target: Sequence[Item], retro: Sequence[Item], store: Store) -> None:
    """The tab, drawn again on its own when something on it is chosen."""
    with shown_problem():
        embedding = embedding_choice(len(target) + len(retro), "map")
        if embedding is None:
            return
        comparison = compared(target, retro, store, embedding)
        st.markdown(f"### {plain(compared_claims(comparison)[0].text)}")
        first, second, third = st.columns([2, 1, 1], vertical_alignment="bottom")
        colour = first.selectbox(
            "Colour by", list(COLOURS), key="map-colour", bind="query-params", format_func=COLOURS.__getitem__
        )
        layout = second.segmented_control("Places", [UMAP, PCA], default=UMAP, key="map-places", required=True)
        lasso = third.segmented_control("Pointer", [CLICK, LASSO], default=CLICK, key="map-pointer", required=True) == LASSO
        places, axes = _places(comparison, store, embedding, layout)
        _pictures(comparison, places, axes, _colouring(comparison, colour, store), lasso)
    _how_to_read()


def _places(comparison: Comparison, store: Store, embedding: str, layout: str):
    """UMAP where it is there and wanted, else principal components at once."""
    map_layouts = layouts(store)
    key = f"{embedding}-{embeddings.embedding_by_name(embedding).revision}"
    umap = map_layouts.places(key, comparison.items, comparison.units)
    if layout == UMAP and umap is not None:
        return umap, ("UMAP: near is alike, far means little", "")
    if layout == UMAP:
        why_not = map_layouts.problem(key, comparison.items)
        if why_not:
            st.caption(plain(f"{why_not} These are the principal components."))
        else:
            _waiting(map_layouts, key, comparison)
    places, shares = comparison.principal
    return places, tuple(f"component {i + 1}: {share:.1%} of the variance".replace("%", " %") for i, share in enumerate(shares))


@st.fragment(run_every=1.5)
def _waiting(map_layouts, key: str, comparison: Comparison) -> None:
    """Looks now and then whether the map is there; then everything is drawn with it."""
    if map_layouts.places(key, comparison.items, comparison.units) is not None or map_layouts.problem(key, comparison.items):
        st.rerun()
    st.caption("UMAP is on its way (about 20 s on its first run); until then these are the principal components.")


def _colouring(comparison: Comparison, colour: str, store: Store) -> Colouring:
    title = COLOURS[colour]
    if colour == "length":
        return Colouring(title, numbers=comparison.lengths.astype(float))
    if colour == "category":
        return Colouring(title, groups=[item.category for item in comparison.items])
    if colour == "closest":
        return Colouring(title, numbers=comparison.across[1][:, 0])
    if colour == "difficulty":
        accuracy_by_id = vectors.accuracies(store, [item.item_id for item in comparison.items])
        if not accuracy_by_id:
            st.caption("No model has answered these entries yet, so none has a share of right answers.")
        return Colouring(title, numbers=comparison.per_item(accuracy_by_id))
    return Colouring(title)


def _pictures(comparison: Comparison, places, axes: tuple[str, str], colouring: Colouring, lasso: bool) -> None:
    """Map left, what is chosen right; under them how close the other set comes, which chooses too."""
    theme, key = colours(st.context.theme.type), f"{comparison.sets_id}-{comparison.described}"
    on_map, in_bars = selection.rows_on_map(key), comparison.within(selection.spans(key))
    left, right = st.columns([3, 2])
    with left, st.container(key=selection.MAP):
        st.plotly_chart(
            entry_map(places, comparison.labels, comparison.texts, colouring, theme, axes=axes, ringed=in_bars, lasso=lasso),
            key=selection.chart_key(selection.MAP),
            on_select=lambda: selection.from_map(key),
            theme=None,
            config={"displayModeBar": True, "modeBarButtonsToRemove": ["autoScale2d", "select2d"]},
            alt="Every entry of both sets as a point; alike entries lie close together.",
        )
        st.caption(plain(f"{comparison.described}; {len(comparison.items):,} entries. ● target ◇ retro."))
    with right:
        selection.panel(comparison, on_map or in_bars)
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
    st.caption("A bar, clicked, rings its entries on the map and lists them; what is selected on the map is marked here.")
    selection.loners(comparison)


def _how_to_read() -> None:
    with st.expander("How to read the map"):
        st.markdown(
            "Each point is an entry, placed so that alike texts lie close together. UMAP keeps neighbourhoods and little else: "
            "it may tear a cloud into clusters, and how large they are and how far apart says little. Principal components "
            "keep large distances and hide small ones. So the sentence above is not read off the picture: it counts, among an "
            "entry's ten nearest neighbours in all dimensions, those of its own set, and permutes the labels (within pairs "
            "where the retro-holdout was written entry by entry). Ground that one set alone covers shows as a patch of one "
            "colour. The larger set always comes closer to the other's entries, because it has more of them."
        )
