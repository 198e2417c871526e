"""One side of the inspector: what came back and what was read from it, and below it the prompt with what differs."""

import streamlit as st

from flipcore.extractors import title_of
from flipcore.reports.compared_pairs import Side
from flipcore.stats.base.estimate import number_text
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant
from flipcore.text.answers import answer_text
from pages.common.differences import differences, marked_span, share_bars
from pages.common.showing import plain, show_table

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
                _reading(view, one, f"{key}-{one.sample}")
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


def _reading(view: Inspection, one: SampleView, key: str) -> None:
    """One sample: the answer as its text, the completion with the matched span, probabilities, the raw exchange."""
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
        marked_span(one.text, one.span, key=f"text-{key}")
    if one.probabilities:
        share_bars(
            [
                (answer_text(view.item, option), share, option == one.answer)
                for option, share in sorted(one.probabilities, key=lambda pair: -pair[1])
            ],
            key=f"bars-{key}",
        )
    if one.label_mass is not None:
        st.caption(f"Label mass {one.label_mass:.2f}: the share of first-token probability that lies on any label.")
    folded = st.expander("Raw request and reply", icon=":material/data_object:", key=f"raw-{key}", on_change="rerun")
    if folded.open:  # a click on the map does not wait for what nobody looks at
        with folded:
            _raw(one)


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
