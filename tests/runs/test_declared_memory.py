"""A recording reaches Memorization by what its user declares: roles, what the controls are, pairs, and which change is a rewriting."""

import json

import pytest

from flipcore import __main__ as command
from flipcore.reports.memory import why_no_test
from flipcore.reports.whole_study import whole_study
from flipcore.store.connection import Store
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
REWRITING = ("axis:reworded=paraphrase", "axis:published=identity")


def imported(tmp_path, monkeypatch, *words):
    """The whole study of these rows under these words of `--map`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    assert command.main(["import", str(path), "--map", *COLUMNS, *words]) == 0
    store = Store.open(tmp_path / "flips.duckdb")
    study_id = store.rows("SELECT study_id FROM studies")[0][0]
    return store, whole_study(store, study_id)


def test_roles_without_a_rewriting_say_how_to_declare_one(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch)
    assert whole.report.memory["m"] == []
    said = why_no_test(whole.everything)
    assert "The study's changes are reworded;" in said and f"--map {' '.join(REWRITING)}, " in said
    store.close()


def test_a_value_of_the_column_of_axes_is_declared_a_rewriting_and_the_control_random(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, *REWRITING, "control=random")
    assert whole.study.control == "random"
    tests = {one.detector: one for one in whole.report.memory["m"]}
    assert set(tests) == {"drop gap, paraphrased", "published score"}
    assert tests["drop gap, paraphrased"].decision == "memory"
    assert tests["drop gap, paraphrased"].numbers["gap"].value == pytest.approx(18 / 30 - 1 / 30)
    store.close()


def test_a_rewriting_without_the_published_wording_beside_it_says_so(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, REWRITING[0])
    said = why_no_test(whole.everything)
    assert "--map axis:published=identity, " in said and "=paraphrase" not in said
    store.close()


def test_pairs_are_declared_by_a_column_that_both_items_share(tmp_path, monkeypatch):
    store, whole = imported(tmp_path, monkeypatch, *REWRITING, "control=paired", "pair=twin")
    pairs = control_pairs(store)
    assert len(pairs.control_of) == 30 and "the column twin" in pairs.note()
    (gap,) = whole.report.memory["m"]
    assert gap.measurement.gap.control == "paired" and gap.measurement.gap.units == (30, 30)
    store.close()


def test_a_control_that_is_none_of_the_kinds_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.jsonl").write_text(json.dumps(next(rows())) + "\n", encoding="utf-8")
    assert command.main(["import", "table.jsonl", "--map", "control=fair"]) != 0
    assert "control is one of random, paired, calibrated, other" in capsys.readouterr().err
