"""Every defensible choice of how to count, of a stored study: its material and what may be said."""

from collections.abc import Sequence

from flipcore.annotation.key_review import OTHER, key_reviews
from flipcore.core.errors import BadInput
from flipcore.extractors import EXTRACTORS, title_of
from flipcore.reports.ranking import roles_of
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.choices.readouts import AnswerMaterial, ItemFacts, answers_of, material_of
from flipcore.stats.flips.decomposition import default_reference
from flipcore.store.judgements import ANSWER, KEY_VERDICTS
from flipcore.store.queries import judgements, review
from flipcore.text.same_question import item_key

BACKWARDS = "judge_backwards"
_WRITTEN = frozenset({"generate"})


def choices_material(
    study: WholeStudy, models: Sequence[str], role: str = "", reference: str = ""
) -> AnswerMaterial:
    """Return what can be chosen about the score of one model of a study, or the lead of the first
    of two over the second.

    Parameters
    ----------
    role : that of the items; the first that Ranking shows by default.
    reference : the declared extractor; the study's by default.

    Raises
    ------
    BadInput
        For a model without scored answers, and where no answer was judged right or wrong.
    """
    frame = study.frame
    role = role or next(iter(roles_of(frame)), "")
    frame = frame[(frame["role"] == role) & frame["is_correct"].notna()]
    asked_models = list(dict.fromkeys(frame["model"].astype(str)))
    for model in models:
        if model not in asked_models:
            listed = ", ".join(asked_models) or "none"
            raise BadInput(f"{model!r} has no scored answers here. Models with scores: {listed}.")
    extractors = list(dict.fromkeys(frame["extractor"].astype(str)))
    own_reference = (
        reference or study.reference or default_reference(extractors, study.study.scorer_names)
    )
    alike = [name for name in extractors if _reads_as(name, own_reference)]
    frame = frame[frame["model"].isin(models) & frame["extractor"].isin(alike)]
    facts = item_facts(study)
    answers = answers_of(frame, own_reference, facts)
    titles = {name: title_of(name) for name in alike}
    return material_of(answers.of(*models), facts, closed_gates=study.closed_gates, titles=titles)


def _reads_as(name: str, reference: str) -> bool:
    """Return whether an extractor reads the same part of an output as the reference does."""
    if name == BACKWARDS != reference:
        return False
    # Scorers of a log, and versions of ours, read what was written.
    abilities = []
    for extractor in (name, reference):
        known = EXTRACTORS.get(extractor)
        abilities.append(known.abilities if known else _WRITTEN)
    return abilities[0] == abilities[1]


def item_facts(study: WholeStudy) -> ItemFacts:
    """Return what is known of a study's items by which a choice may leave them out."""
    rows = study.items
    items = review.items(study.store, list(map(str, rows["item_id"])))
    in_order = [items[name] for name in map(str, rows["item_id"]) if name in items]
    categories = {item.item_id: item.category for item in in_order if item.category}
    repeated, keys_seen = set(), set()
    for item in in_order:
        key = item_key(item)
        if key is not None and key in keys_seen:
            repeated.add(item.item_id)
        keys_seen.add(key)
    wrong, disputed, settled = set(), set(), {}
    verdicts = judgements.standing(study.store, KEY_VERDICTS)
    for name, key_review in key_reviews(items, verdicts).items():
        if not key_review.is_disputed:
            continue
        disputed.add(name)
        if key_review.outcome == OTHER:
            wrong.add(name)
            answers = [row["answer"] for row in key_review.rows if row["verdict"] == ANSWER]
            settled[name] = [max(sorted(set(answers)), key=answers.count)]
    return ItemFacts(
        categories=categories,
        repeated=repeated,
        wrong_key=wrong,
        disputed=disputed,
        settled=settled,
        category_groups={name: [name] for name in sorted(set(categories.values()))},
    )
