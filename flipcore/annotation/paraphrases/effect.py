"""Effect of the review: gates by source, and T, G and A of a study's reviewed axis with and without
what was struck out."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.wordings import NOUNS, PARAPHRASE
from flipcore.stats.base.estimate import MIN_N, percent_text
from flipcore.stats.base.gate_rules import ParaphraseGate, few_pairs_sentence, paraphrase_gate
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.flips.exclusion_bounds import QUANTITIES, Place, extreme_strikes
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies

KEEP = {
    "all": ("accepted", "unreviewed", "rejected"),
    "standing": ("accepted", "unreviewed"),
    "accepted": ("accepted",),
}
NAMES = {
    "all": "every {} that was asked",
    "standing": "without those struck out (what the pages show)",
    "accepted": "accepted ones only",
}


@dataclass(frozen=True)
class SourceGate:
    """The gate of one dataset and generator; `n_pairs` are all stored pairs of it, `n_split` those
    on which the reviewers are even. `n_by_models` pairs were judged by models, who keep
    `n_kept_by_models` of them."""

    dataset: str
    generator: str
    n_pairs: int
    n_split: int
    gate: ParaphraseGate
    n_by_models: int = 0
    n_kept_by_models: int = 0

    @property
    def name(self) -> str:
        return review.source_of(vars(self))

    @property
    def n_reviewed(self) -> int:
        """Pairs that people judged, drawn at random or chosen."""
        return self.gate.accepted.n + self.gate.n_chosen

    def models_sentence(self) -> str:
        """Sentence on what models said, which opens no gate; empty where none judged."""
        if not self.n_by_models:
            return ""
        return (
            f"Beside that, model reviewers keep {self.n_kept_by_models:,} of {self.n_by_models:,} "
            f"pairs ({percent_text(self.n_kept_by_models / self.n_by_models)}); their verdicts "
            "open no gate."
        )

    def sentence(self) -> str:
        """Sentence of the gate, and whether there are pairs enough to open it."""
        n_left, n_more = self.n_pairs - self.n_reviewed, self.gate.n_more
        if self.gate.is_open or n_more is None or n_more <= n_left:
            return self.gate.sentence()
        if few := few_pairs_sentence(self.n_pairs):
            judged = f"{self.gate.acceptance_text}. " if self.gate.accepted.n else ""
            return f"{judged}{few}{self.gate.chosen_text}"
        supply = (
            f"only {n_left:,} are left to review" if n_left else "all of them have been reviewed"
        )
        if self.gate.accepted.n:
            need = f"{self.gate.missing} About {n_more:,} more"
        else:
            need = f"{n_more:,} reviewed pairs"
        return (
            f"{need}, accepted at the same rate, would open it, but {supply}: bring more "
            "paraphrases of this source in, or let a model propose "
            f"some.{self.gate.chosen_text}{self._split()}"
        )

    def _split(self) -> str:
        """Pairs whose reviewers differ: a third verdict may turn them."""
        if not self.n_split:
            return ""
        is_single = self.n_split == 1
        return (
            f" On {self.n_split:,} pair{'' if is_single else 's'} the reviewers differ; a third "
            f"verdict under Agreement may turn {'it' if is_single else 'them'}, either way."
        )


def source_gates(states: pd.DataFrame) -> list[SourceGate]:
    """A gate for each source; `states` as `store.queries.paraphrase_states` gives them."""
    gates = []
    for (dataset, generator), rows in states.groupby(["dataset", "generator"], sort=True):
        in_sample = rows[rows["in_sample"]]
        n_chosen = int((rows["state"] != "unreviewed").sum()) - len(in_sample)
        # An even split strikes a pair out until a third verdict settles it.
        n_split = int(
            (
                (rows["n_reviewers"] > 0)
                & (2 * rows["n_kept"] == rows["n_reviewers"])
                & rows["settled_by"].isna()
            ).sum()
        )
        by_models = rows[rows["n_models"] > 0]
        n_kept_by_models = int((2 * by_models["n_models_kept"] > by_models["n_models"]).sum())
        gate = paraphrase_gate(int(in_sample["in_favour"].sum()), len(in_sample), n_chosen=n_chosen)
        gates.append(
            SourceGate(
                str(dataset),
                str(generator),
                n_pairs=len(rows),
                n_split=n_split,
                gate=gate,
                n_by_models=len(by_models),
                n_kept_by_models=n_kept_by_models,
            )
        )
    return gates


@dataclass(frozen=True)
class Bounds:
    """T, G and A at their smallest and largest if `n_bad` of the `n_unreviewed` were struck out: as
    many as the share struck among the `n_reviewed` pairs of the same sources asks for. Those count
    whether this study asked them or not: what was struck before it began was never asked."""

    n_bad: int
    n_unreviewed: int
    n_reviewed: int
    limits: Mapping[str, tuple[Decomposition, Decomposition]]

    def text(self, name: str) -> str:
        """Range of T, G or A: "0.21 [0.12, 0.33] to 0.27 [0.18, 0.40]"."""
        low, high = (getattr(limit, name) for limit in self.limits[name])
        return f"{low.text()} to {high.text()}"


@dataclass(frozen=True)
class Effect:
    """One reviewed axis of a study under one model and readout. `subsets` are (which wordings
    count, how many, decomposition); `bounds` is None where nothing is unreviewed, or nothing was
    reviewed to judge the rest by, or for the reason in `unbounded`."""

    subsets: tuple[tuple[str, int, Decomposition], ...]
    bounds: Bounds | None
    unbounded: str = ""
    axis: str = PARAPHRASE

    def sentence(self, readout_title: str) -> str:
        """Sentence on how far striking out moved T."""
        (_, n_all, before), (_, n_left, after), _ = self.subsets
        n_struck = n_all - n_left
        if not n_struck:
            return (
                f"No {NOUNS[self.axis][0]} of this study was struck out: T is {after.T.text()} "
                f"under {readout_title}."
            )
        return (
            f"{n_struck:,} of {n_all:,} {NOUNS[self.axis][1]} were struck out: under "
            f"{readout_title} T goes from {before.T.text()} to {after.T.text()}, G from "
            f"{before.G.text()} to {after.G.text()}."
        )


def effect(
    readouts: pd.DataFrame,
    materials: Mapping[Place, str],
    states: pd.DataFrame,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> Effect:
    """`readouts` of one model with every wording that was asked (`paraphrases="all"`), `materials`
    (item, variant of the axis) -> pair, `states` of all stored pairs as
    `store.queries.paraphrase_states` gives them."""
    answers = _Answers(readouts, extractor, reference=reference, axis=axis)
    by_pair = dict(zip(states["pair_id"], states["state"], strict=True))
    state = {place: by_pair.get(pair, "unreviewed") for place, pair in materials.items()}
    asked_places = {place for place in answers.places if place in state}
    subsets = []
    for name, keep in KEEP.items():
        strikes = {place for place in asked_places if state[place] not in keep}
        n_left = len(asked_places) - len(strikes)
        subsets.append((name, n_left, answers.without(strikes).parts))
    places: dict[str, list[Place]] = {name: [] for name in KEEP["all"]}
    for place, place_state in state.items():
        if place in asked_places and place_state in places:
            places[place_state].append(place)
    n_bad, n_reviewed = expected_bad(states, [materials[place] for place in places["unreviewed"]])
    bounds, unbounded = None, ""
    if n_reviewed:
        try:
            bounds = _bounds(answers, places, n_bad=n_bad, n_reviewed=n_reviewed)
        # too many paraphrases of one item to try them all: the rest of the page still stands
        except BadInput as error:
            unbounded = str(error)
    return Effect(tuple(subsets), bounds, unbounded=unbounded, axis=axis)


def effect_rows(study_effect: Effect) -> list[dict]:
    """The table of an effect: T, G and A by what is counted, and their extremes where some are
    unreviewed."""
    bounds, (noun, nouns) = study_effect.bounds, NOUNS[study_effect.axis]
    rows = []
    for name, n, parts in study_effect.subsets:
        rows.append(
            {
                "counted": NAMES[name].format(noun),
                nouns: n,
                "T": parts.T.text(),
                "G (genuine)": parts.G.text(),
                "A (artifact)": parts.A.text(),
                "items": f"{parts.n_items:,}",
            }
        )
    if bounds:
        n_left = next(n for name, n, _ in study_effect.subsets if name == "standing") - bounds.n_bad
        rows.append(
            {
                "counted": "smallest to largest, if the unreviewed are as bad",
                nouns: n_left,
                "T": bounds.text("T"),
                "G (genuine)": bounds.text("G"),
                "A (artifact)": bounds.text("A"),
                "items": "",
            }
        )
    return rows


def struck_rows(
    states: pd.DataFrame, pair_ids: Collection[str], moved: Mapping[str, float]
) -> list[dict]:
    """The paraphrases among `pair_ids` that were struck out, those first that move T most; `moved`
    is pair -> share of T."""
    rows = [
        row
        for row in states.to_dict("records")
        if row["pair_id"] in pair_ids and row["state"] not in KEEP["standing"]
    ]
    return [
        {
            "pair": row["pair_id"],
            "kept by": f"{row['n_kept']:.0f} of {row['n_reviewers']}",
            "moves T by at most": round(moved.get(row["pair_id"], 0.0), 4),
            "original": row["original"],
            "paraphrase": row["paraphrase"],
        }
        for row in sorted(rows, key=lambda row: -moved.get(row["pair_id"], 0.0))
    ]


def expected_bad(states: pd.DataFrame, unreviewed: Collection[str]) -> tuple[int, int]:
    """(how many of the `unreviewed` pairs are bad if each source is as bad as its pairs in the
    sample, rounded up; how many those are). A source without a verdict is taken to be like the
    others."""
    rows = list(
        states[["pair_id", "dataset", "generator", "state", "in_sample"]].itertuples(
            index=False, name=None
        )
    )
    source = {pair: (dataset, generator) for pair, dataset, generator, *_ in rows}
    unreviewed_sources = [source[pair] for pair in unreviewed if pair in source]
    sources = set(unreviewed_sources)
    labels_by_pair: dict[tuple[str, str], list[bool]] = {}
    for pair, _, _, state, in_sample in rows:
        if in_sample and source[pair] in sources:
            labels_by_pair.setdefault(source[pair], []).append(state == "rejected")
    n_reviewed = sum(map(len, labels_by_pair.values()))
    if not n_reviewed:
        return 0, 0
    share_of_all = sum(map(sum, labels_by_pair.values())) / n_reviewed
    shares = {name: sum(is_bad) / len(is_bad) for name, is_bad in labels_by_pair.items()}
    n_bad = sum(shares.get(name, share_of_all) for name in unreviewed_sources)
    # A sum that is whole but for rounding errors is not rounded up.
    return math.ceil(n_bad - 1e-9), n_reviewed


def _bounds(
    answers: "_Answers", places: Mapping[str, list[Place]], n_bad: int, n_reviewed: int
) -> Bounds:
    standing = answers.without(set(places["rejected"]))
    strikes = extreme_strikes(
        standing.readouts,
        places["unreviewed"],
        n_bad=n_bad,
        extractor=answers.extractor,
        reference=answers.reference,
        axis=answers.axis,
    )
    limits = {}
    for name, (least, most) in strikes.items():
        limits[name] = (standing.without(least).parts, standing.without(most).parts)
    return Bounds(
        n_bad,
        len(places["unreviewed"]),
        n_reviewed=n_reviewed,
        limits={name: limits[name] for name in QUANTITIES},
    )


@dataclass(frozen=True)
class _Answers:
    """Readouts of one model, and the extractor, reference and axis that are looked at."""

    readouts: pd.DataFrame
    extractor: str
    reference: str
    axis: str

    @property
    def places(self) -> list[Any]:
        """(item, variant) of rows on the axis; None elsewhere, where names may be alike."""
        is_on_axis = self.readouts["axis"] == self.axis
        pairs = zip(self.readouts["item_id"], self.readouts["variant"], strict=True)
        return [pair if on_axis else None for pair, on_axis in zip(pairs, is_on_axis, strict=True)]

    def without(self, strikes: Collection[Place]) -> "_Answers":
        """Return the same without the places in `strikes`."""
        is_left = [place not in strikes for place in self.places]
        return replace(self, readouts=self.readouts[is_left])

    @property
    def parts(self) -> Decomposition:
        """T, G and A of the axis."""
        answers = coded_answers(self.readouts)
        return decompositions(
            answers, self.reference, axes=[self.axis], extractors=[self.extractor]
        )[0]


# What one reviewer's verdicts changed: acceptance of each source, and the estimate of a study, with
# and without them.


@dataclass(frozen=True)
class OwnVerdicts:
    """The pairs that a person judged, and the states of all pairs that may be shown: with their
    verdicts, and `before` them."""

    reviewer: str
    pair_ids: frozenset[str]
    states: pd.DataFrame
    before: pd.DataFrame


def own_verdicts(store: Store, reviewer: str) -> OwnVerdicts:
    """Return what stands with and without this reviewer's verdicts."""
    pair_ids = {row["pair_id"] for row in judgements.standing(store, PAIR_VERDICTS, reviewer)}
    states, before = studies.paraphrase_states(store), studies.paraphrase_states(store, reviewer)
    return OwnVerdicts(
        reviewer,
        frozenset(pair_ids),
        states=states[~states["set_aside"]],
        before=before[~before["set_aside"]],
    )


def own_acceptance(reviewed: OwnVerdicts) -> list[str]:
    """Say for each source that the reviewer judged how far that moved its acceptance."""
    sentences = []
    for (dataset, generator), rows in reviewed.states.groupby(["dataset", "generator"], sort=True):
        is_judged = rows["pair_id"].isin(reviewed.pair_ids)
        n = int(is_judged.sum())
        if not n:
            continue
        after = rows[rows["in_sample"]]
        before = reviewed.before[reviewed.before["pair_id"].isin(after["pair_id"])]
        texts = _acceptance(before), _acceptance(after)
        if texts[0] != texts[1]:
            moved = f"acceptance from {texts[0]} to {texts[1]}"
        else:
            moved = f"nothing: acceptance is {texts[1]}"
        sentences.append(
            f"{n:,} verdict{'s' * (n > 1)} of {reviewed.reviewer} on the {len(rows):,} stored "
            f"paraphrases of {dataset} · {generator} moved {moved}."
        )
    return sentences


def _acceptance(rows: pd.DataFrame) -> str:
    """ "0.90 [0.80, 0.96] of 60 pairs"; an interval from 10 pairs on."""
    n = int((rows["state"] != "unreviewed").sum())
    if not n:
        return "unknown (no pair reviewed)"
    estimate = paraphrase_gate(int((rows["state"] == "accepted").sum()), n).accepted
    share = estimate.text() if n >= MIN_N else f"{estimate.value:.2f}"
    return f"{share} of {n:,} pair{'s' * (n > 1)}"


def own_effect(
    readouts: pd.DataFrame,
    materials: Mapping[Place, str],
    reviewed: OwnVerdicts,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> str:
    """One sentence: how far the reviewer's verdicts moved T. `readouts` are of one model with every
    wording that was asked, `materials` (item, variant of the axis) -> pair."""
    pairs = set(materials.values())
    n_own = len(reviewed.pair_ids & pairs)
    if not n_own:
        return (
            f"{reviewed.reviewer} has judged none of the {len(pairs):,} {NOUNS[axis][1]} that this "
            "study asked."
        )
    answers = _Answers(readouts, extractor, reference=reference, axis=axis)
    rates = []
    for states in (reviewed.before, reviewed.states):
        rejected = set(states.loc[states["state"] == "rejected", "pair_id"])
        strikes = {place for place, pair in materials.items() if pair in rejected}
        rates.append(answers.without(strikes).parts.T.text())
    judged = (
        f"{n_own:,} verdict{'s' * (n_own > 1)} of {reviewed.reviewer} on the {len(pairs):,} "
        f"{NOUNS[axis][1]} that this study asked"
    )
    if rates[0] == rates[1]:
        return f"{judged} did not move T: it is {rates[1]}."
    return f"{judged} moved T from {rates[0]} to {rates[1]}."
