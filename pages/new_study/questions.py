"""Step 2: what is changed, how the answer is read, and what every variant of one item looks like."""

from __future__ import annotations

from dataclasses import fields

import streamlit as st

from flipcore.axes import AXES
from flipcore.axes import made as made_axis
from flipcore.core.errors import FlipscopeError
from flipcore.core.randomness import generator
from flipcore.core.study import ItemSource, Part, Study
from flipcore.extractors import EXTRACTORS, VALUES
from flipcore.models import model_cards
from flipcore.protocols import PROTOCOLS
from flipcore.runs.plan import material
from flipcore.stats.memory.frames import OPERATORS, TASKS
from flipcore.text.prompts import LAYOUTS
from pages.common import session
from pages.common.differences import differences
from pages.common.notes import plain
from pages.new_study.items import loaded

REWRITING = frozenset({*OPERATORS, *TASKS}) - {"paraphrase"}
LABELS = {
    "kind": "orders",
    "n": "how many",
    "sets": "label sets",
    "norm": "likelihood per",
    "top_k": "log-probabilities asked for",
    "levels_pct": "levels (% of bits)",
    "n_samples": "samples a level",
    "unreviewed": "also unreviewed ones",
    "pct": "lowest % of tokens",
    "least_mass": "least label mass",
    "max_tokens": "most tokens",
}


def questions_step(base: Study, sources: list[ItemSource]) -> dict:
    """The study's axes, extractors, protocol and layout, as keyword arguments of `Study`."""
    kinds = {item.kind for source in sources for item in (loaded(source)[0] or _none()).items}
    harmless, rewriting = _split(AXES, lambda axis: axis.name not in REWRITING)
    answers, values = _split(EXTRACTORS, lambda extractor: extractor.name not in VALUES)
    axes = (
        *_parts("What is changed without touching the answer: flips", harmless, base.axes, kinds, "axis"),
        *_parts("What is rewritten or damaged: memory", rewriting, base.axes, kinds, "axis"),
    )
    extractors = (
        *_parts("How the answer is read", answers, base.extractors, kinds, "extractor"),
        *_parts("What else is measured: losses and similarities", values, base.extractors, kinds, "extractor"),
    )
    left, middle, right = st.columns(3)
    layout = left.selectbox(
        "Prompt layout",
        list(LAYOUTS),
        list(LAYOUTS).index(base.layout),
        key="layout",
        format_func=lambda name: LAYOUTS[name].title,
        help="The base prompt of every axis. Chat models do better with instructions.",
    )
    protocol = middle.selectbox(
        "Protocol",
        list(PROTOCOLS),
        list(PROTOCOLS).index(base.protocol.name),
        key="protocol",
        format_func=lambda name: PROTOCOLS[name].title,
    )
    share = right.number_input(
        "Set aside for confirmation (%)",
        0,
        80,
        round(100 * base.confirmatory_share),
        5,
        key="confirmatory",
        help="No page shows these items until the settings are locked.",
    )
    judge = None
    if any(part.name == "judge" for part in extractors):
        judge = st.selectbox("Who judges", list(model_cards()), key="judge")
    _preview(sources, axes, layout)
    return {
        "axes": axes,
        "extractors": extractors,
        "layout": layout,
        "protocol": Part(protocol),
        "judge": judge,
        "confirmatory_share": share / 100,
        "seed": base.seed,
    }


def _split(known: dict, first) -> tuple[dict, dict]:
    return (
        {name: one for name, one in known.items() if first(one)},
        {name: one for name, one in known.items() if not first(one)},
    )


def _none():
    class Nothing:
        items = ()

    return Nothing


def _parts(label: str, known: dict, chosen: tuple[Part, ...], kinds: set[str], what: str) -> tuple[Part, ...]:
    """A row per plug-in that applies to these items: switched on or off, with its parameters."""
    st.markdown(f"**{label}**")
    before = {part.name: part.params for part in chosen}
    parts = []
    for name, plugin in known.items():
        fits = bool(plugin.applies_to & kinds)
        left, right = st.columns([2, 3], vertical_alignment="center")
        on = left.toggle(
            plugin.title,
            name in before and fits,
            key=f"{what}-{name}",
            disabled=not fits,
            help=plugin.about if fits else f"applies to {', '.join(sorted(plugin.applies_to))} items only",
        )
        if on and fits:
            parts.append(Part(name, _params(plugin, dict(before.get(name, {})), right, f"{what}-{name}")))
    return tuple(parts)


def _params(plugin, before: dict, place, key: str) -> dict:
    """The parameters that differ from the plug-in's own defaults."""
    shown = {}
    declared = [field for field in fields(plugin) if field.init]
    for field, column in zip(declared, place.columns(max(len(declared), 1)), strict=False):
        default = getattr(plugin, field.name)
        value = _param(column, field, before.get(field.name, default), f"{key}-{field.name}")
        if value != default:
            shown[field.name] = list(value) if isinstance(value, tuple) else value
    return shown


def _param(column, field, value, key: str):
    """One control, by the kind of its default; `choices` in the field's metadata limit it."""
    label, choices = LABELS.get(field.name, field.name.replace("_", " ")), list(field.metadata.get("choices", ()))
    if isinstance(value, bool):
        return column.toggle(label, value, key=key)
    if isinstance(value, (tuple, list)):
        picked = column.multiselect(label, choices or list(value), list(value), key=key, accept_new_options=not choices)
        return tuple(picked) if choices else tuple(_number(one) for one in picked)
    if choices:
        return column.selectbox(label, choices, choices.index(value), key=key)
    if isinstance(value, int):
        return int(column.number_input(label, 0, 1000, value, key=key))
    if isinstance(value, float):
        return float(column.number_input(label, value=value, key=key))
    return column.text_input(label, value, key=key)


def _number(typed):
    """What was typed as a number where it is one; the plug-in says what is wrong with anything else."""
    try:
        return float(typed)
    except (TypeError, ValueError):
        return typed


def _preview(sources: list[ItemSource], axes: tuple[Part, ...], layout: str) -> None:
    """Every variant of one item, with what differs from the base marked."""
    items = [item for source in sources for item in (loaded(source)[0] or _none()).items]
    if not items or not axes:
        return
    st.markdown("**What will be asked**")
    left, right = st.columns([3, 1])
    item = left.selectbox("Item", items, key="preview-item", format_func=lambda item: item.question[:90])
    known = {part.name: part for part in axes if item.kind in AXES[part.name].applies_to}
    if not known:
        st.caption("None of the chosen axes applies to this item.")
        return
    axes = sorted(known, key=lambda axis: axis == "identity")  # an axis that changes something shows more
    name = right.selectbox("Axis", axes, key="preview-axis", format_func=lambda axis: AXES[axis].title)
    try:
        axis = made_axis(name, known[name].params)
        variants = axis.variants(item, layout, generator(0, item.item_id, name), material(session.store()))
    except FlipscopeError as error:
        st.warning(plain(error), icon=":material/info:")
        return
    if len(variants) == 1:
        st.caption(
            "Only the base prompt: identity is measured by asking it again, so set two or more samples."
            if name == "identity"
            else f"{plain(str(variants[0].params.get('why', 'Nothing to change on this item.')))} "
            "It keeps its base prompt only."
        )
    base = variants[0].prompt.text
    for start in range(0, len(variants), 2):
        for column, variant in zip(st.columns(2), variants[start : start + 2], strict=False):
            with column.container(border=True):
                st.caption(plain(variant.key))
                differences(base, variant.prompt.text, key=f"preview-{variant.key}")
