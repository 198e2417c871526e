"""Asks a model for paraphrases, step by step, and puts what passes the rules into the store as proposed: nobody's verdict yet.

Every reply is a stored completion, so asking again costs nothing, and the raw text behind a proposal stays readable. Questions may
come from a shipped set or a study; none that a study set aside is handed to a model.
"""

import asyncio
import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flipcore.access.acting import Permission, require
from flipcore.annotation.proposals.checks import Check, checks, overlap, translation_checks
from flipcore.annotation.proposals.recipes import Recipe
from flipcore.axes.stored_wordings import Typos, misspellings
from flipcore.core.contracts import Backend
from flipcore.core.errors import OverBudget
from flipcore.core.randomness import generator
from flipcore.core.records import Call, Item, Request, digest
from flipcore.core.study import ItemSource, ModelUse
from flipcore.core.wordings import TYPOS, language_of
from flipcore.datasets import LOADERS, load
from flipcore.models import model_cards, open_backend
from flipcore.runs import cost
from flipcore.runs.asking import Asking
from flipcore.runs.embargo import check_embargo, under_embargo
from flipcore.runs.progress import CANCELLED
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import review, studies

_WORK = r"(?:paraphras|rewrit|rewrot|reword|rephras|restat|translat|restructur|version)\w*"
_POLITE = re.compile(r"(?:sure|certainly|of course|absolutely)(?: thing)?(?:[!.:]|,(?= here)|(?=\s*\n))\s*", re.IGNORECASE)
_ABOUT = re.compile(  # "Here is what Tom bought" speaks of Tom, "here is the rewritten text" of the reply
    rf"(?:here(?: is|'s|’s| are)|this is|below is)\b(?:.*\b{_WORK}.*|.* (?:the|your) (?:text|question))|here (?:you go|it is)"
    rf"|(?:the )?{_WORK}(?: (?:text|question|version|sentences?))?|english|french",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'"}


@dataclass(frozen=True)
class Proposal:
    """`pair_id` where it passed every rule and was stored, None otherwise; `error` where no text came back."""

    item_id: str
    original: str
    text: str = ""
    checks: tuple[Check, ...] = ()
    overlap: float = math.nan
    pair_id: str | None = None
    error: str = ""


def maker(model: str, recipe: Recipe) -> str:
    """The generator that a proposal carries: gates count each apart, so other prompts have another."""
    return f"{model}: {recipe.name}"


def expected(items: Sequence[Item], recipe: Recipe, use: ModelUse) -> cost.Projection:
    """What asking will cost at most."""
    backend = open_backend(use.name, model_cards())
    calls = [_call(backend, use, recipe, step, item.question) for item in items for step in range(len(recipe.steps))]
    return cost.projected(calls, model_cards().get(use.name))


def propose(
    items: Sequence[Item],
    recipe: Recipe,
    use: ModelUse,
    store: Store,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: threading.Event | None = None,
    budget_usd: float | None = None,
    may_send_retro: bool = False,
) -> list[Proposal]:
    """A proposal for each item, in order; those after a cancellation are left out, those after another end say why. `budget_usd` is
    for this asking alone. Raises OverBudget before the first call, and BadInput where items of a retro set would be sent unasked."""
    require(Permission.RUN)
    cards = model_cards()
    reason = cost.refusal(expected(items, recipe, use), budget_usd, {use.name: cards.get(use.name)})
    if reason:
        raise OverBudget(reason)
    retro_ids = under_embargo(store, [item.item_id for item in items])
    check_embargo(retro_ids, use.name, may_send=may_send_retro, how="Allow it where you propose, or leave them out.")
    asking = Asking(store, maker(use.name, recipe), [use.name], cards, budget_usd, cancel=cancel)
    return asyncio.run(_proposals(items, recipe, use, asking, on_progress or (lambda n_done, total: None)))


async def _proposals(
    items: Sequence[Item], recipe: Recipe, use: ModelUse, asking: Asking, on_progress: Callable[[int, int], None]
) -> list[Proposal]:
    proposals: dict[int, Proposal] = {}

    async def one(job: tuple[int, Item]) -> None:
        place, item = job
        proposal = await _proposal(item, recipe, use, asking)
        if proposal is not None:
            proposals[place] = proposal
            on_progress(len(proposals), len(items))

    async with asking:
        n_open = asking.place.n_open([use], asking.cards, 1)  # the steps of a chain are asked one by one
        await asking.each(enumerate(items), one, n_open)
    asking.store.writer.flush()
    if asking.ending not in ("", CANCELLED):
        missing = (Proposal(item.item_id, item.question, error=asking.why) for item in items)
        proposals = dict(enumerate(missing)) | proposals
    return [proposals[place] for place in sorted(proposals)]


async def _proposal(item: Item, recipe: Recipe, use: ModelUse, asking: Asking) -> Proposal | None:
    """None where the asking stopped before the last step."""
    text = item.question
    for step in range(len(recipe.steps)):
        call = _call(asking.backends[use.name], use, recipe, step, text)
        completion = (await asking.replies([call])).get(call.call_id)
        if completion is None:
            return None
        text = cleaned(completion.text)
        if completion.status != "ok" or not text:
            why = completion.error or f"Step {step + 1} of {len(recipe.steps)} gave no text."
            return Proposal(item.item_id, item.question, error=why)
    is_translation = bool(language_of(recipe.change))
    text_checks = translation_checks(item.question, text) if is_translation else checks(item.question, text, item.options)
    is_kept = all(passed for _, passed, _ in text_checks)
    pair_id = _store_pair(item, text, maker(use.name, recipe), asking.store, recipe.change) if is_kept else None
    return Proposal(item.item_id, item.question, text, text_checks, overlap(item.question, text), pair_id)


def _call(backend: Backend, use: ModelUse, recipe: Recipe, step: int, text: str) -> Call:
    request = Request(
        "generate",
        recipe.prompt(step, text),
        max_tokens=use.max_tokens,
        temperature=use.temperature,
        top_p=use.top_p,
        seed=use.seed,
    )
    return Call(backend.name, backend.revision, request)


def cleaned(reply: str) -> str:
    """The paraphrase without a preface, surrounding quotes or emphasis; line breaks become spaces."""
    text = reply.strip()
    polite = _POLITE.match(text)
    text = text[polite.end() :] if polite else text
    head, _, rest = text.partition(":")
    text = rest.lstrip("*_ ") if rest.strip() and _ABOUT.fullmatch(head.strip("*_# ")) else text
    text = " ".join(text.split()).strip("*").strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


BY_RULE = "rule: typos"


def propose_typos(items: Sequence[Item], store: Store) -> list[Proposal]:
    """Up to two versions of each question with typos, made by the rule of the axis, for reviewers to judge; no model is asked."""
    require(Permission.BRING)
    proposals = []
    for item in items:
        for text in misspellings(item.question, 2, Typos.share, generator(0, "typos for review", item.item_id)):
            pair_id = _store_pair(item, text, BY_RULE, store, TYPOS)
            proposals.append(Proposal(item.item_id, item.question, text, (), overlap(item.question, text), pair_id))
    store.writer.flush()
    return proposals


def _store_pair(item: Item, text: str, made_by: str, store: Store, change: str) -> str:
    pair_id = digest("pair", item.item_id, item.question, text)
    row = {"pair_id": pair_id, "dataset": item.dataset, "item_id": item.item_id, "original": item.question, "paraphrase": text}
    store.writer.add("paraphrases", [row | {"generator": made_by, "created_at": rows.now(), "change": change}])
    return pair_id


STUDY = "study:"


def writers() -> list[str]:
    """Models that can write: simulated ones only answer what was planted; the pocket model writes poorly, so it is last."""
    cards = model_cards()
    return sorted(
        (name for name, card in cards.items() if card.backend != "simulated"), key=lambda name: cards[name].backend == "pocket"
    )


def question_sources(store: Store) -> dict[str, str]:
    """Shipped sets and stored studies: key -> a name that says which."""
    rows = studies.studies(store)
    shipped = {name: loader.title for name, loader in LOADERS.items() if loader.local}
    return shipped | {f"{STUDY}{one}": f"study: {name}" for one, name in zip(rows["study_id"], rows["name"], strict=True)}


def items_to_paraphrase(store: Store, source: str, n: int, generator: str, with_retro: bool = True) -> list[Item]:
    """The first `n` questions of a source without a paraphrase by this generator; none that a study set aside, and those of a retro
    set only `with_retro`."""
    states = studies.paraphrase_states(store)
    skip_ids = set(states[states["generator"] == generator]["item_id"])
    if source.startswith(STUDY):
        frame = studies.study_items(store, source.removeprefix(STUDY))
        ids = list(frame[~frame["confirmatory"]]["item_id"])
        by_id = review.items(store, ids)
        items = [by_id[one] for one in ids if one in by_id]
    else:
        items = list(load(ItemSource(source)))
    skip_ids |= set() if with_retro else under_embargo(store, [item.item_id for item in items])
    return [item for item in items if item.item_id not in skip_ids][:n]
