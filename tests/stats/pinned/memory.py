"""Cases of flipcore/stats/memory."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.core.records import ABSENT, BASE, CUT, IDENTITY, OK, UNREADABLE, WRITTEN_ANSWER, WRITTEN_MATH, WRITTEN_WORDS
from flipcore.core.study import (
    CALIBRATED_CONTROL,
    OTHER_CONTROL,
    PAIRED_CONTROL,
    RANDOM_CONTROL,
    ItemSource,
    ModelUse,
    Part,
    Study,
)
from flipcore.stats.memory import (
    detectors,
    drop_gap,
    drop_gap_analysis,
    exceedance,
    frames,
    gap_decision,
    gap_intervals,
    gap_power,
    gap_truncation,
    ground_truth,
    hardness_curve,
    loss_analysis,
    loss_diagnostics,
    loss_test,
    matching,
    members,
    operand_size,
    pearl_alpha,
    pearl_analysis,
    published_score,
    rewritten,
    three_scales,
    training_end,
)
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, fractions, shares, with_holes
from tests.stats.pinned.results import Case

CONTROLS = (RANDOM_CONTROL, PAIRED_CONTROL, CALIBRATED_CONTROL, OTHER_CONTROL)


def _scores(n: int, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    return (generator(seed, "scores", n).normal(shift, 1.0, n)).round(2)


def _set(
    name: str,
    n: int,
    broken: float,
    seed: int = 0,
    *,
    rewrites: int = 1,
    reruns: bool = False,
    holes: tuple[int, ...] = (),
    fixed: float = 0.1,
) -> rewritten.Rewritten:
    """Return a set of which a share of right answers breaks and of wrong ones is fixed, with uncovered items."""
    rng = generator(seed, "set", n)
    before = shares(n, seed, 0.7)
    after = np.stack(
        [np.where(rng.random(n) < np.where(before == 1, broken, fixed), 1 - before, before) for _ in range(rewrites)], axis=1
    )
    after[list(holes)] = NAN
    identity = np.stack([np.where(rng.random(n) < 0.1, 1 - before, before) for _ in range(2)], axis=1) if reruns else None
    return rewritten.Rewritten.make([f"{name}{i}" for i in range(n)], before, after, identity)


SETS = {
    "binary": (_set("b", 30, 0.5), _set("c", 26, 0.1, 1)),
    "large gap": (_set("b", 60, 0.9), _set("c", 50, 0.02, 1)),
    "several rewrites": (_set("b", 24, 0.5, 2, rewrites=3, holes=(2, 5)), _set("c", 20, 0.1, 3, rewrites=2)),
    "reruns": (_set("b", 20, 0.4, 4, reruns=True, holes=(1,)), _set("c", 20, 0.2, 5, reruns=True, holes=(0, 3))),
    "few items": (_set("b", 9, 0.5, 6), _set("c", 12, 0.1, 7)),
    "10 items": (_set("b", 10, 0.5, 6), _set("c", 10, 0.1, 7)),
    "nothing changes": (_set("b", 14, 0.0, 8, fixed=0.0), _set("c", 15, 0.0, 9, fixed=0.0)),
    "uncovered": (_set("b", 30, 0.5, 10, holes=tuple(range(12, 30))), _set("c", 24, 0.3, 11, holes=tuple(range(11)))),
    "mended": (_set("b", 40, 0.1, 12, fixed=0.9), _set("c", 40, 0.1, 13, fixed=0.0)),
    "mended controls": (_set("b", 40, 0.3, 12, fixed=0.0), _set("c", 40, 0.1, 13, fixed=1.0)),
    "one item": (_set("b", 1, 0.5), _set("c", 1, 0.5, 1)),
}


@pinned("memory.detectors")
def detector_cases() -> Iterator[Case]:
    by_name = {
        "loss": {f"i{i}": i % 3 == 0 for i in range(14)},
        "pearl": {f"i{i}": i % 4 == 0 for i in range(3, 20)},
        "gap": {f"i{i}": False for i in range(8)},
        "copy": {f"i{i}": i % 3 == 0 for i in range(14)},
        "other": {"x": True},
    }
    for name, flags in {
        "all": by_name,
        "one": {"loss": by_name["loss"]},
        "none": {},
        "alike": {"loss": by_name["loss"], "copy": by_name["copy"]},
    }.items():
        overlaps = detectors.pairs(flags)
        yield name, lambda o=overlaps: [o, detectors.pair_rows(o), detectors.pairs_note(o)]
        yield f"{name}, share", partial(detectors.share_flagged_by_all, flags)
        yield f"{name}, table", partial(detectors.flag_table, flags)


@pinned("memory.drop_gap")
def drop_gap_cases() -> Iterator[Case]:
    for name, (first, second) in SETS.items():
        parts = [first.before, first.after_mean, second.before, second.after_mean]
        yield f"source, {name}", lambda p=parts: drop_gap.drop_gap_source(*p, seed=2, n_boot=60)
        whole = [part.round() for part in parts]
        yield f"score, {name}", partial(drop_gap.gap_score, *whole, 0.9)
        yield f"conditional, {name}", partial(drop_gap.cond_gap, *whole, 0.9)
        yield f"conditional drop, {name}", partial(drop_gap.cond_drop, *whole[:2])
        statistic, draw = drop_gap.permuted_t(first.drops, second.drops, generator(3))
        yield f"permuted, {name}", lambda s=statistic, d=draw: [s, d(9)]
    empty = ["", "", "101", "100"]
    yield "no benchmark", lambda: [drop_gap.drop_gap_source(*empty), drop_gap.gap_score(*empty), drop_gap.cond_gap(*empty)]
    yield (
        "no control",
        lambda: [
            drop_gap.drop_gap_source(*empty[2:], *empty[:2]),
            drop_gap.gap_score(*empty[2:], *empty[:2]),
            drop_gap.cond_gap(*empty[2:], *empty[:2]),
        ],
    )
    yield "none right before", partial(drop_gap.cond_gap, "000", "010", "111", "110")
    yield "default draws", partial(drop_gap.drop_gap_source, "1101101", "1001001", "111011", "110111")
    yield (
        "many items",
        lambda: drop_gap.drop_gap_source(shares(900), shares(900, 1), shares(700, 2), shares(700, 3), n_boot=400),
    )
    for n_values in (40, 41):
        pool = np.arange(n_values) / 50
        statistic, draw = drop_gap.permuted_t(pool[:12], pool[12:], generator(4))
        yield f"permuted, {n_values} values", lambda s=statistic, d=draw: [s, d(7)]
    flat = {
        "flat": ([0.5, 0.5], [0.5, 0.5]),
        "flat and apart": ([0.5, 0.5], [0.25, 0.25]),
        "too few": ([0.5], [0.5, 0.1]),
        "two": ([0.5, 0.1], [0.5, 0.2]),
    }
    for name, (first, second) in flat.items():
        statistic, draw = drop_gap.permuted_t(first, second, generator(5))
        yield f"permuted, {name}", lambda s=statistic, d=draw: [s, d(5)]


@pinned("memory.drop_gap_analysis")
def analysis_cases() -> Iterator[Case]:
    for (name, (first, second)), control in product(SETS.items(), (OTHER_CONTROL, RANDOM_CONTROL)):
        if name in ("one item", "mended") and control == RANDOM_CONTROL:
            continue
        pairs = {f"b{i}": f"c{i}" for i in range(25)} if name == "reruns" else None
        sides = gap_decision.Sides(first, second, pairs=pairs)
        analysis = partial(drop_gap_analysis.drop_gap_analysis, first, second, 1, 0.3, 0.9, 40, 99, sides, control)

        def whole(analysis: partial = analysis) -> list:
            gap = analysis()
            parts = [
                gap.gap_source,
                gap.source_literal,
                gap.source_directional,
                gap.gap,
                gap.cond_gap,
                gap.perm,
                gap.gap_net,
                gap.gap_matched,
            ]
            return [*parts, gap.equivalence_interval, gap.equivalent, gap.old_rule, gap.source_decision, gap.decided.p]

        yield f"{name}, {control}", whole
    wrong = rewritten.Rewritten.make(list("abc"), [0, 0, 0], [0, 1, 0])
    yield "none right before", lambda: drop_gap_analysis.drop_gap_analysis(wrong, SETS["binary"][1], n_boot=30, m=29).cond_gap


@pinned("memory.exceedance")
def exceedance_cases() -> Iterator[Case]:
    yield "ranks", lambda: [exceedance.rank(m, rate) for m, rate in product((1, 18, 19, 20, 39, 40, 99), (0.01, 0.05, 0.5))]
    yield "beyond", lambda: [exceedance.n_beyond([0.5, 1.0, 1.0, 2.0, NAN], [1.0, 0.0, 2.0, 1.5], k) for k in (1, 2, 3, 4)]
    yield "chance", partial(exceedance.chance_count, 12, 2, 39)
    grid = [
        (-1, 5, 1, 20),
        (0, 5, 1, 20),
        (1, 5, 1, 20),
        (5, 5, 1, 20),
        (6, 5, 1, 20),
        (3, 12, 2, 39),
        (12, 12, 4, 12),
        (2, 50, 7, 60),
        (30, 40, 10, 20),
    ]
    yield "set p", lambda: [exceedance.set_p(*numbers) for numbers in grid]
    yield "least", lambda: [exceedance.least_contaminated(*numbers) for numbers in grid[1:4] + grid[5:]]
    yield "least by error", lambda: [exceedance.least_contaminated(9, 12, 2, 39, error) for error in (0.001, 0.2, 0.9)]
    for name, (items, controls) in {
        "apart": (_scores(20, 1, 1.0), _scores(40, 2)),
        "alike": (_scores(15, 3), _scores(19, 4)),
        "holes": (with_holes(_scores(9, 5), 1), with_holes(_scores(30, 6), 2)),
        "ties": (fractions(12), fractions(24, 1)),
        "one item": (_scores(1), _scores(25)),
        "one control": (_scores(12), _scores(1)),
        "no item": ([], _scores(9)),
        "no control": (_scores(9), []),
        "flat": (np.ones(5), np.ones(20)),
        "two of each": (_scores(2), _scores(2, 1)),
    }.items():
        yield f"test, {name}", partial(exceedance.set_test, items, controls)
        yield f"test at rank 2, {name}", lambda i=items, c=controls: exceedance.set_test(i, c, 0.1, min(2, max(len(c), 1)))
        yield f"spread, {name}", partial(exceedance.spread_p, items, controls)
        yield f"largest, {name}", partial(exceedance.largest_excess_p, items, controls, 1, 99)


def _study_frame(n: int = 12, seed: int = 0, *, models: tuple[str, ...] = ("m1", "m2")) -> pd.DataFrame:
    rng = generator(seed, "memory frame")
    rows = []
    samples = {("paraphrase", BASE): 2, ("paraphrase", "w1"): 2, ("paraphrase", "w2"): 1, (IDENTITY, BASE): 2}
    for model, role, i in product(models, ("benchmark", "control"), range(n)):
        for (axis, variant), n_samples in samples.items():
            for sample, extractor in product(range(n_samples), (WRITTEN_ANSWER, "loss")):
                status = str(rng.choice((OK, OK, OK, OK, OK, OK, CUT, ABSENT, UNREADABLE)))
                right = None if status == ABSENT else bool(status == OK and rng.random() < (0.8 if variant == BASE else 0.5))
                rows.append(
                    {
                        "model": model,
                        "item_id": f"{role[0]}{n - i}",
                        "role": role,
                        "axis": axis,
                        "variant": variant,
                        "position": int(variant != BASE),
                        "sample": sample,
                        "extractor": extractor,
                        "status": status,
                        "value": round(float(rng.gamma(2.0)), 3),
                        "is_correct": right,
                        "kind": "choice",
                    }
                )
    frame = pd.DataFrame(rows)
    is_gone = (frame["item_id"] == "b3") & (frame["variant"] != BASE) | (frame["item_id"] == "b5") & (frame["variant"] == BASE)
    return frame[~is_gone]


FRAME = _study_frame()
STUDY = Study("s", (ItemSource("a.jsonl", "benchmark"),), (Part("paraphrase"),), (Part(WRITTEN_ANSWER),), (ModelUse("m1"),))


@pinned("memory.frames")
def frame_cases() -> Iterator[Case]:
    one_model = FRAME[FRAME["model"] == "m1"]
    benchmark, both = ["benchmark"], ["benchmark", "control"]
    yield (
        "compares",
        lambda: [
            frames.compares(roles) for roles in ((), ("target",), ("retro",), ("target", "non_member"), ("benchmark", "x"))
        ],
    )
    tasks = FRAME.assign(item_id=[f"{'ab'[i % 2]}/{item}" for i, item in enumerate(FRAME["item_id"])])
    apart = tasks[(tasks["role"] == "benchmark") | tasks["item_id"].str.startswith("a/")].assign(
        item_id=lambda rows: rows["item_id"].where(rows["role"] == "benchmark", "c" + rows["item_id"].str[1:])
    )
    recorded = replace(STUDY, protocol=Part("recorded"))
    for name, frame in {"tasks": tasks, "controls apart": apart, "one task": FRAME, "none": FRAME[:0]}.items():
        for study in (STUDY, recorded):
            yield (
                f"sets, {name}, {study.protocol.name}",
                lambda f=frame, s=study: _counted(frames.compared_sets(f, s), "kind", "role", "item_id"),
            )
    for name, study in {
        "plain": STUDY,
        "a reference": replace(STUDY, reference_model="m2"),
        "references": replace(STUDY, reference_models=("m2",)),
        "both": replace(STUDY, reference_model="m1", reference_models=("m1", "m2")),
    }.items():
        yield f"reference, {name}", lambda s=study: _numbers(frames.with_reference(FRAME, s))
        yield f"no row, {name}", lambda s=study: list(frames.with_reference(FRAME[:0], s).columns)
    with_all = frames.with_reference(FRAME, replace(STUDY, reference_model="m2", reference_models=("m2",)))
    first = with_all[with_all["model"] == "m1"]
    yield "columns", partial(frames.reference_columns, first)
    yield "over reference", partial(frames.over_reference, first, "loss", both)
    yield "published", partial(frames.published, first, WRITTEN_ANSWER, both)
    yield "published controls", partial(frames.published, one_model, WRITTEN_ANSWER, ["control"])
    yield (
        "written",
        lambda: [
            frames.written_extractor(pd.DataFrame({"extractor": names}))
            for names in ([WRITTEN_MATH, WRITTEN_WORDS], [WRITTEN_MATH], ["loss"], [WRITTEN_WORDS, WRITTEN_ANSWER])
        ],
    )
    for name, part in {
        "all": one_model,
        "no reruns": one_model[one_model["axis"] != IDENTITY],
        "no base": one_model[one_model["variant"] != BASE],
        "base alone": one_model[one_model["variant"] == BASE],
        "shuffled": one_model.sample(frac=1.0, random_state=1),
        "none": one_model[:0],
    }.items():
        for cut_as in (None, (0.0, 1.0), (1.0, 0.25)):
            yield (
                f"rewritten, {name}, {cut_as}",
                partial(frames.rewritten, part, "paraphrase", WRITTEN_ANSWER, benchmark, cut_as),
            )
        yield f"losses, {name}", partial(frames.losses, part, "loss", benchmark)
    yield "absolute losses", partial(frames.losses, one_model, "loss", both, is_absolute=True)
    yield "losses of another axis", partial(frames.losses, one_model, "loss", benchmark, "typos")
    yield "correctness", partial(frames.correctness, one_model, WRITTEN_ANSWER)
    yield "pearl", partial(frames.pearl_scores, one_model, "loss", both, "paraphrase")
    yield "roles", lambda: [frames.roles_of(FRAME), frames.roles_of(FRAME.assign(role="target"))]
    yield "drops", lambda: frames.drop_rows(frames.rewritten(one_model, "paraphrase", WRITTEN_ANSWER, both))


def _counted(frame: pd.DataFrame, *columns: str) -> list:
    return [len(frame), frame.groupby(list(columns[:2])).size().to_dict(), list(frame[columns[2]])] if len(frame) else []


def _numbers(frame: pd.DataFrame) -> dict:
    added = [name for name in frame if name not in FRAME]
    return {name: frame[name].to_numpy() for name in added} | {"rows": len(frame), "first": list(frame["item_id"])}


@pinned("memory.gap_decision")
def decision_cases() -> Iterator[Case]:
    for (name, (first, second)), control in product(SETS.items(), CONTROLS):
        if control == CALIBRATED_CONTROL and name != "binary":
            continue
        pairs = {f"b{i}": f"c{(i * 3) % 26}" for i in range(30)}
        sides = gap_decision.Sides(first, second, guess=(0.25, 0.2), pairs=pairs, pairs_note="By length.")
        yield f"{name}, {control}", partial(gap_decision.gap_decision, sides, control, 1, 59)
    first, second = SETS["binary"]
    mine, theirs = first.covered_ids, second.covered_ids
    for kind, family in {
        "pairs of items": {item: f"{item[0]}{int(item[1:]) // 2}" for item in (*mine, *theirs)},
        "split": {item: f"f{int(item[1:]) % 13}" for item in (*mine, *theirs)},
        "mostly split": {item: f"f{int(item[1:]) % 20}" for item in (*mine, *theirs)}
        | {f"c{i}": f"g{i // 2}" for i in range(5)},
        "split at three quarters": {f"b{i}": f"f{i % 20}" for i in range(30)} | {f"c{i}": f"f{i % 15}" for i in range(26)},
        "few": {item: f"{item[0]}{int(item[1:]) % 4}" for item in (*mine, *theirs)},
        "skewed": {item: f"{item[0]}{max(int(item[1:]) - 14, 0)}" for item in (*mine, *theirs)},
        "single": {item: item for item in (*mine, *theirs)},
        "none": {},
    }.items():
        for control in (RANDOM_CONTROL, OTHER_CONTROL):
            sides = gap_decision.Sides(first, second, family=family)
            yield f"families, {kind}, {control}", partial(gap_decision.gap_decision, sides, control, 1, 39)
        yield (
            f"labels, {kind}",
            lambda f=family: [
                part if part is None else list(part)
                for part in (*gap_decision.families_of(mine, theirs, f), *gap_decision.split_units(mine, theirs, f))
            ],
        )
    for name, options in {
        "no pairs": {},
        "few pairs": {"pairs": {f"b{i}": f"c{i}" for i in range(9)}},
        "10 pairs": {"pairs": {f"b{i}": f"c{i}" for i in range(10)}},
        "a problem": {"pairs": {f"b{i}": f"c{i}" for i in range(20)}, "pairs_problem": "they differ"},
        "others": {"pairs": {"x": "c1", "b1": "y", "b2": "c2"}},
    }.items():
        sides = gap_decision.Sides(first, second, **options)
        yield f"paired, {name}", partial(gap_decision.gap_decision, sides, PAIRED_CONTROL, 2, 39)
        yield f"differences, {name}", partial(gap_decision.pair_differences, sides)
    yield "unknown control", partial(gap_decision.gap_decision, gap_decision.Sides(first, second), "fresh")
    for n in (0, 1, 9, 10, 20):
        yield f"pair estimate of {n}", partial(gap_decision.pair_estimate, changes(n), 0.9)
    yield (
        "are split",
        lambda: [
            gap_decision.are_split(list(one_side), list(other))
            for one_side, other in (("abcd", "abcd"), ("abcx", "abcc"), ("abxy", "ab"), ("", ""), ("abcd", "abcyz"))
        ],
    )


@pinned("memory.gap_intervals")
def gap_interval_cases() -> Iterator[Case]:
    for name, (first, second) in SETS.items():
        yield name, partial(gap_intervals.gap_estimate, first, second, 0.9)
        labels = tuple(np.array([item[:2] + item[-1] for item in part.covered_ids], dtype=object) for part in (first, second))
        yield f"{name}, families", partial(gap_intervals.gap_estimate, first, second, 0.9, labels)
        yield f"{name}, one side's families", partial(gap_intervals.gap_estimate, first, second, 0.9, (labels[0], None))
        yield f"{name}, drops", partial(gap_intervals.drops_estimate, first.drops, second.drops, 0.9)
        yield f"{name}, losses", partial(gap_intervals.drops_estimate, np.abs(first.drops), np.abs(second.drops), 0.9, 0.0)
        yield (
            f"{name}, padded",
            lambda d=first.drops: [
                gap_intervals.padded_limits(d, 0.9),
                gap_intervals.padded_limits(d, 0.9, 0.0),
                gap_intervals.n_changed(d),
            ],
        )
    for n_kept in (9, 10):
        drops = np.r_[np.linspace(0.1, 1, n_kept), np.zeros(12)]
        yield f"{n_kept} changes", partial(gap_intervals.drops_estimate, drops, drops[::-1] / 2, 0.95)
        pairs = np.repeat(np.arange(drops.size), 2)
        twice = rewritten.Rewritten.make([str(i) for i in pairs.argsort()], np.ones(2 * drops.size), 1 - np.repeat(drops, 2))
        yield (
            f"{n_kept} families that change",
            partial(gap_intervals.gap_estimate, twice, twice, 0.95, (pairs.astype(str), pairs.astype(str) + np.array("x"))),
        )
    yield "padded of one", partial(gap_intervals.padded_limits, np.ones(1), 0.9)
    yield "padded of two", partial(gap_intervals.padded_limits, np.array([1.0, 0.5]), 0.9)


@pinned("memory.gap_power")
def gap_power_cases() -> Iterator[Case]:
    designs = {
        "random": gap_power.GapDesign((20, 24), (0.7, 0.6), 0.1, 0.05),
        "paired": gap_power.GapDesign((20, 16), (0.7, 0.6), 0.1, 0.05, PAIRED_CONTROL),
        "other": gap_power.GapDesign((14, 14), (0.8, 0.7), 0.2, 0.1, OTHER_CONTROL, 0.25),
        "few items": gap_power.GapDesign((9, 40), (0.7, 0.6)),
        "all wrong": gap_power.GapDesign((20, 20), (0.0, 0.6)),
        "all right": gap_power.GapDesign((30, 20), (1.0, 1.0), 0.3, 0.2),
        "controls are mended": gap_power.GapDesign((20, 20), (0.9, 0.3), 0.0, 0.9),
    }
    for name, design in designs.items():
        yield name, lambda d=design: [d, [d.rates(gap) for gap in (-0.4, 0.0, 0.3, 1.5)]]
        for gap in (NAN, 0.123):
            yield f"sentence, {name}, {gap}", partial(gap_power.detectable_sentence, design, gap)
        if name in ("few items", "all wrong"):
            yield f"detectable, {name}", partial(gap_power.detectable_gap, design, n_runs=2)
    for name in ("random", "paired", "other"):
        yield f"power, {name}", partial(gap_power.rule_power, designs[name], 0.5, 1, 3)
    yield "detectable", partial(gap_power.detectable_gap, replace(designs["random"], n=(60, 60)), 1, 3)
    yield "not detectable", partial(gap_power.detectable_gap, replace(designs["random"], n=(10, 10), accuracy=(0.2, 0.9)), 1, 3)
    for name, (first, second) in SETS.items():
        yield f"design, {name}", partial(gap_power.design_of, gap_decision.Sides(first, second, (0.25, 0.5)), PAIRED_CONTROL)


@pinned("memory.gap_truncation")
def truncation_cases() -> Iterator[Case]:
    one_model = FRAME[FRAME["model"] == "m1"]
    few_cut = one_model.assign(
        status=one_model["status"].where((one_model["status"] != CUT) | (one_model["item_id"] == "b1"), OK)
    )
    arguments = ("paraphrase", WRITTEN_ANSWER, ["benchmark"], ["control"])
    for name, frame in {
        "cut": one_model,
        "few cut": few_cut,
        "uncut": one_model[one_model["status"] != CUT],
        "few items": one_model[one_model["item_id"].isin(["b1", "b2", "c1", "c2"])],
    }.items():
        for control in (OTHER_CONTROL, RANDOM_CONTROL):
            declared_members = members.Members(control)

            def decided(frame: pd.DataFrame = frame, control: members.Members = declared_members) -> list:
                gap = gap_truncation.gap_of_frame(frame, *arguments, control)
                return [gap.decided.gap, gap.decided.gap_90, gap.decided.p, gap.decided.withheld, gap.margin]

            if control == OTHER_CONTROL or name == "cut":
                yield f"{name}, {control}", decided
        yield (
            f"share, {name}",
            lambda f=frame: [
                gap_truncation.cut_share(f, axis, WRITTEN_ANSWER, roles)
                for axis, roles in (
                    ("paraphrase", ["benchmark"]),
                    ("typos", ["benchmark"]),
                    (IDENTITY, ["control", "benchmark"]),
                )
            ],
        )
    decisions = {
        name: gap_decision.gap_decision(gap_decision.Sides(*SETS[name]), OTHER_CONTROL, 1, 29)
        for name in ("binary", "large gap", "few items")
    }
    for names in (
        ("large gap", "binary"),
        ("binary", "binary"),
        ("binary", "few items"),
        ("few items", "few items"),
        ("large gap", "large gap"),
    ):
        yield (
            f"settled, {names}",
            lambda n=names: gap_truncation.settle_gap(decisions[n[0]], [decisions[name] for name in n], 0.126),
        )
    items, controls = (
        {f"{letter}{i + 1}": float(value) for i, value in enumerate(_scores(12, seed, shift))}
        for letter, seed, shift in (("b", 1, 2.0), ("c", 2, 0.0))
    )
    for name, frame in {"cut": one_model, "few cut": few_cut, "uncut": one_model[one_model["status"] != CUT]}.items():
        for shift in (0.0, -2.0):
            moved = {item: value + shift for item, value in items.items()}
            test = exceedance.set_test(list(moved.values()), list(controls.values()))
            yield (
                f"set, {name}, {shift}",
                partial(gap_truncation.settled_set, test, frame, "paraphrase", "loss", moved, controls),
            )


@pinned("memory.ground_truth")
def ground_truth_cases() -> Iterator[Case]:
    for name, (positives, negatives) in {
        "apart": (_scores(12, 1, 1.0), _scores(15, 2)),
        "few": (_scores(9), _scores(20)),
        "10 of each": (_scores(10), _scores(10, 1)),
        "perfect": (np.arange(10.0) + 20, np.arange(12.0)),
        "never": (np.arange(12.0), np.arange(10.0) + 20),
        "ties": (fractions(15), fractions(15, 1)),
        "equal": (np.ones(12), np.ones(10)),
        "holes": (with_holes(_scores(12), 1), _scores(14, 1)),
        "none": (np.zeros(0), _scores(4)),
    }.items():
        yield f"auc, {name}", partial(ground_truth.auc_interval, positives, negatives, 0.9)
        if name not in ("none", "holes"):
            yield f"roc, {name}", partial(ground_truth.roc, positives, negatives)
    for k, n in ((0, 0), (3, 9), (3, 10), (12, 12)):
        share = ground_truth.exact_share(k, n, 0.9)
        yield f"share, {k} of {n}", lambda s=share: [s, ground_truth.share_text(s)]
    doses = (
        {f"n{i}": 0 for i in range(64)}
        | {f"d{dose}-{i}": dose for dose in (1, 4, 64) for i in range(12)}
        | {"u": None, "few": 2}
    )
    scores = {
        name: {item: round(float(generator(seed, item).normal((dose or 0) / 20, 1.0)), 2) for item, dose in doses.items()}
        for seed, name in enumerate(("loss", "pearl"))
    }
    scores["part"] = {item: value for item, value in scores["loss"].items() if item[0] == "n" or item.startswith("d4")}
    scores["untested"] = {"n1": 0.5, "z": 1.0}
    fresh = [f"n{i}" for i in range(12)] + ["d1-1"]
    for rule, chosen in product(("conformal", "tolerance", "source"), ((), fresh)):

        def truth(rule: str = rule, chosen: tuple[str, ...] = chosen) -> list:
            result = ground_truth.ground_truth(scores, doses, chosen, rule, 0.1)
            return [result.n_unknown, result.rate, result.rule, result.detectors]

        yield f"truth, {rule}, {len(chosen)} fresh", truth
    yield "rules", lambda: [ground_truth.rules_of(part, doses, ()) for part in (scores, {"loss": scores["loss"]})]
    few_doses = {item: dose for item, dose in doses.items() if not item.startswith("n") or len(item) == 2}
    yield "rules of few", partial(ground_truth.rules_of, scores, few_doses, ())
    yield "truth of few", lambda: ground_truth.ground_truth(scores, few_doses).detectors[:1]
    yield "unknown rule", partial(ground_truth.detector, "x", _scores(20), _scores(20), {}, "exact")
    yield "never", partial(ground_truth.ground_truth, scores, {"a": 1})
    yield "no dose", partial(ground_truth.ground_truth, scores, {"a": 0})


@pinned("memory.hardness_curve")
def hardness_cases() -> Iterator[Case]:
    abilities = np.linspace(0.3, 0.9, 7)

    def answers(n: int, model_ability: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        draws = generator(seed, "hardness").random((8, n))
        return (draws[0] < model_ability).astype(float), (draws[1:] < abilities[:, None]).astype(float)

    benchmark, reference_benchmark = answers(30, 0.8, 1)
    controls, reference_controls = answers(24, 0.5, 2)
    yield "plain", partial(hardness_curve.excess, benchmark, controls, reference_benchmark, reference_controls)
    yield (
        "holes",
        partial(hardness_curve.excess, with_holes(benchmark, 0, 4), controls, reference_benchmark, reference_controls),
    )
    for n_references in (4, 5):
        yield (
            f"{n_references} references",
            partial(
                hardness_curve.excess,
                benchmark,
                controls,
                reference_benchmark[:n_references],
                reference_controls[:n_references],
            ),
        )
    for n in (9, 10):
        yield (
            f"{n} controls",
            partial(hardness_curve.excess, benchmark, controls[:n], reference_benchmark, reference_controls[:, :n]),
        )
        yield (
            f"{n} items",
            partial(hardness_curve.excess, benchmark[:n], controls, reference_benchmark[:, :n], reference_controls),
        )
    ends = {"all right": np.ones(30), "all wrong": np.zeros(30)}
    for name, right in ends.items():
        yield name, partial(hardness_curve.excess, right, right[:24], reference_benchmark, reference_controls)
        yield (
            f"{name} on the benchmark",
            partial(hardness_curve.excess, right, controls, reference_benchmark, reference_controls),
        )
    yield (
        "equal references",
        partial(hardness_curve.excess, benchmark, controls, np.tile(benchmark, (6, 1)), np.tile(controls, (6, 1))),
    )
    steep = np.array([[i < n for i in range(30)] for n in (3, 8, 14, 20, 25, 28)], dtype=float)
    level = np.tile(controls, (6, 1))
    yield "no tale from controls", partial(hardness_curve.excess, benchmark, controls, steep, level)
    yield "on a line", partial(hardness_curve.excess, steep[2], steep[2], steep, steep)


@pinned("memory.loss_test")
def loss_test_cases() -> Iterator[Case]:
    sets = {
        "apart": (_scores(14, 1, 2.0), _scores(40, 2)),
        "alike": (_scores(12, 3), _scores(19, 4)),
        "18 controls": (_scores(12, 3), _scores(18, 4)),
        "holes": (with_holes(_scores(12, 5, 1.0), 2), with_holes(_scores(30, 6), 1)),
        "flat": (np.ones(4), np.ones(20)),
        "ties": (fractions(9), fractions(25)),
        "far": (np.r_[_scores(9), 30.0], _scores(60, 7)),
        "skewed": (_scores(9) ** 2, np.exp(2 * _scores(40, 8))),
    }
    for name, (d, d0) in sets.items():
        for function in (loss_test.pval_source, loss_test.pval_conformal, loss_test.pval_tail, loss_test.n_at_least):
            yield f"{function.__name__}, {name}", partial(function, d, d0)
        yield f"flags, {name}", partial(loss_test.flags, d, d0, 0.1)
        yield f"normality, {name}", partial(loss_test.normality, d0)
    yield (
        "scalars",
        lambda: [
            function(value, d0)
            for function in (loss_test.pval_source, loss_test.pval_conformal, loss_test.pval_tail)
            for value, d0 in ((0.5, _scores(9)), (NAN, _scores(9)), (0.5, []), (0.5, [1.0]), (0.5, [1.0, 1.5]))
        ],
    )
    yield "normality of 7", partial(loss_test.normality, _scores(7))
    yield "normality of 8", partial(loss_test.normality, _scores(8))
    yield (
        "bonferroni",
        lambda: [loss_test.bonferroni_min_controls(n, alpha) for n, alpha in ((1, 0.05), (100, 0.05), (7, 0.3), (0, 0.05))],
    )
    yield (
        "bh",
        lambda: [
            loss_test.bh_min_discoveries(n, m, alpha)
            for n, m, alpha in ((100, 19, 0.05), (100, 199, 0.05), (60, 39, 0.1), (7, 3, 0.3))
        ],
    )
    yield "family-wise", lambda: [loss_test.source_fwer_p0(n, m) for n, m in ((0, 0), (10, 30), (1, 0))]
    yield "excess", lambda: [loss_test.excess_fraction(k, n, 0.05) for k, n in ((0, 0), (0, 10), (4, 30), (10, 10))]


def _loss_test(n: int, n_controls: int, seed: int, shift: float) -> loss_analysis.LossTest:
    return loss_analysis.loss_test(
        [f"i{i}" for i in range(n)],
        with_holes(_scores(n, seed, shift), 3),
        with_holes(_scores(n_controls, seed + 1), 0, 7),
        0.1,
    )


@pinned("memory.loss_analysis")
def loss_analysis_cases() -> Iterator[Case]:
    for name, (n, m, shift) in {"apart": (20, 62, 2.5), "alike": (12, 30, 0.0)}.items():
        test = _loss_test(n, m, 1, shift)
        yield name, partial(lambda value: vars(value), test)
        original, reworded = ({f"i{i}": float(right) for i, right in enumerate(shares(n, seed))} for seed in (3, 4))
        for rule in loss_analysis.RULES:
            yield (
                f"{name}, {rule}",
                lambda t=test, r=rule, o=original, w=reworded, m=m: [
                    t.rate(r),
                    t.cutoff(r),
                    t.paired_correctness(o, w, shares(m - 2), shares(m - 2, 1), r),
                    t.corrected_accuracy(o, shares(m - 2), r),
                ],
            )
        yield f"{name}, set", lambda t=test: [t.excess(), t.set_test(), t.any_cutoff_p()]
        yield f"{name}, other controls", partial(test.corrected_accuracy, original, [1.0])
    for n, m in ((10, 19), (3, 59), (3, 60), (100, 1999), (100, 30), (1, 18)):
        yield f"reach, {n} and {m}", partial(loss_analysis.reach, n, m)
    for name, (d, d0) in {
        "apart": (_scores(8, 1, 1.0), _scores(12, 2)),
        "ties": (fractions(9), fractions(6)),
        "holes": (with_holes(_scores(6), 1), _scores(5, 1)),
    }.items():
        yield f"curve, {name}", partial(loss_analysis.cutoff_curve, d, d0)
    yield "curve of no control", partial(loss_analysis.cutoff_curve, [1.0], [NAN])
    yield "curve of no item", partial(loss_analysis.cutoff_curve, [NAN], [1.0])
    yield "unequal lengths", partial(loss_analysis.loss_test, ["a"], [1.0, 2.0], _scores(20))
    yield "nothing finite", partial(loss_analysis.loss_test, ["a"], [NAN], _scores(20))
    share = rewritten.share_estimate
    sentences = {
        "none": (share(0, 0),) * 4,
        "no control": (share(3, 4), share(1, 4), share(0, 0), share(0, 0)),
        "both": (share(3, 4), share(1, 4), share(2, 3), share(1, 3)),
    }
    for name, parts in sentences.items():
        yield f"sentence, {name}", loss_analysis.PairedCorrectness(*parts).sentence


@pinned("memory.loss_diagnostics")
def diagnostic_cases() -> Iterator[Case]:
    n, m = 40, 50
    texts = [f"{'word ' * (3 + i % 7)}{i * 37}" for i in range(n + m)]
    topics = [("a", "b", "c")[i % 3] for i in range(n + m)]
    values = np.abs(_scores(n + m, 4)) + 1
    yield "features", partial(loss_diagnostics.text_features, texts[:6], values[:6], topics[:6])
    yield "features without topics", partial(loss_diagnostics.text_features, texts[:6], values[:6])
    features = loss_diagnostics.text_features(texts, values, topics)
    features[n:, 0] += 0.4
    for name, (first, second) in {
        "apart": (features[:n], features[n:]),
        "alike": (features[:n:2], features[1:n:2]),
        "holes": (features[:n], np.where(np.arange(m)[:, None] % 9 == 0, NAN, features[n:])),
    }.items():
        yield f"exchangeable, {name}", partial(loss_diagnostics.exchangeability, first, second, 1, 3)
    yield "ratios", partial(loss_diagnostics.density_ratios, features[:n], features[n:], 4)
    d, d0 = with_holes(_scores(n, 5, 1.0), 3), with_holes(_scores(m, 6), 2, 9)
    strata = (
        [("x", "y", "z")[min(i % 4, 2)] for i in range(n)],
        [("x", "y", "z")[int(i >= 20) + int(i >= 41)] for i in range(m)],
    )
    yield "within strata", partial(loss_diagnostics.pval_mondrian, d, strata[0], d0, strata[1])
    yield "unequal strata", partial(loss_diagnostics.pval_mondrian, d, strata[0][1:], d0, strata[1])
    yield "unequal control strata", partial(loss_diagnostics.pval_mondrian, d, strata[0], d0, strata[1][1:])
    yield "strata", partial(loss_diagnostics.quantile_strata, fractions(12), fractions(20, 1), 3)
    yield "five strata", partial(loss_diagnostics.quantile_strata, _scores(9), _scores(30, 1))
    yield "weighted", partial(loss_diagnostics.pval_weighted, d, np.abs(_scores(n)) + 0.1, d0, np.abs(_scores(m)) + 0.1)
    test = loss_analysis.loss_test([f"i{i}" for i in range(n)], _scores(n, 5, 2.5), _scores(m, 6))

    def diagnosed() -> loss_diagnostics.Diagnosis:
        # It fits a thousand classifiers: a simple one is enough here.
        with patch.object(loss_diagnostics, "logistic", _nearest_mean):
            return loss_diagnostics.diagnosis(
                test, (texts[:n], texts[n:]), (values[:n], values[n:]), (topics[:n], topics[n:]), 2
            )

    yield "diagnosis", diagnosed


def _nearest_mean(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return (test rows,) scores: how much nearer to the mean of label 1 than to that of label 0."""
    distances = [np.abs(test - train[labels == label].mean(axis=0)).sum(axis=1) for label in (0, 1)]
    return distances[0] / (distances[0] + distances[1])


def _traits(letter: str, n: int, seed: int, **changed: object) -> matching.Traits:
    rng = generator(seed, "traits")
    numbers = {
        "length": rng.integers(5, 30, n).astype(float),
        "steps": with_holes(rng.integers(1, 6, n).astype(float), *range(1, min(n, 2))),
        "accuracy": rng.random(n).round(2),
        "extra": rng.random(n).round(2),
    }
    fields = {
        "ids": tuple(f"{letter}{i}" for i in range(n)),
        "numbers": numbers,
        "subject": tuple("xyz "[i % 4].strip() for i in range(n)),
        "part": tuple("pq"[i % 5 == 0] for i in range(n)),
    }
    return matching.Traits(**(fields | changed))


@pinned("memory.matching")
def matching_cases() -> Iterator[Case]:
    benchmark, control = _traits("b", 12, 1), _traits("c", 20, 2)
    bare = _traits("c", 8, 3, numbers={"length": np.full(8, 7.0), "steps": np.full(8, NAN)}, subject=("",) * 8)
    one_subject = _traits("c", 8, 4, subject=("x",) * 8)
    cases = {
        "all": (benchmark, control, {}),
        "length": (benchmark, control, {"by": ("length",), "caliper": 0.2}),
        "subject": (benchmark, control, {"by": ("subject",)}),
        "accuracy": (benchmark, control, {"by": ("accuracy", "length"), "caliper": 10, "models": ("m",)}),
        "models without accuracy": (benchmark, control, {"by": ("length",), "models": ("m",)}),
        "bare controls": (benchmark, bare, {}),
        "one subject": (benchmark, one_subject, {"caliper": 2.0}),
        "nothing near": (benchmark, control, {"caliper": 1e-9}),
        "nothing known": (benchmark, bare, {"by": ("steps", "subject")}),
        "unknown trait": (benchmark, control, {"by": ("length", "color")}),
        "no caliper": (benchmark, control, {"caliper": 0}),
        "large caliper": (benchmark, control, {"caliper": 10.1}),
        "no control": (benchmark, _traits("c", 0, 5, numbers={}), {}),
        "equal": (_traits("b", 6, 6, numbers={"length": np.full(6, 7.0)}), bare, {"by": ("length",)}),
    }
    for name, (first, second, options) in cases.items():
        yield (
            name,
            lambda a=first, b=second, o=options: [
                (made := matching.matching_of(a, b, **o)),
                made.how(),
                made.sentence(),
                made.n_benchmark,
            ],
        )
    yield (
        "balance of some",
        partial(matching.balance, benchmark, control, {"b1": "c2", "b9": "c0", "b3": "x", "x": "c1", "b4": "c4"}),
    )
    yield "balance of none", partial(matching.balance, benchmark, control, {})
    yield "balance of one", partial(matching.balance, benchmark, control, {"b1": "c1"})
    how = {
        "by": ["length", "color"],
        "balance": {"length": [0.5, 0.1], "steps": [0.6, -0.3], "accuracy": [1.0, None], "color": [0.1, 0.25]},
    }
    for name, records in {
        "none": {},
        "one": {"b1": how},
        "two": {"b1": how, "b2": {"by": ["subject"], "balance": {"subject": [1, 0.9]}}, "b3": how},
        "level": {"b1": {"balance": {"length": [1.0, 0.25]}}},
        "unknown": {"b1": {"balance": {"color": [1.0, 0.26]}}},
    }.items():
        pairs = matching.Pairs({"b1": "c1", "b2": "c2", "b3": "c9"}, records)
        yield f"pairs, {name}", lambda p=pairs: [p.note(), p.problem(), vars(p.among({"b1", "c1", "b3"}))]


@pinned("memory.members")
def member_cases() -> Iterator[Case]:
    questions = ["What is 1 + 2?", "What is 3 + 4.5?", "Name it.", "name  it.", "Other", "Made from it", "Third 1,000", ""]
    items = pd.DataFrame({"item_id": [f"i{i}" for i in range(8)], "question": questions})
    items["options"] = [["a", "b"], None, ["a", "b", "c", "d"], ["d", "c", "b", "a"], [], None, None, None]
    items["meta"] = [None, {"family": ""}, '{"family": "F"}', {"other": 1}, "", {"family": 7}, None, None]
    for name, frame in {
        "plain": items,
        "families": items.assign(family=["i0", "i1", "i2", "i3", "i4", "i4", "i0", "i7"]),
        "none": items[:0],
    }.items():
        yield name, lambda f=frame: vars(members.members(f, RANDOM_CONTROL, matching.Pairs({"i1": "i2", "i3": "x"}), ["i1"]))
    yield (
        "families of questions",
        lambda: [
            members.family_of(*parts)
            for parts in (
                ("a 12 b 3.5,", None, None),
                ("a", '{"family": "F"}', "s"),
                ("a 1", {"x": 1}, "s"),
                ("a 1", None, ""),
                ("a 1", None, 3.5),
            )
        ],
    )
    facts = members.Members(
        RANDOM_CONTROL,
        {"b1": 0.25, "b2": 0.5},
        {"b1": "f", "b2": "f", "c1": "f"},
        matching.Pairs({"b1": "c1"}),
        frozenset({"c1"}),
        frozenset({"c2"}),
    )
    others = replace(facts, control=OTHER_CONTROL)
    first, second = SETS["binary"]
    for name, fact in {
        "random": facts,
        "others": others,
        "unpublished": replace(others, is_unpublished=True),
        "bare": members.Members(),
    }.items():
        yield (
            name,
            lambda f=fact: [
                [f.score_control(ids), f.never_published(ids)] for ids in ((), ("c1",), ("c1", "c2"), ("c1", "c3"))
            ],
        )
        yield (
            f"{name}, units",
            lambda f=fact: [part if part is None else list(part) for part in f.units(["b1", "b2", "b3"], ["c1", "c2"])],
        )
        yield (
            f"{name}, sides",
            lambda f=fact: [
                (made := f.sides(first, second)).guess,
                made.pairs,
                made.pairs_note,
                made.pairs_problem,
                made.family,
            ],
        )
        yield (
            f"{name}, templates",
            lambda f=fact: [
                f.is_templated(*ids)
                for ids in (
                    (["b1", "b2"], ["c1"]),
                    (["b1", "x", "y", "z", "b2"], ["c1"]),
                    (["x"], ["c1", "b1"]),
                    (["b1", "b2", *"uvw"], ["c"]),
                    (["b1", "b2", *"uvwr"], ["c"]),
                )
            ],
        )
    yield "no item", lambda: members.Members().sides(rewritten.Rewritten.make([], [], []), second).guess


@pinned("memory.operand_size")
def operand_cases() -> Iterator[Case]:
    for name, (old, new) in {
        "alike": ([1, 20, 300, -4], [2, 25, 280, 5]),
        "apart": (list(range(1, 15)), [1000 * i for i in range(1, 15)]),
        "zeros": ([0, 1, 5, 1e-12], [1, 0, 6, 3]),
        "none": ([], []),
        "all zero": ([0], [0]),
        "infinite": ([1, float("inf"), 3], [2, 1, float("nan")]),
        "unequal": ([1], []),
    }.items():
        yield name, partial(operand_size.operand_check, old, new)


@pinned("memory.pearl_alpha")
def alpha_cases() -> Iterator[Case]:
    setting = pearl_alpha.Setting("m", "t", "bleu", "zlib", (0, 5, 10), 3)
    for n, rule in product((0, 1, 18, 19, 20, 58, 59, 60, 100), pearl_alpha.RULES):
        values = _scores(n, n)
        yield f"{rule} of {n}", partial(pearl_alpha.calibration, [*values, NAN], setting, 0.05, rule)
        yield f"{rule} of {n} at a fifth", lambda v=values, r=rule: pearl_alpha.RULES[r](v, 0.2)
    yield "tolerance by confidence", lambda: [pearl_alpha.alpha_tolerance(_scores(60), 0.1, conf) for conf in (0.5, 0.9, 0.999)]
    yield "least", lambda: [pearl_alpha.min_calibration(fpr, conf) for fpr, conf in ((0.05, 0.95), (0.5, 0.5), (0.1, 0.99))]
    for shares_of in ((0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0)):
        yield f"least, {shares_of}", partial(pearl_alpha.min_calibration, *shares_of)
    yield "unknown rule", partial(pearl_alpha.calibration, [1.0], setting, 0.05, "exact")
    made = pearl_alpha.calibration(_scores(60), setting)
    yield "same setting", partial(made.check, setting)
    yield "another setting", partial(made.check, replace(setting, task="u", n_samples=4))


def _levels(n: int, seed: int, drop: float, n_levels: int = 4) -> dict[str, list[list[float | None]]]:
    rng = generator(seed, "pearl")
    scores: dict[str, list[list[float | None]]] = {}
    for i in range(n):
        scores[f"p{seed}-{i}"] = [
            [round(float(value), 2) for value in rng.normal(1 - drop * (level > 1), 0.2, 3)] for level in range(n_levels)
        ]
    return scores


@pinned("memory.pearl_analysis")
def pearl_cases() -> Iterator[Case]:
    items, controls = _levels(12, 1, 0.8), _levels(24, 2, 0.1)
    items["p1-3"][1] = [None, NAN, 0.5]
    items["p1-4"][2] = [None]
    setting = pearl_alpha.Setting("m", "t", "bleu", "zlib", (0, 5, 10, 20), 3)
    for name, options in {
        "tolerance": {},
        "conformal": {"rule": "conformal"},
        "source": {"rule": "source", "fpr": 0.2},
        "large rate": {"fpr": 0.3},
    }.items():
        for mode in pearl_analysis.LABELS:

            def whole(options: dict = options, mode: str = mode) -> list:
                result = pearl_analysis.pearl(items, controls, replace(setting, mode=mode), seed=1, m=19, **options)
                return [result, result.any_cutoff_p() if mode == "paper" else None, result.curve(), result.set_test()]

            yield f"{name}, {mode}", whole
    yield "shared", partial(pearl_analysis.pearl, items, items, setting)
    yield "other levels", partial(pearl_analysis.pearl, items, controls, replace(setting, levels_pct=(0, 5)))
    yield "no item", lambda: pearl_analysis.pearl({}, controls, setting)
    yield "unknown mode", partial(pearl_analysis.sensitivities, items, "code")
    for name, (first, second) in {
        "few": (_scores(9), _scores(10)),
        "none": ([], _scores(4)),
        "ties": (fractions(12), fractions(12, 1)),
    }.items():
        yield f"curve, {name}", partial(pearl_analysis.alpha_curve, first, second)
    for name, means in {
        "cliff": [1.0, 1.0, 0.2, 0.2],
        "slope": [1.0, 0.7, 0.4],
        "rising": [0.1, 0.4],
        "flat": [0.5, 0.5],
        "one": [0.5],
        "none": [],
        "hole": [1.0, NAN, 0.5],
        "back": [0.9, 0.3, 0.8, 0.1],
    }.items():
        yield (
            f"measures, {name}",
            lambda m=means: [
                pearl_analysis.drops(m),
                pearl_analysis.sensitivity(m),
                pearl_analysis.sensitivity_repository(m),
                pearl_analysis.abruptness(m),
            ],
        )
    for name, scores in {
        "cliff": [[1.0, 0.9], [1.0, 0.95], [0.1, 0.2, None]],
        "flat": [[0.5, 0.5], [0.5]],
        "hole": [[1.0], [None]],
        "uneven": [[1.0], [0.2, 0.4, 0.3], [0.9, 0.1]],
    }.items():
        yield f"permuted, {name}", partial(pearl_analysis.perm_maxdrop, scores, 1, 59)


@pinned("memory.published_score")
def published_cases() -> Iterator[Case]:
    for name, (first, second) in {
        "higher": (shares(30, 1, 0.9), shares(24, 2, 0.4)),
        "lower": (shares(20, 1, 0.3), shares(20, 2, 0.8)),
        "unread": (with_holes(shares(30, 1, 0.9), 0, 1), with_holes(shares(24, 2, 0.4), 2, 3, 4)),
        "9 items": (shares(9), shares(20)),
        "9 controls": (shares(20), shares(9)),
        "10 of each": (shares(10), shares(10, 1)),
        "one item": (np.ones(1), shares(12)),
        "none": (np.zeros(0), shares(12)),
        "far apart": (np.ones(40), np.zeros(40)),
        "equal": (np.ones(12), np.ones(12)),
    }.items():
        labels = {
            "single": (None, None),
            "families": tuple(np.arange(len(part)) // 2 for part in (first, second)),
            "few families": tuple(np.arange(len(part)) % 4 for part in (first, second)),
            "one side": (np.arange(len(first)) // 2, None),
            "other side": (None, np.arange(len(second)) // 2),
        }
        for kind, groups in labels.items():
            yield f"{name}, {kind}", partial(published_score.score_gap, first, second, "random", groups)


@pinned("memory.rewritten")
def rewritten_cases() -> Iterator[Case]:
    for name, (first, second) in SETS.items():
        for side, part in (("benchmark", first), ("control", second)):
            drop = partial(rewritten.set_drop, part, 0.9, 1)
            yield f"{name}, {side}", lambda d=drop: [(made := d()), made.selection_sentence(), made.identity_sentence()]
        yield f"{name}, properties", partial(lambda value: value, first)
        yield f"{name}, without", lambda p=first: p.without(np.arange(len(p.covered_ids)) % 3 == 0).drops
    holes = rewritten.Rewritten.make(
        list("abcdef"), [1, NAN, 0.5, 0, 1, 1], [[1, 0], [1, 1], [NAN, 0], [NAN, NAN], [0, NAN], [1, 1]], [1, 0, NAN, 1, 0.5, 1]
    )
    yield "holes", lambda: [holes, rewritten.set_drop(holes)]
    several = rewritten.Rewritten.make(
        [str(i) for i in range(24)], shares(24), shares(24, 1), np.where(np.arange(24) % 7 > 0, shares(24), NAN)
    )
    yield (
        "reruns of all",
        lambda: [
            rewritten.set_drop(several),
            rewritten.set_drop(several).identity_sentence(),
            several.net_drops,
            several.identity_drops,
        ],
    )
    yield "unequal lengths", partial(rewritten.Rewritten.make, ["a"], [1, 0], [1])
    yield "unequal reruns", partial(rewritten.Rewritten.make, ["a"], [1], [1], [1, 0])
    yield "twice", partial(rewritten.Rewritten.make, ["a", "a"], [1, 1], [1, 1])
    yield (
        "accuracies",
        lambda: [rewritten.accuracy(values, 0.9, 0) for values in (shares(9), shares(12), fractions(12), np.zeros(0))],
    )
    rows = [
        (f"i{i}", extractor, "absent" if i == 3 else "ok", [True, False, None][(i + j) % 3])
        for i in range(14)
        for j, extractor in enumerate(("rotation_single", "rotation", "regex"))
        if (i, j) != (5, 0)
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "extractor", "status", "is_correct"])
    for name, part in {
        "both": frame,
        "none": frame[frame["extractor"] == "regex"],
        "one kind": frame[frame["extractor"] == "rotation"],
        "repeated": pd.concat([frame, frame.assign(is_correct=True)]),
    }.items():
        yield f"harness, {name}", partial(rewritten.harness_accuracy, part)


@pinned("memory.three_scales")
def scale_cases() -> Iterator[Case]:
    for (name, (first, second)), guess in product(SETS.items(), ((0.0, 0.0), (0.25, 0.5))):
        answers = [(part.before[part.covered], part.after_mean[part.covered]) for part in (first, second)]
        yield f"{name}, {guess}", lambda a=answers, g=guess: three_scales.scale_gaps(*a, g)
        labels = tuple(np.array([item[-1] for item in part.covered_ids], dtype=object) for part in (first, second))
        if guess[0]:
            yield f"{name}, families", lambda a=answers, g=guess, f=labels: three_scales.scale_gaps(*a, g, f)
    large = [(shares(n, seed), shares(n, seed + 5)) for n, seed in ((40, 1), (36, 2))]
    yield "large", lambda: three_scales.scale_gaps(*large)
    for n in (28, 29, 30):
        yield f"{n} items", lambda n=n: three_scales.scale_gaps(*[(before[:n], after[:n]) for before, after in large])
    yield "all right", partial(three_scales.scale_gaps, (np.ones(20), np.ones(20)), (np.ones(15), np.zeros(15)), (0.25, 0.25))


@pinned("memory.training_end")
def training_end_cases() -> Iterator[Case]:
    items = pd.DataFrame(
        {
            "dataset": list("aabbbcc"),
            "role": ["control", "control", "retro", "control", "benchmark", "control", "control"],
            "published": ["2024-05-01", "2023-01-05", None, "nonsense", "2024-01-01", "2024-03-10", "2024-05-02"],
        }
    )
    for cutoff in (None, "2024-03", "2024-03-09", "2022-01-01", "2025-01-01"):
        for name, part in {
            "all": items,
            "dated": items[items["published"].str.startswith("2024-05", na=False)],
            "none": items[:0],
        }.items():
            rows = training_end.control_rows(part, ["control", "retro"], cutoff)
            yield (
                f"{cutoff}, {name}",
                lambda r=rows, c=cutoff: [
                    r,
                    *[training_end.control_sentence(r, "m", c, doses_known=known) for known in (True, False)],
                ],
            )
