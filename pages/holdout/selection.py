"""What was chosen on the map or in its histogram."""

import streamlit as st

MAP, BARS, SELECTION = "entry-map", "closest-bars", "entries-chosen"
ROUND = "entries-let-go"


def _points(key: str) -> list:
    """What the points of a selection carry; a point of a ring carries nothing."""
    points = st.session_state[chart_key(key)]["selection"]["points"]
    return [point["customdata"] for point in points if point.get("customdata")]


def chart_key(name: str) -> str:
    """A chart's key; another one after letting go, because only a new chart forgets the selection that it shows."""
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def let_go() -> None:
    st.session_state.pop(SELECTION, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def from_map(sets_id: str) -> None:
    """Something was chosen on the map. Streamlit forgets a chart's selection when its figure changes, so it is kept here; and
    the map's own figure must not change by it."""
    rows = sorted({int(row) for (row,) in _points(MAP)})
    st.session_state[SELECTION] = {"sets": sets_id, "rows": rows, "spans": choice_in(sets_id)["spans"]}


def from_bars(sets_id: str) -> None:
    """Bars were chosen: their entries are ringed on the map, and what was chosen there is let go."""
    bars = [(float(low), float(high), int(label)) for low, high, label in _points(BARS)]
    st.session_state[SELECTION] = {"sets": sets_id, "rows": [], "spans": bars}


def choice_in(sets_id: str) -> dict:
    """What was chosen in these sets: `rows` of entries on the map, `spans` (low, high, label) of bars; a choice in others means nothing
    here."""
    choice = st.session_state.get(SELECTION, {})
    return choice if choice.get("sets") == sets_id else {"rows": [], "spans": []}


def item_ids() -> list[str]:
    """Ids of the entries that were chosen last on the map or in its bars, whatever sets they stand in."""
    return st.session_state.get(SELECTION, {}).get("ids", [])
