"""Every defensible choice of how to count: the choices that a study offers, and the claims."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.key_review import OTHER, key_reviews
from flipcore.claims import choices as claims
from flipcore.claims.claim import Claim, description
from flipcore.claims.decisions import EVERY_OTHER, Decision, Flips, Loss
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY
from flipcore.core.wordings import COMBINED, PARAPHRASE
from flipcore.extractors import EXTRACTORS, count_alike, title_of
from flipcore.reports.answer import LEVEL, Answer, Question
from flipcore.reports.ranking import counted_role
from flipcore.reports.regression import RegressionCheck, Run
from flipcore.reports.rows import Row, as_json, claim_fields
from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.stats.base.estimate import Estimate, without_interval
from flipcore.stats.choices.choice import Choice, asks_another_question, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve
from flipcore.stats.choices.flips import FlipMaterial, flip_curve, flip_material
from flipcore.stats.choices.joined import first_rank_curve
from flipcore.stats.choices.losses import loss_curve
from flipcore.stats.choices.readouts import AnswerMaterial, ItemFacts, answers_of, material_of
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.score.regression import ERROR
from flipcore.store.judgements import ANSWER, KEY_VERDICTS
from flipcore.store.queries import judgements, review, studies
from flipcore.store.queries.judges import BACKWARDS
from flipcore.store.queries.locks import locks
from flipcore.text.same_question import item_key

Prompt = tuple[str, str, str]  # item id, axis, variant
_WRITTEN = frozenset({"generate"})  # abilities that reading a written answer needs of a model
NEW_RUN, OLD_RUN = "The new run", "the old run"
STORED = "choices"  # the key of the choices among a lock's settings
SCORES_ALONE = (
    "Scores came without outputs, so only reruns, repeated questions, weights and categories can "
    "be varied."
)


@dataclass(frozen=True, eq=False)
class ChoicesReport(Answer):
    """A decision counted in every selected way.

    `offered` are all choices that the study allows, also those that are not counted. `is_locked` is
    True if a lock stored the counted options beforehand.
    """

    decision: Decision
    curve: Curve
    offered: tuple[Choice, ...]
    is_locked: bool
    note: str = ""
    level: float = LEVEL

    question = Question.CHOICES

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The decision over all ways, then what moves it."""
        survives = claims.survives_claim(
            self.curve, self.decision, self.level, is_locked=self.is_locked
        )
        moves = claims.moves_claim(self.curve, self.decision, self.level)
        # What withholds the headline withholds the effects too.
        return (survives, moves.not_claimed(survives.withheld))

    def way(self, index: int) -> Estimate:
        """Return the estimate of the way of counting at an index of the curve."""
        low, high = (float(limits[index]) for limits in self.curve.limits(self.level))
        value, n = float(self.curve.estimate[index]), int(self.curve.n_units[index])
        if not low <= high:
            return without_interval(value, n, self.level)
        method = "wilson_t" if self.decision.is_bar else "guarded t"
        return Estimate(value, low, high, level=self.level, method=method, n=n, seed=None)

    def rows(self) -> Iterator[Row]:
        """Yield the declared way, the lowest and highest open ones, then each option's effect."""
        model, ways = self.decision.first, {"as declared": 0}
        order = self.curve.estimate.argsort()
        is_counted = self.curve.is_open & ~self.curve.is_apart
        open_ways = [int(index) for index in order if is_counted[index]]
        if open_ways:
            ways |= {"lowest way": open_ways[0], "highest way": open_ways[-1]}
        for name, index in ways.items():
            columns = {"model": model, "against": self.decision.second, "way": name}
            # The claim covers all ways, so only the first row carries it.
            claim = self.claims[0] if name == "as declared" else None
            yield Row(model, name, "every choice", self.way(index), claim=claim, columns=columns)
        for effect in self.curve.effects:
            columns = {"model": model, "against": self.decision.second, "way": effect.name}
            p = {"p": effect.p, "adjusted p": effect.adjusted_p}
            yield Row(model, effect.name, "moved by", effect.change, columns=columns, p=p)

    def lines(self) -> list[str]:
        lines = super().lines()
        counts = self.curve.ahead_in(self.decision.margin)
        effects = {effect.name: effect for effect in self.curve.effects}
        for choice in self.curve.choices:
            lines.append(f"{choice.label}: {choice.reason}")
            for option in choice.options:
                n_ahead, n_open = counts[choice.name, option.name]
                side = "above the bar" if self.decision.is_bar else "ahead"
                text = f"{side} in {n_ahead} of {n_open}"
                effect = effects.get(f"{choice.name}={option.name}")
                if effect:
                    text += f", on average moves it by {effect.change.text_points()}"
                if option.closed:
                    text = f"may not be claimed: {option.closed}"
                lines.append(f"  {choice.name}={option.name} ({option.label}): {text}")
        uncertain = []
        for choice in self.offered:
            if any(asks_another_question(choice, option) for option in choice.options):
                uncertain.append(choice.name)
        if uncertain:
            lines.append(f"Also offered, counted apart: {', '.join(uncertain)} (--also).")
        return [*lines, self.note] if self.note else lines

    def as_dict(self) -> dict[str, Any]:
        margin, curve = self.decision.margin, self.curve
        low, high = curve.limits(self.level)
        states, ways = curve.states(self.level, margin), []
        for index, n_merged in zip(curve.ways.first, curve.ways.n_merged, strict=True):
            way = {
                "setting": curve.setting(int(index)),
                "value": as_json(float(curve.estimate[index])),
                "low": as_json(float(low[index])),
                "high": as_json(float(high[index])),
                "lowest_unread": as_json(float(curve.lowest[index])),
                "highest_unread": as_json(float(curve.highest[index])),
                "state": str(states[index]),
                "closed": curve.closed[index],
                "apart": bool(curve.is_apart[index]),
                "n_merged": int(n_merged),
            }
            ways.append(way)
        effects = []
        for effect in curve.effects:
            numbers = {"p": as_json(effect.p), "adjusted_p": as_json(effect.adjusted_p)}
            effects.append({"option": effect.name, "change": as_json(effect.change), **numbers})
        return {
            "first": self.decision.first,
            "second": self.decision.second,
            "margin": margin,
            "level": self.level,
            "claims": [claim_fields(claim) for claim in self.claims],
            "numbers": as_json(dict(self.claims[0].numbers)),
            "choices": stored_choices(curve.choices),
            "ways": ways,
            "effects": effects,
            "note": self.note,
        }


def stored_choices(choices: Iterable[Choice]) -> list[dict[str, Any]]:
    """Return choices as values for a lock, a decision and JSON."""
    rows = []
    for choice in choices:
        options = []
        for option in choice.options:
            options.append({"name": option.name, "label": option.label, "reason": option.reason})
        row = {"name": choice.name, "class": str(choice.kind), "reason": choice.reason}
        rows.append(row | {"options": options})
    return rows


def was_stored(curve: Curve, offered: Iterable[Choice], lock: Mapping[str, Any] | None) -> bool:
    """Tell whether a lock stored exactly the counted options.

    Stored options that the items do not offer cannot be counted, so they are left out. Names are
    compared and labels are not, because labels state numbers of items, which differ under a lock.
    """
    if lock is None:
        return False
    stored_names = _option_names(lock["settings"].get(STORED, []))
    offered_names = _option_names(stored_choices(offered))
    return _option_names(stored_choices(curve.choices)) == stored_names & offered_names


def _option_names(stored: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the (choice, option) names of `stored_choices`."""
    names = set()
    for choice in stored:
        names |= {(choice["name"], option["name"]) for option in choice["options"]}
    return names


def choices_report(
    study: WholeStudy,
    first: str,
    second: str = "",
    *,
    margin: float = 0.0,
    without: Iterable[str] = (),
    also: Iterable[str] = (),
    level: float = LEVEL,
    role: str = "",
) -> ChoicesReport:
    """Count in every way whether `first` scores higher than `second` by more than `margin`.

    Without a second model the score of `first` is compared with the bar `margin`. `second` may be
    `EVERY_OTHER`. `without` names options ("choice=option") that are left out, `also` uncertain
    choices that are taken in. Raises BadInput for unknown models, choices and options.
    """
    material = choices_material(study, [first, second] if second else [first], role)
    curve = counted(material, selected(material.choices, without, also))
    note = "" if material.has_outputs else SCORES_ALONE
    return _report(study, Decision(first, second, margin), curve, material.choices, note, level)


def counted(material: AnswerMaterial | FlipMaterial, choices: Sequence[Choice]) -> Curve:
    """Count what the material holds: flips, a score, or a lead over one or several models."""
    if isinstance(material, FlipMaterial):
        return flip_curve(material, choices)
    if len(material.answers.models) > 2:
        return first_rank_curve(material, choices)
    return count(material, choices)


def _report(
    study: WholeStudy,
    decision: Decision,
    curve: Curve,
    choices: Sequence[Choice],
    note: str,
    level: float,
) -> ChoicesReport:
    is_locked = False
    for lock in locks(study.store, study.study_id):
        if STORED in lock["settings"]:
            is_locked = is_locked or was_stored(curve, choices, lock)
    offered = tuple(choice for choice in choices if len(choice.options) > 1)
    return ChoicesReport(
        decision, curve, offered=offered, is_locked=is_locked, note=note, level=level
    )


def flips_choices_report(
    study: WholeStudy,
    axis: str,
    extractor: str = "",
    model: str = "",
    *,
    margin: float = 0.0,
    without: Iterable[str] = (),
    also: Iterable[str] = (),
    level: float = LEVEL,
) -> ChoicesReport:
    """Count in every way whether flips by an axis are mostly those of an extractor.

    `axis` may be "all". Raises BadInput for unknown names, and where `extractor` or `model` is ""
    and there are several.
    """
    material = flips_material(study, axis, extractor, model)
    curve = counted(material, selected(material.choices, without, also))
    decision = flips_decision(material, margin)
    return _report(study, decision, curve, material.choices, "", level)


def flips_decision(material: FlipMaterial, margin: float = 0.0) -> Flips:
    """Return the decision on flips, with names as on screen."""
    change = " and ".join(change_words(axis) for axis in material.axes)
    return Flips(change, title_of(material.extractor).lower(), margin)


def change_words(axis: str) -> str:
    """Return an axis as the change that it makes: "option order"."""
    return "several changes at once" if axis == COMBINED else axis.replace("_", " ")


def flip_pairings(study: WholeStudy, model: str) -> dict[str, list[str]]:
    """Return axis -> extractors that can be compared with the reference, for one model."""
    frame = study.flip_readouts_of(model)
    frame = frame[frame["answer"].notna() & (frame["axis"] != IDENTITY)]
    pairings: dict[str, list[str]] = {}
    if not frame.empty:
        reference = _reference_of(study, frame)
        for key, part in frame.groupby(["axis", "extractor"], sort=False, observed=True):
            axis, extractor = map(str, key)
            if extractor != reference and part["variant"].nunique() > 1:
                pairings.setdefault(axis, []).append(extractor)
    return pairings


def _reference_of(study: WholeStudy, frame: pd.DataFrame) -> str:
    extractors = list(dict.fromkeys(frame["extractor"].astype(str)))
    return study.reference or default_reference(extractors, study.study.scorer_names)


def flips_material(
    study: WholeStudy, axis: str, extractor: str = "", model: str = ""
) -> FlipMaterial:
    """Return the answers and choices for flips by an axis, or by "all".

    Raises BadInput as `flips_choices_report` does.
    """
    by_model = {name: flip_pairings(study, name) for name in study.models}
    if not any(by_model.values()):
        raise BadInput(
            "No flips can be compared here: that takes questions asked in several ways, and two "
            "extractors that read the answers."
        )
    model = _choose("model", model, [name for name, pairings in by_model.items() if pairings])
    pairings = by_model[model]
    axes = list(pairings) if axis == "all" else [axis]
    if axis not in (*pairings, "all"):
        listed = ", ".join([*pairings, "all"])
        raise BadInput(f"No flips by {axis!r} can be compared here. Changes: {listed}.")
    compared = list(pairings[axes[0]])
    for other_axis in axes[1:]:
        compared = [name for name in compared if name in pairings[other_axis]]
    extractor = _choose("extractor", extractor, compared)
    readouts, facts = study.flip_readouts_of(model), item_facts(study)
    answers = coded_answers(readouts)
    accepted = None
    if facts.unreviewed:
        accepted = coded_answers(_accepted_alone(readouts, facts.unreviewed))
    reference = _reference_of(study, readouts)
    alike = [name for name in answers.extractors if _reads_as(name, reference)]
    references = [reference, *(name for name in alike if name not in (reference, extractor))]
    return flip_material(
        answers,
        extractor,
        axes,
        references,
        facts,
        closed_gates=study.closed_gates,
        titles={name: title_of(name) for name in answers.extractors},
        accepted=accepted,
    )


def _accepted_alone(frame: pd.DataFrame, unreviewed: Collection[Prompt]) -> pd.DataFrame:
    """Return readouts in which the answers to `unreviewed` paraphrases are missing."""
    is_left_out = np.array([prompt in unreviewed for prompt in _prompts(frame)], dtype=bool)
    # Rows stay, so that the coded answers keep their shape.
    status = frame["status"].astype(str).mask(is_left_out, "left out")
    answer = frame["answer"].astype(object).mask(is_left_out, None)
    return frame.assign(status=status, answer=answer)


def _prompts(frame: pd.DataFrame) -> list[Prompt]:
    """Return (item id, axis, variant) of each readout."""
    columns = [frame[name].astype(str) for name in ("item_id", "axis", "variant")]
    return list(zip(*columns, strict=True))


def _paraphrases(frame: pd.DataFrame) -> set[Prompt]:
    return set(_prompts(frame[(frame["axis"] == PARAPHRASE) & (frame["variant"] != BASE)]))


def _unreviewed(study: WholeStudy) -> frozenset[Prompt]:
    """Return (item id, axis, variant) of the paraphrases that count although nobody judged them.
    Empty where nobody accepted any, because then there is nothing to choose."""
    counted_paraphrases = _paraphrases(study.flip_readouts)
    if not counted_paraphrases:
        return frozenset()
    accepted = _paraphrases(
        studies.readouts(study.store, study.study_id, lock=study.lock, paraphrases="accepted")
    )
    return frozenset(counted_paraphrases - accepted) if accepted else frozenset()


def _choose(kind: str, name: str, names: Sequence[str]) -> str:
    """Return `name`, or the only one of `names` where it is ""; raise BadInput otherwise."""
    if name in names or (not name and len(names) == 1):
        return name or names[0]
    listed = ", ".join(names) or "none"
    if name:
        raise BadInput(f"There is no {kind} {name!r} to compare here. There are: {listed}.")
    raise BadInput(f"Which {kind}? Choose with --{kind}: {listed}.")


def leaders_report(study: WholeStudy) -> ChoicesReport | None:
    """Count in every way whether the best model leads the second best. None if fewer than two
    models have scores, and where nothing can be varied."""
    try:
        models = leading_models(study)[:2]
        if len(models) < 2:
            return None
        report = choices_report(study, *models)
    except BadInput:
        return None
    return report if report.offered else None


def choices_material(
    study: WholeStudy, models: Sequence[str], role: str = "", reference: str = ""
) -> AnswerMaterial:
    """Return the answers and choices for the score of one model, or for the lead of the first.

    Parameters
    ----------
    models : one model, or two of which the second may be `EVERY_OTHER`.
    role : the role of the items that count; by default the first that Ranking shows.
    reference : the declared extractor; by default the study's.

    Raises
    ------
    BadInput
        For a model without scored answers, and where no answer was judged right or wrong.
    """
    frame = study.flip_readouts
    role = role or counted_role(frame)
    if EVERY_OTHER in models:
        rivals = [model for model in leading_models(study) if model not in models]
        models = [models[0], *rivals]
    return _material(study, frame[frame["role"] == role], models, reference)


def _material(
    study: WholeStudy, frame: pd.DataFrame, models: Sequence[str], reference: str = ""
) -> AnswerMaterial:
    """Return the answers and choices of readouts, which are all of one role."""
    frame = _right_or_wrong(frame)
    asked_models = list(dict.fromkeys(frame["model"].astype(str)))
    for model in models:
        if model not in asked_models:
            listed = ", ".join(asked_models) or "none"
            raise BadInput(f"{model!r} has no scored answers here. Models with scores: {listed}.")
    extractors = list(dict.fromkeys(frame["extractor"].astype(str)))
    own_reference = reference or _reference_of(study, frame)
    alike = [name for name in extractors if _reads_as(name, own_reference)]
    frame = frame[frame["model"].isin(models) & frame["extractor"].isin(alike)]
    frame = _scored_by(own_reference, frame)
    facts = item_facts(study)
    answers = answers_of(frame, own_reference, facts)
    titles = {name: title_of(name) for name in alike}
    return material_of(
        answers.of_models(*models),
        facts,
        closed_gates=study.closed_gates,
        titles=titles,
        has_outputs=studies.has_outputs(study.store, study.study_id),
    )


def _scored_by(reference: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out what other extractors read of outputs that the reference has no score of.

    A failed call has none. Counted by one extractor alone, it would look as if both disagreed.
    """
    sizes = frame.groupby("extractor", observed=True).size()
    if sizes.nunique() == 1:
        return frame
    outputs = pd.MultiIndex.from_frame(frame[_OUTPUT_KEY].astype(str))
    is_reference = (frame["extractor"] == reference).to_numpy()
    models = frame.loc[is_reference, "model"].unique()
    is_kept = outputs.isin(outputs[is_reference]) | ~frame["model"].isin(models).to_numpy()
    return frame[is_kept]


_OUTPUT_KEY = ["model", "item_id", "axis", "variant", "sample"]


def loss_claims(old: Run, new: Run, check: RegressionCheck) -> dict[str, Claim]:
    """Claim per task whether the new run loses less than the margin in every way of counting. The
    level fits the check's error rate on each side."""
    study = whole_study(new.store, new.study_id)
    sides = ((check.new, study), (check.old, whole_study(old.store, old.study_id)))
    frames = []
    for run_name, (model, run_study) in zip((NEW_RUN, OLD_RUN), sides, strict=True):
        frame = run_study.flip_readouts
        frames.append(frame[frame["model"] == model].assign(model=run_name))
    readouts = pd.concat(frames, ignore_index=True)
    decision = Loss(NEW_RUN, OLD_RUN, -check.margin)
    by_task = {}
    for task in check.tasks:
        items = task.reading.table.by_item.dropna().index
        part = readouts[readouts["item_id"].astype(str).isin(items)]
        try:
            material = _material(study, part, [NEW_RUN, OLD_RUN], task.reading.extractor)
        except BadInput:
            by_task[task.task] = description("Every choice needs answers that are right or wrong.")
            continue
        curve = loss_curve(material, check.margin)
        by_task[task.task] = claims.survives_claim(curve, decision, 1 - 2 * ERROR)
    return by_task


def _reads_as(name: str, reference: str) -> bool:
    """Tell whether an extractor reads the same part of an output as the reference does."""
    # Reading the options backwards is a check of the judge, not another way to read. Equal answers
    # do not contradict a score with a tolerance.
    if name == BACKWARDS != reference or not count_alike(name, reference):
        return False
    abilities = []
    for extractor in (name, reference):
        plugin = EXTRACTORS.get(extractor)
        # A log's scorers and versions of shipped extractors read the written answer.
        abilities.append(plugin.abilities if plugin else _WRITTEN)
    return abilities[0] == abilities[1]


def item_facts(study: WholeStudy) -> ItemFacts:
    """Return facts of a study's items by which a choice may leave items out."""
    item_ids = list(map(str, study.items["item_id"]))
    items = review.items(study.store, item_ids)
    in_order = [items[item_id] for item_id in item_ids if item_id in items]
    categories = {item.item_id: item.category for item in in_order if item.category}
    repeated, seen_questions = set(), set()
    for item in in_order:
        question = item_key(item)
        if question is not None and question in seen_questions:
            repeated.add(item.item_id)
        seen_questions.add(question)
    wrong_key, disputed, settled = set(), set(), {}
    verdicts = judgements.standing(study.store, KEY_VERDICTS)
    for item_id, key_review in key_reviews(items, verdicts).items():
        if not key_review.is_disputed:
            continue
        disputed.add(item_id)
        if key_review.outcome == OTHER:
            wrong_key.add(item_id)
            answers = [row["answer"] for row in key_review.rows if row["verdict"] == ANSWER]
            # The most frequent answer of reviewers; of equals the first in alphabetical order.
            settled[item_id] = [max(sorted(set(answers)), key=answers.count)]
    return ItemFacts(
        categories=categories,
        repeated=repeated,
        wrong_key=wrong_key,
        disputed=disputed,
        settled=settled,
        category_groups={name: [name] for name in sorted(set(categories.values()))},
        origins={item.item_id: str(item.meta.get("origin") or item.dataset) for item in in_order},
        unreviewed=_unreviewed(study),
        has_raters=study.study.has_raters,
    )


def _right_or_wrong(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts that are right or wrong. Raises BadInput if there are none."""
    frame = frame[frame["is_correct"].notna()]
    if frame.empty:
        raise BadInput("Nothing was judged right or wrong here, so nothing can be counted.")
    return frame


def leading_models(study: WholeStudy) -> list[str]:
    """Return the models with scores, the highest first. Raises BadInput if there is none."""
    frame = study.flip_readouts
    frame = _right_or_wrong(frame[frame["role"] == counted_role(frame)])
    is_by_reference = frame["extractor"] == _reference_of(study, frame)
    at_own_prompt = frame[is_by_reference & (frame["variant"] == BASE)]
    is_correct = at_own_prompt["is_correct"].astype(float)
    means = is_correct.groupby(at_own_prompt["model"].astype(str)).mean()
    return [str(model) for model in means.sort_values(ascending=False, kind="stable").index]
