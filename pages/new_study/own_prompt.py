"""The user's own prompt: a preset or a template, examples from a split, a system prompt; none where the switch is off."""

from dataclasses import replace

import streamlit as st

from flipcore.core.study import PICKS, ItemSource, OwnPrompt
from flipcore.datasets import LOADERS
from flipcore.text.own_prompts import FIELDS, FILTERS
from flipcore.text.prompt_presets import PRESETS, resolved
from pages.common.notes import plain

PICK_TITLES = {"first": "the first ones", "drawn": "drawn once by the seed", "lm_eval": "as lm-eval draws them"}
OWN_ITEMS = "the study's own items"


def own_prompt(base: OwnPrompt | None) -> OwnPrompt | None:
    """The prompt as the controls have it, written out whole, so that a declaration holds every word of it."""
    if not st.toggle("My own prompt", base is not None, key="own-prompt", help="In place of the layout, for every axis."):
        return None
    names = ["", *PRESETS]
    preset = st.selectbox(
        "Start from", names, key="own-preset", format_func=lambda name: PRESETS[name].title if name else "what stands below"
    )
    start = resolved(OwnPrompt(preset=preset)) if preset else resolved(base or OwnPrompt(template="{{ question }}\nAnswer:"))
    if preset:
        st.caption(plain(PRESETS[preset].about))
    texts = {}
    for label, name, help_text in (
        ("System prompt", "system", "Sent as the system message; empty for none."),
        ("Before the examples", "before", "A text with the same fields, once, before everything."),
        ("Template of the question", "template", f"Fields: {', '.join(FIELDS)}. Filters: {', '.join(FILTERS)}."),
        ("Template of an example", "example", "Empty: the question's template, a blank and the answer."),
    ):
        texts[name] = st.text_area(label, getattr(start, name), key=f"own-{name}-{preset}", help=help_text, height="content")
    return replace(start, preset="", **texts, **_examples(start, preset))


def _examples(start: OwnPrompt, preset: str) -> dict:
    """How many examples, which, and of which split."""
    left, middle, right = st.columns(3)
    n = left.number_input("Examples before the question", 0, 20, start.n_examples, key=f"own-n-{preset}")
    if not n:
        return {"n_examples": 0}
    pick = middle.selectbox(
        "Which examples", PICKS, PICKS.index(start.pick), key=f"own-pick-{preset}", format_func=PICK_TITLES.__getitem__
    )
    before = start.examples_from
    sets = [OWN_ITEMS, *LOADERS]
    dataset = right.selectbox("Examples from", sets, sets.index(before.dataset) if before else 0, key=f"own-from-{preset}")
    category = st.checkbox("Of the item's own category", start.same_category, key=f"own-category-{preset}")
    turns = st.checkbox(
        "Each example as a question and an answer of the conversation (chat models)", start.as_turns, key=f"own-turns-{preset}"
    )
    settings = {"n_examples": int(n), "pick": pick, "same_category": category, "as_turns": turns, "examples_from": None}
    if dataset == OWN_ITEMS:
        return settings
    path = st.text_input("File of the split", before.path or "" if before else "", key=f"own-path-{preset}")
    split = st.text_input(
        "Split that its items name", str(before.where.get("split", "")) if before else "", key=f"own-split-{preset}"
    )
    where = {"split": split} if split else {}
    return settings | {"examples_from": ItemSource(dataset, path=path or None, where=where)}
