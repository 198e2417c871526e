"""Effect of the review: gates by source, and T, G and A with and without rejected paraphrases."""

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
from flipcore.stats.flips.exclusion_bounds import QUANTITIES, ItemVariant, extreme_exclusions
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from flipcore.text.counts import count_of

# Which paraphrases count -> their states.
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
    """The gate of one dataset and generator.

    `n_pairs` counts all its stored pairs, `n_split` those on which reviewers tie. Models judged
    `n_by_models` pairs and keep `n_kept_by_models` of them.
    """

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
        """Number of pairs that people judged, drawn at random or chosen."""
        return self.gate.accepted.n + self.gate.n_chosen

    def models_sentence(self) -> str:
        """Return a sentence on the verdicts of models, which open no gate; "" for none."""
        if not self.n_by_models:
            return ""
        return (
            f"Beside that, model reviewers keep {self.n_kept_by_models:,} of {self.n_by_models:,} "
            f"pairs ({percent_text(self.n_kept_by_models / self.n_by_models)}); their verdicts "
            "open no gate."
        )

    def sentence(self) -> str:
        """Return the sentence of the gate, and whether enough pairs are left to open it."""
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
            f"some.{self.gate.chosen_text}{self._split_sentence()}"
        )

    def _split_sentence(self) -> str:
        """Return a sentence on pairs with a tie, which a third verdict may decide; "" for none."""
        if not self.n_split:
            return ""
        is_single = self.n_split == 1
        return (
            f" On {self.n_split:,} pair{'' if is_single else 's'} the reviewers differ; a third "
            f"verdict under Agreement may turn {'it' if is_single else 'them'}, either way."
        )


def source_gates(states: pd.DataFrame) -> list[SourceGate]:
    """Return one gate per source; `states` are those of `store.queries.paraphrase_states`."""
    gates = []
    for (dataset, generator), rows in states.groupby(["dataset", "generator"], sort=True):
        in_sample = rows[rows["in_sample"]]
        n_chosen = int((rows["state"] != "unreviewed").sum()) - len(in_sample)
        # A tie rejects a pair until a third verdict settles it.
        is_tie = (rows["n_reviewers"] > 0) & (2 * rows["n_kept"] == rows["n_reviewers"])
        n_split = int((is_tie & rows["settled_by"].isna()).sum())
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
    """T, G and A at their smallest and largest if `n_bad` of `n_unreviewed` pairs were rejected.

    `n_bad` follows from the rejected share of the `n_reviewed` pairs of the same sources, including
    pairs that this study never asked because they were rejected before.
    """

    n_bad: int
    n_unreviewed: int
    n_reviewed: int
    limits: Mapping[str, tuple[Decomposition, Decomposition]]

    def text(self, name: str) -> str:
        """Return the range of T, G or A: "21% [12, 33] to 27% [18, 40]"."""
        low, high = (getattr(limit, name) for limit in self.limits[name])
        return f"{low.text_percent()} to {high.text_percent()}"


@dataclass(frozen=True)
class Effect:
    """The effect of the review on one axis of a study, for one model and extractor.

    `subsets` has (key of `KEEP`, number of wordings, decomposition) in the order of `KEEP`.
    `bounds` is None if nothing is unreviewed, if nothing was reviewed, or for the reason in
    `unbounded`.
    """

    subsets: tuple[tuple[str, int, Decomposition], ...]
    bounds: Bounds | None
    unbounded: str = ""
    axis: str = PARAPHRASE

    def sentence(self, readout_title: str) -> str:
        """Return a sentence on how much rejecting wordings changed T and G."""
        (_, n_all, before), (_, n_left, after), _ = self.subsets
        n_struck = n_all - n_left
        if not n_struck:
            return (
                f"No {NOUNS[self.axis][0]} of this study was struck out: "
                f"{after.T.text_percent()} of pairs flip under {readout_title}."
            )
        return (
            f"{n_struck:,} of {n_all:,} {NOUNS[self.axis][1]} were struck out: the share of pairs "
            f"that flip goes from {before.T.text_percent()} to {after.T.text_percent()} under "
            f"{readout_title}, of genuine flips from {before.G.text_percent()} to "
            f"{after.G.text_percent()}."
        )


def effect(
    readouts: pd.DataFrame,
    materials: Mapping[ItemVariant, str],
    states: pd.DataFrame,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> Effect:
    """Return the effect of the review on one axis.

    `readouts` are those of one model, with every wording that was asked (`paraphrases="all"`).
    `materials` maps (item, variant of the axis) to a pair id. `states` has all stored pairs
    (`store.queries.paraphrase_states`).
    """
    answers = _Answers(readouts, extractor, reference=reference, axis=axis)
    by_pair = dict(zip(states["pair_id"], states["state"], strict=True))
    state = {key: by_pair.get(pair, "unreviewed") for key, pair in materials.items()}
    asked = {key for key in answers.item_variants if key in state}
    subsets = []
    for name, keep in KEEP.items():
        excluded = {key for key in asked if state[key] not in keep}
        n_left = len(asked) - len(excluded)
        subsets.append((name, n_left, answers.without(excluded).parts))
    item_variants: dict[str, list[ItemVariant]] = {name: [] for name in KEEP["all"]}
    for key, variant_state in state.items():
        if key in asked and variant_state in item_variants:
            item_variants[variant_state].append(key)
    unreviewed = [materials[key] for key in item_variants["unreviewed"]]
    n_bad, n_reviewed = expected_bad(states, unreviewed)
    bounds, unbounded = None, ""
    if n_reviewed:
        try:
            bounds = _bounds(answers, item_variants, n_bad=n_bad, n_reviewed=n_reviewed)
        # One item has too many paraphrases to try them all. The rest of the page is still valid.
        except BadInput as error:
            unbounded = str(error)
    return Effect(tuple(subsets), bounds, unbounded=unbounded, axis=axis)


def effect_rows(study_effect: Effect) -> list[dict]:
    """Return table rows with T, G and A: one per subset, and one of the bounds if there are any."""
    bounds, (noun, nouns) = study_effect.bounds, NOUNS[study_effect.axis]
    rows = []
    for name, n, parts in study_effect.subsets:
        rows.append(
            {
                "counted": NAMES[name].format(noun),
                nouns: n,
                "pairs that flip": parts.T.text_percent(),
                "genuine": parts.G.text_percent(),
                "artifact": parts.A.text_percent(),
                "items": f"{parts.n_items:,}",
            }
        )
    if bounds:
        n_left = next(n for name, n, _ in study_effect.subsets if name == "standing") - bounds.n_bad
        rows.append(
            {
                "counted": "smallest to largest, if the unreviewed are as bad",
                nouns: n_left,
                "pairs that flip": bounds.text("T"),
                "genuine": bounds.text("G"),
                "artifact": bounds.text("A"),
                "items": "",
            }
        )
    return rows


def struck_rows(
    states: pd.DataFrame, pair_ids: Collection[str], moved: Mapping[str, float]
) -> list[dict]:
    """Return the rejected ones of `pair_ids`, those first that change T most (`moved`)."""
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
    """Return how many of the `unreviewed` pairs are expected to be bad, and the sample's size.

    A source counts as bad as its pairs in the sample, or as those of all sources where the sample
    has none of it. The number is rounded up.
    """
    by_id = states.set_index("pair_id")
    sources_by_row = zip(by_id["dataset"], by_id["generator"], strict=True)
    source_of = dict(zip(by_id.index, sources_by_row, strict=True))
    unreviewed_sources = [source_of[pair] for pair in unreviewed if pair in source_of]
    sources = set(unreviewed_sources)
    rejections: dict[tuple[str, str], list[bool]] = {}
    for pair, state in by_id.loc[by_id["in_sample"], "state"].items():
        if source_of[pair] in sources:
            rejections.setdefault(source_of[pair], []).append(state == "rejected")
    n_reviewed = sum(map(len, rejections.values()))
    if not n_reviewed:
        return 0, 0
    share_of_all = sum(map(sum, rejections.values())) / n_reviewed
    shares = {source: sum(is_bad) / len(is_bad) for source, is_bad in rejections.items()}
    n_bad = sum(shares.get(source, share_of_all) for source in unreviewed_sources)
    # Subtract a little: a rounding error must not turn a whole sum into the next number.
    return math.ceil(n_bad - 1e-9), n_reviewed


def _bounds(
    answers: "_Answers", item_variants: Mapping[str, list[ItemVariant]], n_bad: int, n_reviewed: int
) -> Bounds:
    """Return T, G and A at their extremes; `item_variants` are by state, as in `KEEP["all"]`."""
    standing = answers.without(set(item_variants["rejected"]))
    excluded = extreme_exclusions(
        standing.readouts,
        item_variants["unreviewed"],
        n_bad=n_bad,
        extractor=answers.extractor,
        reference=answers.reference,
        axis=answers.axis,
    )
    limits = {}
    for name, (lowest, highest) in excluded.items():
        limits[name] = (standing.without(lowest).parts, standing.without(highest).parts)
    return Bounds(
        n_bad,
        len(item_variants["unreviewed"]),
        n_reviewed=n_reviewed,
        limits={name: limits[name] for name in QUANTITIES},
    )


@dataclass(frozen=True)
class _Answers:
    """Readouts of one model, with the extractor, reference and axis to decompose."""

    readouts: pd.DataFrame
    extractor: str
    reference: str
    axis: str

    @property
    def item_variants(self) -> list[Any]:
        """(item, variant) per row on the axis; None on others, which may share variant names."""
        is_on_axis = self.readouts["axis"] == self.axis
        pairs = zip(self.readouts["item_id"], self.readouts["variant"], strict=True)
        return [pair if on_axis else None for pair, on_axis in zip(pairs, is_on_axis, strict=True)]

    def without(self, excluded: Collection[ItemVariant]) -> "_Answers":
        """Return the same without the item variants in `excluded`."""
        is_left = [key not in excluded for key in self.item_variants]
        return replace(self, readouts=self.readouts[is_left])

    @property
    def parts(self) -> Decomposition:
        """Decomposition of the axis."""
        answers = coded_answers(self.readouts)
        return decompositions(
            answers, self.reference, axes=[self.axis], extractors=[self.extractor]
        )[0]


@dataclass(frozen=True)
class OwnVerdicts:
    """The pairs that one reviewer judged, and the states of all pairs that may be shown.

    `states` are with the reviewer's verdicts, `before` without them.
    """

    reviewer: str
    pair_ids: frozenset[str]
    states: pd.DataFrame
    before: pd.DataFrame


def own_verdicts(store: Store, reviewer: str) -> OwnVerdicts:
    """Return the states of all pairs with and without this reviewer's verdicts."""
    pair_ids = {row["pair_id"] for row in judgements.standing(store, PAIR_VERDICTS, reviewer)}
    states, before = studies.paraphrase_states(store), studies.paraphrase_states(store, reviewer)
    return OwnVerdicts(
        reviewer,
        frozenset(pair_ids),
        states=states[~states["set_aside"]],
        before=before[~before["set_aside"]],
    )


def own_acceptance(reviewed: OwnVerdicts) -> list[str]:
    """Say per source that the reviewer judged how much the verdicts changed its acceptance."""
    sentences = []
    for (dataset, generator), rows in reviewed.states.groupby(["dataset", "generator"], sort=True):
        is_judged = rows["pair_id"].isin(reviewed.pair_ids)
        n = int(is_judged.sum())
        if not n:
            continue
        after = rows[rows["in_sample"]]
        before = reviewed.before[reviewed.before["pair_id"].isin(after["pair_id"])]
        text_before, text_after = _acceptance(before), _acceptance(after)
        if text_before != text_after:
            acceptance = f"Accepted before: {text_before}; now: {text_after}."
        else:
            acceptance = f"Accepted, as before: {text_after}."
        sentences.append(
            f"{reviewed.reviewer} judged {n:,} of {count_of(len(rows), 'paraphrase')} of "
            f"{dataset} · {generator}. {acceptance}"
        )
    return sentences


def _acceptance(rows: pd.DataFrame) -> str:
    """Return "54 of 60 (90% [80, 96])", without the share for fewer than 10 pairs."""
    n = int((rows["state"] != "unreviewed").sum())
    if not n:
        return "unknown"
    n_accepted = int((rows["state"] == "accepted").sum())
    share = f" ({paraphrase_gate(n_accepted, n).accepted.text_percent()})" if n >= MIN_N else ""
    return f"{n_accepted:,} of {n:,}{share}"


def own_effect(
    readouts: pd.DataFrame,
    materials: Mapping[ItemVariant, str],
    reviewed: OwnVerdicts,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> str:
    """Return a sentence on how much the reviewer's verdicts changed T; arguments as in `effect`."""
    pairs = set(materials.values())
    n_own, (_, nouns) = len(reviewed.pair_ids & pairs), NOUNS[axis]
    if not n_own:
        return (
            f"{reviewed.reviewer} has judged none of the {len(pairs):,} {nouns} that this "
            "study asked."
        )
    answers = _Answers(readouts, extractor, reference=reference, axis=axis)
    rate_texts = []
    for states in (reviewed.before, reviewed.states):
        rejected = set(states.loc[states["state"] == "rejected", "pair_id"])
        excluded = {key for key, pair in materials.items() if pair in rejected}
        rate_texts.append(answers.without(excluded).parts.T.text_percent())
    judged = (
        f"{n_own:,} verdict{'s' * (n_own > 1)} of {reviewed.reviewer} on the {len(pairs):,} "
        f"{nouns} that this study asked"
    )
    before, after = rate_texts
    if before == after:
        return f"{judged} changed nothing: {after} of pairs flip."
    return f"{judged} moved the share of pairs that flip from {before} to {after}."
