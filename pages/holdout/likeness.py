"""Parts of the tabs Map and Look inside: one embedding of both sets, and the selection.

The embedding is computed once; the selection is what was chosen on the map or in its histogram.
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
    """Return the name of the embedding under View.

    None until it can be used here, and until somebody has agreed to send the entries away.
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
    agreed = st.session_state.setdefault("sent-away", set())
    # Asked once per session and place: what was sent cannot be taken back.
    if embedding.sent_to and embedding.sent_to not in agreed:
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
        agreed.add(embedding.sent_to)
    return embedding.name


def comparison_of(
    target: Sequence[Item], retro: Sequence[Item], store: Store, embedding: str
) -> Comparison:
    """Return the comparison, kept while the sets and the embedding are the same."""
    # Ids and not texts: an id changes with its text.
    items = digest([item.item_id for item in target], [item.item_id for item in retro])
    return _comparison(
        items, embedding, embeddings.embedding_by_name(embedding).revision, target, retro, store
    )


@computed("Placing the entries")
@st.cache_resource(show_spinner=False, max_entries=8)
def _comparison(items: str, embedding: str, revision: str, _target, _retro, _store) -> Comparison:
    return comparison(_store, list(_target), list(_retro), embedding)


@st.cache_resource(show_spinner=False)
def layouts(_store: Store) -> Layouts:
    """Return the maps that are known or on their way, shared by all sessions."""
    return Layouts(_store)


MAP, BARS, SELECTION = "entry-map", "closest-bars", "entries-chosen"
ROUND = "entries-let-go"


def _points(key: str) -> list:
    """Return the data of the selected points; a point of a ring carries none."""
    points = st.session_state[chart_key(key)]["selection"]["points"]
    return [point["customdata"] for point in points if point.get("customdata")]


def chart_key(name: str) -> str:
    """Return a chart's key, another one after letting go.

    Only a new chart forgets the selection that it shows.
    """
    # The number of times that a choice was let go.
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def let_go() -> None:
    st.session_state.pop(SELECTION, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def from_map(sets_id: str) -> None:
    """Take over what was chosen on the map.

    The map's own figure must not change by it.
    """
    # In order and each once, whatever the chart sends.
    rows = sorted({int(row) for (row,) in _points(MAP)})
    # Streamlit forgets a chart's selection when its figure changes, so it is kept here.
    st.session_state[SELECTION] = {
        "sets": sets_id,
        "rows": rows,
        "spans": choice_in(sets_id)["spans"],
    }


def from_bars(sets_id: str) -> None:
    """Take over chosen bars: their entries are ringed on the map, and its own choice is let go."""
    # What was chosen on the map goes: its figure must not change by its own selection.
    bars = [(float(low), float(high), int(label)) for low, high, label in _points(BARS)]
    st.session_state[SELECTION] = {"sets": sets_id, "rows": [], "spans": bars}


def choice_in(sets_id: str) -> dict:
    """Return what was chosen in these sets; a choice in others means nothing here.

    `rows` are entries on the map, `spans` (low, high, label) of bars.
    """
    choice = st.session_state.get(SELECTION, {})
    return choice if choice.get("sets") == sets_id else {"rows": [], "spans": []}


def item_ids() -> list[str]:
    """Return the ids of the entries that were chosen last, whatever sets they are in."""
    return st.session_state.get(SELECTION, {}).get("ids", [])
