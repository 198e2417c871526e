"""Ask a model for paraphrases, check them by rules, and store those that pass for review.

Every reply is a stored completion, so asking again costs nothing and the raw text stays readable.
Questions come from a shipped set or a study. Questions that a study set aside are never sent to a
model.
"""

import asyncio
import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flipcore.access.acting import Permission, require
from flipcore.axes.stored_wordings import Typos, misspellings
from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.randomness import generator
from flipcore.core.records import Call, Item, Request, digest
from flipcore.core.study import ItemSource, ModelUse
from flipcore.core.wordings import PARAPHRASE, TYPOS, into, language_of
from flipcore.datasets import LOADERS, load
from flipcore.models import model_cards, open_backend
from flipcore.runs import cost
from flipcore.runs.asking import Asking
from flipcore.runs.embargo import check_embargo, under_embargo
from flipcore.runs.progress import CANCELLED
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import review, studies
from flipcore.text.numerals import numbers

# A recipe is one prompt, or a chain of prompts in which each step rewrites the last output. Source
# 001 chains a translation to French and back, other named entities, and restructured clauses. A
# prompt is a template with the field {text}, which users may edit on a page.
_REPLY_ALONE = "Reply with the rewritten text alone.\n\nText: {text}\n\nRewritten:"
_PARAPHRASE = (
    "Say the text in other words. Keep every number, name, unit and negation, what is asked, and "
    "how hard it is. " + _REPLY_ALONE
)
_FRENCH = (
    "Translate the text into French. Reply with the translation alone.\n\nText: {text}\n\nFrench:"
)
_BACK = (
    "Translate the text into English. Reply with the translation alone.\n\nText: {text}\n\nEnglish:"
)
_ENTITIES = (
    "Replace places, objects and organisations in the text by others of the same kind where that "
    "changes nothing about the answer. Keep people's names, numbers and units. " + _REPLY_ALONE
)
_CLAUSES = (
    "Put the clauses and sentences of the text into another order or form: active for passive, "
    "one sentence for two. Keep every fact, number, name and negation. " + _REPLY_ALONE
)


@dataclass(frozen=True)
class Recipe:
    """A way of making paraphrases; `steps` are templates, applied one after the other."""

    name: str
    title: str
    about: str
    steps: tuple[str, ...]
    change: str = PARAPHRASE

    def with_steps(self, steps: Sequence[str]) -> "Recipe":
        """Return the recipe with edited prompts, under a new name if they differ.

        Raises BadInput for a prompt without exactly one {text}.
        """
        for number, step in enumerate(steps, start=1):
            if step.count("{text}") != 1:
                raise BadInput(
                    f"The prompt of step {number} has {{text}} {step.count('{text}')} times; it "
                    "needs it once, where the text to be rewritten goes."
                )
        name = self.name
        if tuple(steps) != self.steps:
            name += f", edited {digest(*steps)[:6]}"
        return replace(self, name=name, steps=tuple(steps))

    def prompt(self, step: int, text: str) -> str:
        """Return the prompt of a step, counted from 0."""
        # Not `str.format`, because texts and edited prompts may contain braces.
        return self.steps[step].replace("{text}", text)


TRANSLATION = "translation"


def translation(language: str) -> Recipe:
    """Return the recipe of a translation; raises BadInput if `language` is no language name."""
    name = language_of(into(language))
    step = (
        f"Translate the text into {name}. Keep every number, formula, name, unit and negation, "
        "what is asked, and how hard it is. Reply with the translation alone.\n\nText: "
        f"{{text}}\n\n{name}:"
    )
    return Recipe(
        f"{TRANSLATION} into {name}",
        f"Into {name}",
        about="One translation.",
        steps=(step,),
        change=into(name),
    )


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "paraphrase",
            "Paraphrase",
            about="One prompt: the same in other words.",
            steps=(_PARAPHRASE,),
        ),
        Recipe(
            "back_translation",
            "To French and back",
            about="Two translations.",
            steps=(_FRENCH, _BACK),
        ),
        Recipe(
            "restructured",
            "Clauses restructured",
            about="The same facts in another order and form.",
            steps=(_CLAUSES,),
        ),
        Recipe(
            "chain",
            "The source's chain",
            about="To French and back, other places and things, clauses restructured.",
            steps=(_FRENCH, _BACK, _ENTITIES, _CLAUSES),
        ),
    )
}


# Rules check a text before a person does: it keeps numbers, names, negations and options, differs
# from the original, and is about as long.
Check = tuple[str, bool, str]  # name, passed, sentence on the finding

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|except|un(?:less|til))\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
# Words for 1 that are as often a pronoun, so they may appear or vanish.
_ONE = re.compile(r"\b(?:one|single)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
MIN_LENGTH, MAX_LENGTH = 0.5, 2.0  # in words, relative to the original


def checks(original: str, text: str, options: Sequence[str] = ()) -> tuple[Check, ...]:
    """Return the result of every rule for a paraphrase `text`."""
    return (
        _check_different(original, text),
        _check_numbers(original, text),
        _check_names(original, text),
        _check_negations(original, text),
        _check_options(original, text, options=options),
        _check_length(original, text),
    )


def translation_checks(original: str, text: str) -> tuple[Check, ...]:
    """Return the results of the rules that work in any language: text, figures and length."""
    before, after = _figures(original), _figures(text)
    fault = f"Figures: {', '.join(before)} became {', '.join(after)}."
    figures = _check("numbers", passed=before == after, kept="All figures are kept.", fault=fault)
    return _check_different(original, text), figures, _check_length(original, text)


def _check(name: str, *, passed: bool, kept: str, fault: str) -> Check:
    return name, passed, kept if passed else fault


def _figures(text: str) -> list[str]:
    """Return the numbers in digits, sorted and without separators, which differ by language."""
    return sorted(re.sub("[.,]", "", figure) for figure in _FIGURE.findall(text))


def _different_words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def overlap(original: str, text: str) -> float:
    """Return the Jaccard similarity of the two sets of words; NaN if both are empty."""
    first, second = _different_words(original), _different_words(text)
    return len(first & second) / len(first | second) if first | second else float("nan")


def _check_different(original: str, text: str) -> Check:
    is_same = _letters(original) == _letters(text)
    fault = "It is the original again." if is_same else "It is empty."
    passed = not is_same and bool(text.strip())
    return _check("different", passed=passed, kept="It is not the original's text.", fault=fault)


def _letters(text: str) -> str:
    """Return letters and digits alone, in one case."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _check_numbers(original: str, text: str) -> Check:
    before, after = set(numbers(original)), set(numbers(text))
    # The word "one" in the other text may mean this 1.
    lost = sorted(before - after - ({"1"} if _ONE.search(text) else set()))
    added = sorted(after - before - ({"1"} if _ONE.search(original) else set()))
    changes = []
    for word, figures in (("lost", lost), ("new", added)):
        if figures:
            changes.append(f"{word} {', '.join(figures)}")
    fault = f"Numbers: {'; '.join(changes)}."
    return _check("numbers", passed=not changes, kept="All numbers are kept.", fault=fault)


def _without_possessive(word: str) -> str:
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)


def names(text: str) -> set[str]:
    """Return the capitalized words, without the first of each sentence, which is no evidence."""
    capitals = set()
    for sentence in re.split(r"(?<=[.!?:])['\"’”)]*\s+|\n+", text):
        words = _WORD.findall(sentence)
        capitals |= {
            _without_possessive(word) for word in words[1:] if word[:1].isupper() and word != "I"
        }
    return capitals


def _check_names(original: str, text: str) -> Check:
    kept_words = {_without_possessive(word).casefold() for word in _WORD.findall(text)}
    lost = sorted(name for name in names(original) if name.casefold() not in kept_words)
    fault = f"Names lost: {', '.join(lost)}."
    return _check("names", passed=not lost, kept="All names are kept.", fault=fault)


def _check_negations(original: str, text: str) -> Check:
    before, after = len(_NEGATION.findall(original)), len(_NEGATION.findall(text))
    fault = f"The original has {before} negation{'s' * (before != 1)}, the paraphrase {after}."
    is_same = (before > 0) == (after > 0)
    return _check("negations", passed=is_same, kept="Negations are kept.", fault=fault)


def _check_options(original: str, text: str, options: Sequence[str]) -> Check:
    """Check that the same options are named in both texts, so that none is lost or given away."""
    for option in options:
        was_named = option.casefold() in original.casefold()
        is_named = option.casefold() in text.casefold()
        # An option of one or two letters may be in any text by chance.
        if len(option) > 2 and was_named != is_named:
            return "options", False, f"The option {option!r} is named in one of the two texts only."
    return "options", True, "No option is lost or given away."


def _check_length(original: str, text: str) -> Check:
    before, after = max(len(_WORD.findall(original)), 1), max(len(_WORD.findall(text)), 1)
    sentence = f"It has {after / before:.1f} times the words of the original."
    return "length", MIN_LENGTH <= after / before <= MAX_LENGTH, sentence


_WORK = r"(?:paraphras|rewrit|rewrot|reword|rephras|restat|translat|restructur|version)\w*"
_POLITE = re.compile(
    r"(?:sure|certainly|of course|absolutely)(?: thing)?(?:[!.:]|,(?= here)|(?=\s*\n))\s*",
    re.IGNORECASE,
)
# A preface on the reply: "here is the rewritten text", but not "here is what Tom bought".
_PREFACE = re.compile(
    rf"(?:here(?: is|'s|’s| are)|this is|below is)\b(?:.*\b{_WORK}.*|.* (?:the|your) (?:text"
    r"|question))|here (?:you go|it is)"
    rf"|(?:the )?{_WORK}(?: (?:text|question|version|sentences?))?|english|french",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'"}


@dataclass(frozen=True)
class Proposal:
    """A proposed paraphrase with the results of the rules.

    `pair_id` is None unless it passed every rule and was stored. `error` is the reason if the model
    gave no text. `overlap` is NaN without a text.
    """

    item_id: str
    original: str
    text: str = ""
    checks: tuple[Check, ...] = ()
    overlap: float = math.nan
    pair_id: str | None = None
    error: str = ""


def maker(model: str, recipe: Recipe) -> str:
    """Return the name of the generator; edited prompts are another one, with its own gate."""
    return f"{model}: {recipe.name}"


def projected_cost(items: Sequence[Item], recipe: Recipe, use: ModelUse) -> cost.Projection:
    """Return the largest cost of running a recipe on these items."""
    backend = open_backend(use.name, model_cards())
    calls = []
    for item in items:
        for step in range(len(recipe.steps)):
            calls.append(_call(backend, use, recipe=recipe, step=step, text=item.question))
    return cost.projected(calls, model_cards().get(use.name))


def propose(
    items: Sequence[Item],
    recipe: Recipe,
    use: ModelUse,
    store: Store,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: threading.Event | None = None,
    budget_usd: float | None = None,
    *,
    may_send_retro: bool = False,
) -> list[Proposal]:
    """Return one proposal per item, in order.

    After a cancellation the remaining items are left out. If asking ended for another reason, their
    proposals give it as `error`. `budget_usd` limits this run alone. Raises OverBudget before the
    first call, and BadInput if items of a retro set would be sent without `may_send_retro`.
    """
    require(Permission.RUN)
    cards = model_cards()
    reason = cost.refusal(
        projected_cost(items, recipe, use=use), budget_usd, cards={use.name: cards.get(use.name)}
    )
    if reason:
        raise OverBudget(reason)
    retro_ids = under_embargo(store, [item.item_id for item in items])
    how = "Allow it where you propose, or leave them out."
    check_embargo(retro_ids, use.name, may_send=may_send_retro, how=how)
    asking = Asking(
        store,
        maker(use.name, recipe),
        models=[use.name],
        cards=cards,
        cap_usd=budget_usd,
        cancel=cancel,
    )
    return asyncio.run(
        _proposals(
            items,
            recipe,
            use=use,
            asking=asking,
            on_progress=on_progress or (lambda n_done, total: None),
        )
    )


async def _proposals(
    items: Sequence[Item],
    recipe: Recipe,
    use: ModelUse,
    asking: Asking,
    on_progress: Callable[[int, int], None],
) -> list[Proposal]:
    """Ask for all items and return the proposals, as `propose` describes them."""
    proposals: dict[int, Proposal] = {}

    async def propose_item(numbered_item: tuple[int, Item]) -> None:
        index, item = numbered_item
        proposal = await _proposal(item, recipe, use=use, asking=asking)
        if proposal is not None:
            proposals[index] = proposal
            on_progress(len(proposals), len(items))

    async with asking:
        # One call per item at a time, because each step of a chain needs the last one's output.
        n_workers = asking.place.n_items_at_once([use], asking.cards, 1)
        await asking.do_each(enumerate(items), propose_item, n_workers)
    asking.store.writer.flush()
    if asking.ending not in ("", CANCELLED):
        failed = (Proposal(item.item_id, item.question, error=asking.why) for item in items)
        proposals = dict(enumerate(failed)) | proposals
    return [proposals[index] for index in sorted(proposals)]


async def _proposal(item: Item, recipe: Recipe, use: ModelUse, asking: Asking) -> Proposal | None:
    """Return the proposal for one item; None if asking stopped before the last step."""
    text = item.question
    for step in range(len(recipe.steps)):
        call = _call(asking.backends[use.name], use, recipe=recipe, step=step, text=text)
        completion = (await asking.replies([call])).get(call.call_id)
        if completion is None:
            return None
        text = cleaned(completion.text)
        if completion.status != "ok" or not text:
            reason = completion.error or f"Step {step + 1} of {len(recipe.steps)} gave no text."
            return Proposal(item.item_id, item.question, error=reason)
    if language_of(recipe.change):
        text_checks = translation_checks(item.question, text)
    else:
        text_checks = checks(item.question, text, options=item.options)
    proposal = _proposed(item, text, text_checks)
    if not all(passed for _, passed, _ in text_checks):
        return proposal
    made_by = maker(use.name, recipe)
    return _stored(item, proposal, made_by=made_by, store=asking.store, change=recipe.change)


def _call(backend: Backend, use: ModelUse, recipe: Recipe, step: int, text: str) -> Call:
    request = Request(
        "generate",
        recipe.prompt(step, text),
        max_tokens=use.max_tokens,
        temperature=use.temperature,
        top_p=use.top_p,
        seed=use.seed,
    )
    return Call(backend.name, backend.revision, request=request)


def cleaned(reply: str) -> str:
    """Return the reply without preface, surrounding quotes and emphasis, on one line."""
    text = reply.strip()
    polite = _POLITE.match(text)
    text = text[polite.end() :] if polite else text
    head, _, after_colon = text.partition(":")
    if after_colon.strip() and _PREFACE.fullmatch(head.strip("*_# ")):
        text = after_colon.lstrip("*_ ")
    text = " ".join(text.split()).strip("*").strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


BY_RULE = "rule: typos"


def propose_typos(items: Sequence[Item], store: Store) -> list[Proposal]:
    """Store up to two versions of each question with typos, made by the axis's rule, for review."""
    require(Permission.BRING)
    proposals = []
    for item in items:
        rng = generator(0, "typos for review", item.item_id)
        for text in misspellings(item.question, 2, share=Typos.share, rng=rng):
            proposal = _proposed(item, text)
            proposals.append(_stored(item, proposal, made_by=BY_RULE, store=store, change=TYPOS))
    store.writer.flush()
    return proposals


def _proposed(item: Item, text: str, text_checks: tuple[Check, ...] = ()) -> Proposal:
    words_in_common = overlap(item.question, text)
    return Proposal(item.item_id, item.question, text, checks=text_checks, overlap=words_in_common)


def _stored(item: Item, proposal: Proposal, made_by: str, store: Store, change: str) -> Proposal:
    """Give the pair to the store, and return the proposal with its id."""
    pair_id = digest("pair", item.item_id, item.question, proposal.text)
    row = {
        "pair_id": pair_id,
        "dataset": item.dataset,
        "item_id": item.item_id,
        "original": item.question,
        "paraphrase": proposal.text,
        "generator": made_by,
        "created_at": rows.now(),
        "change": change,
    }
    store.writer.add("paraphrases", [row])
    return replace(proposal, pair_id=pair_id)


STUDY = "study:"  # begins the key of a source that is a study


def writers() -> list[str]:
    """Return the models that can write, the pocket model last; simulated ones cannot."""
    cards = model_cards()
    return sorted(
        (name for name, card in cards.items() if card.backend != "simulated"),
        key=lambda name: cards[name].backend == "pocket",
    )


def question_sources(store: Store) -> dict[str, str]:
    """Return key -> name of every source of questions: shipped sets and stored studies."""
    rows = studies.studies(store)
    shipped = {name: loader.title for name, loader in LOADERS.items() if loader.local}
    return shipped | {
        f"{STUDY}{study_id}": f"study: {name}"
        for study_id, name in zip(rows["study_id"], rows["name"], strict=True)
    }


def items_to_paraphrase(
    store: Store, source: str, n: int, generator: str, *, with_retro: bool = True
) -> list[Item]:
    """Return the first `n` items without this generator's paraphrase, none that is set aside."""
    states = studies.paraphrase_states(store)
    skip_ids = set(states[states["generator"] == generator]["item_id"])
    if source.startswith(STUDY):
        frame = studies.study_items(store, source.removeprefix(STUDY))
        ids = list(frame[~frame["confirmatory"]]["item_id"])
        by_id = review.items(store, ids)
        items = [by_id[item_id] for item_id in ids if item_id in by_id]
    else:
        items = list(load(ItemSource(source)))
    if not with_retro:
        skip_ids |= under_embargo(store, [item.item_id for item in items])
    return [item for item in items if item.item_id not in skip_ids][:n]
