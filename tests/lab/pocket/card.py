"""The model card, every figure computed from the shipped checkpoint and manifest by `python -m tests.lab.pocket card`."""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flipcore.claims.memory_truth import record_claim
from flipcore.core.paths import POCKET
from flipcore.core.randomness import generator, world_generator
from flipcore.models.pocket_inference import PocketModel
from flipcore.reports.memory import (
    AGAINST_DOSES,
    CLEAN_SET,
    N_CONTROLS,
    N_IN_SET,
    N_SETS,
    SetTester,
    decide_on_doses,
    decision_function,
    record_rows,
)
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.proportions import wilson
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.ground_truth import RULES, auc_interval, exact_share
from flipcore.stats.memory.pearl_alpha import alpha_conformal
from tests.lab.pocket.items import read_items
from tests.lab.pocket.measures import Picks, numbers, pearl, resampled
from tests.lab.pocket.scores import (
    BEFORE,
    BESIDE,
    DROP,
    FAILED,
    GROUPS,
    MEASURED,
    PEARL,
    TITLES,
    Families,
    Scores,
    kept_scores,
    own_test,
    read_scores,
    scores_of,
    write_scores,
)
from tests.lab.pocket.world import MAKERS, Entry

NOMINAL, CHANCE = 0.05, 0.25
SEES, DECISIONS, NEXT = "## What each detector sees", "## What the product decides", "## Order, layout and labels"
DRAWS = "PEARL beside other draws: "  # begins what is measured anew with the whole card alone
N_SAMPLES = 10  # a level, of PEARL
AGAINST = "## Detectors against doses"
PUBLISHED = "published score, problems"
ONE_BY_ONE = tuple(title for title in TITLES if title != DROP)


def by_dose(entries: Sequence[Entry], most: int | None = None) -> dict[str, list[Entry]]:
    """Entries by dose ("0" are the controls) and "fresh"."""
    groups: dict[str, list[Entry]] = {name: [] for name in GROUPS}
    for entry in entries:
        group = groups["fresh" if entry.split == "fresh" else str(entry.dose)]
        if most is None or len(group) < most:
            group.append(entry)
    return groups


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _share(right: Sequence[bool] | np.ndarray) -> str:
    k, n = int(np.sum(right)), len(right)
    if not n:
        return "–"
    low, high = wilson(k, n)
    return f"{k / n:.2f} [{low:.2f}, {high:.2f}]"


def accuracies(model: PocketModel, problems: dict, choices: dict) -> str:
    """Accuracy of each group with Wilson intervals; choices by first token and by text."""
    rows = []
    for name in GROUPS:
        told = numbers(model, [entry.question for entry in problems[name]])
        right = [answer == entry.target for answer, entry in zip(told, problems[name], strict=True)]
        picks = Picks(model, choices[name])
        category = np.array([entry.category == "category" for entry in choices[name]])
        rows.append(
            [
                name,
                str(len(right)),
                _share(right),
                _share(picks.first_right),
                _share(picks.text_right),
                _share(picks.first_right[category]),
                _share(picks.text_right[category]),
            ]
        )
    return _table(
        ["dose", "n a family", "problems", "choices, first token", "choices, text", "category, first token", "category, text"],
        rows,
    )


def gaps(model: PocketModel, problems: dict) -> str:
    """Drop of accuracy under numeric_resample by dose, and its gap to the controls (Welch)."""
    drops = {}
    rows = []
    for name in GROUPS[1:]:
        pairs = [(e, rewrite) for e in problems[name] if (rewrite := resampled(e)) is not None]
        before = numbers(model, [entry.question for entry, _ in pairs])
        after = numbers(model, [question for _, (question, _) in pairs])
        was = np.array([b == e.target for b, (e, _) in zip(before, pairs, strict=True)], float)
        now = np.array([a == target for a, (_, (_, target)) in zip(after, pairs, strict=True)], float)
        drops[name] = was - now
        gap = gap_welch(drops[name], drops["0"]) if name != "0" else None
        rows.append(
            [
                name,
                str(len(pairs)),
                f"{was.mean():.2f}",
                f"{now.mean():.2f}",
                f"{(was - now).mean():+.2f}",
                "–" if gap is None else f"{gap['gap']:+.2f} [{gap['lo']:+.2f}, {gap['hi']:+.2f}]",
            ]
        )
    return _table(["dose", "n", "original", "resampled", "drop", "drop gap to dose 0"], rows)


def detection(by_detector: Scores) -> str:
    """AUC of each detector at each dose, its false-positive rate on fresh items at a cut-off of 5 % from the controls, and
    whether that rate's lower limit is at or under nominal."""
    rows: list[list[str]] = []
    over: dict[str, list[str]] = {"conformal": [], "tolerance": []}
    for title in ONE_BY_ONE:  # a drop is 1, 0 or -1: no single item exceeds a cut-off
        if title not in by_detector:
            continue
        values = by_detector[title]
        fresh, cells = values["fresh"], [auc_interval(values[name], values["0"]).text() for name in GROUPS[2:]]
        for rule, names in over.items():
            k = int((fresh > RULES[rule](values["0"], NOMINAL)[0]).sum())
            share = exact_share(k, len(fresh))
            names += [title] if share.low > NOMINAL else []
            cells.append(f"{k}/{len(fresh)} = {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]")
        rows.append([title, *cells])
    table = _table(
        ["detector", *(f"k = {name}" for name in GROUPS[2:]), "fresh flagged, conformal .05", "fresh flagged, tolerance .05"],
        rows,
    )
    sentences = [
        f"By the {rule} rule the lower limit is at or under .05 for every detector"
        + (f" but {', '.join(names)}." if names else ".")
        for rule, names in reversed(over.items())
    ]
    return "\n\n".join([table, "\n".join(sentences)])


def dose_rows(scores: Scores, n_sets: int = N_SETS) -> list[dict[str, str]]:
    """A row a detector and kind of items: AUC and power at each dose, and false verdicts on what was never read."""
    stored = {PUBLISHED if title == BEFORE else title: groups for title, groups in scores.items()}
    rows = []
    for title in (*(title for title in (*TITLES, PUBLISHED) if title not in FAILED), *FAILED):
        if title not in stored:
            continue
        groups = stored[title]
        at = against_doses(title, groups, partial(own_test, title), n_sets)
        cells = {f"{name}×": f"{at[name]['auc'].text()}, {at[name]['power'].value:.2f}" for name in GROUPS[2:]}
        detector, _, kind = title.rpartition(", ")
        false = at["0"]["power"]
        rows.append(
            {
                "detector": detector,
                "items": kind,
                **cells,
                "never read": f"{false.value:.3f} [{false.low:.3f}, {false.high:.3f}]",
            }
        )
    return rows


def seen_section(by_detector: Scores, draws: str, n_samples: int = N_SAMPLES) -> str:
    """What each detector sees of single items at which dose, with its heading; `draws` is PEARL beside other draws of controls."""
    return f"""{SEES}
AUC against dose 0 (DeLong's error on the logit). The last columns flag fresh items above a cut-off taken from dose 0: conformal
promises 5 % on average over draws of controls, tolerance (the default for PEARL) at most 5 % with 95 % confidence;
Clopper–Pearson limits. Losses: first paraphrase minus original, nats. Min-k: mean of the lowest 20 % of the prompt's token
log-probabilities. The reference model is a short run of the same recipe on the same world, which has read none of the items
(`python -m tests.lab.pocket reference <folder>`). PEARL: 0 to 5 % of bits, {n_samples} samples a level at temperature .7.

{detection(by_detector)}

{draws}"""


def decision_section(by_detector: Scores, rows: Sequence[dict[str, str]]) -> str:
    """What the product says where the truth is known, with its heading."""
    return f"""{DECISIONS}
The verdict on a set of items, against dose 0 as a random control: "memory" or "none shown", with its p before Holm, by a test of
the set, or of the drop gap where drops are compared. Fresh items are cut into sets of {CLEAN_SET}: each that is called memory is
a false accusation. Each detector's scores are kept in `scores.json`; `python -m tests.lab.pocket decisions` writes this part.

{decisions(by_detector)}

{AGAINST}
{AGAINST_DOSES}

{_table(list(rows[0]), [list(row.values()) for row in rows])}"""


def decisions(by_detector: Scores) -> str:
    """The product's own verdict on the items of each dose and on sets of fresh ones: hits and false accusations."""
    shipped = {title: by_detector[title] for title in TITLES if title in by_detector and title not in FAILED}
    records = [
        decide_on_doses(
            title, values["0"], values["fresh"], {int(name): values[name] for name in GROUPS[2:]}, partial(own_test, title)
        )
        for title, values in shipped.items()
    ]
    rows = record_rows(records)
    table = _table(list(rows[0]), [list(row.values()) for row in rows])
    absent = [title for title in TITLES if title not in by_detector]
    more = f"\n\nNot decided here, because their scores are not stored yet: {', '.join(absent)}." if absent else ""
    return f"{record_claim(records).text}\n\n{table}{more}"


def draw_of_controls(model: PocketModel, prose: dict, by_group: dict[str, np.ndarray], n_samples: int, n_draws: int = 3) -> str:
    """Whether what PEARL flags wrongly by the conformal rule is the maker's or one draw's: beside other draws of controls."""
    from scipy.stats import betabinom, ks_2samp

    controls, fresh = by_group["0"], by_group["fresh"]
    n, rng = len(controls), world_generator(0, "card", "other controls")
    others = [
        pearl(
            model,
            [Entry("prose", f"other {draw} {i}", dose=0, split="control", **MAKERS["prose"](rng)) for i in range(n)],
            n_samples,
        )
        for draw in range(n_draws)
    ]
    cut, k = alpha_conformal(controls, NOMINAL)
    flagged = int((fresh > cut).sum())
    chance = betabinom(len(fresh), n + 1 - k, k).sf(flagged - 1)
    shares = ", ".join(f"{(fresh > alpha_conformal(other, NOMINAL)[0]).mean():.3f}" for other in others)
    alike = {
        name: ks_2samp([count(e.question) for e in prose["0"]], [count(e.question) for e in prose["fresh"]]).pvalue
        for name, count in (("characters", len), ("words", lambda text: len(text.split())))
    }
    alike["sensitivity"] = ks_2samp(controls, fresh).pvalue
    return f"""{DRAWS}controls and fresh passages come from one maker, one after the other. If they are
exchangeable, the conformal cut-off of {n} controls flags {flagged} or more of {len(fresh)} with a chance of {chance:.3f}
(beta-binomial). Cut-offs from {n_draws} other draws of {n} passages flag {shares} of the same fresh ones; of those
{n_draws * n} passages {np.mean(np.concatenate(others) > cut):.3f} exceed the shipped cut-off. Kolmogorov–Smirnov, controls
against fresh: {", ".join(f"{name} p = {p:.3f}" for name, p in alike.items())}."""


def sensitivities(model: PocketModel, choices: dict) -> str:
    """How fresh choices fare in other orders, layouts and labels (some of which training never showed)."""
    fresh = choices["fresh"]
    base = Picks(model, fresh)
    turns = [base, *(Picks(model, fresh, turn=turn) for turn in (1, 2, 3))]
    rows, guessed = [], []
    looks: tuple[tuple[str, dict[str, Any]], ...] = (
        ("plain, A B C D", {}),
        ("parentheses", {"layout": "paren"}),
        ("one line", {"layout": "inline"}),
        ("bare", {"layout": "bare"}),
        ("brackets (not in training)", {"layout": "bracket"}),
        ("labels a b c d", {"labels": "abcd"}),
        ("labels 1 2 3 4", {"labels": "1234"}),
        ("labels P Q R S (not in training)", {"labels": "PQRS"}),
    )
    for title, settings in looks:
        picks = Picks(model, fresh, **settings) if settings else base
        flips = np.mean([a != b for a, b in zip(picks.text, base.text, strict=True)])
        apart = np.mean([a != b for a, b in zip(picks.first, picks.text, strict=True)])
        guessed += [title] if wilson(int(picks.text_right.sum()), len(fresh))[0] <= CHANCE + 0.05 else []
        rows.append(
            [
                title,
                _share(picks.first_right),
                _share(picks.text_right),
                f"{picks.mass.mean():.2f}",
                f"{np.mean([t is None for t in picks.text]):.2f}",
                f"{flips:.2f}",
                f"{apart:.2f}",
            ]
        )
    first = np.mean([len({t.first[i] for t in turns}) > 1 for i in range(len(fresh))])
    text = np.mean([len({t.text[i] for t in turns}) > 1 for i in range(len(fresh))])
    return _table(
        [
            "fresh choices",
            "first token right",
            "text right",
            "label mass",
            "unreadable",
            "text differs from plain",
            "first token differs from text",
        ],
        rows,
    ) + (
        f"\n\nAny of the 4 cyclic orders changes the content chosen: first token {first:.2f}, text {text:.2f}. Near chance in "
        f"text, so that what differs there is guessing and no flip rate: {', '.join(guessed) or 'none'}."
    )


def speed(model: PocketModel, choices: dict) -> str:
    """Milliseconds a scored prompt, one at a time, on this machine now."""
    pairs = [(f"Question: {entry.question}", " " + " ".join(entry.options)) for entry in choices["fresh"][:60]]
    model.score(pairs[:5])
    began = time.perf_counter()
    for pair in pairs:
        model.score([pair])
    return f"{1000 * (time.perf_counter() - began) / len(pairs):.1f} ms a scored prompt, one at a time."


def manifest(quick: bool = False) -> Families:
    """Family -> group -> its entries."""
    return {name: by_dose(list(read_items(name)), 20 if quick else None) for name in ("problems", "choices", "prose")}


def all_scores(model: PocketModel, families: Families, n_samples: int = 10) -> Scores:
    """Every detector's scores, measured now."""
    by_title = [scores_of(title, model, families, n_samples) for title in MEASURED]
    return {name: groups for part in by_title for name, groups in part.items()}


def card(quick: bool = False, scores: Scores | None = None) -> str:
    """The card as Markdown; `quick` takes at most 20 items a group and 2 samples a level for PEARL. `scores` where they have
    been measured already."""
    model = PocketModel.load()
    families = manifest(quick)
    n_samples, n_parameters = 2 if quick else N_SAMPLES, model.n_parameters
    by_detector = scores or all_scores(model, families, n_samples)
    return f"""# The pocket model
A Llama of {n_parameters:,} parameters, revision `{model.revision}`, trained from scratch on the invented world of
`tests/lab/pocket`. A known set of items was put 0, 1, 4, 16, 64 or 256 times into its training (`items/*.jsonl`), so what
it has memorized is known. It answers nothing outside its world. Every figure but those under *Measured once* was written by
`python -m tests.lab.pocket card`, directly from inference; intervals are at 95 %.

Made by `python -m tests.lab.pocket train <folder>` (three stages, of which the first two end when they have bound; the last
checkpoint is shipped), then `export <folder>/at-1.00`, `items`, `card`: one CPU thread, 20 minutes.

## Accuracy by dose
Dose 0 are the controls, made and drawn like the dosed items; `fresh` were never used by any calibration. Greedy answers.

{accuracies(model, families["problems"], families["choices"])}

## Drop under numeric_resample
Problems that the rewrite method can change; gaps by Welch's t.

{gaps(model, families["problems"])}

{seen_section(by_detector, draw_of_controls(model, families["prose"], by_detector[PEARL], n_samples), n_samples)}

{decision_section(by_detector, dose_rows(by_detector, 40 if quick else N_SETS))}

## Order, layout and labels
{sensitivities(model, families["choices"])}

## Speed
{speed(model, families["choices"])}

{(POCKET / "once.md").read_text(encoding="utf-8")}"""


def write_card() -> None:
    """Write data/pocket/scores.json and, from the same scores, data/pocket/CARD.md."""
    model = PocketModel.load()
    revision, before = read_scores()
    kept = {title: before[title] for title in BESIDE if title in before and revision == model.revision}
    scores = all_scores(model, manifest()) | kept
    write_scores(scores, model.revision)
    (POCKET / "CARD.md").write_text(card(scores=scores), encoding="utf-8")
    _write_doses(dose_rows(scores), model.revision)


def _write_doses(rows: Sequence[dict[str, str]], revision: str) -> None:
    text = json.dumps({"revision": revision, "rows": rows}, ensure_ascii=False, indent=1)
    (POCKET / "doses.json").write_text(f"{text}\n", encoding="utf-8")


def write_decisions(measure: bool = True, path: Path = POCKET / "CARD.md") -> None:
    """Write the card's parts on detectors and decisions again, from stored scores; detectors without any are measured first, or else
    named."""
    if measure:
        kept_scores(PocketModel.load(), manifest())
    revision, scores = read_scores()
    rows = dose_rows(scores)
    section = decision_section(scores, rows)
    _write_doses(rows, revision)
    before, after = path.read_text(encoding="utf-8").split(NEXT)
    head, seen = before.split(DECISIONS)[0].split(SEES)
    seen = seen_section(scores, f"{DRAWS}{seen.split(DRAWS)[1].strip()}")
    path.write_text(f"{head}{seen}\n\n{section}\n\n{NEXT}{after}", encoding="utf-8")


def against_doses(
    name: str, by_group: Mapping[str, np.ndarray], tested: SetTester = set_test, n_sets: int = N_SETS, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """What a detector sees at which dose. `by_group` holds the scores of each dose ("0" and "fresh" were never read). By dose: `auc`
    against dose 0, an Estimate, and `power`, the share of `n_sets` sets of `N_IN_SET` items that are called memory against `N_CONTROLS` of
    dose 0, both drawn anew each time. At "0" the sets are drawn from all that was never read: the share of false verdicts."""
    decide, rng = decision_function(name, tested), generator(seed, "against doses", name)
    there = {group: scores[~np.isnan(scores)] for group, scores in by_group.items()}
    never, rows = np.concatenate([there["0"], there["fresh"]]), {}
    for group, scores in there.items():
        if group == "fresh":
            continue
        n_said = 0
        for _ in range(n_sets):
            if group == "0":
                every = rng.permutation(never)[: N_IN_SET + N_CONTROLS]
                items, controls = every[:N_IN_SET], every[N_IN_SET:]
            else:
                items, controls = rng.permutation(scores)[:N_IN_SET], rng.permutation(there["0"])[:N_CONTROLS]
            n_said += decide(items, controls)[0]
        auc = auc_interval(there["fresh"] if group == "0" else scores, there["0"])
        rows[group] = {"n": len(scores), "auc": auc, "power": exact_share(n_said, n_sets)}
    return rows
