"""The part Map: do both sets cover the same topics, and which entries lie where they do not?"""

from collections.abc import Sequence

import streamlit as st

from flipcore.annotation.surveys.sheets import file_text, pick_column, picks
from flipcore.charts.entry_map import SETS, Colouring, entry_map
from flipcore.charts.holdout import nearest_histogram
from flipcore.claims.likeness import embedding_claims, map_quality_text
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
from pages.common.links import binding
from pages.common.showing import offer_file, plain, show_figure, show_table, shown_problem
from pages.holdout import excluding, likeness

COLOUR_TITLES = {
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
    """Draw the part. As a fragment, it is drawn again alone when something on it is chosen.

    The map shows the full sets, whose id is `whole_id`. The sentence above it leaves out the
    entries that were excluded by hand.
    """
    with shown_problem():
        embedding = likeness.embedding_choice(len(target) + len(retro), "map")
        if embedding is None:
            return
        comparison = likeness.comparison_of(target, retro, store, embedding)
        excluded_ids = excluding.excluded_ids(whole_id)
        remaining = comparison
        if excluded_ids:
            kept_target = without_ids(target, excluded_ids)
            kept_retro = without_ids(retro, excluded_ids)
            remaining = likeness.comparison_of(kept_target, kept_retro, store, embedding)
        st.markdown(f"## {plain(embedding_claims(remaining)[0].text)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            # A widget's value can be set only before the widget is drawn.
            if "map-colour-next" in st.session_state:
                st.session_state["map-colour"] = st.session_state.pop("map-colour-next")
            colour = screen.select(
                "Colour by",
                list(COLOUR_TITLES),
                "map-colour",
                format_func=lambda name: f"Colour by {COLOUR_TITLES[name]}",
                width=330,
                label_visibility="collapsed",
            )
            layout = screen.segments("Places", [UMAP, PCA], "map-places", bind=None)
            pointer = screen.segments("Pointer", [CLICK, LASSO], "map-pointer", bind=None)
            drawing = _drawing_choice(is_umap=layout == UMAP)
        places, axes = places_on_map(comparison, likeness.layouts(store), embedding, drawing)
        # Excluded entries stay on the map, crossed out.
        crossed = [row for row, item in enumerate(comparison.items) if item.item_id in excluded_ids]
        colouring = _colouring(comparison, colour, store)
        _show_charts(
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


HOW_TO_READ = (
    "Each point is an entry; alike texts lie close together. UMAP keeps neighborhoods and little "
    "else: the size of a cluster and the distance between clusters say little. **Trustworthiness** "
    "is how far neighbors on the map are neighbors in all dimensions; 1 is all. Components keep "
    "large distances and hide small ones. The sentence above does not come from the picture: it "
    "counts an entry's ten nearest neighbors in all dimensions. Click a bar to highlight its "
    "entries on the map and list them."
)


def _colouring(comparison: Comparison, colour: str, store: Store) -> Colouring:
    """Return the numbers or groups by which the map is colored; `colour` is its key."""
    title = COLOUR_TITLES[colour]
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


def _show_charts(
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
    """Draw the map, the selection next to it, and below how close each entry is to the other set.

    `places` are the (n, 2) positions and `axes` the names of the axes. `crossed` are the indices of
    excluded entries. `drawing` is None for principal components.
    """
    key = f"{comparison.sets_id}-{comparison.described}"
    selection = likeness.selection_in(key)
    map_rows, bar_rows = selection["rows"], comparison.within(selection["spans"])
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
                ringed=bar_rows,
                crossed=crossed,
                lasso=lasso,
            ),
            config={
                "displayModeBar": "hover",
                "modeBarButtonsToRemove": ["autoScale2d", "select2d"],
            },
            on_select=lambda: likeness.select_on_map(key),
            alt="Every entry of both sets as a point; alike entries lie close together.",
        )
    with right:
        show_selection(comparison, map_rows or bar_rows, places, store, whole_id)
    with st.expander("How close does each entry lie to the other set?", key="entry-closeness"):
        st.caption(plain(f"{comparison.described}; {len(comparison.items):,} entries."))
        st.caption(HOW_TO_READ)
        if drawing is not None and axes == UMAP_AXES:
            _show_quality(likeness.layouts(store), comparison, embedding, drawing)
        st.markdown(f"**{plain(comparison.coverage_sentence())}**")
        with st.container(key=likeness.BARS):
            show_figure(
                likeness.chart_key(likeness.BARS),
                lambda c: nearest_histogram(
                    comparison.across[1][:, 0], comparison.labels, c, selection=map_rows
                ),
                on_select=lambda: likeness.select_bars(key),
                selection_mode="points",
                alt="Histogram of the cosine between each entry and the nearest entry of the "
                "other set.",
            )
        _show_loneliest(comparison)


UMAP_AXES = ("UMAP: near is alike, far means little", "")
# The first UMAP of a process takes longer, because its code is compiled then.
USUAL_S = 20


def _drawing_choice(*, is_umap: bool) -> Drawing | None:
    """Draw the map settings; return them, None for principal components."""
    if not is_umap:
        return None
    with st.popover(
        "Map settings", icon=":material/tune:", help="Neighbors, distance and seed of the map"
    ):
        n = st.slider(
            "Neighbors", 3, 60, DEFAULT.n_neighbours, key="map-neighbours", bind="query-params"
        )
        distance = st.slider(
            "Smallest distance",
            min_value=0.0,
            max_value=0.9,
            value=DEFAULT.min_distance,
            step=0.05,
            key="map-distance",
            bind="query-params",
        )
        seed = st.number_input("Seed", 0, 2**31 - 2, 0, key="map-seed", bind=binding("map-seed"))
        st.caption(
            "Few neighbors show small groups, many the whole. A shape that another seed does not "
            "draw is not there."
        )
    return Drawing(int(seed), int(n), float(distance))


def places_on_map(
    comparison: Comparison, layouts: Layouts, embedding: str, drawing: Drawing | None
):
    """Return the (n, 2) positions of the entries, and the names of both axes.

    Until UMAP has finished, return the positions of the previous map, or the principal components.
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
    # The previous map resembles the new one more than the components do.
    latest = layouts.latest(key, comparison.items)
    shown = "the principal components" if latest is None else "the map before"
    _wait_for_map(layouts, key, comparison, drawing, shown)
    return component_axes(comparison) if latest is None else (latest, UMAP_AXES)


@st.fragment(run_every=1.5)
def _wait_for_map(
    layouts: Layouts, key: str, comparison: Comparison, drawing: Drawing, shown: str
) -> None:
    """Show the progress of UMAP and what is `shown` meanwhile; draw again when it is done."""
    ready = layouts.places(key, comparison.items, comparison.units, drawing) is not None
    if ready or layouts.problem(key, comparison.items, drawing):
        st.rerun()
    seconds = layouts.seconds(key, comparison.items, drawing)
    usual = f"about {USUAL_S} s" if seconds < USUAL_S else f"longer than the {USUAL_S} s"
    so_far = f"{seconds:.0f} s so far; {usual} on a machine that does nothing else"
    st.progress(min(0.95, seconds / USUAL_S), f"Computing UMAP: {so_far}. Shown: {shown}.")


@st.fragment(run_every=2.0)
def _show_quality(
    layouts: Layouts, comparison: Comparison, embedding: str, drawing: Drawing
) -> None:
    """Show how reliable the map is, as soon as it was computed with a second seed, too."""
    key = embeddings.map_key(embedding)
    quality = layouts.quality(key, comparison.items, comparison.units, drawing)
    st.caption(
        "Drawing the map with another seed, to see what stays …"
        if quality is None
        else plain(map_quality_text(quality))
    )


# Entries in a selection, on one place of the map, next to an opened entry, and in the last list.
MAX_ROWS, MAX_AT_PLACE, N_NEIGHBORS, N_LONELIEST = 500, 20, 5, 20


def show_selection(
    comparison: Comparison, rows: Sequence[int], places, store: Store, whole_id: str
) -> None:
    """Show the selected entries: one with its neighbors, several as a list, none with a hint.

    `rows` are the indices of the entries. `whole_id` is the id of the full sets.
    """
    if rows:
        # The part Look inside can show pairs of these entries only.
        ids = [comparison.items[row].item_id for row in rows]
        st.session_state.setdefault(likeness.SELECTION_KEY, {})["ids"] = ids
        _offer_actions(comparison, rows, whole_id)
    if not rows:
        st.info("Click a point, or draw around some, to read them.", icon=":material/lasso_select:")
    elif len(rows) == 1:
        _offer_covering(comparison, rows[0], places)
        _show_entry(comparison, rows[0], picks(store, whole_id))
    else:
        n_retro = int(sum(comparison.labels[row] for row in rows))
        st.markdown(
            f"**{count_of(len(rows), 'entry', 'entries')}: {len(rows) - n_retro:,} benchmark, "
            f"{n_retro:,} holdout**"
        )
        listed_rows = rows[:MAX_ROWS]
        listed_ids = [comparison.items[row].item_id for row in listed_rows]
        closest = [round(float(comparison.across[1][row, 0]), 2) for row in listed_rows]
        survey_columns = pick_column(listed_ids, picks(store, whole_id))
        show_table(
            "answers-to-entry",
            entry_rows(comparison, listed_rows, nearest_of_the_other_set=closest, **survey_columns),
            height=520,
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
        if len(rows) > MAX_ROWS:
            st.caption(f"The first {MAX_ROWS} are listed; draw around fewer to see the others.")


def _offer_actions(comparison: Comparison, rows: Sequence[int], whole_id: str) -> None:
    """Offer to clear the selection, and to label or exclude the selected entries."""
    ids = [comparison.items[row].item_id for row in rows]
    excluded_ids = excluding.excluded_ids(whole_id) | set(ids)
    remaining_labels = [
        int(label)
        for item, label in zip(comparison.items, comparison.labels, strict=True)
        if item.item_id not in excluded_ids
    ]
    # The tests need a few entries in each set.
    too_few = min(remaining_labels.count(0), remaining_labels.count(1)) < FEWEST
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Deselect", key="let-go", icon=":material/deselect:", on_click=likeness.clear_selection
        )
        offer_labels(comparison, rows)
        if excluding.may_exclude() and st.button(
            "Exclude",
            key="exclude-entries",
            icon=":material/block:",
            disabled=too_few or excluded_ids == excluding.excluded_ids(whole_id),
            help=f"Each set must keep {FEWEST} entries"
            if too_few
            else "Takes them out of both sets on this page and shows what that changes in the "
            "tests",
        ):
            excluding.exclude(whole_id, ids)
            st.rerun()
        offer_label_file(comparison)


def _offer_covering(comparison: Comparison, row: int, places) -> None:
    """Offer to switch to entries whose marks cover that of the clicked entry."""
    covering_rows = on_top_of(places, row)[:MAX_AT_PLACE]
    rows_at_place = [row, *(int(covering_row) for covering_row in covering_rows)]
    if len(rows_at_place) == 1:
        return
    # Sorted, so that the list does not depend on which of them was clicked.
    rows_at_place.sort()

    def switch() -> None:
        chosen_row = st.session_state[f"entries-here-{row}"]
        if chosen_row is not None:
            st.session_state[likeness.SELECTION_KEY] |= {"rows": [chosen_row], "spans": []}

    st.selectbox(
        f"{len(rows_at_place):,} entries lie at this place; shown is",
        rows_at_place,
        index=rows_at_place.index(row),
        key=f"entries-here-{row}",
        format_func=lambda entry_row: (
            f"{'◇ holdout' if comparison.labels[entry_row] else '● benchmark'}: "
            f"{comparison.texts[entry_row][:70]}"
        ),
        on_change=switch,
    )


def _show_entry(comparison: Comparison, row: int, counts: dict[str, tuple[int, int]]) -> None:
    """Show the entry, its survey answers and its nearest entries of both sets.

    `counts` is item id -> (answers that picked it as the odd one out, all answers).
    """
    item = comparison.items[row]
    st.markdown(
        f"**{'Holdout' if comparison.labels[row] else 'Benchmark'} entry** "
        f"{plain(item.item_id.split('@')[0])}"
        f"{f' · {plain(item.category)}' if item.category else ''}"
    )
    st.text(comparison.texts[row])
    if item.item_id in counts:
        n_picked, n_answers = counts[item.item_id]
        st.caption(
            f"Survey: {n_picked} of {n_answers} answers picked it as the odd one out; one in three "
            "is chance."
        )
    own_set, other_set = "benchmark", "holdout"
    if comparison.labels[row]:
        own_set, other_set = other_set, own_set
    for title, rows, cosines in (
        (f"Nearest in the {other_set}", comparison.across[0][row], comparison.across[1][row]),
        (f"Nearest in its own set ({own_set})", *comparison.nearest_own(row)),
    ):
        st.markdown(f"**{title}**")
        show_table(
            title.split(" (")[0].lower().replace(" ", "-"),
            entry_rows(
                comparison,
                rows[:N_NEIGHBORS].tolist(),
                cosine=[round(float(cosine), 3) for cosine in cosines[:N_NEIGHBORS]],
            ),
            column_config={"set": None, "entry": st.column_config.TextColumn(width="large")},
        )


def _show_loneliest(comparison: Comparison) -> None:
    """List the entries with the farthest neighbors, such as typing errors or foreign topics."""
    st.markdown("**Which entries stand alone?**")
    rows = [int(row) for row in comparison.loneliest[:N_LONELIEST]]
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


LABELS_KEY = "entry-labels"  # of the session state
MAX_CHARS = 40  # of a label


def labels() -> dict[str, str]:
    """Return item id -> label. Labels color the map and can be saved as a file."""
    return st.session_state.setdefault(LABELS_KEY, {})


def offer_labels(comparison: Comparison, rows: Sequence[int]) -> None:
    """Offer to label the selected entries; an empty label removes their labels."""
    with st.popover("Label", icon=":material/label:"), st.form("label-entries", border=False):
        name = st.text_input(
            "Label of the selected entries", max_chars=MAX_CHARS, placeholder="empty: no label"
        )
        if st.form_submit_button("Label them", type="primary"):
            for row in rows:
                item_id = comparison.items[row].item_id
                labels().pop(item_id, None)
                if name.strip():
                    labels()[item_id] = name.strip()
            st.session_state["map-colour-next"] = "label"
            st.rerun()


def offer_label_file(comparison: Comparison) -> None:
    """Offer the labels as a file, because they are lost when the page is closed."""
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
