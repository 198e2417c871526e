"""Step 2: what is changed, how the answer is read, and what every variant of one item looks like."""

from __future__ import annotations

import streamlit as st

from flipcore.axes import AXES
from flipcore.core.study import ItemSource, Part, Study
from flipcore.extractors import EXTRACTORS, VALUES
from flipcore.models import model_cards
from flipcore.protocols import PROTOCOLS
from flipcore.stats.memory.frames import OPERATORS, TASKS
from flipcore.text.prompts import LAYOUTS
from pages.new_study.items import items_of
from pages.new_study.params import params
from pages.new_study.preview import preview

REWRITING = frozenset({*OPERATORS, *TASKS}) - {"paraphrase"}


def questions_step(base: Study, sources: list[ItemSource]) -> dict:
    """The study's axes, extractors, protocol and layout, as keyword arguments of `Study`."""
    kinds = {item.kind for source in sources for item in items_of(source)}
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
    layout, protocol, share = _settings(base)
    judge = None
    if any(part.name == "judge" for part in extractors):
        judge = st.selectbox("Who judges", list(model_cards()), key="judge")
    preview(sources, axes, layout)
    return {
        "axes": axes,
        "extractors": extractors,
        "layout": layout,
        "protocol": Part(protocol),
        "judge": judge,
        "confirmatory_share": share / 100,
        "seed": base.seed,
    }


def _settings(base: Study) -> tuple[str, str, int]:
    """(layout, protocol, percent of the items that only a lock opens)."""
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
    return layout, protocol, share


def _split(known: dict, first) -> tuple[dict, dict]:
    return (
        {name: one for name, one in known.items() if first(one)},
        {name: one for name, one in known.items() if not first(one)},
    )


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
            parts.append(Part(name, params(plugin, dict(before.get(name, {})), right, f"{what}-{name}")))
    return tuple(parts)
