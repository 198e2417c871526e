"""Where well-known servers are and what their documentation says of them, to start a model from.

None of it is believed: a test finds out what the server does. OpenAI's guide could not be opened when this was written, so what
is said of it comes from threads of client libraries. `trial` says whether that service was tried here.
"""

from dataclasses import dataclass, field
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.models.cards import SERVED, UNTESTED, WEIGHTS, ModelCard

NEVER = "never tried against the service"


@dataclass(frozen=True)
class Preset:
    """A kind of server. `source` is its documentation, `trial` what was asked of it here; local ones cost nothing."""

    name: str
    title: str
    endpoint: str
    api_key_env: str = ""
    api: str = "chat"
    is_local: bool = False
    example: str = ""
    about: str = ""
    source: str = ""
    trial: str = NEVER
    backend: str = SERVED
    options: dict = field(default_factory=dict)


PRESETS = {
    one.name: one
    for one in (
        Preset(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            example="gpt-5-mini",
            about="Reasoning models refuse temperature, top_p, stop and max_tokens, and return no reasoning text; the others give "
            "up to 20 log-probabilities.",
            source="https://platform.openai.com/docs/guides/reasoning",
        ),
        Preset(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
            example="claude-haiku-4-5",
            about="Its OpenAI layer ignores log-probabilities, seed and reasoning effort, returns no reasoning text, and caps the "
            "temperature at 1.",
            source="https://docs.anthropic.com/en/api/openai-sdk",
        ),
        Preset(
            "gemini",
            "Google Gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY",
            example="gemini-3.5-flash",
            about="Reasoning is on by default and is counted in the total of tokens alone; it takes a reasoning effort.",
            source="https://ai.google.dev/gemini-api/docs/openai",
        ),
        Preset(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            example="meta-llama/llama-3.2-1b-instruct",
            about="Its list of models says their lowest prices; another provider of the same name may cost more, and answer differently. "
            "The reasoning of a model may be given a budget.",
            source="https://openrouter.ai/docs/api-reference/overview",
        ),
        Preset(
            "vllm",
            "vLLM",
            "http://localhost:8000/v1",
            is_local=True,
            about="Gives log-probabilities, and those of a given text through its completions API. A checkpoint's own sampling "
            "defaults apply to what is not sent.",
            source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
            options={"extra_body": {"repetition_penalty": 1.0}},
        ),
        Preset(
            "llama.cpp",
            "llama.cpp",
            "http://localhost:8080/v1",
            api="completions",
            is_local=True,
            about="For a model that answers to raw text; choose chat for one with a chat template. Its own top_k of 40 and min_p of 0.05 "
            "apply to what is sampled.",
            source="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
            trial="tried with the pocket model behind llama-cpp-python's server; llama-server itself was never tried",
            options={"extra_body": {"repeat_penalty": 1.0}},
        ),
        Preset(
            "ollama",
            "Ollama",
            "http://localhost:11434/v1",
            is_local=True,
            example="llama3.1:8b",
            about="Takes a seed, a reasoning effort and log-probabilities in its chat API; returns reasoning apart.",
            source="https://docs.ollama.com/api/openai-compatibility",
        ),
        Preset(
            "transformers",
            "Open weights in this process",
            "",
            api="completions",
            is_local=True,
            example="",
            about="A folder with a checkpoint, or its name in the Hugging Face cache of this machine; nothing is fetched and no code of "
            "it is run. It needs no server and gives every log-probability. Needs requirements-transformers.txt.",
            source="https://huggingface.co/docs/transformers",
            trial="tried with the pocket model",
            backend=WEIGHTS,
        ),
        Preset("other", "Another server", "", about="Any server that speaks the OpenAI API.", trial=""),
    )
}


def preset(name: str) -> Preset:
    """The preset of that name; BadInput lists what there is."""
    if name not in PRESETS:
        raise BadInput(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def card_from(name: str, preset_name: str, model: str, **changes) -> ModelCard:
    """A model of that preset before it was tested: it can generate, and nothing else is assumed."""
    one = preset(preset_name)
    prices = {"price_in": 0.0, "price_out": 0.0} if one.is_local else {}
    own: dict[str, Any] = {
        "endpoint": one.endpoint,
        "api": one.api,
        "api_key_env": one.api_key_env,
        "options": one.options,
        **prices,
    }
    overrides = {key: value for key, value in changes.items() if value is not None}
    return ModelCard(name, one.backend, model, abilities=UNTESTED[one.backend], preset=preset_name, **own | overrides)


def preset_line(one: Preset) -> str:
    """What its documentation says, where that stands, and whether anybody tried it."""
    parts = [
        one.about,
        f"Its documentation: {one.source}." if one.source else "",
        f"This preset was {one.trial}." if one.trial else "",
    ]
    return " ".join(filter(None, parts))


def provenance(card: ModelCard) -> str:
    """Which preset a model was added from, and whether that was tried."""
    one = PRESETS.get(card.preset)
    return f"Added as {one.title}: the preset was {one.trial}." if one and one.trial else ""
