"""Step 2: what is changed, how the answer is read, and what every variant of one item looks like."""

from dataclasses import replace

import streamlit as st

from flipcore.axes import AXES
from flipcore.core import bounds
from flipcore.core.plugins import Registry
from flipcore.core.study import ItemSource, Part, Study
from flipcore.extractors import EXTRACTORS, needs_judge
from flipcore.models import model_cards
from flipcore.protocols import PROTOCOLS
from flipcore.reports.declaration import in_order
from flipcore.reports.plugins import about, groups, plugin_problems
from flipcore.text.prompts import LAYOUTS
from pages.common.notes import plain, shown_problem
from pages.new_study.items import items_of
from pages.new_study.own_prompt import own_prompt
from pages.new_study.params import params
from pages.new_study.preview import preview


def questions_step(base: Study, sources: list[ItemSource]) -> dict:
    """The study's axes, extractors, protocol, layout and own prompt, as keyword arguments of `Study`."""
    kinds = {item.kind for source in sources for item in items_of(source)}
    parts: dict[str, tuple[Part, ...]] = {AXES.what: (), EXTRACTORS.what: ()}
    for label, registry, names in groups():
        before = base.axes if registry is AXES else base.extractors
        parts[registry.what] += _parts(label, registry, names, before, kinds)
    axes, extractors = in_order(parts[AXES.what], base.axes), in_order(parts[EXTRACTORS.what], base.extractors)
    for problem in plugin_problems():
        st.warning(plain(problem), icon=":material/extension_off:")
    settings = _settings(base) | {"axes": axes, "extractors": extractors, "judge": _judge(base, extractors)}
    with shown_problem():
        settings["prompt"] = own_prompt(base.prompt)
    preview(replace(base, items=tuple(sources), **settings))
    return settings


def _judge(base: Study, extractors: tuple[Part, ...]) -> str | None:
    """Who judges, where something is judged: the draft's judge first."""
    if not any(needs_judge(part.name) for part in extractors):
        return None
    names = list(model_cards())
    names += [base.judge] if base.judge and base.judge not in names else []
    return st.selectbox("Who judges", names, names.index(base.judge) if base.judge else 0, key="judge")


def _settings(base: Study) -> dict:
    """Layout, protocol, the share of the items that only a lock opens, and the seed. What is not moved stays as it was."""
    left, middle, right, last = st.columns(4)
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
    percent = round(100 * base.confirmatory_share)
    share = right.number_input(
        "Set aside for confirmation (%)",
        0,
        round(100 * bounds.STUDY["confirmatory_share"][1]),
        percent,
        5,
        key="confirmatory",
        help="No page shows these items until the settings are locked.",
    )
    seed = last.number_input(
        "Seed", 0, 2**31 - 1, base.seed, key="study-seed", help="Decides the variants, the order and what is set aside."
    )
    return {
        "layout": layout,
        "protocol": base.protocol if protocol == base.protocol.name else Part(protocol),
        "confirmatory_share": base.confirmatory_share if share == percent else share / 100,
        "seed": int(seed),
    }


def _parts(label: str, registry: Registry, names: list[str], selection: tuple[Part, ...], kinds: set[str]) -> tuple[Part, ...]:
    """A row per plug-in that applies to these items: switched on or off, with its parameters."""
    st.markdown(f"**{label}**")
    before = {part.name: part.params for part in selection}
    parts = {}
    for name in names:
        plugin, key = registry[name], f"{registry.what}-{name}"
        fits = bool(plugin.applies_to & kinds)
        left, right = st.columns([2, 3], vertical_alignment="center")
        on = left.toggle(
            plugin.title,
            name in before and fits,
            key=key,
            disabled=not fits,
            help=about(registry, name) if fits else f"applies to {', '.join(sorted(plugin.applies_to))} items only",
        )
        if on and fits:
            parts[name] = Part(name, params(plugin, dict(before.get(name, {})), right, key))
    return tuple(parts.values())
