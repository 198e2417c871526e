"""The two raw outputs behind any cell: prompts with their differences, completions with the span that was read."""

from __future__ import annotations

import streamlit as st

from flipcore.answers import answer_text
from flipcore.extractors import EXTRACTORS
from flipcore.records import digest
from flipcore.store.inspection import Inspection, Seen, SeenVariant, inspection
from flipcore.store.rows import now
from pages.common import session
from pages.common.differences import differences, marked_span
from pages.common.notes import plain

VERDICTS = {"genuine": "g", "artifact": "a", "ambiguous": "u"}


def inspector(study_id: str, model: str, item_id: str, axis: str, extractor: str) -> None:
    """Left the original, right a variant; below each what came back and what was read from it."""
    seen = inspection(session.store(), study_id, model, item_id, axis)
    if seen is None or not seen.variants:
        st.info("This item was not asked under that axis. Choose another cell.")
        return
    st.markdown(f"#### {plain(item_id.split('@')[0])} · {plain(axis.replace('_', ' '))} · {plain(model)}")
    target = answer_text(seen.item, seen.item.target)
    st.caption(f"Right answer: {plain(target)}" + (f" · {plain(seen.item.category)}" if seen.item.category else ""))
    names = list(dict.fromkeys(one.extractor for v in seen.variants for one in v.readings))
    if not names:
        st.info("Nothing has come back for this item yet.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control("Readout", names, default=extractor if extractor in names else names[0],
                                      key="inspect-extractor", format_func=_title)
        chosen = chosen or names[0]
        keys = [v.key for v in seen.variants[1:]] or [seen.variants[0].key]
        start = _first_flip(seen, chosen)
        key = st.selectbox("Compared with the original", keys, index=keys.index(start) if start in keys else 0,
                           key=f"inspect-variant-{item_id}-{axis}", width=260,
                           format_func=lambda key: f"{key} – flipped" if _flips(seen, key, chosen) else key)
    left, right = st.columns(2)
    base, other = seen.variants[0], next(v for v in seen.variants if v.key == key)
    with left:
        _side("Original", seen, base, base, chosen)
    with right:
        _side(f"Variant: {plain(key)}", seen, base, other, chosen)
    _flip_verdict(study_id, model, item_id, axis, base, other, chosen)


def _title(name: str) -> str:
    return EXTRACTORS[name].title if name in EXTRACTORS else name


def _answers(variant: SeenVariant, extractor: str) -> list[str | None]:
    return [one.answer for one in variant.readings if one.extractor == extractor and one.status != "absent"]


def _flips(seen: Inspection, key: str, extractor: str) -> bool:
    first = _answers(seen.variants[0], extractor)
    other = _answers(next(v for v in seen.variants if v.key == key), extractor)
    return bool(first and other) and first[0] != other[0]


def _first_flip(seen: Inspection, extractor: str) -> str | None:
    return next((v.key for v in seen.variants[1:] if _flips(seen, v.key, extractor)), None)


def _side(title: str, seen: Inspection, base: SeenVariant, variant: SeenVariant, extractor: str) -> None:
    with st.container(border=True):
        st.markdown(f"**{title}**")
        differences(base.prompt, variant.prompt, key=f"prompt-{title}-{variant.variant_id}")
    for one in [one for one in variant.readings if one.extractor == extractor]:
        with st.container(border=True):
            _reading(seen, one, f"{title}-{variant.variant_id}-{one.sample}")


def _reading(seen: Inspection, one: Seen, key: str) -> None:
    """One sample: the answer as its text, the completion with the matched span, probabilities, the raw exchange."""
    said = {"ok": f"read as **{plain(answer_text(seen.item, one.answer))}**", "unreadable": "**no answer could be read**",
            "absent": "**absent**: missing, and never counted as a flip"}[one.status]
    right = "" if one.is_correct is None else " · right" if one.is_correct else " · wrong"
    st.markdown(f"Sample {one.sample + 1}: {said}{right}")
    if one.reason:
        st.caption(plain(one.reason))
    if one.error:
        st.caption(f"The call failed: {plain(one.error)}")
    if one.text:
        marked_span(one.text, one.span, key=f"text-{key}")
    for option, share in sorted(one.probabilities, key=lambda pair: -pair[1]):
        st.progress(min(max(share, 0.0), 1.0), text=f"{share:.2f}  {plain(answer_text(seen.item, option))}")
    if one.label_mass is not None:
        st.caption(f"Label mass {one.label_mass:.2f}: the share of first-token probability that lies on any label.")
    with st.popover("Raw exchange", icon=":material/data_object:"):
        st.json(one.request, expanded=1)
        st.code(one.raw_reply or one.text or "(the reply's body was not kept)", language=None, wrap_lines=True)


def _flip_verdict(study_id: str, model: str, item_id: str, axis: str, base: SeenVariant, other: SeenVariant,
                  extractor: str) -> None:
    """Mark a flip genuine, artifact or ambiguous; an appended row, never an overwritten one."""
    if base is other:
        return
    st.markdown("**Is this flip the model's or the readout's?**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = st.text_input("Your name", key="reviewer", placeholder="for the record", width=180)
        for verdict, letter in VERDICTS.items():
            if st.button(f"{verdict.capitalize()}", key=f"verdict-{verdict}", shortcut=letter, disabled=not who):
                row = {"study_id": study_id, "model": model, "item_id": item_id, "axis": axis,
                       "variant_id": base.variant_id, "other_variant_id": other.variant_id, "extractor": extractor,
                       "verdict": verdict, "reviewer": who, "created_at": now()}
                stamp = row["created_at"].isoformat()
                session.store().writer.add("flip_verdicts", [
                    row | {"flip_verdict_id": digest(*[str(v) for v in row.values()], stamp)}]).result(10)
                st.toast(f"Recorded as {verdict}.")
    if not who:
        st.caption("Give a name first: a verdict without one cannot be weighed.")
