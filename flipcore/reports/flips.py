"""The sentences of a model's card: which part of its flips is larger, and its accuracy."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from flipcore.claims import flips as claims
from flipcore.claims.audit_input import what_differs
from flipcore.claims.claim import Claim, description
from flipcore.claims.score import OTHER_QUESTIONS
from flipcore.core.records import ABSENT, BASE, CUT, FIRST_TOKEN, IDENTITY, role_name
from flipcore.datasets import LOADERS
from flipcore.extractors import title_of
from flipcore.reports.log_scores import TaskScore, leading, score_claim
from flipcore.reports.ranking import roles_of
from flipcore.reports.unread import unread_share, why_unread
from flipcore.stats.base.accuracy import accuracy_of, tasks_of
from flipcore.stats.base.estimate import Estimate, missing, percent_text
from flipcore.stats.flips import surface
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions, default_reference
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.holdout.difficulty import conditions
from flipcore.text.counts import count_of, with_capital
from flipcore.text.templates import repeated_templates, wordings

USUAL_EXTRACTOR = FIRST_TOKEN  # the extractor that the field uses most
ASKED_ONCE = "Each item was asked once, in one wording, so nothing could flip."
UNDEFINED_RATE = "Flips were not measured: no extractor read an answer to two variants of an item."
MAX_SETS = 6  # most sets of items whose accuracies a sentence names


@dataclass(frozen=True)
class Headline:
    """The card of one model: `claims` in order, the flips first.

    `accuracies` is role -> accuracy at the study's own prompt under the reference extractor, or a
    log's own score. For a log with several tasks the key is "task, role". `flips` is the
    decomposition over all axes under the compared extractor, None if there are no flips. `score`
    is the claim on the accuracies.
    """

    claims: tuple[Claim, ...]
    model: str = ""
    accuracies: Mapping[str, Estimate] = field(default_factory=dict)
    flips: Decomposition | None = None
    score: Claim | None = None

    @property
    def sentence(self) -> str:
        return " ".join(claim.text for claim in self.claims if claim.text)

    @property
    def flip_rate(self) -> Estimate | None:
        """T, the share of pairs that flip under the compared extractor."""
        return self.flips.T if self.flips else None

    @property
    def genuine(self) -> Estimate | None:
        """G, the share of pairs that flip under the reference."""
        return self.flips.G if self.flips else None


# (model, reference) -> its decompositions, for callers that have computed them already.
DecompositionsOf = Callable[[str, str], list[Decomposition]]


def headline(
    frame: pd.DataFrame,
    n_models: int = 1,
    temperature: float | None = None,
    decompositions_of: DecompositionsOf | None = None,
    scores: Sequence[TaskScore] = (),
    *,
    by_task: bool = False,
    is_begun: bool = False,
    reference: str = "",
) -> Headline:
    """Word the card of the first model of `frame`, whose rows are readouts; it may be empty.

    The first claim says which part of the flips is larger over all axes, under the extractor with
    the largest artifact (Holm over extractors). The second states the accuracy at the study's own
    prompt under the reference extractor, or a log's own `scores`. `by_task` keeps the tasks of a
    recording apart. `is_begun` tells that some calls were answered although no item is complete.
    `reference` is the reference extractor; "" or one without readouts stands for the default.
    """
    if frame.empty and scores:
        return scores_alone(scores, scores[0].model, n_models)
    if frame.empty:
        waiting = "No answer has come back yet."
        if is_begun:
            waiting = "No item has all of its answers yet."
        return Headline((description(waiting),))
    model = frame["model"].iloc[0]
    frame = frame[frame["model"] == model]
    prefix = f"{model}: " if n_models > 1 else ""
    if nothing_read := why_nothing_was_read(frame):
        return Headline((description(f"{prefix}{nothing_read}"),), model)
    names = list(frame["extractor"].unique())
    if reference not in names:
        reference = default_reference(names, [score.scorer for score in scores])
    # An extractor that read nothing never leads, such as the first token where a model gives no
    # log-probabilities.
    has_answer = frame["answer"].notna()
    # The column is missing where no extractor reads numbers.
    if "value" in frame:
        has_answer = has_answer | frame["value"].notna()
    read_names = [name for name in names if has_answer[frame["extractor"] == name].any()]
    if decompositions_of:
        cells = decompositions_of(model, reference)
    else:
        cells = _decompositions(frame, reference)
    totals = [total for total in across_axes(cells) if total.extractor in read_names]
    if leading(scores, model):
        accuracies = _own_accuracies(scores, model)
        accuracy_claim = score_claim(scores, model, prefix)
    else:
        sets = _rows_by_set(frame[frame["variant"] == BASE], reference, by_task=by_task)
        accuracies, unread = {}, {}
        for name, part in sets.items():
            accuracies[name] = accuracy_of(_answers(part))
            if reason := _why_unread(model, part):
                unread[name] = reason
                accuracies[name] = missing(note=f"Not claimed: {reason}")
        sentence = _accuracy_words(sets, accuracies)
        sentence = f"{prefix}{sentence}." if prefix else f"{with_capital(sentence)}."
        has_interval = any(accuracy.has_interval for accuracy in accuracies.values())
        accuracy_claim = description(sentence, detail=OTHER_QUESTIONS if has_interval else "")
        if sets.keys() == unread.keys():
            accuracy_claim = accuracy_claim.not_claimed(" ".join(dict.fromkeys(unread.values())))
    lead = claims.leading_extractor(totals, temperature)
    # No extractor leads where only the reference has flips.
    if lead is None:
        lead = USUAL_EXTRACTOR if USUAL_EXTRACTOR in read_names else (read_names or names)[0]
    total = next((total for total in totals if total.extractor == lead), None)
    if total is None or math.isnan(total.T.value):
        undefined = "Nothing was changed, so there is no flip rate."
        if set(frame["axis"].unique()) - {IDENTITY}:
            undefined = ASKED_ONCE if asked_once(frame) else UNDEFINED_RATE
        shown = (accuracy_claim, description(undefined))
        return Headline(shown, model, accuracies, score=accuracy_claim)
    flips_claim = claims.headline_of(totals, total.extractor, None, temperature)
    flips_claim = _with_results(flips_claim, frame, total.extractor)
    flips_claim = replace(flips_claim, sentence=f"{prefix}{flips_claim.sentence}")
    return Headline((flips_claim, accuracy_claim), model, accuracies, total, accuracy_claim)


def asked_once(frame: pd.DataFrame) -> bool:
    """Return whether each model was asked each item once, in one wording. False without rows, and
    where no answer could be read."""
    is_once = (frame["variant"] == BASE).all() and (frame["sample"] == 0).all()
    return not frame.empty and bool(is_once) and not why_nothing_was_read(frame)


def why_nothing_was_read(frame: pd.DataFrame) -> str:
    """Say why no answer could be read; "" if one was read, and for an empty frame."""
    if frame.empty or (frame["status"] != ABSENT).any():
        return ""
    reference = default_reference(list(frame["extractor"].unique()))
    return f"No answer could be read, so nothing was measured.{_reason(frame, reference)}"


def most_disputed(frame: pd.DataFrame) -> list[str]:
    """Return the items of one model, those with the most different answers first."""
    n_answers = frame.groupby("item_id", sort=False)["answer"].nunique(dropna=False)
    return n_answers.sort_values(ascending=False, kind="stable").index.to_list()


def nothing_to_compare(frame: pd.DataFrame) -> str:
    """Say that fewer than two extractors read answers, and why the others read none."""
    without_answers: list[str] = []
    with_answers: list[str] = []
    for name, rows in frame.groupby("extractor", sort=False, observed=True):
        if (rows["status"] == ABSENT).all():
            without_answers.append(str(name))
        else:
            with_answers.append(str(name))
    if not without_answers:
        return "This study has one extractor, so there is nothing to compare."
    reason = _reason(frame, without_answers[0])
    if not with_answers:
        return f"No extractor read an answer, so there is nothing to compare.{reason}"
    start = f"Only {title_of(with_answers[0]).lower()} read answers, so there is nothing to compare"
    silent = ", ".join(title_of(name).lower() for name in without_answers)
    return f"{start}; {silent} read none.{reason}"


def _reason(frame: pd.DataFrame, extractor: str) -> str:
    """Return the most frequent reason in an extractor's rows, with a space before it; "" without
    a reason."""
    if "reason" not in frame:
        return ""
    reasons = frame.loc[frame["extractor"] == extractor, "reason"].astype(object).dropna()
    reasons = reasons[reasons != ""]
    return f" {reasons.mode().iloc[0]}" if len(reasons) else ""


def scores_alone(scores: Sequence[TaskScore], model: str, n_models: int = 1) -> Headline:
    """Word the card of a model whose log has scores and no answers."""
    no_rate = description("No answer was recorded, so there is no flip rate.")
    score = score_claim(scores, model, f"{model}: " if n_models > 1 else "")
    return Headline((score, no_rate), model, _own_accuracies(scores, model), score=score)


def _own_accuracies(scores: Sequence[TaskScore], model: str) -> dict[str, Estimate]:
    """Return a log's scores by "task, role"; a name that all share is left out."""
    first = leading(scores, model)
    has_tasks = len({score.task for score in first}) > 1
    means = {}
    for score in first:
        name = ", ".join(filter(None, (score.task if has_tasks else "", score.role)))
        means[name] = score.mean
    return means


def wording_inputs(items: pd.DataFrame) -> tuple[list[str], list[str], list[Sequence[str]]]:
    """Return questions, families and options as `text.templates` takes them.

    `items` has dataset, question, family and options. Some datasets draw each item, wording
    included, independently of the others. Equal wordings make no family there, so their questions
    become "".
    """
    questions = []
    for dataset, text in zip(items["dataset"], items["question"], strict=True):
        is_drawn_alone = dataset in LOADERS and LOADERS[dataset].drawn_alone
        questions.append("" if is_drawn_alone else text)
    return questions, list(items["family"]), list(items["options"])


PER_WORDING = "With each wording as one unit, "


def by_wording(
    frame: pd.DataFrame,
    items: pd.DataFrame,
    temperatures: Mapping[str, float | None],
    *,
    by_task: bool = False,
) -> dict[str, str]:
    """Return model -> its headline and accuracy with each wording as one unit.

    Pages show it beside intervals over items. Empty unless a tenth of the items repeat another's
    wording. `items` has item_id and the columns of `wording_inputs`.
    """
    questions, families, options = wording_inputs(items)
    if frame.empty or not repeated_templates(questions, families, options):
        return {}
    units = dict(zip(items["item_id"], wordings(questions, families, options), strict=True))
    # Mapping a categorical column fails where two items share a wording, so ids become objects.
    by_unit = frame.assign(family=frame["item_id"].astype(object).map(units))
    sentences = {}
    for model, part in by_unit.groupby("model", sort=False, observed=True):
        summary = headline(part, temperature=temperatures.get(str(model)), by_task=by_task)
        parts = []
        for role, accuracy in summary.accuracies.items():
            if not math.isnan(accuracy.value):
                parts.append(f"{f'accuracy {role}'.rstrip()} {accuracy.text_percent()}")
        if summary.flips is not None:
            parts.append(summary.claims[0].text.rstrip("."))
        if parts:
            sentences[str(model)] = f"{PER_WORDING}{model}: {'; '.join(parts)}."
    return sentences


def _decompositions(frame: pd.DataFrame, reference: str) -> list[Decomposition]:
    return decompositions(coded_answers(frame), reference, tests=False)


def _rows_by_set(base: pd.DataFrame, reference: str, *, by_task: bool) -> dict[str, pd.DataFrame]:
    """Return role, or "task, role", -> rows at the study's own prompt under the reference.

    The name is "" if all items are in one role. Roles and tasks are not pooled, because they
    answer different questions.
    """
    if not by_task:
        return _by_role(base[base["extractor"] == reference])
    tasks = tasks_of(base["item_id"])
    sets: dict[str, pd.DataFrame] = {}
    for task in dict.fromkeys(tasks):
        part = base[tasks == task]
        names = list(part["extractor"].unique())
        # A task that the reference did not read is read by its own default.
        extractor = reference if reference in names else default_reference(names)
        for role, rows in _by_role(part[part["extractor"] == extractor]).items():
            sets[", ".join(filter(None, (task, role)))] = rows
    return sets if tasks.nunique() > 1 else _by_role(base[base["extractor"] == reference])


def _by_role(base: pd.DataFrame) -> dict[str, pd.DataFrame]:
    roles = roles_of(base) if "role" in base else []
    return {role: base[base["role"] == role] for role in roles} if len(roles) > 1 else {"": base}


def _accuracy_words(sets: Mapping[str, pd.DataFrame], accuracies: Mapping[str, Estimate]) -> str:
    """Return "right on 96% [92, 98] of 140 benchmark items, 72% [65, 78] of 200 holdout items". It
    names at most `MAX_SETS` sets, those without an accuracy last."""
    if all(part["is_correct"].isna().all() for part in sets.values()):
        return "no output was compared with a right answer, so there is no accuracy"
    shares, missing_accuracies = [], []
    for name, accuracy in list(accuracies.items())[:MAX_SETS]:
        answers, kind = _answers(sets[name]), role_name(name, sets).replace(", ", " ")
        if not math.isnan(accuracy.value):
            note = "" if accuracy.has_interval else ", too few for an interval"
            items = items_words(answers["item_id"].nunique(), accuracy.n, kind)
            shares.append(f"{accuracy.text_percent()} of {items}{note}")
            continue
        outcome = "not defined"
        if not answers.empty:
            outcome = f"not claimed, {percent_text(unread_share(answers['status']))} unread"
        missing_accuracies.append(
            f"accuracy on {kind} items {outcome}" if kind else f"accuracy {outcome}"
        )
    parts = [f"right on {', '.join(shares)}"] if shares else []
    has_both_sets = all(
        name in sets and not math.isnan(accuracies[name].value) for name in ("target", "retro")
    )
    if has_both_sets:
        parts[0] += _inflation_words(pd.concat(sets.values()))
    n_more = len(accuracies) - len(shares) - len(missing_accuracies)
    if n_more:
        missing_accuracies.append(f"{count_of(n_more, 'further set')} under Every estimate")
    return "; ".join(parts + missing_accuracies)


def items_words(n_items: int, n_clusters: int, kind: str = "") -> str:
    """Return "140 benchmark items in 30 clusters"; single items are not called clusters."""
    text = count_of(n_items, f"{kind} item".lstrip())
    if n_clusters < n_items:
        text += f" in {count_of(n_clusters, 'cluster')}"
    return text


def _why_unread(model: str, base: pd.DataFrame) -> str:
    """Say why too few answers of one extractor were read for an accuracy; "" otherwise."""
    answers = _answers(base)
    if answers.empty:
        return ""
    extractor = str(answers["extractor"].iloc[0])
    return why_unread(model, extractor, unread_share(answers["status"]))


def _inflation_words(base: pd.DataFrame) -> str:
    """Return the inflation of the Holdout page; "" without both roles or where samples differ."""
    answers = _answers(base)
    answers = answers[answers["role"].isin(("target", "retro"))]
    if answers["role"].nunique() < 2:
        return ""
    # The page takes one answer per item, so its number would differ where samples do.
    if answers.groupby("item_id")["is_correct"].nunique().max() > 1:
        return ""
    cluster = answers["family"] if "family" in answers else answers["item_id"]
    source_id = cluster.where(cluster != answers["item_id"], None)
    answers = answers.assign(layout="", source_id=source_id, is_cut=answers["status"] == CUT)
    points = conditions(answers, least=1)[0].inflation().text_points()
    return f": {points} (inflation if the holdout is fair)"


def claimed_headline(
    frame: pd.DataFrame,
    closed_gates: Collection[str],
    n_models: int = 1,
    temperature: float | None = None,
    decompositions_of: DecompositionsOf | None = None,
    scores: Sequence[TaskScore] = (),
    *,
    by_task: bool = False,
    is_begun: bool = False,
    reference: str = "",
) -> Headline:
    """Word the card without the axes and extractors in `closed_gates`, and name these. The other
    parameters are those of `headline`; `decompositions_of` gives those of all rows."""
    # Base prompts stay, because every axis stores them, also one whose changes nobody reviewed.
    is_unreviewed = frame["axis"].isin(closed_gates) & (frame["variant"] != BASE)
    claimed = frame[~(is_unreviewed | frame["extractor"].isin(closed_gates))]
    # The given decompositions include the rows that are left out, so they serve only if none is.
    is_whole = len(claimed) == len(frame)
    summary = headline(
        claimed,
        n_models,
        temperature,
        decompositions_of if is_whole else None,
        scores,
        by_task=by_task,
        is_begun=is_begun,
        reference=reference,
    )
    if is_whole:
        return summary
    left_out = ", ".join(name.replace("_", " ") for name in closed_gates)
    if summary.flips is None:
        too_little = f"too little was reviewed of {left_out}."
        withheld = Claim(claims.WHOSE, claims.UNDEFINED, "").not_claimed(too_little)
        # Without flips the first claim is that on accuracy.
        accuracy = summary.claims[:1] if len(claimed) else ()
        return replace(summary, claims=(withheld, *accuracy))
    note = description(f"Left out, not reviewed enough: {left_out}.")
    return replace(summary, claims=(*summary.claims, note))


def graders(frame: pd.DataFrame) -> list[str]:
    """Return the extractors that only say right or wrong and take no answer out."""
    by_extractor = frame.groupby("extractor", sort=False, observed=True)
    return [str(name) for name, part in by_extractor if what_differs(part) == "scores"]


def _with_results(claim: Claim, frame: pd.DataFrame, extractor: str) -> Claim:
    """Return the claim with "results" for "answers" where the extractor is a judge."""
    if not graders(frame[frame["extractor"] == extractor]):
        return claim
    # A judge says right or wrong, so the result flips and not the answer.
    sentence = re.sub(r"\b(of|different|changes) answers\b", r"\1 results", claim.sentence)
    sentence = sentence.replace("The answer differs", "The result differs")
    return replace(claim, sentence=sentence)


def map_claim(
    frame: pd.DataFrame,
    extractor: str,
    reference: str,
    axis: str | None = None,
    closed_gates: Mapping[str, str] | None = None,
    temperature: float | None = None,
    cells: Sequence[Decomposition] | None = None,
) -> Claim:
    """Return the claim above the flip map of one model: of one `axis`, or of all open axes.
    `cells` are the decompositions of `frame` under this reference; None computes them."""
    cells = _decompositions(frame, reference) if cells is None else cells
    closed_gates = closed_gates or {}
    if not cells:
        return description("Nothing was changed, so there is no flip rate.", claims.UNDEFINED)
    if axis is not None:
        # The p-values are corrected over all cells, although the map shows one.
        cell_claims = claims.cell_claims(cells, closed_gates, temperature)
        pairings = [(cell.axis, cell.extractor) for cell in cells]
        return cell_claims[pairings.index((axis, extractor))]
    open_cells = [cell for cell in cells if cell.axis not in closed_gates]
    if not open_cells:
        gates = " ".join(dict.fromkeys(closed_gates.values()))
        return Claim(claims.WHOSE, claims.UNDEFINED, "").not_claimed(gates)
    claim = claims.headline_of(across_axes(open_cells), extractor, closed_gates, temperature)
    claim = _with_results(claim, frame, extractor)
    closed_axes = [cell.axis.replace("_", " ") for cell in cells if cell.axis in closed_gates]
    if not closed_axes:
        return claim
    left_out = ", ".join(dict.fromkeys(closed_axes))
    return replace(claim, detail=f"{claim.detail} Left out, not reviewed enough: {left_out}.")


def _answers(base: pd.DataFrame) -> pd.DataFrame:
    """Return answers with a verdict, each once; unreadable ones are wrong, absent ones left out."""
    return base[base["is_correct"].notna()].drop_duplicates(["item_id", "variant_id", "sample"])


def flip_to_open(
    frame: pd.DataFrame, extractor: str, scorers: Sequence[str] = ()
) -> dict[str, str] | None:
    """Return the item of the first model with the largest artifact, as {item, axis, readout}, which
    are parameters of a link to the flip map.

    It flips most under `extractor` and least under the reference. None if there is no such
    item. `frame` has readouts.
    """
    if frame.empty:
        return None
    frame = frame[frame["model"] == frame["model"].iloc[0]]
    names = list(frame["extractor"].unique())
    if extractor not in names:
        return None
    reference = default_reference(names, scorers)
    compared_cells, reference_cells = surface.align(
        surface.surface(frame, extractor), surface.surface(frame, reference)
    )
    # Reruns change nothing that a reader could look at.
    if set(compared_cells.columns) <= {IDENTITY}:
        return None
    items = compared_cells.items
    row = surface.order_of(compared_cells, reference_cells, "difference", items)[0]
    column = surface.most_flipping_column(compared_cells, row)
    return {"item": items[row], "axis": column, "readout": extractor}
