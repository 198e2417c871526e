"""Cases of flipcore/stats/flips."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.core.records import FIRST_TOKEN, IDENTITY, RIGHT, WRITTEN_ANSWER, WRONG
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.flips import (
    coded_answers,
    contrast,
    decomposition,
    disagreement,
    exclusion_bounds,
    human_share,
    label_mass,
    map_cells,
    noise_floor,
    per_readout,
    pooled,
    predictor,
    readout_mismatch,
    surface,
    unread,
)
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, fractions, readouts, shares, with_holes
from tests.stats.pinned.results import Case

AXES = ("paraphrase", "option_order")
FRAMES = {
    "plain": readouts(14, lost=0.0),
    "lost answers": readouts(13, 1, lost=0.25),
    "reruns": readouts(12, 2, n_samples=2, lost=0.1),
    "identity": readouts(12, 3, n_reruns=3, lost=0.1),
    "stable reruns": readouts(12, 4, n_reruns=2, lost=0.0, flips=0.05),
    "families": readouts(20, 5, n_families=9, lost=0.05),
    "few items": readouts(4, 6, lost=0.3),
    "nothing flips": readouts(11, 7, lost=0.0, flips=0.0, extractors=(WRITTEN_ANSWER,)),
    "always lost": readouts(3, 8, lost=1.0),
    "two families": readouts(12, 9, n_families=2, n_reruns=2),
    "both reruns": readouts(10, 10, n_samples=2, n_reruns=2, axes=("typos",), n_variants=4),
}
POLICIES = disagreement.POLICIES


def _shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(frac=1.0, random_state=5)


def _codes(n: int, n_variants: int, n_samples: int, seed: int) -> np.ndarray:
    return generator(seed, "codes").integers(-2, 3, (n, n_variants, n_samples)).astype(np.int32)


CODES = {
    "single samples": _codes(14, 4, 1, 1),
    "two samples": _codes(12, 3, 2, 2),
    "three samples": _codes(12, 2, 3, 6),
    "one variant": _codes(4, 1, 3, 3),
    "absent": np.full((2, 3, 1), disagreement.ABSENT, dtype=np.int32),
    "unread": np.full((2, 3, 2), disagreement.NULL, dtype=np.int32),
    "no item": np.zeros((0, 3, 1), dtype=np.int32),
}


@pinned("flips.coded_answers")
def coded_answer_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        yield name, partial(coded_answers.coded_answers, frame)
        answers = coded_answers.coded_answers(_shuffled(frame))
        yield f"{name}, shuffled", lambda a=answers: [a.items, a.axes, a.extractors, a.texts, a.families, a.n_absent]
        for axis, extractor in answers.codes:
            yield (
                f"{name}, {axis}, {extractor}",
                lambda a=answers, c=(axis, extractor): [
                    a.is_open(*c),
                    a.cell(*c, include_base=False),
                    coded_answers.unread_warnings(a, *c),
                ],
            )
    frame = FRAMES["plain"]
    yield "no column", partial(coded_answers.coded_answers, frame.drop(columns=["status", "answer"]))
    yield "two models", partial(coded_answers.coded_answers, readouts(2, models=("m1", "m2")))
    yield "repeated", partial(coded_answers.coded_answers, pd.concat([frame, frame[5:7]]))
    yield "no row", partial(coded_answers.coded_answers, frame[:0])
    few = readouts(20, 1, lost=0.0)
    for n_unread in (3, 4, 7):
        rows = few.index[(few["variant"] != "base") & (few["axis"] == "paraphrase") & (few["extractor"] == FIRST_TOKEN)][
            :n_unread
        ]
        changed = few.assign(
            status=few["status"].where(~few.index.isin(rows), "unreadable"),
            answer=few["answer"].where(~few.index.isin(rows), None),
        )
        yield (
            f"warnings of {n_unread}",
            lambda f=changed: coded_answers.unread_warnings(coded_answers.coded_answers(f), "paraphrase", FIRST_TOKEN),
        )


@pinned("flips.disagreement")
def disagreement_cases() -> Iterator[Case]:
    for (name, codes), policy in product(CODES.items(), POLICIES):
        reference = np.roll(codes, 1, axis=0)
        yield f"between, {name}, {policy}", partial(disagreement.between, codes, policy)
        yield f"within, {name}, {policy}", partial(disagreement.within, codes, policy)
        for of_one_prompt in (False, True):
            yield (
                f"split, {name}, {policy}, {of_one_prompt}",
                partial(disagreement.pair_split, codes, reference, policy, of_one_prompt=of_one_prompt),
            )
    for name, codes in CODES.items():
        yield f"bounds, {name}", partial(disagreement.null_bounds, codes)
        yield f"masked, {name}", lambda c=codes: disagreement.mask_absent(c, np.roll(c, 1, axis=0))
        yield f"counts, {name}", partial(disagreement.answer_counts, codes[:, :, 0])
    yield "unequal samples", partial(disagreement.pair_split, CODES["single samples"][:12, :3], CODES["two samples"][:, :, :1])
    yield "unknown policy", partial(disagreement.between, CODES["absent"], "never")


@pinned("flips.noise_floor")
def noise_floor_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        answers = coded_answers.coded_answers(frame)
        for axis, policy in product(answers.axes[:1], POLICIES[1:]):
            extractor, reference = answers.extractors[-1], answers.extractors[0]
            yield f"floor, {name}, {policy}", partial(noise_floor.item_floor, answers, axis, extractor, policy)
            yield f"split, {name}, {policy}", partial(noise_floor.split_floor, answers, axis, extractor, reference, policy)
    for name in ("two samples", "three samples", "one variant", "unread", "single samples"):
        yield f"excess, {name}", partial(noise_floor.excess_test, CODES[name], 1, m=29)
        yield f"permuted, {name}", lambda c=CODES[name]: noise_floor.permuted_readouts(c, generator(4))
    strong = np.repeat(np.arange(3)[None, :, None], 12, axis=0).repeat(2, axis=2)
    yield "excess of variants that differ", partial(noise_floor.excess_test, strong, m=19)
    yield "excess near the level", partial(noise_floor.excess_test, _codes(30, 2, 3, 9), m=19, alpha=0.4, policy="drop")


@pinned("flips.unread")
def unread_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        answers = coded_answers.coded_answers(frame)
        for axis in answers.axes:
            extractor, reference = answers.extractors[-1], answers.extractors[0]
            yield f"{name}, {axis}", partial(unread.unread, answers, axis, extractor, reference)
        yield f"{name}, reference", partial(unread.unread, answers, answers.axes[0], reference, reference)
    yield "least and largest", lambda: [unread._LOW, unread._HIGH]


@pinned("flips.decomposition")
def decomposition_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        answers = coded_answers.coded_answers(frame)
        extractors = None if name == "identity" else answers.extractors[-1:]
        yield (
            name,
            partial(
                decomposition.decompositions, answers, WRITTEN_ANSWER, n_boot=40, axes=answers.axes[:1], extractors=extractors
            ),
        )
    answers = coded_answers.coded_answers(FRAMES["lost answers"])
    settings = {
        "the other reference": {"reference": FIRST_TOKEN, "axes": ["paraphrase"]},
        "dropped": {
            "reference": WRITTEN_ANSWER,
            "policy": "drop",
            "kind": "bca",
            "level": 0.8,
            "seed": 3,
            "extractors": [FIRST_TOKEN],
        },
        "untested": {"reference": WRITTEN_ANSWER, "tests": False, "rule": "paired", "extractors": [FIRST_TOKEN]},
        "unknown rule": {"reference": WRITTEN_ANSWER, "rule": "majority"},
        "unknown reference": {"reference": "judge"},
        "unknown axis": {"reference": WRITTEN_ANSWER, "axes": ["typos"]},
    }
    for name, options in settings.items():
        yield name, lambda o=options: decomposition.decompositions(answers, n_boot=30, **o)
    only_reruns = coded_answers.coded_answers(readouts(4, axes=(), n_reruns=2))
    yield "no axis", lambda: decomposition.decompositions(only_reruns, WRITTEN_ANSWER, n_boot=30)
    yield (
        "without base",
        partial(decomposition.item_rates, answers, "paraphrase", FIRST_TOKEN, WRITTEN_ANSWER, include_base=False),
    )
    yield (
        "references",
        lambda: [
            decomposition.default_reference(*names)
            for names in ((["a", "b"],), (["a", WRITTEN_ANSWER],), (["a", "b"], ["c", "a"]))
        ],
    )
    yield "no reference", partial(decomposition.default_reference, [])
    for name, values in {
        "changes": changes(12),
        "one": np.ones(1),
        "holes": with_holes(changes(12), 3),
        "equal": np.ones(5),
        "zeros": np.zeros(5),
        "nearly equal": 0.5 + np.arange(4) * 1e-13,
        "nearly zero": np.arange(4) * 1e-13,
    }.items():
        yield f"t, {name}", partial(decomposition.paired_t_p, values)
        yield f"t by families, {name}", partial(decomposition.paired_t_p, values, np.arange(values.size) // 2)
    cells = [
        np.stack([changes(12) / 2, shares(12)], axis=1),
        np.stack([shares(12, 1), np.ones(12)], axis=1),
        np.zeros((12, 2)),
        np.eye(12)[:, [0, 0]],
        np.full((12, 2), NAN),
        np.ones((12, 2)),
    ]
    yield "shares", partial(decomposition.artifact_shares, cells, 0.9, 1, 50)
    yield "shares of no item", partial(decomposition.artifact_shares, [np.zeros((0, 2))], 0.9, 1, 50)
    share = Estimate(0.4, 0.1, 0.6, 0.95, "bca", 12, 0)
    for name, total in {"above": (0.2, 0.1, 0.3), "at 0": (0.2, 0.0, 0.3), "no interval": (0.2, NAN, NAN)}.items():
        estimate = Estimate(*total, 0.95, "t", 12, None)
        for is_reference in (False, True):
            yield (
                f"shown, {name}, {is_reference}",
                partial(decomposition.shown_share, share, estimate, 0.9, is_reference=is_reference),
            )
    yield "shown, missing", partial(decomposition.shown_share, missing(3), share, 0.9, is_reference=False)


@pinned("flips.contrast")
def contrast_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        cells = decomposition.decompositions(coded_answers.coded_answers(frame), WRITTEN_ANSWER, n_boot=5, tests=False)
        for cell, temperature in product(cells[-1:], (None, 0.0, 0.7)):
            yield f"{name}, {temperature}", partial(contrast.parts_test, cell, temperature)
    for difference, world in product((0.0, 0.05, 0.3, 0.72), (contrast.ASSUMED, contrast.HALF_BOTH, contrast.TWICE_NOISE)):
        yield f"against, {difference}, {world}", partial(contrast.share_against, difference, world)
        yield f"power, {difference}, {world}", partial(contrast.power, 30, difference, 2, 0.9, world, 1, 150)
    for n, difference in ((9, 0.3), (10, 0.3), (30, -0.01), (30, 0.721), (30, contrast.MAX_DIFFERENCE)):
        yield f"power, {n}, {difference}", partial(contrast.power, n, difference, runs=60)
    yield "defaults", partial(contrast.power, 30, 0.3)
    yield "detectable", lambda: [contrast.detectable_difference(n) for n in (9, 10, 24, 60)]
    yield "detectable in cells", partial(contrast.detectable_difference, 40, 5, 1)
    yield "worse worlds", partial(contrast.power_in_worse_worlds, 40, 0.3, 2)


@pinned("flips.pooled")
def pooled_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        answers = coded_answers.coded_answers(frame)
        extractors = None if name == "identity" else answers.extractors[-1:]
        cells = decomposition.decompositions(answers, WRITTEN_ANSWER, n_boot=5, tests=False, extractors=extractors)
        yield name, partial(pooled.across_axes, cells, n_boot=30)
    yield "no cell", partial(pooled.across_axes, [])
    half = readouts(12, 2, n_samples=2)
    half = half[(half["axis"] == "paraphrase") | (half["sample"] == 0)]
    cells = decomposition.decompositions(coded_answers.coded_answers(half), WRITTEN_ANSWER, n_boot=5, tests=False, level=0.8)
    yield "one axis with reruns", partial(pooled.across_axes, cells, kind="bca", seed=2, n_boot=30)
    lacking = half[(half["axis"] == "paraphrase") | (half["variant"] == "base")]
    cells = decomposition.decompositions(coded_answers.coded_answers(lacking), WRITTEN_ANSWER, n_boot=5, tests=False)
    yield "one axis with pairs", partial(pooled.across_axes, cells, n_boot=30)


PAIRS = {(f"t/i{item}", variant): f"p{item}{variant}" for item in range(5) for variant in ("v1", "v2")}


@pinned("flips.exclusion_bounds")
def exclusion_cases() -> Iterator[Case]:
    frame = readouts(6, 3, models=("m2", "m1"), lost=0.2)
    yield "each", partial(exclusion_bounds.moved_by_each, frame, PAIRS)
    yield "all", partial(exclusion_bounds.moved_by_all, frame, {"paraphrase": PAIRS, "option_order": {("t/i1", "v2"): "o"}})
    yield "none of them", partial(exclusion_bounds.moved_by_each, frame, {("t/i9", "v1"): "x"})
    one_model = readouts(5, 4, lost=0.15, n_variants=4)
    for n_bad in (0, 1, 2, 5, 10, 11):
        yield (
            f"extremes, {n_bad}",
            partial(exclusion_bounds.extreme_exclusions, one_model, list(PAIRS), n_bad, FIRST_TOKEN, WRITTEN_ANSWER),
        )
    yield (
        "extremes of few",
        partial(
            exclusion_bounds.extreme_exclusions,
            one_model,
            [("t/i3", "v1"), ("t/i3", "v3"), ("t/i0", "v2")],
            2,
            FIRST_TOKEN,
            WRITTEN_ANSWER,
        ),
    )
    yield "negative", partial(exclusion_bounds.extreme_exclusions, one_model, list(PAIRS), -1, FIRST_TOKEN, WRITTEN_ANSWER)
    base = one_model[one_model["variant"] == "base"]
    for n_variants in (5, 6):
        many = pd.concat([base, *[base.assign(variant=f"w{i}", answer=base["answer"].shift(i)) for i in range(n_variants)]])
        many = many.assign(status=np.where(many["answer"].isna(), "unreadable", "ok"))
        unreviewed = [("t/i2", f"w{i}") for i in range(n_variants)]
        yield (
            f"extremes of {n_variants} variants",
            partial(exclusion_bounds.extreme_exclusions, many, unreviewed, 2, FIRST_TOKEN, WRITTEN_ANSWER),
        )
        yield (
            f"each of {n_variants} variants",
            partial(exclusion_bounds.moved_by_each, many, {pair: pair[1] for pair in unreviewed}),
        )
    lost = one_model.assign(status="unreadable", answer=None)
    yield "nothing read", partial(exclusion_bounds.extreme_exclusions, lost, list(PAIRS), 2, FIRST_TOKEN, WRITTEN_ANSWER)


@pinned("flips.human_share")
def human_share_cases() -> Iterator[Case]:
    rate, genuine = Estimate(0.4, 0.3, 0.5, 0.95, "t", 40, None), Estimate(0.2, 0.1, 0.3, 0.95, "t", 40, None)
    for counts in ((0, 0, 0), (5, 3, 1), (5, 3, 2), (0, 12, 0), (12, 0, 3)):
        share = human_share.HumanShare(*counts, 0.9)
        yield f"{counts}", lambda s=share: [s.n, s.interval, s.bounds(rate), human_share.HumanShare.sentence(s, rate, genuine)]
    votes = [
        ("f1", "a", "genuine"),
        ("f1", "b", "artifact"),
        ("f2", "a", "genuine"),
        ("f2", "a", "artifact"),
        ("f3", "a", "genuine"),
        ("f3", "b", "genuine"),
        ("f3", "c", "artifact"),
        ("f4", "a", "ambiguous"),
    ]
    marks = [dict(zip(("flip", "reviewer", "verdict"), vote, strict=True)) for vote in votes]
    yield "marks", lambda: vars(human_share.human_share(marks)) | {"none": vars(human_share.human_share([], 0.8))}


@pinned("flips.label_mass")
def label_mass_cases() -> Iterator[Case]:
    yield "readouts", partial(label_mass.unreadable_labels, readouts(12, 1, n_variants=4))
    yield "none", partial(label_mass.unreadable_labels, readouts(3, extractors=(WRITTEN_ANSWER,)))
    for masses in ([0.01] * 4, [0.01] * 5, [0.01, 0.02, 0.05, 0.9, 0.9], [0.01, 0.04, 0.0499, 0.9, 0.05]):
        frame = pd.DataFrame({"label_mass": masses}).assign(model="m", extractor="first_token", axis="label_style", variant="v")
        yield f"{masses}", partial(label_mass.unreadable_labels, frame)


def _cells(n: int, columns: list[str], seed: int, start: int = 0) -> surface.Cells:
    rate = np.stack([with_holes(fractions(n, seed + c), c) for c in range(len(columns))], axis=1)
    unreadable, cut = (np.stack([fractions(n, seed + c + shift) / 2 for c in range(len(columns))], axis=1) for shift in (5, 9))
    return surface.Cells([f"i{i}" for i in range(start, start + n)], columns, rate, unreadable, cut)


@pinned("flips.map_cells")
def map_cases() -> Iterator[Case]:
    cells = _cells(6, [IDENTITY, "typos", "order"], 1)
    others = _cells(6, [IDENTITY, "typos", "order"], 4)
    opened = map_cells.with_variants(cells, {"typos": _cells(3, ["v1", "v2"], 7, start=2)})
    yield (
        "columns",
        lambda: [
            map_cells.column_id("a"),
            map_cells.column_id("a", "v"),
            map_cells.column_parts("a"),
            map_cells.column_parts("a\x1fv"),
        ],
    )
    yield "variants", partial(lambda value: value, opened)
    yield "no column", lambda: map_cells.with_variants(_empty_cells(), {})
    yield "row values", partial(map_cells.row_values, opened)
    yield "stack", partial(map_cells.stack, [cells, _cells(2, ["order", "new"], 2, start=6)])
    yield "difference", partial(map_cells.difference, cells, others)
    for sort in ("field", "faithful", "difference", "study"):
        yield f"groups by {sort}", partial(map_cells.group_rows, cells, others, [5, 0, 3, 1, 2], list("bababc"), sort)
    lone = surface.Cells(["a", "b", "c"], ["typos"], np.array([[NAN], [0.0], [0.0]]), np.zeros((3, 1)))
    yield "groups without a value", partial(map_cells.group_rows, lone, lone, [0, 1, 2], ["x", "y", "a"], "field")
    yield "means", partial(map_cells.means_alone, opened)
    for signed in (False, True):
        yield (
            f"intervals, {signed}",
            partial(map_cells.means_with_intervals, _cells(14, ["typos", "order"], 3), {}, signed=signed),
        )
    groups = [map_cells.Group("a", 0, 5), map_cells.Group("b", 5, 6), map_cells.Group("c", 6, 9)]
    yield "bins", lambda: [map_cells.bin_starts(groups, 2), map_cells.bin_starts([], 2)]
    starts = map_cells.bin_starts(groups, 3)
    values = with_holes(fractions(9, 2), 3, 4, 8)
    yield "bin means", partial(map_cells.bin_means, np.stack([values, np.arange(9.0)], axis=1), starts)
    yield (
        "bin quartiles",
        lambda: [
            map_cells.bin_quartiles(values, starts),
            map_cells.bin_quartiles(np.arange(9.0), np.array([0, 4])),
            map_cells.bin_quartiles(np.arange(7.0)[::-1], np.array([0])),
        ],
    )


def _empty_cells() -> surface.Cells:
    return surface.Cells(["i0"], [], np.zeros((1, 0)), np.zeros((1, 0)))


@pinned("flips.per_readout")
def per_readout_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        answers = coded_answers.coded_answers(frame)
        axis, extractor = answers.axes[0], answers.extractors[-1]
        for policy in POLICIES:
            yield (
                f"{name}, {policy}",
                partial(per_readout.flip_summary, answers, axis, extractor, policy=policy, n_boot=40, seed=2, level=0.9),
            )
        yield f"{name}, all", partial(per_readout.flip_summaries, answers, n_permutations=19)
        yield f"{name}, running", partial(per_readout.running_flip_rates, answers, axis)
    yield (
        "unknown kind",
        partial(
            per_readout.flip_summary, coded_answers.coded_answers(FRAMES["plain"]), "paraphrase", FIRST_TOKEN, kind="exact"
        ),
    )
    some_codes = {name: codes for name, codes in CODES.items() if len(codes)}
    for (name, codes), policy in product(some_codes.items(), POLICIES):
        yield f"entropy, {name}, {policy}", partial(per_readout.item_entropies, codes, policy)
    for name, codes in some_codes.items():
        yield f"modal, {name}", partial(per_readout.item_modal_agreements, codes)


def _prediction_rows(n: int, seed: int = 0) -> pd.DataFrame:
    rng = generator(seed, "prediction", n)
    item = np.repeat(np.arange(n), 2)
    margin = np.repeat(rng.random(n), 2).round(2)
    frame = {
        "item_id": [f"i{i}" for i in item],
        "axis": ["typos", "order"] * n,
        "margin": margin,
        "entropy_bits": np.repeat(rng.random(n), 2).round(2),
    }
    frame |= {
        "n_prompt_tokens": 10.0 + item % 7,
        "n_options": 4.0,
        "base_correct": item % 2.0,
        "flipped": (rng.random(2 * n) > margin).astype(float),
    }
    return pd.DataFrame(frame)


@pinned("flips.predictor")
def predictor_cases() -> Iterator[Case]:
    def predicted(rows: pd.DataFrame, **options: int) -> object:
        return predictor.flip_prediction(rows, n_boot=50, n_permutations=5, **options)

    for n in (4, 5, 10, 24):
        yield f"{n} items", partial(predicted, _prediction_rows(n))
    rows = _prediction_rows(18, 1)
    yield "families", partial(predicted, rows.assign(family=rows["item_id"].map(lambda item: int(item[1:]) // 2)), seed=2)
    yield (
        "holes",
        partial(
            predicted,
            rows.assign(margin=rows["margin"].where(rows.index % 5 > 0), flipped=rows["flipped"].where(rows.index % 7 > 0)),
        ),
    )
    yield "one class", partial(predicted, rows.assign(flipped=0.0))
    yield "one flip", partial(predicted, rows.assign(flipped=[1.0] + [0.0] * 35))
    yield "told apart", partial(predicted, rows.assign(margin=rows["flipped"]))
    yield "repeated rows", partial(predicted, pd.concat([rows, rows[:12]]))
    yield "no column", partial(predicted, rows.drop(columns="margin"))
    for name, probabilities in {
        "graded": np.linspace(0.1, 0.9, 12),
        "equal": np.full(12, 0.4),
        "sure": np.r_[np.zeros(6), np.ones(6)],
        "far": np.r_[np.full(6, 1e-9), np.full(6, 1 - 1e-9)],
    }.items():
        for outcome, y in {
            "mixed": shares(12),
            "by rank": np.repeat([0.0, 1.0], 6),
            "one": np.ones(12),
            "against": np.repeat([1.0, 0.0], 6),
        }.items():
            yield f"slope, {name}, {outcome}", partial(predictor._calibration_slope, y, probabilities)
    frame = readouts(6, 2, n_reruns=2)
    base = pd.DataFrame(
        {
            "item_id": [f"t/i{i}" for i in range(5)] + ["t/i0"],
            "n_prompt_chars": range(10, 16),
            "is_correct": [True, None, False, True, True, False],
        }
    )
    base["probabilities"] = [[0.1, 0.6, 0.3], [0.5], [], [0.0, 0.0], [0.25] * 4, [0.9, 0.1]]
    for name, part in {"families": frame, "single items": frame.drop(columns="family")}.items():
        yield f"rows, {name}", partial(predictor.predictor_rows, part, base, FIRST_TOKEN)


@pinned("flips.readout_mismatch")
def mismatch_cases() -> Iterator[Case]:
    def compared(frame: pd.DataFrame, graders: tuple[str, ...] = ()) -> list:
        result = readout_mismatch.disagreements(frame, graders)
        return [vars(result), result.sentence(str.title), result.table(str.title)]

    extractors = (WRITTEN_ANSWER, FIRST_TOKEN, "judge")
    three = readouts(13, 3, extractors=extractors, lost=0.1, n_variants=2)
    graded = three.assign(
        answer=np.where(three["extractor"] == "judge", three["is_correct"].map({True: RIGHT, False: WRONG}), three["answer"])
    )
    for name, frame in {
        "three": three,
        "shuffled": _shuffled(three),
        "repeated": pd.concat([three, three[:40].assign(answer="D")]),
        "grader": graded,
        "without families": three.drop(columns="family"),
        "families": readouts(30, 4, n_families=9, lost=0.05, n_variants=1),
        "single items": readouts(14, 4, lost=0.05, axes=("typos",), n_variants=1),
        "categories": three.astype({"item_id": "category", "variant_id": "category"}),
        "nothing in common": three[(three["extractor"] != FIRST_TOKEN) == (three["sample"] == 1)]
        .head(0)
        .pipe(
            lambda rows: pd.concat(
                [
                    rows,
                    three[(three["extractor"] == WRITTEN_ANSWER) & (three["variant"] == "base")],
                    three[(three["extractor"] == FIRST_TOKEN) & (three["variant"] != "base")],
                ]
            )
        ),
        "all read": readouts(12, 5, lost=0.0),
    }.items():
        yield name, partial(compared, frame)
    yield "declared grader", partial(compared, three, (FIRST_TOKEN,))
    yield (
        "grader without verdicts",
        partial(compared, three.assign(is_correct=three["is_correct"].where(three["extractor"] != "judge", None)), ("judge",)),
    )


@pinned("flips.surface")
def surface_cases() -> Iterator[Case]:
    for name, frame in FRAMES.items():
        extractor = frame["extractor"].iloc[-1]
        cells = surface.surface(frame, extractor, "drop")
        yield name, partial(lambda value: value, cells)
        yield f"{name}, variants", partial(surface.variant_cells, frame, frame["axis"].iloc[0], extractor, "always_flip")
        yield f"{name}, means", partial(surface.column_means, cells)
        yield f"{name}, rows", partial(surface.row_means, cells)
        yield f"{name}, choices", partial(surface.choices, frame)
        yield f"{name}, most", lambda c=cells: [surface.most_flipping_column(c, i) for i in range(len(c.items))]
    shuffled = _shuffled(FRAMES["reruns"])
    yield "shuffled", partial(surface.surface, shuffled, FIRST_TOKEN)
    yield (
        "coded",
        partial(surface.code_answers, shuffled[(shuffled["extractor"] == FIRST_TOKEN) & (shuffled["axis"] == "paraphrase")]),
    )
    yield "of no row", partial(surface.surface, shuffled, "judge")
    first, second = _cells(4, ["order", "typos"], 1), _cells(5, [IDENTITY, "typos"], 3, start=2)
    for order in ((), ("i6", "i9", "i1", "i0")):
        yield f"aligned by {order}", partial(surface.align, first, second, order)
    yield "aligned without reruns", partial(surface.align, first, _cells(2, ["a", "typos"], 3))
    compared, reference = surface.align(first, second)
    for by in ("field", "faithful", "difference", "study"):
        yield f"order by {by}", partial(surface.order_of, compared, reference, by, list("gcadfbe"))
    yield "mask", partial(surface.flip_mask, compared, reference)
    fourteen = _cells(14, ["typos", "order"], 3)
    for name, family_of in {
        "of the study": {f"i{i}": f"f{i // 2}" for i in range(-4, 20)},
        "of some": {f"i{i}": f"f{i // 2}" for i in range(9)},
        "one": dict.fromkeys(fourteen.items, "f"),
        "single": {f"i{i}": f"f{i}" for i in range(16)},
    }.items():
        for signed in (False, True):
            yield f"means of families {name}, {signed}", partial(surface.column_means, fourteen, family_of, signed=signed)
    twice = map_cells.stack([fourteen, fourteen])
    yield "means of two models", partial(surface.column_means, twice, {f"i{i}": f"f{i // 2}" for i in range(20)})
