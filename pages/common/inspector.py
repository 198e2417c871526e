"""The two raw outputs behind any cell: prompts with their differences, completions with the span that was read.

What is looked at stands in the link (item, axis, readout, variant), so that a copied link opens the same view.
"""

import streamlit as st

from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.extractors import EXTRACTORS, VALUES
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.compared_pairs import Side, flips, has_both, sides, why_no_flip
from flipcore.reports.trajectories import Turn, trials, turns_of
from flipcore.store.queries.inspection import Inspection, inspection
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.copying import copy_link
from pages.common.evidence import other_side, side
from pages.common.flip_verdicts import flip_verdict_bar
from pages.common.showing import plain


def inspector_place(
    study_id: str, model: str, steps: Steps, *, readout: str = WRITTEN_ANSWER, sheet: bool = False, title: str = ""
) -> bool:
    """The inspector of the item that stands in the link, beside its picture; below 1,200 px, or with `sheet` at any width, a
    sheet over it. False where the link has no item."""
    item_id = st.query_params.get("item")
    if not item_id:
        return False
    with st.container(border=not sheet, key="inspector-sheet" if sheet else "inspector"):
        if title:
            st.markdown(f"**{plain(title)}**")
        if steps.place(item_id) is None:
            st.caption("The filters hide the row of this item.")
        axis, extractor = st.query_params.get("axis", IDENTITY), st.query_params.get("readout", readout)
        inspector(study_id, model, item_id, axis, extractor, steps)
    return True


def close_item() -> None:
    """Takes the item out of the link."""
    for name in ("item", "axis", "readout", "variant", "row", "finding", "on", "of"):
        st.query_params.pop(name, None)


def inspector(study_id: str, model: str, item_id: str, axis: str, extractor: str, steps: Steps) -> None:
    """Left the original, right a variant; below each what was read. `steps` are the items that k and j step through."""
    view = inspection(session.store(), study_id, model, item_id, axis)
    if view is None or not view.variants:
        st.info("This item was not asked under that axis. Choose another cell.")
        return
    _title_line(view, axis, model, steps)
    names = list(dict.fromkeys(one.extractor for v in view.variants for one in v.readings))
    if not names:
        st.info("Nothing has come back for this item yet.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        extractor_name = extractor if extractor in names else names[0]
        place = f"inspect-{item_id}-{axis}"
        st.segmented_control(
            "Extractor",
            names,
            default=extractor_name,
            required=True,
            key=f"{place}-readout-{extractor_name}",
            format_func=_title,
            on_change=_into_link,
            args=("readout", f"{place}-readout-{extractor_name}"),
        )
        pairs = sides(view, extractor_name)
        link_key = st.query_params.get("variant")
        key = link_key if link_key in pairs else next((key for key in pairs if flips(pairs[key])), next(iter(pairs)))
        st.selectbox(
            "Compared with the original",
            list(pairs),
            index=list(pairs).index(key),
            width=260,
            key=f"{place}-{extractor_name}-variant-{key}",  # the marks are the extractor's, so each has a control of its own
            on_change=_into_link,
            args=("variant", f"{place}-{extractor_name}-variant-{key}"),
            format_func=lambda key: f"{key} – flipped" if flips(pairs[key]) else key,
        )
    there = {"item": item_id, "axis": axis, "readout": extractor_name, "variant": key}
    if changed := {name: value for name, value in there.items() if st.query_params.get(name) != value}:
        st.query_params.update(changed)
    (base, before), (other, _) = pairs[key]
    _who_flips(view, names, key)
    left, right = st.columns(2)
    with left:
        side("Original", view, other, base, before, as_losses=True)
    with right:
        other_side(f"Variant: {key}", view, pairs[key])
    trials_of(pairs[key])
    if extractor_name not in VALUES or why_no_flip(view, pairs[key]):
        _judge(study_id, model, axis, extractor_name, view, pairs[key])


def _who_flips(view: Inspection, names: list[str], key: str) -> None:
    """Under which extractors the answer to this variant is another one, and under which it stays."""
    pairs = {name: sides(view, name).get(key) for name in names if name not in VALUES}
    read = {name: pair for name, pair in pairs.items() if pair and has_both(pair) and not why_no_flip(view, pair)}
    flipping = ", ".join(_title(name) for name, pair in read.items() if flips(pair))
    same = ", ".join(_title(name) for name, pair in read.items() if not flips(pair))
    if read:
        st.markdown(
            "The answer "
            + "; ".join([f"**flips** under {flipping}"] * bool(flipping) + [f"stays under {same}"] * bool(same))
            + "."
        )


def _judge(study_id: str, model: str, axis: str, extractor: str, view: Inspection, pair: tuple[Side, Side]) -> None:
    """Where the two differ, a person says whether the difference is one of meaning; else why there is nothing to judge."""
    (base, _), (other, _) = pair
    why = why_no_flip(view, pair)
    if why:
        st.caption(plain(why))
    elif base is not other:
        if flips(pair):
            flip_verdict_bar(study_id, model, view.item.item_id, axis, base.variant_id, other.variant_id, extractor)
        else:
            st.caption("The answers agree under this extractor: there is no flip to judge here.")


def open_item(item_id: str, **rest: str) -> None:
    """Puts an item into the link, on the axis and readout that are there already or in `rest`."""
    st.query_params.update({"item": item_id} | rest)
    if "variant" not in rest:
        st.query_params.pop("variant", None)


def _into_link(name: str, key: str) -> None:
    st.query_params[name] = st.session_state[key]


def _title(name: str) -> str:
    return EXTRACTORS[name].title if name in EXTRACTORS else plain(name)


def _title_line(view: Inspection, axis: str, model: str, steps: Steps) -> None:
    item = view.item
    st.markdown(f"#### {plain(item.item_id.split('@')[0])} · {plain(axis.replace('_', ' '))} · {plain(model)}")
    at = steps.place(item.item_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, letter, step in (("Previous", "k", -1), ("Next", "j", 1)):
            to = None if at is None else steps.at(at + step)
            st.button(
                label,
                key=f"inspect-{label.lower()}",
                shortcut=letter,
                disabled=to is None,
                on_click=open_item,
                args=(to or item.item_id,),
            )
        copy_link(key="inspect-link")
        st.button("Close", key="inspect-close", icon=":material/close:", on_click=close_item)
        place = f" · {at + 1:,} of {len(steps):,}" if at is not None else ""
        category = f" · {plain(item.category)}" if item.category else ""
        st.caption(f"Right answer: {plain(answer_text(item, item.target))}{category}{place}")


# Two trials of an agent beside each other: their turns folded, the ones at which they part open.

MOST_LETTERS, MOST_TURNS, MOST_TEXT = 160, 80, 8_000


def trials_of(pair: tuple[Side, Side]) -> None:
    """Nothing where neither side was stored with its turns."""
    first, second = (turns_of(samples[0].raw_reply) if samples else () for _, samples in pair)
    if max(len(first), len(second)) < 3:
        return
    is_one = first == second
    both = trials(first, second)
    st.markdown("**What was done, turn by turn**")
    if not is_one:
        st.caption(plain(both.sentence))
    sides = ((first, both.first_at),) if is_one else ((first, both.first_at), (second, both.second_at))
    for column, (turns, at) in zip(st.columns(len(sides)), sides, strict=True):
        with column:
            _turns(turns, at)


def _turns(turns: tuple[Turn, ...], at: int | None) -> None:
    """Those before the parting are folded together, so that both sides begin with the action that differs."""
    if at:
        with st.expander(f"{count_of(at, 'turn')} before"):
            for number, turn in list(enumerate(turns[:at], 1))[-MOST_TURNS:]:
                st.caption(plain(f"{number} · {turn.role}"))
                _body(turn)
    for number, turn in enumerate(turns[at or 0 :][:MOST_TURNS], (at or 0) + 1):
        title = f"{number} · {turn.title[:MOST_LETTERS]}{'…' * (len(turn.title) > MOST_LETTERS)}"
        with st.expander(plain(title), expanded=number - 1 == at):
            _body(turn)
    if left := len(turns) - (at or 0) - MOST_TURNS:
        if left > 0:
            st.caption(f"{count_of(left, 'further turn')} in the raw reply.")


def _body(turn: Turn) -> None:
    for text in (turn.text, *turn.calls):
        if text:
            st.code(text[:MOST_TEXT] + "…" * (len(text) > MOST_TEXT), language=None, wrap_lines=True)
