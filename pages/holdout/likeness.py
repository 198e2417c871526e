"""Embedding of both sets and selected entries, which the parts Map and Look inside share.

Entries are selected on the map or in its histogram.
"""

from collections.abc import Sequence

import streamlit as st

from flipcore.core.records import Item, digest
from flipcore.stats.holdout.comparison import Comparison
from flipcore.store.connection import Store
from flipcore.vectors import embeddings
from flipcore.vectors.embeddings import comparison
from flipcore.vectors.map_jobs import Layouts
from pages.common.session import computed
from pages.common.showing import plain


def embedding_choice(n_entries: int, key: str) -> str | None:
    """Return the name of the embedding that is chosen under View.

    None, after a message, if it cannot be used here, or until somebody agrees to send the
    `n_entries` entries to another machine.
    """
    embedding = embeddings.embedding_by_name(
        st.session_state.get("embedding") or embeddings.DEFAULT
    )
    why_not = embedding.why_not()
    if why_not:
        st.info(
            plain(
                f"{embedding.title} cannot be used here. {why_not} Another embedding can be "
                "chosen under View."
            ),
            icon=":material/extension_off:",
        )
        return None
    agreed_receivers = st.session_state.setdefault("sent-away", set())
    # Sending cannot be undone, so ask once per session and receiver.
    if embedding.sent_to and embedding.sent_to not in agreed_receivers:
        st.warning(
            plain(
                f"This sends {n_entries:,} entries to {embedding.sent_to}. A holdout that has left "
                "this machine may end up in training data; entries that are stored here already "
                "are not sent again."
            ),
            icon=":material/outgoing_mail:",
        )
        if not st.button("Send them", key=f"{key}-send"):
            return None
        agreed_receivers.add(embedding.sent_to)
    return embedding.name


def comparison_of(
    target: Sequence[Item], retro: Sequence[Item], store: Store, embedding: str
) -> Comparison:
    """Return the comparison of both sets by an embedding, cached in memory."""
    # An item's id changes with its text, so the ids are enough for the key.
    items = digest([item.item_id for item in target], [item.item_id for item in retro])
    revision = embeddings.embedding_by_name(embedding).revision
    return _comparison(items, embedding, revision, target, retro, store)


@computed("Placing the entries")
@st.cache_resource(show_spinner=False, max_entries=8)
def _comparison(items: str, embedding: str, revision: str, _target, _retro, _store) -> Comparison:
    return comparison(_store, list(_target), list(_retro), embedding)


@st.cache_resource(show_spinner=False)
def layouts(_store: Store) -> Layouts:
    """Return the maps that are computed or being computed, shared by all sessions."""
    return Layouts(_store)


MAP, BARS = "entry-map", "closest-bars"  # names of the charts
# Keys of the session state: the selection, and how often a selection was cleared.
SELECTION_KEY, N_CLEARED_KEY = "entries-chosen", "entries-let-go"


def _points(key: str) -> list:
    """Return the data of a chart's selected points; the points of rings have none."""
    points = st.session_state[chart_key(key)]["selection"]["points"]
    return [point["customdata"] for point in points if point.get("customdata")]


def chart_key(name: str) -> str:
    """Return a chart's key, which changes whenever the selection is cleared.

    A chart forgets its own selection only if it gets a new key.
    """
    return f"{name}-{st.session_state.get(N_CLEARED_KEY, 0)}"


def clear_selection() -> None:
    st.session_state.pop(SELECTION_KEY, None)
    st.session_state[N_CLEARED_KEY] = st.session_state.get(N_CLEARED_KEY, 0) + 1


def select_on_map(sets_id: str) -> None:
    """Store the entries that were selected on the map; selected bars stay."""
    rows = sorted({int(row) for (row,) in _points(MAP)})
    # Streamlit forgets a chart's selection if its figure changes. So the selection is stored here,
    # and the map's own selection must not change its figure.
    spans = selection_in(sets_id)["spans"]
    st.session_state[SELECTION_KEY] = {"sets": sets_id, "rows": rows, "spans": spans}


def select_bars(sets_id: str) -> None:
    """Store the selected bars, whose entries get rings on the map; clear the map's selection."""
    spans = [(float(low), float(high), int(label)) for low, high, label in _points(BARS)]
    st.session_state[SELECTION_KEY] = {"sets": sets_id, "rows": [], "spans": spans}


def selection_in(sets_id: str) -> dict:
    """Return the selection in these sets; it is empty if other sets were shown at the time.

    `rows` are indices of entries. `spans` are (low, high, label) of bars, with the range of the
    cosine and the set (0 benchmark, 1 holdout).
    """
    selection = st.session_state.get(SELECTION_KEY, {})
    return selection if selection.get("sets") == sets_id else {"rows": [], "spans": []}


def selected_ids() -> list[str]:
    """Return the ids of the entries that were selected last, in any sets."""
    return st.session_state.get(SELECTION_KEY, {}).get("ids", [])
