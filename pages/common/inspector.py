"""The two raw outputs behind any cell: prompts with their differences, completions with the span that was read.

What is looked at stands in the link (item, axis, readout, variant), so that a copied link opens the same view.
"""

import streamlit as st

from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.extractors import EXTRACTORS, VALUES, title_of
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.compared_pairs import Side, by_other_extractors, flips, has_both, sides, why_no_flip
from flipcore.reports.trajectories import Turn, trials, turns_of
from flipcore.stats.base.estimate import number_text
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant, inspection
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.differences import differences, marked_spans, share_bars
from pages.common.flip_verdicts import flip_verdict_bar
from pages.common.showing import plain, show_table
from pages.components import component

_link = component("copy_link")


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
        _close_button()  # a sheet lies over the page: it must always go away
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
        _link(key="inspect-link", width="content")  # the whole view stands in the address
        _close_button()
        place = f" · {at + 1:,} of {len(steps):,}" if at is not None else ""
        category = f" · {plain(item.category)}" if item.category else ""
        st.caption(f"Right answer: {plain(answer_text(item, item.target))}{category}{place}")


def _close_button() -> None:
    st.button("Close", key="inspect-close", icon=":material/close:", on_click=close_item)


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


# One side of the inspector: what came back and what was read from it, and below it the prompt with what differs.

MOST_WORDS = 80  # letters of the words that another extractor took
MANY, MANY_PX = 3, 520  # more samples than this scroll in a window of their own


def side(
    title: str, view: Inspection, other: SeenVariant, variant: SeenVariant, samples: list[SampleView], *, as_losses: bool
) -> None:
    """`variant`'s prompt against `other`'s; words that differ are underlined, or dotted where `as_losses`. A base prompt that is
    only asked again has no differences."""
    key = "left" if as_losses else "right"  # of the place, not of the item: what is drawn again there is not built anew
    st.markdown(f"**{plain(title)}**")
    if not samples:
        with st.container(border=True):
            st.markdown("Nothing has come back under this extractor.")
    with st.container(height=MANY_PX if len(samples) > MANY else "content", border=False):
        for one in samples:
            with st.container(border=True):
                _reading(view, one, by_other_extractors(variant, one), f"{key}-{one.sample}")
    with st.container(border=True):
        st.caption("The prompt")
        if variant.system:
            st.caption(f"System prompt: {plain(variant.system)}")
        differs = other.prompt != variant.prompt
        differences(other.prompt, variant.prompt, key=f"prompt-{key}", as_losses=as_losses, shorten=differs)


def other_side(title: str, view: Inspection, pair: tuple[Side, Side]) -> None:
    """The variant, or for a prompt that was asked once what each extractor reads in its answer."""
    (base, before), (other, after) = pair
    if before is after:
        _every_readout(view, base)
    else:
        side(title, view, base, other, after, as_losses=False)


def _every_readout(view: Inspection, variant: SeenVariant) -> None:
    rows = [
        {
            "Sample": one.sample + 1,
            "Extractor": title_of(one.extractor),
            "Answer": answer_text(view.item, one.answer) if one.answer is not None else one.reason or one.status,
            "Right": one.is_correct,
            "Score": one.value,
        }
        for one in variant.readings
    ]
    with st.container(border=True):
        st.markdown("**What each extractor reads in it**")
        show_table("readouts-of-item", rows, column_config={"Right": st.column_config.CheckboxColumn()})


def _read(view: Inspection, one: SampleView) -> str:
    """The answer as its text, or the number where a number was measured instead."""
    if one.answer is None and one.value is not None:
        return f"measured **{number_text(one.value, 3)}**"
    return f"read as **{plain(answer_text(view.item, one.answer))}**"


def _reading(view: Inspection, one: SampleView, others: list[SampleView], key: str) -> None:
    """One sample: the answer as its text, the output with the words that each extractor took, what the others took,
    probabilities, the raw exchange."""
    status_text = {
        "ok": _read(view, one),
        "unreadable": "**no answer could be read**",
        "cut": "**cut off**: wrong for accuracy, and never counted as a flip",
        "absent": "**absent**: missing, and never counted as a flip",
    }[one.status]
    right = "" if one.is_correct is None else " · right" if one.is_correct else " · wrong"
    st.markdown(f"Sample {one.sample + 1}: {status_text}{right}")
    if one.reason:
        st.caption(plain(one.reason))
    if one.error:
        st.caption(f"The call failed: {plain(one.error)}")
    if one.reasoning_title and not one.reasoning:
        st.caption(plain(one.reasoning_title))
    if one.reasoning:
        with st.expander(one.reasoning_title, icon=":material/psychology:"):
            st.code(one.reasoning, language=None, wrap_lines=True)
    if one.text:
        same_text = [other.span for other in others if other.text == one.text]
        marked_spans(one.text, [one.span, *same_text], key=f"text-{key}")
    _by_others(view, one, others)
    if one.probabilities:
        share_bars(
            [
                (answer_text(view.item, option), share, option == one.answer)
                for option, share in sorted(one.probabilities, key=lambda pair: -pair[1])
            ],
            key=f"bars-{key}",
        )
    if one.label_mass is not None:
        st.caption(f"Label mass {one.label_mass:.0%}: the share of first-token probability that lies on any label.")
    folded = st.expander("Raw request and reply", icon=":material/data_object:", key=f"raw-{key}", on_change="rerun")
    if folded.open:  # a click on the map does not wait for what nobody looks at
        with folded:
            _raw(one)


def _by_others(view: Inspection, one: SampleView, others: list[SampleView]) -> None:
    """A line per other extractor: what it took, from which words, and whether it differs."""
    lines = []
    for other in others:
        if other.answer is None and other.value is None:
            taken = f"no answer ({plain(other.reason or other.status)})"
        else:
            taken = _read(view, other).removeprefix("read as ")
        differs = " – differs" if other.value is None and other.answer != one.answer else ""
        low, high = other.span or (0, 0)
        words = f", from “{plain(' '.join(other.text[low:high].split())[:MOST_WORDS])}”" if low < high else ""
        lines.append(f"- {plain(_title(other.extractor))}: {taken}{words}{differs}")
    if lines:
        st.markdown("\n".join(lines))


def _raw(one: SampleView) -> None:
    """The exchange as it was, and what the server returned of log-probabilities."""
    st.json(one.request, expanded=1)
    body = one.raw_reply or one.text
    if body:
        st.code(body, language=None, wrap_lines=True)
    for what, returned in one.log_probabilities.items():
        st.caption(f"Returned log-probabilities (nats), {what}:")
        st.json(returned, expanded=len(returned) <= 20)
    if not body and not one.log_probabilities:
        st.caption("The reply was empty, or its body was not kept.")
    if one.ended:
        st.caption(plain(one.ended))
