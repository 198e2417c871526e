"""The record of a model's test: its findings, their sentences, and its effect on the card."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace

from flipcore.core.errors import BadInput
from flipcore.models.cards import WEIGHTS, ModelCard

# Places of the reasoning in a reply, besides the fields in `replies.REASONING_FIELDS`.
NO_REASONING, HIDDEN, TAGS, PARTS = "", "hidden", "tags", "parts"
REPEATS, IGNORED, UNCLEAR, REFUSES = "repeats", "ignored", "unclear", "refuses"
MIN_ALTERNATIVES = 2  # alternatives of a first token that a comparison needs
# Options of a card that a test sets.
TESTED_OPTIONS = ("max_tokens_name", "max_top_logprobs", "score_tokens")
_PLACES = {
    HIDDEN: "counted, its text not returned",
    TAGS: "in tags inside the text",
    PARTS: "as parts of a list",
    "reasoning_content": "in reasoning_content",
    "reasoning": "in reasoning",
}


@dataclass(frozen=True)
class ProbeRecord:
    """The findings of one test. None means unknown; the field names are stored."""

    at: str  # time of the test, UTC
    answered_as: str = ""  # the model's name in the reply
    is_listed: bool | None = None  # in the server's own list of models
    n_logprobs: int = 0  # first-token alternatives that came
    top_logprobs: int = 0  # first-token alternatives that were asked for
    logprobs: str = ""  # why none came
    scores: bool = False  # gives log-probabilities of a given text
    scores_elsewhere: bool = False  # only the completions API of this chat model gives them
    score_tokens: int = 0  # token limit of a request that only scores
    seed: str = UNCLEAR
    refuses: tuple[str, ...] = ()
    limit_name: str = "max_tokens"  # name of the token limit's parameter
    reasoning: str = NO_REASONING
    n_reasoning_tokens: int | None = None
    counts_tokens: bool = True
    seconds: float | None = None  # per call, the median
    tokens_per_s: float | None = None  # of the first call
    price_in: float | None = None  # US dollars per million tokens
    price_out: float | None = None
    context_tokens: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    n_calls: int = 0
    notes: tuple[str, ...] = ()

    def as_table(self) -> dict:
        """Return the record for TOML, which has neither tuples nor None."""
        table = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }
        return {key: value for key, value in table.items() if value is not None}


def record_of(card: ModelCard) -> ProbeRecord | None:
    """Return the card's last test; None if there was none, BadInput for an unreadable one."""
    if not card.probe:
        return None
    keys = {field.name for field in fields(ProbeRecord)}
    if "at" not in card.probe or set(card.probe) - keys:
        raise BadInput(f"The stored test of {card.name} cannot be read. Test the model again.")
    lists = {key: tuple(card.probe.get(key, ())) for key in ("refuses", "notes")}
    return ProbeRecord(**card.probe | lists)


def lines(record: ProbeRecord) -> dict[str, str]:
    """Return the findings, label -> text. Speed is left out because it differs in every test."""
    refused_names = [name for name in record.refuses if name != "reasoning_effort"]
    rows = {
        "First-token log-probabilities": _first_token(record),
        "Log-probabilities of a given text": _score(record),
        "Reasoning": _reasoning(record),
        "Reasoning effort": "not taken" if "reasoning_effort" in record.refuses else "taken",
        "Refused parameters": f"{', '.join(refused_names)}; left out" if refused_names else "none",
        "Name of the token limit": record.limit_name,
        "Seed": {
            REPEATS: "the same seed gives the same text",
            IGNORED: "taken and ignored",
            UNCLEAR: "taken; whether it decides anything could not be told",
            REFUSES: "refused",
        }.get(record.seed, record.seed),
        "Token counts": "returned"
        if record.counts_tokens
        else "not returned, so a price is the most it can be",
    }
    if record.answered_as:
        rows["Answers as"] = record.answered_as
    if record.context_tokens:
        rows["Context"] = f"{record.context_tokens:,} tokens"
    if record.price_in is not None and record.price_out is not None:
        rows["Price in the server's list"] = (
            f"${record.price_in:,.4g} in, ${record.price_out:,.4g} out, a million tokens"
        )
    if record.requests_per_minute or record.tokens_per_minute:
        rows["Limits in its headers"] = limits_text(
            record.requests_per_minute, record.tokens_per_minute
        )
    return rows | ({"Noticed": " ".join(record.notes)} if record.notes else {})


def limits_text(requests: int | None, tokens: int | None) -> str:
    """Return "500 requests and 200,000 tokens a minute", or "" without limits."""
    parts = [f"{n:,} {word}" for n, word in ((requests, "requests"), (tokens, "tokens")) if n]
    return f"{' and '.join(parts)} a minute" if parts else ""


def speed_text(record: ProbeRecord) -> str:
    """Return the measured speed, or ""."""
    if record.seconds is None:
        return ""
    rate = f", {record.tokens_per_s:,.0f} tokens a second" if record.tokens_per_s else ""
    return f"{record.seconds:,.2g} s a call{rate}"


def changes(before: ProbeRecord | None, after: ProbeRecord) -> list[str]:
    """Return a sentence for each finding that differs from the last test; [] for a first test."""
    if before is None:
        return []
    old, new = lines(before), lines(after)
    sentences = []
    for label in dict.fromkeys((*new, *old)):
        was, is_now = old.get(label, "not known"), new.get(label, "not known")
        if old.get(label) != new.get(label):
            sentences.append(f"{label}: was {was}, is now {is_now}.")
    return sentences


def card_after(card: ModelCard, record: ProbeRecord) -> ModelCard:
    """Return the card with the test's findings.
    The server's price and limits are taken only if the user gave none."""
    abilities = ["generate"]
    if record.n_logprobs >= MIN_ALTERNATIVES and not record.reasoning:
        abilities.append("first_token_logprobs")
    if record.scores:
        abilities.append("score")
    options = {key: value for key, value in card.options.items() if key not in TESTED_OPTIONS}
    if record.limit_name != "max_tokens":
        options["max_tokens_name"] = record.limit_name
    if record.top_logprobs:
        options["max_top_logprobs"] = record.top_logprobs
    if record.scores and record.score_tokens:
        options["score_tokens"] = record.score_tokens
    return replace(
        card,
        abilities=tuple(abilities),
        refuses=record.refuses,
        options=options,
        price_in=record.price_in if card.price_in is None else card.price_in,
        price_out=record.price_out if card.price_out is None else card.price_out,
        requests_per_minute=card.requests_per_minute or record.requests_per_minute,
        tokens_per_minute=card.tokens_per_minute or record.tokens_per_minute,
        probe=record.as_table(),
    )


def warnings(card: ModelCard, record: ProbeRecord) -> list[str]:
    """Return warnings before a study; each says what to do."""
    texts = []
    if "temperature" in record.refuses:
        texts.append(
            "It samples at a temperature of its own. Take 2 or more samples, so that the noise "
            "floor is measured."
        )
    if record.reasoning:
        texts.append(
            "It reasons before it answers. Leave room in the token limit, and read written "
            "answers, not first tokens."
        )
    if record.scores_elsewhere:
        other_way = "raw text as its prompt" if card.backend == WEIGHTS else "that API"
        texts.append(
            "Its completions API gives log-probabilities of a given text. Add it a second time "
            f"with {other_way}."
        )
    if card.price_in is None or card.price_out is None:
        texts.append(
            "Its price is unknown, so no study may ask it. Edit the model and say what it costs."
        )
    elif record.price_in is not None and (card.price_in, card.price_out) != (
        record.price_in,
        record.price_out,
    ):
        texts.append(
            "The server's list says another price than this card. Edit the model if the list is "
            "right."
        )
    return texts


def report(card: ModelCard, before: ProbeRecord | None, record: ProbeRecord) -> list[str]:
    """Return the lines that a test ends with: its speed, and the changes since the last one."""
    sentence = f"Tested by {record.n_calls} calls, {speed_text(record)}."
    if before is None:
        return [sentence]
    return [sentence, *(changes(before, record) or ["Nothing changed since the last test."])]


def costs_text(card: ModelCard) -> str:
    """Return the price and the rate limits, in one or two sentences."""
    if card.price_in is None or card.price_out is None:
        price = "Its price is not known."
    elif card.price_in == card.price_out == 0:
        price = "It costs nothing."
    else:
        price = f"${card.price_in:,.4g} a million tokens in, ${card.price_out:,.4g} out."
    limits = limits_text(card.requests_per_minute, card.tokens_per_minute)
    return f"{price} At most {limits}." if limits else price


def listing(cards: Iterable[ModelCard]) -> list[dict[str, str]]:
    """Return one row per model for a table."""
    return [
        {
            "name": card.name,
            "kind": card.backend,
            "model": card.model,
            "address": card.endpoint,
            "can": ", ".join(card.abilities),
            "notes": card.notes,
        }
        for card in cards
    ]


def _first_token(record: ProbeRecord) -> str:
    if not record.n_logprobs:
        return f"none: {record.logprobs or 'the server drops them'}"
    if record.reasoning:
        return f"{record.n_logprobs} alternatives, of the reasoning: not used"
    if record.n_logprobs < MIN_ALTERNATIVES:
        return "of the token itself alone: not used"
    return f"{record.n_logprobs} alternatives"


def _score(record: ProbeRecord) -> str:
    if record.scores:
        return "yes, with one more token" if record.score_tokens else "yes"
    return "no, but its completions API gives them" if record.scores_elsewhere else "no"


def _reasoning(record: ProbeRecord) -> str:
    if not record.reasoning:
        return "none seen"
    amount = (
        f", {record.n_reasoning_tokens:,} tokens in the test" if record.n_reasoning_tokens else ""
    )
    return f"yes, {_PLACES.get(record.reasoning, record.reasoning)}{amount}"
