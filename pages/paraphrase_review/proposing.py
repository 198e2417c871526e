"""Propose: a model words questions anew; what passes the rules waits for a reviewer."""

import streamlit as st

from flipcore.annotation.proposals import proposing
from flipcore.annotation.proposals.proposing import RECIPES, TRANSLATION, Recipe, translation
from flipcore.core.records import Item
from flipcore.core.study import ModelUse
from flipcore.core.wordings import TYPOS
from flipcore.stats.base.estimate import number_text
from flipcore.store.queries import review
from pages.common import session
from pages.common.showing import RETRO, plain, show_table, shown_problem


def show() -> None:
    st.subheader("Let a model propose", anchor=False)
    st.markdown(
        "A model paraphrases or translates the questions. A paraphrase is stored if it keeps numbers, names, negations and options and "
        "is about as long, a translation if it keeps the figures. No study asks it before a person has accepted it."
    )
    sources = proposing.question_sources(session.store())
    first, second, third = st.columns(3)
    source = first.selectbox("Questions of", list(sources), key="propose-source", format_func=sources.__getitem__)
    model = second.selectbox("Model", proposing.writers(), key="propose-model")
    titles = {name: one.title for name, one in RECIPES.items()} | {TRANSLATION: "Translation", TYPOS: "Typos, by rule"}
    how = third.selectbox("How", list(titles), key="propose-recipe", format_func=titles.__getitem__)
    if how == TYPOS:
        _typos(source)
        return
    with shown_problem():
        recipe = RECIPES[how] if how in RECIPES else translation(third.text_input("Into", "German", key="propose-language"))
        _by_model(source, model, recipe)


def _typos(source: str) -> None:
    st.caption("A few letters of the question change places, as the axis Typos does it. No model is asked; reviewers decide.")
    n = st.slider("Questions", 1, 200, 20, key="propose-typos-n")
    if st.button("Propose", key="propose-typos", type="primary", icon=":material/edit_note:"):
        with shown_problem():
            items = proposing.items_to_paraphrase(session.store(), source, n, proposing.BY_RULE)
            review.keep_pairs(session.store(), [], items)
            st.session_state["proposed"] = proposing.propose_typos(items, session.store())
            if not st.session_state["proposed"]:
                st.info("Every question of this set has versions with typos already, or no word that may be changed.")
    _show_proposals(st.session_state.get("proposed", []))


def _by_model(source: str, model: str, recipe: Recipe) -> None:
    with st.expander("The prompts, and how it is asked"):
        steps = [
            st.text_area(f"Step {i}", text, key=f"propose-{recipe.name}-{i}", height=150)
            for i, text in enumerate(recipe.steps, start=1)
        ]
        left, middle, right = st.columns(3)
        temperature = left.number_input("Temperature", 0.0, 2.0, 0.7, 0.1, key="propose-temperature")
        max_tokens = middle.number_input("Most tokens a reply", 16, 4096, 256, key="propose-tokens")
        budget = right.number_input(
            "Budget, US dollars", 0.0, None, 0.0, 1.0, key="propose-budget", help="0: only models that cost nothing"
        )
    n = st.slider("Questions", 1, 200, 20, key="propose-n")
    retro = st.checkbox(RETRO, key="propose-retro")
    use = ModelUse(model, temperature=float(temperature), max_tokens=int(max_tokens))
    recipe = recipe.with_steps(steps)
    items = proposing.items_to_paraphrase(session.store(), source, n, proposing.maker(model, recipe), retro)
    if not items:
        st.info("Every question of this set has a paraphrase by this model and recipe already.")
    else:
        st.caption(
            plain(
                f"{len(items):,} questions: {proposing.expected(items, recipe, use).sentence()}. Calls that were made "
                "before cost nothing, so it may be stopped and started again."
            )
        )
        if st.button("Propose", key="propose", type="primary", icon=":material/edit_note:"):
            st.session_state["proposed"] = _proposals(items, recipe, use, budget or None, retro)
    _show_proposals(st.session_state.get("proposed", []))


def _proposals(items: list[Item], recipe: Recipe, use: ModelUse, budget: float | None, retro: bool) -> list[proposing.Proposal]:
    bar = st.progress(0.0, text="Asking …")

    def on_progress(n_done: int, total: int) -> None:
        bar.progress(n_done / total, text=f"{n_done:,} of {total:,} questions")

    review.keep_pairs(session.store(), [], items)
    proposals = proposing.propose(
        items, recipe, use, session.store(), budget_usd=budget, on_progress=on_progress, may_send_retro=retro
    )
    bar.empty()
    return proposals


def _show_proposals(proposals: list[proposing.Proposal]) -> None:
    if not proposals:
        return
    errors = {one.error for one in proposals}
    if len(errors) == 1 and "" not in errors:
        st.error(
            plain(f"No text came back for any of the {len(proposals):,} questions. {errors.pop()}"), icon=":material/error:"
        )
        return
    n = sum(one.pair_id is not None for one in proposals)
    st.markdown(f"**{n:,} of {len(proposals):,} proposals passed the rules and wait for review.**")
    show_table(
        "proposals",
        [
            {
                "waits for review": "yes" if one.pair_id else "no",
                "why not": one.error or " ".join(why for _, passed, why in one.checks if not passed),
                "proposal": one.text,
                "original": one.original,
                "words in common": number_text(one.overlap),
            }
            for one in proposals
        ],
    )
