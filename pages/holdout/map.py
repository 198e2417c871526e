"""The map: do the two sets cover the same ground, and what lies where they do not?"""

from collections.abc import Sequence

import streamlit as st

from flipcore.annotation.surveys.sheets import file_text, pick_column, picks
from flipcore.charts.entry_map import SETS, Colouring, entry_map
from flipcore.charts.holdout import nearest_histogram
from flipcore.claims.likeness import compared_claims, map_quality_text
from flipcore.core.records import Item
from flipcore.reports.holdout import FEWEST, component_axes, entry_rows
from flipcore.reports.holdout_sets import without_ids
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.projection import on_top_of
from flipcore.store.connection import Store
from flipcore.store.queries import vectors
from flipcore.text.counts import count_of
from flipcore.vectors import embeddings
from flipcore.vectors.map_jobs import DEFAULT, Drawing, Layouts
from pages.common import screen
from pages.common.links import bound
from pages.common.showing import offer_file, plain, show_figure, show_table, shown_problem
from pages.holdout import excluding, likeness

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
    """Draw the tab, again on its own when something on it is chosen.

    The map shows the full sets; `whole_id` names them, and the sentence above leaves out what was
    excluded by hand.
    """
    with shown_problem():
        embedding = likeness.embedding_choice(len(target) + len(retro), "map")
        if embedding is None:
            return
        comparison = likeness.comparison_of(target, retro, store, embedding)
        out = excluding.excluded(whole_id)
        remaining = comparison
        if out:
            left = without_ids(target, out), without_ids(retro, out)
            remaining = likeness.comparison_of(*left, store, embedding)
        st.markdown(f"## {plain(compared_claims(remaining)[0].text)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            # A widget's value can be set only before the widget is drawn.
            if "map-colour-next" in st.session_state:
                st.session_state["map-colour"] = st.session_state.pop("map-colour-next")
            colour = screen.select(
                "Colour by",
                list(COLOURS),
                "map-colour",
                format_func=lambda name: f"Colour by {COLOURS[name]}",
                width=330,
                label_visibility="collapsed",
            )
            layout = screen.segments("Places", [UMAP, PCA], "map-places", bind=None)
            pointer = screen.segments("Pointer", [CLICK, LASSO], "map-pointer", bind=None)
            drawing = _drawing_choice(is_umap=layout == UMAP)
        # Excluded entries stay on the map, crossed out: one sees what was taken out.
        places, axes = drawn_at(comparison, likeness.layouts(store), embedding, drawing)
        crossed = [row for row, item in enumerate(comparison.items) if item.item_id in out]
        colouring = _colouring(comparison, colour, store)
        _pictures(
            comparison,
            places,
            axes,
            colouring,
            store,
            lasso=pointer == LASSO,
            crossed=crossed,
            whole_id=whole_id,
            embedding=embedding,
            drawing=drawing,
        )


READING = (
    "Each point is an entry; alike texts lie close together. UMAP keeps neighbourhoods and little "
    "else: the size of a cluster and the distance between clusters say little. **Trustworthiness** "
    "is how far neighbours on the map are neighbours in all dimensions; 1 is all. Components keep "
    "large distances and hide small ones. The sentence above does not come from the picture: it "
    "counts an entry's ten nearest neighbours in all dimensions. Click a bar to highlight its "
    "entries on the map and list them."
)


def _colouring(comparison: Comparison, colour: str, store: Store) -> Colouring:
    title = COLOURS[colour]
    if colour == "length":
        return Colouring(title, numbers=comparison.lengths.astype(float))
    if colour == "category":
        return Colouring(title, groups=[item.category for item in comparison.items])
    if colour == "label":
        names = labels()
        return Colouring(
            title, groups=[names.get(item.item_id, "no label") for item in comparison.items]
        )
    if colour == "closest":
        return Colouring(title, numbers=comparison.across[1][:, 0])
    if colour == "difficulty":
        accuracy_by_id = vectors.accuracies(store, [item.item_id for item in comparison.items])
        if not accuracy_by_id:
            st.caption(
                "No model has answered these entries yet, so none has a share of right answers."
            )
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
    embedding: str,
    drawing: Drawing | None,
) -> None:
    """Draw the map left and the selection right; under them how close the other set comes."""
    key = f"{comparison.sets_id}-{comparison.described}"
    choice = likeness.choice_in(key)
    on_map, in_bars = choice["rows"], comparison.within(choice["spans"])
    left, right = st.columns([3, 2])
    with left, st.container(key=likeness.MAP):
        show_figure(
            likeness.chart_key(likeness.MAP),
            lambda c: entry_map(
                places,
                comparison.labels,
                comparison.texts,
                colouring,
                c,
                axes=axes,
                ringed=in_bars,
                crossed=crossed,
                lasso=lasso,
            ),
            config={
                "displayModeBar": "hover",
                "modeBarButtonsToRemove": ["autoScale2d", "select2d"],
            },
            on_select=lambda: likeness.from_map(key),
            alt="Every entry of both sets as a point; alike entries lie close together.",
        )
    with right:
        panel(comparison, on_map or in_bars, places, store, whole_id)
    with st.expander("How close does each entry lie to the other set?", key="entry-closeness"):
        st.caption(plain(f"{comparison.described}; {len(comparison.items):,} entries."))
        st.caption(READING)
        if drawing is not None and axes == UMAP_AXES:
            _quality(likeness.layouts(store), comparison, embedding, drawing)
        st.markdown(f"**{plain(comparison.coverage_sentence())}**")
        with st.container(key=likeness.BARS):
            show_figure(
                likeness.chart_key(likeness.BARS),
                lambda c: nearest_histogram(
                    comparison.across[1][:, 0], comparison.labels, c, selection=on_map
                ),
                on_select=lambda: likeness.from_bars(key),
                selection_mode="points",
                alt="Histogram of the cosine between each entry and the nearest entry of the "
                "other set.",
            )
        loners(comparison)


# How the map is drawn: seed, neighbours and distance, the map as soon as it is there, and how far
# it may be believed.

UMAP_AXES = ("UMAP: near is alike, far means little", "")
# The first UMAP of a process takes longest: its code is compiled on the way.
USUAL_S = 20


def _drawing_choice(*, is_umap: bool) -> Drawing | None:
    """Return the drawing set behind "Map settings"; None for principal components."""
    if not is_umap:
        return None
    with st.popover(
        "Map settings", icon=":material/tune:", help="Neighbours, distance and seed of the map"
    ):
        n = st.slider(
            "Neighbours", 3, 60, DEFAULT.n_neighbours, key="map-neighbours", bind="query-params"
        )
        distance = st.slider(
            "Smallest distance",
            0.0,
            0.9,
            DEFAULT.min_distance,
            0.05,
            key="map-distance",
            bind="query-params",
        )
        seed = st.number_input("Seed", 0, 2**31 - 2, 0, key="map-seed", bind=bound("map-seed"))
        st.caption(
            "Few neighbours show small groups, many the whole. A shape that another seed does not "
            "draw is not there."
        )
    return Drawing(int(seed), int(n), float(distance))


def drawn_at(comparison: Comparison, layouts: Layouts, embedding: str, drawing: Drawing | None):
    """Return (places, names of the axes).

    UMAP's where they are wanted and there; until then those of the last map or the components.
    """
    if drawing is None:
        return component_axes(comparison)
    key = embeddings.map_key(embedding)
    umap = layouts.places(key, comparison.items, comparison.units, drawing)
    if umap is not None:
        return umap, UMAP_AXES
    if why_not := layouts.problem(key, comparison.items, drawing):
        st.caption(plain(f"{why_not} These are the principal components."))
        return component_axes(comparison)
    # The map before is closer to the wanted one than components are.
    latest = layouts.latest(key, comparison.items)
    _waiting(
        layouts,
        key,
        comparison,
        drawing,
        "the principal components" if latest is None else "the map before",
    )
    return component_axes(comparison) if latest is None else (latest, UMAP_AXES)


@st.fragment(run_every=1.5)
def _waiting(
    layouts: Layouts, key: str, comparison: Comparison, drawing: Drawing, instead: str
) -> None:
    """Look now and then whether the map is there; then everything is drawn with it."""
    ready = layouts.places(key, comparison.items, comparison.units, drawing) is not None
    if ready or layouts.problem(key, comparison.items, drawing):
        st.rerun()
    seconds = layouts.seconds(key, comparison.items, drawing)
    usual = f"about {USUAL_S} s" if seconds < USUAL_S else f"longer than the {USUAL_S} s"
    so_far = f"{seconds:.0f} s so far; {usual} on a machine that does nothing else"
    st.progress(min(0.95, seconds / USUAL_S), f"Computing UMAP: {so_far}. Shown: {instead}.")


@st.fragment(run_every=2.0)
def _quality(layouts: Layouts, comparison: Comparison, embedding: str, drawing: Drawing) -> None:
    """Say how far the map may be believed, as soon as a second seed has drawn it."""
    key = embeddings.map_key(embedding)
    quality = layouts.quality(key, comparison.items, comparison.units, drawing)
    st.caption(
        "Drawing the map with another seed, to see what stays …"
        if quality is None
        else plain(map_quality_text(quality))
    )


# Beside the map: the entries that were chosen on it, to read, to label, to take out.

MOST_ROWS, MOST_HERE = 500, 20


def panel(comparison: Comparison, rows: Sequence[int], places, store: Store, whole_id: str) -> None:
    """Show one entry with its neighbors, several as a list, or what to do.

    `whole_id` names the sets before anything is taken out.
    """
    if rows:
        # The other tabs show more about the entries that are selected here.
        ids = [comparison.items[row].item_id for row in rows]
        st.session_state.setdefault(likeness.SELECTION, {})["ids"] = ids
        _entry_actions(comparison, rows, whole_id)
    if not rows:
        st.info("Click a point, or draw around some, to read them.", icon=":material/lasso_select:")
    elif len(rows) == 1:
        _others_here(comparison, rows[0], places)
        _one(comparison, rows[0], picks(store, whole_id))
    else:
        n_retro = int(sum(comparison.labels[row] for row in rows))
        st.markdown(
            f"**{count_of(len(rows), 'entry', 'entries')}: {len(rows) - n_retro:,} benchmark, "
            f"{n_retro:,} holdout**"
        )
        closest = [round(float(comparison.across[1][row, 0]), 2) for row in rows[:MOST_ROWS]]
        show_table(
            "answers-to-entry",
            entry_rows(
                comparison,
                rows[:MOST_ROWS],
                nearest_of_the_other_set=closest,
                **pick_column(
                    [comparison.items[row].item_id for row in rows[:MOST_ROWS]],
                    picks(store, whole_id),
                ),
            ),
            height=520,
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
        if len(rows) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} are listed; draw around fewer to see the others.")


def _entry_actions(comparison: Comparison, rows: Sequence[int], whole_id: str) -> None:
    ids = [comparison.items[row].item_id for row in rows]
    out = excluding.excluded(whole_id) | set(ids)
    remaining_labels = [
        int(label)
        for item, label in zip(comparison.items, comparison.labels, strict=True)
        if item.item_id not in out
    ]
    # The tests need a few entries in each set.
    too_few = min(remaining_labels.count(0), remaining_labels.count(1)) < FEWEST
    with st.container(horizontal=True, gap="small"):
        st.button("Let go", key="let-go", icon=":material/deselect:", on_click=likeness.let_go)
        label_form(comparison, rows)
        if excluding.may_exclude() and st.button(
            "Exclude",
            key="exclude-entries",
            icon=":material/block:",
            disabled=too_few or out == excluding.excluded(whole_id),
            help=f"Each set must keep {FEWEST} entries"
            if too_few
            else "Takes them out of both sets on this page and shows what that changes in the "
            "tests",
        ):
            excluding.exclude(whole_id, ids)
            st.rerun()
        label_file(comparison)


def _others_here(comparison: Comparison, row: int, places) -> None:
    """Offer the entries whose marks cover the clicked one."""
    rows_at_place = [
        row,
        *(int(row_at_place) for row_at_place in on_top_of(places, row)[:MOST_HERE]),
    ]
    if len(rows_at_place) == 1:
        return
    # Sorted, so that the list is the same whichever of them was clicked.
    rows_at_place.sort()

    def turn() -> None:
        choice = st.session_state[f"entries-here-{row}"]
        if choice is not None:
            st.session_state[likeness.SELECTION] |= {"rows": [choice], "spans": []}

    st.selectbox(
        f"{len(rows_at_place):,} entries lie at this place; shown is",
        rows_at_place,
        index=rows_at_place.index(row),
        key=f"entries-here-{row}",
        format_func=lambda entry_row: (
            f"{'◇ holdout' if comparison.labels[entry_row] else '● benchmark'}: "
            f"{comparison.texts[entry_row][:70]}"
        ),
        on_change=turn,
    )


def _one(comparison: Comparison, row: int, counts: dict[str, tuple[int, int]]) -> None:
    """Show the entry, its survey answers and its nearest entries, of the other set first."""
    item = comparison.items[row]
    st.markdown(
        f"**{'Holdout' if comparison.labels[row] else 'Benchmark'} entry** "
        f"{plain(item.item_id.split('@')[0])}"
        f"{f' · {plain(item.category)}' if item.category else ''}"
    )
    st.text(comparison.texts[row])
    if pair := counts.get(item.item_id):
        st.caption(
            f"Survey: {pair[0]} of {pair[1]} answers picked it as the odd one out; one in three "
            "is chance."
        )
    own_set, other_set = (
        ("holdout", "benchmark") if comparison.labels[row] else ("benchmark", "holdout")
    )
    for title, rows, cosines in (
        (f"Nearest in the {other_set}", comparison.across[0][row], comparison.across[1][row]),
        (f"Nearest in its own set ({own_set})", *comparison.nearest_own(row)),
    ):
        st.markdown(f"**{title}**")
        show_table(
            f"{title.split(' (')[0].lower().replace(' ', '-')}",
            entry_rows(
                comparison,
                rows[:5].tolist(),
                cosine=[round(float(cosine), 3) for cosine in cosines[:5]],
            ),
            column_config={"set": None, "entry": st.column_config.TextColumn(width="large")},
        )


def loners(comparison: Comparison) -> None:
    """List the entries with the farthest neighbors.

    They are typing errors, foreign topics, or what one set alone covers.
    """
    st.markdown("**Which entries stand alone?**")
    rows = [int(row) for row in comparison.loneliest[:20]]
    st.caption(
        f"By the mean cosine with the {comparison.near[0].shape[1]} nearest entries of either "
        "set, loneliest first."
    )
    means = [round(float(comparison.near[1][row].mean()), 3) for row in rows]
    show_table(
        "loneliest-entries",
        entry_rows(comparison, rows, mean_cosine=means),
        column_config={"entry": st.column_config.TextColumn(width="large")},
    )


LABELS = "entry-labels"  # item id -> label; names that colour the map, and leave as a file
MOST_CHARS = 40


def labels() -> dict[str, str]:
    """Item id -> the label that it was given."""
    return st.session_state.setdefault(LABELS, {})


def label_form(comparison: Comparison, rows: Sequence[int]) -> None:
    """Offer to label the chosen entries, behind a button; an empty label takes theirs away."""
    with st.popover("Label", icon=":material/label:"), st.form("label-entries", border=False):
        name = st.text_input(
            "Label of the selected entries", max_chars=MOST_CHARS, placeholder="empty: no label"
        )
        if st.form_submit_button("Label them", type="primary"):
            for row in rows:
                item_id = comparison.items[row].item_id
                labels().pop(item_id, None)
                if name.strip():
                    labels()[item_id] = name.strip()
            st.session_state["map-colour-next"] = "label"
            st.rerun()


def label_file(comparison: Comparison) -> None:
    """Offer the labels of these entries as a file: they last as long as the browser's page."""
    rows = [
        {
            "item_id": item.item_id,
            "set": SETS[is_retro],
            "label": labels()[item.item_id],
            "entry": text,
        }
        for item, is_retro, text in zip(
            comparison.items, comparison.labels, comparison.texts, strict=True
        )
        if item.item_id in labels()
    ]
    if rows:
        offer_file(
            f"{len(rows):,} labels as CSV",
            file_text(rows),
            "entry-labels.csv",
            "text/csv",
            key="entry-labels-csv",
            help="Labels last until this page is closed.",
        )
