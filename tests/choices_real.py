"""Every choice of counting on real outputs: `python -m tests.choices_real` writes tests/choices_real.md.

MMLU-Redux: 14 models' letters to 5,700 questions, the published key, and the questions that people found wrong. MMLU-Pro: one model's
outputs on 12,032 questions. Support tickets: two models, eight prompts and three runs of 60 questions. The data are not in the repository.
"""

import csv
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from flipcore.api import study_in_memory
from flipcore.claims.choices import moves_claim, survives_claim
from flipcore.claims.decisions import Decision
from flipcore.stats.choices.choice import ChoiceClass, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve, State
from flipcore.stats.choices.readouts import Answers, ItemFacts, material_of
from tests.conftest import ROOT, SHARED_DATA

PATH = SHARED_DATA / "keys" / "mmlu_redux_14_models.csv"
N_DISPUTED_SUBJECTS, PER_SUBJECT = 12, 100  # the rows stand subject by subject, in 57 hundreds
MMLU_PRO = SHARED_DATA / "mmlu_pro_outputs" / "model_outputs_Meta-Llama-3_1-8B-Instruct_5shots.zip"
CROSSED = SHARED_DATA / "crossed" / "ticket-multi-model-x-prompt.csv"
LETTERS = "ABCD"
READ, UNREAD = 1, 2
GUARD = """By t intervals without the guard 61 of 91 are shown in every way. The pair between is qwen_qwen2.5-72b-instruct-turbo over
qwen_qwen2-72b-instruct: in 2 of 48 ways (unread and disputed left out, repeats once, without the 12 subjects) the lead of 0.9 points
has the lower limit +0.01 by t and −0.01 with the unseen item of the guard."""
PICTURE = ("qwen_qwen2-72b-instruct", "writer_palmyra-x-004")


def answers_and_facts() -> tuple[Answers, ItemFacts]:
    with PATH.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])
    models = names[names.index("error_type") + 1 : names.index("majority_llm_pred_top_3")]
    items = [str(i) for i in range(len(rows))]
    shape = (len(rows), len(models), 1, 1, 1)
    right, status = np.zeros(shape), np.full(shape, UNREAD, dtype=np.int8)
    seen, repeated = set(), set()
    for i, row in enumerate(rows):
        for m, model in enumerate(models):
            status[i, m] = READ if row[model] and row[model] in LETTERS else UNREAD
            right[i, m] = row[model] == LETTERS[int(row["groundtruth_answer"])]
        text = " ".join((row["question"] + row["choices"]).lower().split())
        if text in seen:
            repeated.add(items[i])
        seen.add(text)
    wrong = {i for i, row in zip(items, rows, strict=True) if row["error_type"] == "wrong_groundtruth"}
    disputed = {i for i, row in zip(items, rows, strict=True) if row["error_type"] != "ok"}
    subjects = {item: f"subject {int(item) // PER_SUBJECT}" for item in items}
    # By people's verdicts: no model's answer says which subjects are disputed most.
    most = Counter(subjects[item] for item in sorted(disputed, key=int)).most_common(N_DISPUTED_SUBJECTS)
    groups = {f"{N_DISPUTED_SUBJECTS} most disputed": [name for name, _ in most]}
    facts = ItemFacts(subjects, repeated, wrong, disputed, category_groups=groups)
    prompts = (("", "base"),)
    answers = Answers(
        tuple(models),
        tuple(items),
        prompts,
        ("letter",),
        np.arange(len(items)),
        right,
        right,
        status,
        np.zeros((len(items), len(prompts)), dtype=bool),
    )
    return answers, facts


def curves() -> dict[tuple[str, str], Curve]:
    """A curve of every pair, the model with the higher score first."""
    answers, facts = answers_and_facts()
    means = answers.right.mean(axis=(0, 2, 3, 4))
    order = [answers.models[m] for m in np.argsort(-means, kind="stable")]
    found = {}
    for pair in combinations(order, 2):
        material = material_of(answers.of_models(*pair), facts)
        # Here the disputed subjects count as a defensible choice, because people disputed their keys.
        accepted = []
        for choice in material.choices:
            options = tuple(replace(option, is_uncertain=False) for option in choice.options)
            accepted.append(replace(choice, options=options, kind=ChoiceClass.EQUAL))
        found[pair] = count(material, selected(accepted))
    return found


def of_a_bar() -> list[str]:
    """MMLU-Pro: the score of Llama-3.1-8B-Instruct in every way of counting its outputs."""
    report = study_in_memory(MMLU_PRO).choices("recorded model", above=0.45)
    estimates = report.curve.estimate[report.curve.is_open]
    low, high = 100 * estimates.min(), 100 * estimates.max()
    return [
        "## A bar: MMLU-Pro",
        "",
        f"Llama-3.1-8B-Instruct, 12,032 questions, {len(report.curve)} ways of counting: {low:.1f} to {high:.1f}%.",
        "",
        *(f"> {claim.sentence}" for claim in report.claims),
        "",
    ]


def of_a_crossed_table() -> list[str]:
    """Support tickets: the lead of gemma4 over gemma3, also under each prompt and category."""
    study = study_in_memory(CROSSED)
    models = ("gemma4:e2b", "gemma3:4b")
    report = study.choices(*models, also=["prompt"])
    frame = pd.read_csv(CROSSED)
    first = frame[(frame["run_idx"] == 1) & (frame["prompt_id"] == frame["prompt_id"].iloc[0])]
    by_category = first.pivot_table(index="category", columns="model", values="correct")
    leads = 100 * (by_category[models[0]] - by_category[models[1]])
    return [
        "## A crossed table: support tickets",
        "",
        f"{models[0]} over {models[1]}, 60 questions, eight prompts, three runs. The first run of the first prompt leads by",
        # Categories have 15 questions each, so the lead is the mean of theirs.
        f"{leads.mean():+.1f} points, in its categories by {leads.min():+.1f} to {leads.max():+.1f}.",
        "",
        f"> {report.claims[0].sentence}",
        "",
    ]


def text() -> str:
    by_pair = curves()
    models = list(dict.fromkeys(first for first, _ in by_pair)) + [next(reversed(by_pair))[1]]
    declared = every = whole = 0
    for curve in by_pair.values():
        states = curve.states(0.95)
        declared += states[0] is State.SHOWN
        every += all(state is State.SHOWN for state in states)
        whole += curve.p_survives() <= 0.025
    adjacent = [by_pair[pair] for pair in pairwise(models)]
    keep = sum(bool((curve.estimate > 0).all()) for curve in adjacent)
    beyond = sum(any(effect.is_beyond_chance(0.95) for effect in curve.effects) for curve in adjacent)
    untested = sum(any(np.isnan(effect.p) for effect in curve.effects if effect.choice.name == "unread") for curve in adjacent)
    decision, curve = Decision(*PICTURE), by_pair[PICTURE]
    lines = [
        "# Every choice on real outputs",
        "",
        "`python -m tests.choices_real` writes this.",
        "",
        "## Pairs: MMLU-Redux",
        "",
        "14 models, 5,700 questions, up to 48 ways of counting: unread wrong or left out;",
        "key as published, wrong keys out, disputed out; repeated questions; subjects alike; without the 12 most disputed subjects.",
        "",
        "| | pairs |",
        "|---|---|",
        f"| shown as declared, over questions | {declared} of {len(by_pair)} |",
        f"| shown in every way, over questions | {every} of {len(by_pair)} |",
        f"| survive every choice: over subjects, which a choice leaves out whole | {whole} of {len(by_pair)} |",
        f"| of neighbors in the order, keep it in every way | {keep} of {len(adjacent)} |",
        f"| of neighbors, some choice moves the lead by more than chance | {beyond} of {len(adjacent)} |",
        f"| of neighbors, the unread answers stand in fewer than 3 subjects, so that no test is made | {untested} of {len(adjacent)} |",
        "",
        *GUARD.splitlines(),
        "",
        f"> {survives_claim(curve, decision).sentence}",
        ">",
        f"> {moves_claim(curve, decision).sentence}",
    ]
    return "\n".join([*lines, "", *of_a_bar(), *of_a_crossed_table()])


def main() -> None:
    (ROOT / "tests" / "choices_real.md").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
