"""Both sets in one embedding, computed once for the tabs Map and Look inside, and which embedding that is."""

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
    """The name of the embedding under View; None until it can be used here, and until somebody has agreed to send the
    entries away."""
    embedding = embeddings.embedding_by_name(st.session_state.get("embedding") or embeddings.DEFAULT)
    why_not = embedding.why_not()
    if why_not:
        st.info(
            plain(f"{embedding.title} cannot be used here. {why_not} Another embedding can be chosen under View."),
            icon=":material/extension_off:",
        )
        return None
    agreed = st.session_state.setdefault("sent-away", set())
    if embedding.sent_to and embedding.sent_to not in agreed:
        st.warning(
            plain(
                f"This sends {n_entries:,} entries to {embedding.sent_to}. A retro-holdout that has left this machine "
                "may end up in training data; entries that are stored here already are not sent again."
            ),
            icon=":material/outgoing_mail:",
        )
        if not st.button("Send them", key=f"{key}-send"):
            return None
        agreed.add(embedding.sent_to)
    return embedding.name


def comparison_of(target: Sequence[Item], retro: Sequence[Item], store: Store, embedding: str) -> Comparison:
    """Kept for as long as the sets and the embedding are the same."""
    items = digest([item.item_id for item in target], [item.item_id for item in retro])
    return _comparison(items, embedding, embeddings.embedding_by_name(embedding).revision, target, retro, store)


@computed("Placing the entries")
@st.cache_resource(show_spinner=False, max_entries=8)
def _comparison(items: str, embedding: str, revision: str, _target, _retro, _store) -> Comparison:
    return comparison(_store, list(_target), list(_retro), embedding)


@st.cache_resource(show_spinner=False)
def layouts(_store: Store) -> Layouts:
    """The maps that are known or on their way, one shelf for all sessions."""
    return Layouts(_store)
