"""Random items of every kind, for property tests."""

from hypothesis import strategies as st

from flipcore.core.contracts import Material, Paraphrase
from flipcore.core.records import Item

WORDS = st.text("abcdefgh {}%\n.é", min_size=1, max_size=12)


@st.composite
def items(draw, kinds=("choice", "number", "completion"), most_options=10):
    kind = draw(st.sampled_from(sorted(kinds)))
    options, target = (), None
    if kind == "choice":
        options = tuple(draw(st.lists(WORDS, min_size=1, max_size=most_options, unique=True)))
        target = draw(st.none() | st.integers(0, len(options) - 1).map(str))
    elif kind == "number":
        target = draw(st.fractions(max_denominator=100).map(str))
    return Item.make(dataset="made", key="1", kind=kind, question=draw(WORDS), options=options, target=target)


def stored(item, *texts, state="accepted"):
    """Material with these rewordings of the item."""
    rows = tuple(Paraphrase(f"p{i}", text, state, "hand") for i, text in enumerate(texts))
    return Material({item.item_id: rows})
