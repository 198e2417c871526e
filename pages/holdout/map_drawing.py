"""How the map is drawn: seed, neighbours and distance, the map as soon as it is there, and how far it may be believed."""

import streamlit as st

from flipcore.claims.likeness import map_quality_text
from flipcore.reports.holdout import component_axes
from flipcore.stats.holdout.comparison import Comparison
from flipcore.vectors import embeddings
from flipcore.vectors.map_jobs import DEFAULT, Drawing, Layouts
from pages.common.notes import plain

UMAP_AXES = ("UMAP: near is alike, far means little", "")
USUAL_S = 20  # the first UMAP of a process, whose code is compiled on the way


def choice(is_umap: bool) -> Drawing | None:
    """The drawing that is set behind "Map settings"; None where principal components are wanted."""
    if not is_umap:
        return None
    with st.popover("Map settings", icon=":material/tune:", help="Neighbours, distance and seed of the map"):
        n = st.slider("Neighbours", 3, 60, DEFAULT.n_neighbours, key="map-neighbours", bind="query-params")
        distance = st.slider("Smallest distance", 0.0, 0.9, DEFAULT.min_distance, 0.05, key="map-distance", bind="query-params")
        seed = st.number_input("Seed", 0, 2**31 - 2, 0, key="map-seed", bind="query-params")
        st.caption("Few neighbours show small groups, many the whole. A shape that another seed does not draw is not there.")
    st.caption(f"{n} neighbours · distance {distance:g} · seed {seed}", width="content")
    return Drawing(int(seed), int(n), float(distance))


def places(comparison: Comparison, layouts: Layouts, embedding: str, drawing: Drawing | None):
    """(places, names of the axes): UMAP's where they are wanted and there; until then the last map or the components."""
    if drawing is None:
        return component_axes(comparison)
    key = f"{embedding}-{embeddings.embedding_by_name(embedding).revision}"
    umap = layouts.places(key, comparison.items, comparison.units, drawing)
    if umap is not None:
        _quality(layouts, key, comparison, drawing)
        return umap, UMAP_AXES
    if why_not := layouts.problem(key, comparison.items, drawing):
        st.caption(plain(f"{why_not} These are the principal components."))
        return component_axes(comparison)
    latest = layouts.latest(key, comparison.items)
    _waiting(layouts, key, comparison, drawing, "the principal components" if latest is None else "the map before")
    return component_axes(comparison) if latest is None else (latest, UMAP_AXES)


@st.fragment(run_every=1.5)
def _waiting(layouts: Layouts, key: str, comparison: Comparison, drawing: Drawing, instead: str) -> None:
    """Looks now and then whether the map is there; then everything is drawn with it."""
    ready = layouts.places(key, comparison.items, comparison.units, drawing) is not None
    if ready or layouts.problem(key, comparison.items, drawing):
        st.rerun()
    seconds = layouts.seconds(key, comparison.items, drawing)
    so_far = f"{seconds:.0f} s so far; about {USUAL_S} s on a machine that does nothing else"
    st.progress(min(0.95, seconds / USUAL_S), f"Computing UMAP: {so_far}. Shown: {instead}.")


@st.fragment(run_every=2.0)
def _quality(layouts: Layouts, key: str, comparison: Comparison, drawing: Drawing) -> None:
    """How far the map may be believed, as soon as a second seed has drawn it."""
    quality = layouts.quality(key, comparison.items, comparison.units, drawing)
    st.caption(
        "Drawing the map with another seed, to see what stays …" if quality is None else plain(map_quality_text(quality))
    )
