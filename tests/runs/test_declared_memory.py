"""A recording reaches Memorization by what its user declares: roles, what the controls are, pairs, and which change is a rewriting."""

import json

import pytest

from flipcore import __main__ as command
from flipcore.annotation.gates import reasons
from flipcore.annotation.judging import queue
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.reports.exports.document import report
from flipcore.reports.memory import why_no_test
from flipcore.reports.whole_study import whole_study
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review
from flipcore.store.queries.pairs import control_pairs

SIDES = {"old": (30, 12), "new": (29, 28)}  # right as published and reworded, of 30


def rows():
    for side, right in SIDES.items():
        for i in range(30):
            for version, n_right in zip(("published", "reworded"), right, strict=True):
                yield {
                    "id": f"{side}-{chr(97 + i % 26)}{i // 26}",
                    "prompt": f"{version}: what does {side} {chr(97 + i % 26)}{chr(97 + i // 26)} cost?",
                    "change": version,
                    "set": "benchmark" if side == "old" else "control",
                    "twin": f"twin {i}",
                    "output": "It costs 7." if i < n_right else "It costs 8.",
                    "gold": "7",
                }


COLUMNS = (
    "prompt=prompt",
    "text=output",
    "target=gold",
    "item=id",
    "variant=change",
    "axes=change",
    "role=set",
    "read=",
    "model=m",
)
REWRITING = ("axis:reworded=entity_rename", "axis:published=identity")
REWORDING = ("axis:reworded=paraphrase", "axis:published=identity")


def stored(tmp_path, monkeypatch, *words, rows=rows):
    """The database and the study's id of these rows under these words of `--map`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    assert command.main(["import", str(path), "--map", *COLUMNS, *words]) == 0
    store = Store.open(tmp_path / "flips.duckdb")
    return store, store.rows("SELECT study_id FROM studies")[0][0]


def imported(tmp_path, monkeypatch, *words, rows=rows):
    """The database and the whole study of these rows under these words of `--map`."""
    store, study_id = stored(tmp_path, monkeypatch, *words, rows=rows)
    return store, whole_study(store, study_id)


@pytest.mark.slow
def test_roles_without_a_rewriting_say_how_to_declare_one(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch)
    assert whole.memory.tests["m"] == []
    said = why_no_test(whole.all_readouts)
    assert "The study's changes are reworded;" in said and f"--map {' '.join(REWORDING)}, " in said
    store.close()


@pytest.mark.slow
def test_a_value_of_the_column_of_axes_is_declared_a_rewriting_and_the_control_random(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, *REWRITING, "control=random")
    assert whole.study.control == "random"
    tests = {one.detector: one for one in whole.memory.tests["m"]}
    assert set(tests) == {"drop gap, names changed", "published score"}
    assert tests["drop gap, names changed"].decision == "memory"
    assert tests["drop gap, names changed"].numbers["gap"].value == pytest.approx(18 / 30 - 1 / 30)
    said = whole.as_dict()["models"]["m"]["memory_headline"]
    assert said.startswith("The model remembers these questions. ") and f"  {said}" in whole.text().splitlines()
    store.close()


@pytest.mark.slow
def test_a_rewriting_without_the_published_wording_beside_it_says_so(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, REWRITING[0])
    said = why_no_test(whole.all_readouts)
    assert "--map axis:published=identity, " in said and "=paraphrase" not in said
    store.close()


@pytest.mark.slow
def test_pairs_are_declared_by_a_column_that_both_items_share(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, *REWRITING, "control=paired", "pair=twin")
    pairs = control_pairs(store)
    assert len(pairs.control_of) == 30 and "the column twin" in pairs.note()
    (gap,) = whole.memory.tests["m"]
    assert gap.measurement.gap.control == "paired" and gap.measurement.gap.units == (30, 30)
    store.close()


def test_a_control_that_is_none_of_the_kinds_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.jsonl").write_text(json.dumps(next(rows())) + "\n", encoding="utf-8")
    assert command.main(["import", "table.jsonl", "--map", "control=fair"]) != 0
    assert "control is one of random, paired, calibrated, other" in capsys.readouterr().err


def all_right(n=150):
    """Nothing is lost on either side, and neither is answered better as published."""
    for side in SIDES:
        for i in range(n):
            for version in ("published", "reworded"):
                place = "".join(chr(97 + int(digit)) for digit in str(i))
                yield {
                    "id": f"{side}-{i}",
                    "prompt": f"{version}: what does {side} {place} cost?",
                    "change": version,
                    "set": "benchmark" if side == "old" else "control",
                    "output": "It costs 7.",
                    "gold": "7",
                }


@pytest.mark.slow
@pytest.mark.parametrize("word", ["unpublished_control=yes", pytest.param("unpublished_control=no", marks=pytest.mark.slow)])
def test_controls_of_a_recording_are_declared_never_published_or_bound_no_memory(tmp_path, monkeypatch, word):
    store, whole = imported(tmp_path, monkeypatch, *REWRITING, "control=random", word, rows=all_right)
    is_declared = word.endswith("yes")
    assert whole.study.unpublished_control is is_declared
    (gap,) = [test for test in whole.memory.tests["m"] if test.detector == "drop gap, names changed"]
    beyond = "No memory beyond 5 points, against a control that was never published"
    assert (beyond in gap.sentence) is is_declared
    assert is_declared or "the control may have been published too" in gap.sentence
    assert "unpublished_control" not in str(whole.study.items)  # so that a study without it keeps its id
    store.close()


def test_a_declaration_of_controls_is_yes_or_no(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.jsonl").write_text(json.dumps(next(rows())) + "\n", encoding="utf-8")
    assert command.main(["import", "table.jsonl", "--map", "unpublished_control=2024"]) != 0
    assert "unpublished_control is one of yes, no" in capsys.readouterr().err


@pytest.mark.slow
def test_reference_models_of_a_recording_are_declared_by_name(tmp_path, monkeypatch, capsys):
    """The pairs of scores are exact; six models are the curve, and one that is not among the models is refused."""
    right = {"m": (27, 15), **{f"r{k}": (10 + 3 * k, 6 + 3 * k) for k in range(6)}}

    def of_models():
        for model, by_set in right.items():
            for side, n in zip(("benchmark", "control"), by_set, strict=True):
                for i in range(30):
                    output = "It costs 7." if i < n else "It costs 8."
                    yield {
                        "model": model,
                        "id": f"{side}{i}",
                        "set": side,
                        "prompt": f"What does {side} {i} cost?",
                        "output": output,
                        "gold": "7",
                    }

    columns = ("prompt=prompt", "text=output", "target=gold", "item=id", "role=set", "read=")
    monkeypatch.setattr("tests.runs.test_declared_memory.COLUMNS", columns)
    store, whole = imported(tmp_path, monkeypatch, "reference=r0,r1,r2,r3,r4,r5", rows=of_models)
    assert whole.study.reference_models == tuple(f"r{k}" for k in range(6)) and whole.study.models[0].name == "m"
    (curve,) = whole.memory.tests["m"]
    assert curve.detector == "hardness curve" and curve.numbers["n_references"] == 6 and curve.numbers["excess"].value > 0.15
    assert "from what 6 reference models expect" in curve.sentence and curve.sentence in whole.text()
    store.close()
    assert command.main(["import", "table.jsonl", "--map", *columns, "reference=r0,gpt"]) != 0
    assert "reference=gpt is none of the models: m, r0" in capsys.readouterr().err


def two_tasks():
    """Two tasks that share the keys of their items, as MathCheck's do: solving, whose answers are numbers, drops on the benchmark alone;
    judging, whose answers are words, drops on the control alone. Pooled they cancel."""
    right = {
        ("solving", "old"): (30, 6),
        ("solving", "new"): (30, 30),
        ("judging", "old"): (30, 30),
        ("judging", "new"): (30, 6),
    }
    for (task, side), n_right in right.items():
        gold, wrong = ("7.0", "8") if task == "solving" else ("Correct", "Incorrect")
        for i in range(30):
            for version, n in zip(("published", "reworded"), n_right, strict=True):
                yield {
                    "id": f"{side}-{i}",
                    "kind of task": task,
                    "prompt": f"{task} {version}: what of {side} {chr(97 + i % 26)}{chr(97 + i // 26)}?",
                    "change": version,
                    "set": "benchmark" if side == "old" else "control",
                    "output": f"The answer is: {gold if i < n else wrong}",
                    "gold": gold,
                }


def imported_tasks(tmp_path, monkeypatch):
    columns = ("tasks=kind of task", "answers=text", "kind:solving=number", "control=random")
    return imported(tmp_path, monkeypatch, *REWRITING, *columns, rows=two_tasks)


@pytest.mark.slow
def test_tasks_of_a_recording_are_pooled_into_no_gap_and_no_accuracy(tmp_path, monkeypatch):
    store, whole = imported_tasks(tmp_path, monkeypatch)
    assert store.rows("SELECT dataset, kind, target, count(*) FROM items GROUP BY ALL ORDER BY ALL") == [
        ("judging", "text", "correct", 60),
        ("solving", "number", "7", 60),
    ]
    gaps = {one.items: one for one in whole.memory.tests["m"] if one.detector == "drop gap, names changed"}
    assert {name: one.numbers["gap"].value for name, one in gaps.items()} == pytest.approx({"solving": 0.8, "judging": -0.8})
    assert {name: one.decision for name, one in gaps.items()} == {"solving": "memory", "judging": "none shown"}
    accuracies = whole.flips["m"].headline.accuracies
    assert {name: one.n for name, one in accuracies.items()} == {
        f"{task}, {role}": 30 for task in ("solving", "judging") for role in ("benchmark", "control")
    }
    assert whole.score is None
    said = whole.as_dict()["models"]["m"]
    assert [(one["items"], one["n_benchmark"]) for one in said["memory"] if "gap" in one] == [("solving", 30), ("judging", 30)]
    assert "100% [88, 100] of 30 solving benchmark items" in said["headline"]
    for words in (whole.text(), report(store, whole.study_id)):
        assert "olving, drop gap, names changed" in words and "udging, drop gap, names changed" in words
    store.close()


@pytest.mark.slow
def test_paraphrases_of_a_recording_that_nobody_reviewed_claim_nothing_anywhere(tmp_path, monkeypatch, capsys):
    store, whole = imported(tmp_path, monkeypatch, *REWORDING, "control=random")
    tests = {one.detector: one for one in whole.memory.tests["m"]}
    gap = tests["drop gap, paraphrased"]
    assert gap.claim.outcome == "memory" and gap.decision == "not claimed" and not gap.claim.is_made
    why = "Not claimed: Paraphrases of table by table, recorded: No pair has been reviewed yet; "
    assert gap.sentence.startswith(why) and tests["published score"].decision == "none shown"
    (said,) = [one for one in whole.as_dict()["models"]["m"]["memory"] if "gap" in one]
    assert said["decision"] == "not claimed" and said["asserted"] is False and said["sentence"].startswith(why)
    assert {row.claim.word for row in whole.rows if "drop gap" in row.where} == {"not claimed"}
    assert why in whole.text() and why in report(store, whole.study_id)
    assert not [one for one in whole.claims if one.is_made and "Memory" in one.text]
    store.close()


@pytest.mark.slow
def test_paraphrases_of_a_recording_come_into_review_and_open_their_gate_as_a_studys_own_do(tmp_path, monkeypatch, capsys):
    store, study_id = stored(tmp_path, monkeypatch, *REWORDING, "control=random")
    assert "60 paraphrases wait for reviewers under Review." in store.rows("SELECT message FROM studies")[0][0]
    every = {pair["pair_id"]: pair for pair in review.pairs(store)}
    assert len(every) == 60 and {(one["dataset"], one["generator"]) for one in every.values()} == {("table", "table, recorded")}
    order = [place.pair_id for place in queue(review.pairs_with_source(store), "ann")]
    assert every[order[0]]["original"].startswith("published: what does") and every[order[0]]["paraphrase"].startswith(
        "reworded: "
    )
    assert set(review.materials(store, study_id).values()) == set(order)

    def judged(pair_ids, word):
        judgements.keep(store, PAIR_VERDICTS, [verdict_row(every[one], "ann", {"meaning": word}) for one in pair_ids])
        tests = {one.detector: one for one in whole_study(store, study_id).memory.tests["m"]}
        return tests["drop gap, paraphrased"]

    assert "Review 40 more to open the gate" in judged(order[:10], "yes").sentence
    opened = judged(order[10:], "yes")
    assert opened.decision == "memory" and opened.claim.is_made and not reasons(store, study_id)
    struck = judged(order[:1], "no")
    assert struck.claim.is_made and (opened.numbers["gap"].n, struck.numbers["gap"].n) == (60, 59)
    store.close()


@pytest.mark.slow
def test_a_recording_with_too_few_paraphrases_says_beforehand_that_nothing_can_be_claimed(tmp_path, monkeypatch, capsys):
    def few():
        return (row for row in rows() if row["id"].endswith("0") and row["id"] < "new-i")

    store, whole = imported(tmp_path, monkeypatch, *REWORDING, "control=random", rows=few)
    never = "nothing can be claimed, however they are judged; from 50 on it can."
    message = store.rows("SELECT message FROM studies")[0][0]
    assert "8 paraphrases wait for reviewers under Review. With 8 pairs " + never in message
    every = {pair["pair_id"]: pair for pair in review.pairs(store)}
    order = [place.pair_id for place in queue(review.pairs_with_source(store), "ann")]
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(every[pair], "ann", {"meaning": "yes"}) for pair in order])
    (why,) = reasons(store, whole.study.study_id).values()
    assert "8 of 8 reviewed pairs were accepted" in why and never in why and "Review 4" not in why
    store.close()


@pytest.mark.slow
def test_a_recording_that_an_earlier_release_imported_comes_into_review_when_it_is_imported_again(
    tmp_path, monkeypatch, capsys
):
    store, study_id = stored(tmp_path, monkeypatch, *REWORDING, "control=random")

    def earlier(connection):
        connection.execute("DELETE FROM paraphrases")
        connection.execute("UPDATE study_variants SET material_id = NULL")

    store.writer.transact(earlier, changes=()).result()
    store.touch([study_id])
    (why,) = reasons(store, study_id).values()
    assert why.startswith("Paraphrases came with a recording") and why.endswith(
        "Import the same files again: paraphrases then come into Review."
    )
    store.close()
    store, study_id = stored(tmp_path, monkeypatch, *REWORDING, "control=random")
    assert review.n_pairs(store) == 60 and "No pair has been reviewed yet" in reasons(store, study_id)["paraphrase"]
    store.close()
