"""Step 3 of New study: axes, extractors, prompt, and a preview of all variants of an item."""

from collections.abc import Mapping
from dataclasses import fields, replace

import streamlit as st

from flipcore.axes import AXES
from flipcore.core import bounds
from flipcore.core.contracts import ANSWER, Extractor
from flipcore.core.errors import FlipscopeError
from flipcore.core.plugins import Registry
from flipcore.core.records import IDENTITY, Item
from flipcore.core.study import PICKS, ItemSource, ModelUse, OwnPrompt, Part, Study
from flipcore.datasets import LOADERS
from flipcore.extractors import EXTRACTORS, needs_judge
from flipcore.models import model_cards
from flipcore.protocols import PROTOCOLS
from flipcore.reports.declaration import in_order
from flipcore.reports.plugins import about, groups, plugin_problems
from flipcore.reports.purposes import PURPOSES, Purpose, is_asked, parts_of, why_unread
from flipcore.runs.plan import is_set_aside, plan
from flipcore.text.own_prompts import FIELDS, FILTERS
from flipcore.text.prompt_presets import PRESETS, resolved
from flipcore.text.prompts import LAYOUTS
from pages.common import session
from pages.common.differences import show_differences
from pages.common.showing import plain, shown_problem
from pages.new_study.items import items_of, shown_items


def kinds_of(sources: list[ItemSource]) -> set[str]:
    """Return the kinds of the items, such as choice, number or text."""
    kinds: set[str] = set()
    for source in sources:
        kinds.update(item.kind for item in items_of(source))
    return kinds


def purposes_step(base: Study, sources: list[ItemSource]) -> list[Purpose]:
    """Offer the questions that the study can answer; return those that are ticked.

    Ticking a question switches on its axes and extractors.
    """
    kinds = kinds_of(sources)
    chosen = []
    for purpose, place in zip(PURPOSES, st.columns(len(PURPOSES)), strict=True):
        key = f"purpose-{purpose.name}"
        # Set once from the draft. Later runs keep what the user has chosen.
        if key not in st.session_state:
            st.session_state[key] = is_asked(purpose, base, kinds)
        with place:
            if st.checkbox(purpose.question, key=key, on_change=_switch_parts):
                chosen.append(purpose)
            st.caption(purpose.about)
    return chosen


def _switch_parts() -> None:
    """Switch on the parts of ticked purposes, and switch off the parts of the others."""
    ticked = [purpose for purpose in PURPOSES if st.session_state[f"purpose-{purpose.name}"]]
    wanted = parts_of(ticked)
    for name in parts_of(PURPOSES):
        for registry in (AXES, EXTRACTORS):
            key = f"{registry.noun}-{name}"
            if name in registry and st.session_state.get(f"can-{key}"):
                st.session_state[key] = name in wanted


def parts_step(
    base: Study,
    sources: list[ItemSource],
    models: list[ModelUse],
    purposes: list[Purpose],
    *,
    is_copy: bool,
) -> dict:
    """Draw axes, extractors and judge; return them as keyword arguments of `Study`.

    Extractors that no chosen model supports are off. A copy keeps those of its original.
    """
    kinds = kinds_of(sources)
    wanted = parts_of(purposes)
    parts: dict[str, tuple[Part, ...]] = {AXES.noun: (), EXTRACTORS.noun: ()}
    for label, registry, names in groups():
        base_parts = base.axes if registry is AXES else base.extractors
        copied_names = {part.name for part in base_parts} if is_copy else set()
        obstacles = {}
        for name in names:
            obstacles[name] = (
                ""
                if registry is AXES or name in copied_names
                else why_unread(EXTRACTORS[name], [model.name for model in models])
            )
        parts[registry.noun] += _choose_parts(
            label, registry, obstacles, base_parts, kinds=kinds, wanted=wanted
        )
    axes = in_order(parts[AXES.noun], base.axes)
    extractors = in_order(parts[EXTRACTORS.noun], base.extractors)
    for problem in plugin_problems():
        st.warning(plain(problem), icon=":material/extension_off:")
    st.caption(
        "Each question is one turn. Conversations with tools come in through logs, under Studies, "
        "with their own scores."
    )
    return {"axes": axes, "extractors": extractors, "judge": _choose_judge(base, extractors)}


def prompt_step(base: Study) -> dict:
    """Draw protocol, layout, seed and own prompt; return them as keyword arguments of `Study`."""
    settings = _choose_settings(base)
    with shown_problem():
        settings["prompt"] = choose_own_prompt(base.prompt)
    return settings


def _choose_judge(base: Study, extractors: tuple[Part, ...]) -> str | None:
    """Ask which model judges, starting at the draft's; None if no extractor needs a judge."""
    if not any(needs_judge(part.name) for part in extractors):
        return None
    names = list(model_cards())
    # This machine may lack the draft's judge.
    names += [base.judge] if base.judge and base.judge not in names else []
    return st.selectbox(
        "Who judges", names, names.index(base.judge) if base.judge else 0, key="judge"
    )


def _choose_settings(base: Study) -> dict:
    """Draw layout, protocol, the share to set aside and the seed; return them.

    Unchanged controls keep the exact values of `base`, which the controls may round.
    """
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
        min_value=0,
        max_value=round(100 * bounds.STUDY["confirmatory_share"][1]),
        value=percent,
        step=5,
        key="confirmatory",
        help="No page shows these items until the settings are locked.",
    )
    seed = last.number_input(
        "Seed",
        0,
        2**31 - 1,
        base.seed,
        key="study-seed",
        help="Decides the variants, the order and what is set aside.",
    )
    return {
        "layout": layout,
        "protocol": base.protocol if protocol == base.protocol.name else Part(protocol),
        "confirmatory_share": base.confirmatory_share if share == percent else share / 100,
        "seed": int(seed),
    }


def _choose_parts(
    label: str,
    registry: Registry,
    obstacles: Mapping[str, str],
    base_parts: tuple[Part, ...],
    *,
    kinds: set[str],
    wanted: set[str],
) -> tuple[Part, ...]:
    """Draw a row per axis or extractor, with a switch and its parameters; return the parts.

    `obstacles` maps each name to the reason why no model supports it, "" without one. Parts that
    are `wanted` or in `base_parts` are on at first.
    """
    st.markdown(f"**{label}**")
    base_params = {part.name: part.params for part in base_parts}
    parts = {}
    for name, obstacle in obstacles.items():
        plugin, key = registry[name], f"{registry.noun}-{name}"
        fits = bool(plugin.applies_to & kinds)
        why_not = obstacle if fits else ""
        if fits and isinstance(plugin, Extractor):
            why_not = plugin.why_not() or obstacle
        is_possible = fits and not why_not
        # Other items or models can make a part possible or impossible. Then set its switch again.
        if key not in st.session_state or st.session_state.get(f"can-{key}") != is_possible:
            st.session_state[key] = is_possible and (name in base_params or name in wanted)
            st.session_state[f"can-{key}"] = is_possible
        left, right = st.columns([2, 3], vertical_alignment="center")
        is_on = left.toggle(
            plugin.title,
            key=key,
            disabled=not is_possible,
            help=about(registry, name)
            if fits
            else f"applies to {', '.join(sorted(plugin.applies_to))} items only",
        )
        if why_not:
            right.caption(plain(why_not))
        elif is_on and fits:
            start = dict(base_params.get(name, {}))
            parts[name] = Part(name, choose_params(plugin, start, right, key))
    return tuple(parts.values())


PICK_TITLES = {
    "first": "the first ones",
    "drawn": "drawn once by the seed",
    "lm_eval": "as lm-eval draws them",
}
OWN_ITEMS = "the study's own items"


def choose_own_prompt(base: OwnPrompt | None) -> OwnPrompt | None:
    """Ask for the user's own prompt; None while the switch is off.

    A preset is written out in full, so that the declaration holds every word of the prompt.
    """
    if not st.toggle(
        "My own prompt",
        base is not None,
        key="own-prompt",
        help="In place of the layout, for every axis.",
    ):
        return None
    names = ["", *PRESETS]
    preset = st.selectbox(
        "Start from",
        names,
        key="own-preset",
        format_func=lambda name: PRESETS[name].title if name else "what stands below",
    )
    # The fields start with the text of the preset, so that each word can be changed.
    if preset:
        start = resolved(OwnPrompt(preset=preset))
    else:
        start = resolved(base or OwnPrompt(template="{{question }}\nAnswer:"))
    if preset:
        st.caption(plain(PRESETS[preset].about))
    texts = {}
    for label, name, help_text in (
        ("System prompt", "system", "Sent as the system message; empty for none."),
        ("Before the examples", "before", "A text with the same fields, once, before everything."),
        (
            "Template of the question",
            "template",
            f"Fields: {', '.join(FIELDS)}. Filters: {', '.join(FILTERS)}.",
        ),
        (
            "Template of an example",
            "example",
            "Empty: the question's template, a blank and the answer.",
        ),
    ):
        texts[name] = st.text_area(
            label,
            getattr(start, name),
            key=f"own-{name}-{preset}",
            help=help_text,
            height="content",
        )
    return replace(start, preset="", **texts, **_choose_examples(start, preset))


def _choose_examples(start: OwnPrompt, preset: str) -> dict:
    """Ask for number, choice and split of the examples; return the settings of `OwnPrompt`."""
    left, middle, right = st.columns(3)
    n = left.number_input(
        "Examples before the question", 0, 20, start.n_examples, key=f"own-n-{preset}"
    )
    if not n:
        return {"n_examples": 0}
    pick = middle.selectbox(
        "Which examples",
        PICKS,
        PICKS.index(start.pick),
        key=f"own-pick-{preset}",
        format_func=PICK_TITLES.__getitem__,
    )
    source = start.examples_from
    sets = [OWN_ITEMS, *LOADERS]
    dataset = right.selectbox(
        "Examples from", sets, sets.index(source.dataset) if source else 0, key=f"own-from-{preset}"
    )
    same_category = st.checkbox(
        "Of the item's own category", start.same_category, key=f"own-category-{preset}"
    )
    as_turns = st.checkbox(
        "Each example as a question and an answer of the conversation (chat models)",
        start.as_turns,
        key=f"own-turns-{preset}",
    )
    settings = {
        "n_examples": int(n),
        "pick": pick,
        "same_category": same_category,
        "as_turns": as_turns,
        "examples_from": None,
    }
    if dataset == OWN_ITEMS:
        return settings
    path = st.text_input(
        "File of the split", source.path or "" if source else "", key=f"own-path-{preset}"
    )
    split = st.text_input(
        "Split that its items name",
        str(source.where.get("split", "")) if source else "",
        key=f"own-split-{preset}",
    )
    where = {"split": split} if split else {}
    return settings | {"examples_from": ItemSource(dataset, path=path or None, where=where)}


def choose_params(plugin, start: dict, place, key: str) -> dict:
    """Draw a control per parameter; return the parameters that differ from the defaults."""
    overrides = {}
    declared = [field for field in fields(plugin) if field.init]
    for field, column in zip(declared, place.columns(max(len(declared), 1)), strict=False):
        default = getattr(plugin, field.name)
        start_value = start.get(field.name, default)
        value = _choose_param(column, field, start_value, f"{key}-{field.name}")
        # A declaration leaves out defaults, so that equal studies have the same id.
        if value != default:
            overrides[field.name] = list(value) if isinstance(value, tuple) else value
    return overrides


def _choose_param(column, field, value, key: str):
    """Draw the control that fits the type of `value`; return the chosen value.

    `choices` in the field's metadata limit the values.
    """
    label = field.metadata.get("label") or field.name.replace("_", " ")
    choices = list(field.metadata.get("choices", ()))
    if isinstance(value, bool):
        return column.toggle(label, value, key=key)
    if isinstance(value, (tuple, list)):
        selection = column.multiselect(
            label, choices or list(value), list(value), key=key, accept_new_options=not choices
        )
        return tuple(selection) if choices else tuple(_number(number) for number in selection)
    if choices:
        return column.selectbox(label, choices, choices.index(value), key=key)
    if isinstance(value, int):
        return int(
            column.number_input(
                label, 0, int(bounds.PARAMETERS.get(field.name, (0, 1_000))[1]), value, key=key
            )
        )
    if isinstance(value, float):
        return float(column.number_input(label, value=value, key=key))
    return column.text_input(label, value, key=key)


def _number(typed):
    """Return a typed number as a float, anything else as it is; the plug-in reports the error."""
    try:
        return float(typed)
    except (TypeError, ValueError):
        return typed


def show_preview(study: Study) -> None:
    """Show every variant of one item, with its differences from the base prompt marked.

    Items that the study sets aside are not offered.
    """
    items: list[Item] = []
    for source in study.items:
        items += [item for item in shown_items(source) if not is_set_aside(study, item)]
    if not items or not study.axes:
        return
    left, right = st.columns([3, 1])
    item = left.selectbox(
        "Item",
        items,
        key="preview-item",
        format_func=lambda item: f"{item.question[:80]} ({item.item_id.partition('@')[0]})",
    )
    by_axis = {part.name: part for part in study.axes if item.kind in AXES[part.name].applies_to}
    if not by_axis:
        st.caption("None of the chosen axes applies to this item.")
        return
    # Reruns change nothing, so they come last.
    names = sorted(by_axis, key=lambda axis: axis == IDENTITY)
    name = right.selectbox(
        "Axis", names, key="preview-axis", format_func=lambda axis: AXES[axis].title
    )
    try:
        item_plan = plan(study, session.store(), only=item.item_id).items[0]
    except FlipscopeError as error:
        st.warning(plain(error), icon=":material/info:")
        return
    variants = [variant for variant in item_plan.variants if variant.axis == name]
    if len(variants) == 1 and ("why" in variants[0].params or AXES[name].asks == ANSWER):
        st.caption(
            "This axis sends the base prompt again, so set two or more samples."
            if name == IDENTITY
            else f"{plain(str(variants[0].params.get('why', 'Nothing to change on this item.')))} "
            "It keeps its base prompt only."
        )
    base = variants[0].prompt.transcript
    for start in range(0, len(variants), 2):
        for column, variant in zip(st.columns(2), variants[start : start + 2], strict=False):
            with column.container(border=True):
                st.caption(plain(variant.key))
                if variant.prompt.system:
                    st.caption(f"System prompt: {plain(variant.prompt.system)}")
                show_differences(base, variant.prompt.transcript, key=f"preview-{variant.key}")
