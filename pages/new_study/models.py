"""Step 2 of New study: which models are asked, how, and what each cannot do."""

from dataclasses import replace

import streamlit as st

from flipcore.core import bounds
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import EFFORTS
from flipcore.core.study import ModelUse, Part
from flipcore.detectors.losses import OVER_REFERENCE
from flipcore.extractors import extractor_of
from flipcore.models import model_cards, open_backend
from flipcore.models.own_models import own_cards
from flipcore.stats.memory.hardness_curve import MIN_REFERENCES
from pages.common.showing import plain


def choose_models(models: list[ModelUse]) -> list[ModelUse]:
    """Ask for models by name; return them, those of the draft with their settings."""
    cards = model_cards()
    left, right = st.columns([3, 1], vertical_alignment="center")
    names = left.multiselect(
        "Models",
        # The user's own models come first, because nobody finds them below twenty shipped ones.
        list(dict.fromkeys([*own_cards(), *cards, *(model.name for model in models)])),
        [model.name for model in models],
        key="model-names",
        label_visibility="collapsed",
        help="the shipped ones and those that you added under Models",
    )
    right.page_link(
        "models/page.py",
        label="Add a model",
        icon=":material/add_circle:",
        query_params={"add": "yes"},
    )
    by_name = {model.name: model for model in models}
    return [by_name.get(name, ModelUse(name)) for name in names]


def with_callable(models: list[ModelUse]) -> list[ModelUse]:
    """Offer to add a Python function that answers like a model; return all models."""
    name = st.text_input(
        "Or a Python function",
        key="model-callable",
        placeholder="module:function",
        help="answer(prompt) -> str, or an object with is_correct(item) -> bool",
    )
    if not name or any(model.name == name for model in models):
        return models
    return [*models, ModelUse(name)]


def models_step(models: list[ModelUse], extractors: tuple[Part, ...]) -> list[ModelUse]:
    """Draw the settings of each model and what it cannot do; return the models with settings."""
    return [_draw_settings(model, extractors) for model in models]


def choose_reference(selected: str, models: list[ModelUse], extractors: tuple[Part, ...]) -> str:
    """Ask for the model whose loss is subtracted from that of the others; return its name.

    "" without one. Offered if there are several models and a loss of the question.
    """
    names = [model.name for model in models]
    if len(names) < 2 or all(part.name != OVER_REFERENCE for part in extractors):
        return ""
    return st.selectbox(
        "Reference model",
        ["", *names],
        names.index(selected) + 1 if selected in names else 0,
        key="reference-model",
        format_func=lambda name: name or "none",
        help="An earlier checkpoint, or another model: the question loss of the others is also "
        "taken less its own. What is stored of it "
        "is not asked again.",
    )


def choose_references(selected: tuple[str, ...], models: list[ModelUse]) -> tuple[str, ...]:
    """Ask for the models whose scores make the hardness curve; return their names.

    The curve predicts the scores of the other models. Offered if there are enough models.
    """
    names = [model.name for model in models]
    if len(names) <= MIN_REFERENCES and not selected:
        return ()
    return tuple(
        st.multiselect(
            "Reference models of the hardness curve",
            names,
            [name for name in selected if name in names],
            key="reference-models",
            help=f"{MIN_REFERENCES} or more, weaker and stronger, that answer benchmark and "
            "controls too. The others' scores are "
            "compared with what theirs expect.",
        )
    )


def _draw_settings(model: ModelUse, extractors: tuple[Part, ...]) -> ModelUse:
    """Draw a model's settings and what it cannot do; return it with the chosen settings."""
    with st.container(border=True):
        st.markdown(f"**{plain(model.name)}**")
        temperature, samples, seed, tokens = st.columns(4, vertical_alignment="bottom")
        use = replace(
            model,
            temperature=float(
                temperature.number_input(
                    "Temperature",
                    *bounds.STUDY["temperature"],
                    float(model.temperature),
                    0.1,
                    key=f"t-{model.name}",
                )
            ),
            n_samples=int(
                samples.number_input(
                    "Samples",
                    *bounds.STUDY["n_samples"],
                    model.n_samples,
                    key=f"s-{model.name}",
                    help="samples per variant; 2 or more measure the noise floor",
                )
            ),
            seed=int(
                seed.number_input(
                    "Seed", *bounds.STUDY["seed"], model.seed, key=f"seed-{model.name}"
                )
            ),
            max_tokens=int(
                tokens.number_input(
                    "Token limit",
                    *bounds.STUDY["max_tokens"],
                    model.max_tokens,
                    key=f"m-{model.name}",
                    help="of one answer; a longer one is cut off, and no answer is read from it",
                )
            ),
        )
        use = _with_reasoning(use)
        _show_missing_abilities(use, extractors)
    return use


def _with_reasoning(model: ModelUse) -> ModelUse:
    """Ask how much the model may reason; return it with these settings.

    Settings that the model's server does not take stay as they are.
    """
    try:
        backend = open_backend(model.name, model_cards())
    except FlipscopeError:
        # `_show_missing_abilities` shows this error.
        return model
    settings: frozenset[str] = getattr(backend, "takes", frozenset())
    left, right = st.columns(2, vertical_alignment="bottom")
    if "effort" in settings:
        efforts = ["", *EFFORTS]
        effort = left.selectbox(
            "Reasoning effort",
            efforts,
            efforts.index(model.effort),
            key=f"effort-{model.name}",
            format_func=lambda word: word or "the server's own",
        )
        model = replace(model, effort=effort)
    if "reasoning_budget" in settings:
        budget = right.number_input(
            "Reasoning budget (tokens)",
            *bounds.STUDY["reasoning_budget"],
            model.reasoning_budget,
            key=f"budget-{model.name}",
            help="0 leaves it to the server; the token limit counts the reasoning too",
        )
        model = replace(model, reasoning_budget=int(budget))
    return model


def _show_missing_abilities(model: ModelUse, extractors: tuple[Part, ...]) -> None:
    """Show which extractors will have no readouts, because the model lacks an ability."""
    try:
        backend = open_backend(model.name, model_cards())
        lacking = {}
        for part in extractors:
            for ability in extractor_of(part.name, part.params).abilities:
                if ability not in backend.abilities:
                    lacking[part.name] = ability
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if backend.simulated:
        st.caption(
            "Simulated: its answers follow planted rates. Everything computed from it is labelled "
            "SIMULATED."
        )
    for extractor, ability in lacking.items():
        st.caption(
            f":material/block: *{plain(extractor_of(extractor).title)}* will be absent: "
            f"{plain(backend.why_not(ability))}"
        )
    if model.n_samples < 2:
        st.caption(
            "With one sample, only the axis “Same prompt again” gives a noise floor, and only on "
            "the base prompt."
        )
