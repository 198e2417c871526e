"""Models: which models can I ask, and what can they do?"""

from typing import Any

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.models import model_cards, own_models
from flipcore.models.cards import APIS, DTYPES, WEIGHTS, ModelCard, is_near, place_of
from flipcore.models.openai.client import missing_key
from flipcore.models.openai.probe import listed_models
from flipcore.models.own_models import (
    PRESETS,
    ask_and_keep,
    card_from,
    own_cards,
    preset_line,
    provenance,
)
from flipcore.models.probe_record import costs_text, lines, listing, record_of, speed_text, warnings
from pages.common.header import page_header
from pages.common.showing import how_to_read, offer_table, plain, show_table, shown_problem


def draw_card(model: ModelCard) -> None:
    """Draw one of the user's models: what its tests found, and buttons to test, edit and remove."""
    record = record_of(model)
    with st.container(border=True, key=f"model-{model.name}"):
        left, right = st.columns([3, 1])
        with left:
            st.header(plain(model.name), anchor=False)
            st.markdown(plain(f"{place_of(model)}. {costs_text(model)}"))
            # The sentences of the latest test in this session.
            for sentence in st.session_state.get(f"test-of-{model.name}", ()):
                st.markdown(plain(sentence))
            if sentence := missing_key(model):
                st.warning(plain(sentence), icon=":material/key_off:")
            for sentence in warnings(model, record) if record else ():
                st.caption(f":material/info: {plain(sentence)}")
        with right:
            st.caption(
                plain(f"Tested {record.at[:16].replace('T', ' ')} UTC, {speed_text(record)}")
                if record
                else "No test has succeeded yet."
            )
            _draw_actions(model)
        if record:
            with st.expander("What the test found out", expanded=False):
                rows = [{"matter": label, "result": text} for label, text in lines(record).items()]
                st.table([row | {"result": plain(row["result"])} for row in rows])
                offer_table(f"model-{model.name}", rows)
        st.caption(plain(provenance(model)))


def _draw_actions(model: ModelCard) -> None:
    st.page_link("new_study/page.py", label="New study", icon=":material/add_circle:")
    with st.container(horizontal=True):
        if st.button(
            "Test",
            key=f"test-{model.name}",
            icon=":material/network_check:",
            help="about ten small calls",
        ):
            with st.spinner("Sending about ten small calls …"), shown_problem():
                st.session_state[f"test-of-{model.name}"] = ask_and_keep(model)
                st.rerun()
        with st.popover("Edit", icon=":material/edit:"):
            offer_edit(model)
        with st.popover("Remove", icon=":material/delete:"):
            st.markdown(
                "Forgets this model. What it answered stays, and studies that name it can no "
                "longer ask it."
            )
            if st.button("Remove this model", key=f"remove-{model.name}", type="primary"):
                with shown_problem():
                    own_models.remove(model.name)
                    st.rerun()


def offer_new_model() -> None:
    """Offer to add a model; unfolded for a link that has `offer_new_model`, as New study's."""
    # With another model the form is a new one for the browser, so it is folded again.
    place, number = st.container(key="add-a-model"), len(own_cards())
    with place.expander(
        "Add a model",
        icon=":material/add_circle:",
        key=f"add-model-{number}",
        expanded="add" in st.query_params,
    ):
        kind = st.selectbox(
            "Kind of server",
            list(PRESETS),
            format_func=lambda name: PRESETS[name].title,
            key="model-preset",
        )
        st.caption(plain(preset_line(PRESETS[kind])))
        start = card_from("", kind, PRESETS[kind].example)
        values = _draw_fields(start, f"new-{kind}")
        with st.container(horizontal=True):
            with_test = st.button(
                "Add and test", type="primary", icon=":material/network_check:", key="add-and-test"
            )
            without_test = st.button("Add without a test", key="add-alone")
        if with_test or without_test:
            name, server_model = values.pop("name"), values.pop("model")
            _store(card_from(name, kind, server_model, **values), "", is_tested=with_test)


def offer_edit(model: ModelCard) -> None:
    """Offer to edit a stored model; it loses its test result if it is another model then."""
    values = _draw_fields(model, f"edit-{model.name}")
    if st.button("Save", type="primary", key=f"save-{model.name}"):
        with shown_problem():
            _store(own_models.edited(model, **values), model.name, is_tested=False)


def _store(card: ModelCard, replaces: str, *, is_tested: bool) -> None:
    """Store a model in the place of the one called `replaces` ("" for none), then test it."""
    # Stored before the test, so that the entries are not lost if the server is down.
    with shown_problem():
        own_models.save(card, replaces)
        st.session_state[f"test-of-{card.name}"] = []
        # Folds the form, which would hide the new card.
        st.query_params.pop("add", None)
        if is_tested:
            with st.spinner("Sending about ten small calls …"):
                try:
                    st.session_state[f"test-of-{card.name}"] = ask_and_keep(card)
                except FlipscopeError as error:
                    st.session_state[f"test-of-{card.name}"] = [
                        f"The model is stored, but its test failed. {error}"
                    ]
        st.rerun()


def _draw_fields(start: ModelCard, key: str) -> dict:
    """Draw the fields of a model, starting at `start`; return the entered values."""
    left, right = st.columns(2)
    name = left.text_input("Name in your studies", start.name, key=f"{key}-name", max_chars=80)
    values: dict[str, Any] = {"name": name.strip()}
    values |= (
        _draw_weights(start, left, right, key)
        if start.backend == WEIGHTS
        else _draw_server(start, values["name"], left, right, key)
    )
    cutoff = right.text_input(
        "End of its training", start.cutoff or "", key=f"{key}-cutoff", placeholder="2025-06"
    )
    values["cutoff"] = cutoff or None
    values["after_rl"] = left.checkbox(
        "Trained by reinforcement learning",
        start.after_rl,
        key=f"{key}-after-rl",
        help="After pre-training, as its maker says. Losses then show less of what it read; "
        "Memorization says so.",
    )
    if start.backend == WEIGHTS:
        return values
    return values | _draw_prices_and_limits(
        start, left, right, key, is_here=is_near(values["endpoint"])
    )


def _draw_weights(start: ModelCard, column, place, key: str) -> dict:
    """Ask for model, prompt and precision of local weights."""
    model = place.text_input(
        "Folder, or name in the Hugging Face cache",
        start.model,
        key=f"{key}-model",
        placeholder="~/models/llama-3.2-1b",
    )
    api = column.selectbox(
        "Prompt",
        APIS,
        APIS.index(start.api),
        key=f"{key}-api",
        format_func=_PROMPT_TITLES.get,
        help="raw text may also be scored",
    )
    dtype = column.selectbox(
        "Precision",
        DTYPES,
        DTYPES.index(start.options.get("dtype", DTYPES[0])),
        key=f"{key}-dtype",
        help="float32 is exact; the others are smaller",
    )
    return {"model": model.strip(), "api": api, "options": {**start.options, "dtype": dtype}}


_PROMPT_TITLES = {"completions": "raw text", "chat": "set by its chat template"}


def _draw_server(start: ModelCard, name: str, left, right, key: str) -> dict:
    """Ask for address, API, key variable and model of a server."""
    endpoint = right.text_input(
        "Address", start.endpoint, key=f"{key}-endpoint", placeholder="http://localhost:8000/v1"
    )
    api = left.selectbox(
        "API",
        APIS,
        APIS.index(start.api),
        key=f"{key}-api",
        help="completions takes raw text and may score it",
    )
    variable = right.text_input(
        "Environment variable with the key",
        start.api_key_env,
        key=f"{key}-variable",
        placeholder="empty for a server without a key",
        help="its name alone, for example OPENAI_API_KEY; the key itself is never stored",
    )
    values: dict[str, Any] = {
        "endpoint": endpoint.strip(),
        "api": api,
        "api_key_env": variable.strip(),
    }
    # The name stands in error messages of the server.
    named_values = values | {"name": name or "The server"}
    return values | {"model": _choose_model(start, named_values, left, key)}


def _draw_prices_and_limits(start: ModelCard, left, right, key: str, *, is_here: bool) -> dict:
    """Ask for prices and limits per minute; None if a field is empty."""
    values: dict[str, Any] = {}
    for column, label, field in ((left, "in", "price_in"), (right, "out", "price_out")):
        values[field] = column.number_input(
            f"US dollars a million tokens {label}",
            0.0,
            1e5,
            getattr(start, field),
            key=f"{key}-{field}",
            placeholder="0: a server on this machine" if is_here else "not known",
        )
    for column, label, field in (
        (left, "Requests", "requests_per_minute"),
        (right, "Tokens", "tokens_per_minute"),
    ):
        limit = column.number_input(
            f"{label} a minute, at most",
            1,
            10_000_000,
            getattr(start, field),
            key=f"{key}-{field}",
            placeholder="no limit",
        )
        values[field] = None if limit is None else int(limit)
    return values


def _choose_model(start: ModelCard, values: dict, place, key: str) -> str:
    """Ask for the model's name at the server, from the server's list if it was requested."""
    server, names = st.session_state.get(f"{key}-listed", ("", []))
    if names and server == values["endpoint"]:
        position = None
        if start.model in names:
            position = names.index(start.model)
        elif len(names) == 1:
            position = 0
        model = place.selectbox(
            "Model", names, position, key=f"{key}-chosen", accept_new_options=True
        )
        model = model or ""
    else:
        model = place.text_input(
            "Model", start.model, key=f"{key}-model", help="what the server calls it"
        )
    if st.button("List the server's models", key=f"{key}-list", icon=":material/list:"):
        with shown_problem():
            server_values = {field: values[field] for field in ("endpoint", "api_key_env")}
            card = card_from(values["name"], "other", "any", **server_values)
            names = list(listed_models(card))
            st.session_state[f"{key}-listed"] = values["endpoint"], names
            if names:
                st.rerun()
            st.info("The server has no list of models. Type the name.", icon=":material/edit:")
    return model


page_header("models", choose=False)

with shown_problem():
    user_models = own_cards()
    offer_new_model()
    for model in user_models.values():
        draw_card(model)
    if not user_models:
        st.info(
            "You have added no model yet: open **Add a model**. The pocket model and the "
            "simulated ones need no key.",
            icon=":material/smart_toy:",
        )
    st.header("Shipped", anchor=False)
    st.caption(
        "Ready to use, or entries to start from. Yours stand first where they have the same name."
    )
    show_table(
        "models",
        listing([shipped for name, shipped in model_cards().items() if name not in user_models]),
    )

how_to_read(
    "**Test** sends the model about ten small calls and keeps what it finds: which "
    "log-probabilities come, which parameters it refuses, whether it reasons and where the "
    "reasoning is returned. A refused parameter is left out of every call. What documentation says "
    "is not trusted. Keys are read from the environment variable that you name; they are never "
    "stored. Your models stand in `models.toml` in your own folder, which `FLIPSCOPE_HOME` moves."
)
