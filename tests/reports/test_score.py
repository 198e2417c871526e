"""A study's scores in one report: which wordings count as drawn, readers beside one another, gates, rows, and public figures."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore import __main__ as command
from flipcore.core.records import BASE
from flipcore.reports.score import next_rows, people_rows, random_axes, score_bars, score_report, score_rows, share_rows
from flipcore.stats.score.cells import score_cells
from flipcore.stats.score.error_bar import error_bar
from tests.stats.score.tables import rows_of

CROSSED = "ticket-multi-model-x-prompt.csv"
MAPPING = (
    *("prompt=ticket", "item=input_id", "sample=run_idx", "variant=prompt_id", "target=category"),
    *("answers=text", "axis=prompt_format", "text="),
)


def readouts(axis: str, n: int = 40, m: int = 5, model: str = "m", seed: int = 0, extractor: str = "regex") -> pd.DataFrame:
    """Of a study with its own prompt and `m` variants of one axis, as the store gives them."""
    rows = rows_of(n, m + 1, 2, seed)
    number = rows["wording"].str[1:].astype(int)
    variant = np.where(number == 0, BASE, "v" + number.astype(str))
    return pd.DataFrame(
        {
            "model": model,
            "item_id": rows["item_id"],
            "role": "benchmark",
            "axis": axis,
            "variant_id": rows["item_id"] + variant,
            "variant": variant,
            "sample": rows["sample"],
            "extractor": extractor,
            "status": "ok",
            "is_correct": (rows["score"] == 1).astype(object),
            "family": rows["item_id"],
        }
    )


def test_drawn_ways_make_the_score_and_the_own_prompt_stands_beside_it():
    frame = readouts("combined")
    (one,) = score_report(frame).models
    assert one.bar.cells.shape == (40, 5) and [one.title(way) for way in one.bar.cells.wordings] == [
        f"v{i}" for i in range(1, 6)
    ]
    rest = frame[frame["variant"] != BASE]
    assert one.bar.value == pytest.approx(rest["is_correct"].astype(float).mean())
    assert one.own_prompt.value == pytest.approx(frame[frame["variant"] == BASE]["is_correct"].astype(float).mean())
    assert one.claim.outcome == "whole error bar" and one.elsewhere.is_made


def test_one_change_at_a_time_draws_nothing_unless_somebody_says_so():
    frame = readouts("option_order")
    report = score_report(frame)
    assert report.random_axes == () and report.models[0].bar.cells.shape == (40, 1)
    # "Asked in one wording only" stood above a table of six.
    assert report.claims[0].text.endswith("Other prompts were asked, but this range leaves them out.")
    assert len(report.claims) == 1
    asked_once = score_report(frame[frame["variant"] == BASE])
    assert asked_once.claims[0].text.endswith("Asked in one wording only.")
    assert "drawn at random" in report.notes[0]
    as_drawn = score_report(frame, axes=["option_order"])
    assert as_drawn.models[0].bar.cells.shape == (40, 6) and as_drawn.models[0].own_prompt is None
    assert score_report(frame, is_recorded=True).random_axes == ("option_order",)


def test_what_every_axis_compares_with_counts_once():
    twice = pd.concat([readouts("option_order"), readouts("prompt_format")])
    (one,) = score_report(twice, axes=["option_order", "prompt_format"]).models
    cells = one.bar.cells
    assert cells.shape == (40, 11) and set(cells.n_runs.ravel()) == {2}
    assert {"own prompt", "option order: v1", "prompt format: v1"} < {title.lower() for title, _ in one.wordings()}


def test_combined_ways_come_first_and_axes_keep_their_order():
    assert random_axes(["identity", "option_order", "combined"], is_recorded=False) == ("combined",)
    assert (
        random_axes(["identity", "b", "a"], is_recorded=True) == ("b", "a")
        and random_axes(["identity", "b"], is_recorded=False) == ()
    )


def test_readers_stand_beside_one_another_and_a_closed_one_is_in_no_sentence():
    frame = pd.concat([readouts("combined"), readouts("combined", seed=1, extractor="judge")])
    report = score_report(frame, reference="regex")
    (one,) = report.models
    assert set(one.extractor_bars) == {"regex", "judge"}
    assert f" Another extractor: {one.extractor_bars['judge'].value:.0%}." in one.claim.text
    shut = score_report(frame, reference="regex", closed_gates={"judge": "nobody checked it."})
    assert "nother extractor" not in shut.claims[0].text and shut.claims[0].is_made
    by_judge = score_report(frame, reference="judge", closed_gates={"judge": "nobody checked it."})
    assert by_judge.claims[0].text == "Not claimed: nobody checked it."


def test_a_reader_of_other_questions_or_of_no_answer_stands_beside_no_score():
    frame = readouts("combined")
    few = readouts("combined", extractor="cloze")
    apart = few.assign(item_id=[f"{one}-of-others" for one in few["item_id"]])
    unread = readouts("combined", extractor="choice_judge").assign(status="unreadable", is_correct=False)
    several = score_report(pd.concat([frame, apart, unread]), reference=frame["extractor"].iloc[0]).models[0]
    assert set(several.extractor_bars) == {frame["extractor"].iloc[0], "cloze", "choice_judge"}
    assert several.other_scores == [] and "ther extractor" not in several.claim.text
    beside = score_report(pd.concat([frame, few]), reference=frame["extractor"].iloc[0]).models[0]
    assert len(beside.other_scores) == 1 and "Another extractor" in beside.claim.text


def test_two_models_are_compared_cell_by_cell_the_better_one_first():
    strong_rows = readouts("combined", model="strong", seed=1)
    strong_rows["is_correct"] = (strong_rows["is_correct"].astype(bool) | (strong_rows["sample"] == 0)).astype(object)
    frame = pd.concat([readouts("combined", model="weak"), strong_rows])
    report = score_report(frame)
    (one,) = report.differences
    strong, weak = (report.find_model(model).bar for model in ("strong", "weak"))
    assert (one.first, one.second) == ("strong", "weak") and one.claim in report.claims
    assert one.bar.value == pytest.approx(strong.value - weak.value)
    assert one.claim.text in "\n".join(report.lines()) and report.as_dict()["differences"][0]["sentence"] == one.claim.text
    rows = [row for row in report.rows() if row.quantity == "lead over weak"]
    assert [row.where for row in rows] == ["other questions", "other questions and wordings"]
    assert rows[1].estimate.low == one.bar.by_wordings.low and rows[1].claim is one.claim
    three = score_report(pd.concat([frame, readouts("combined", model="third", seed=2)]))
    assert len(three.differences) == 3 and three.differences[0].bar.level == pytest.approx(1 - 0.05 / 3)


def test_three_models_have_rank_intervals_that_follow_from_their_pairs():
    frames = []
    for at, model in enumerate(("low", "high", "same")):
        frame = readouts("combined", n=80, model=model, seed=1)
        p = np.random.default_rng(at).random(len(frame))
        frame["is_correct"] = (p < (0.4 if model == "low" else 0.8)).astype(object)
        frames.append(frame)
    report = score_report(pd.concat(frames))
    (ranks,) = report.ranks
    assert ranks.numbers["worst"] == {"high": 2, "same": 2, "low": 3} and ranks.numbers["best"] == {
        "high": 1,
        "same": 1,
        "low": 3,
    }
    assert ranks.text.endswith("low 3.") and ranks in report.claims and ranks.text in "\n".join(report.lines())
    assert json.loads(json.dumps(report.as_dict()))["ranks"][0]["best"]["low"] == 3
    assert score_report(pd.concat(frames[:2])).ranks == ()
    shut = score_report(pd.concat(frames), closed_gates={"regex": "nobody checked it."})
    assert shut.ranks[0].numbers["best"]["low"] == 1  # a withheld lead shows nothing


def test_joint_changes_are_held_against_the_sum_of_single_ones():
    single = pd.concat([readouts(axis, n=60, m=2) for axis in ("option_order", "label_set")])
    joint = readouts("combined", n=60, m=3)
    right = {("option_order", "v1"): 0.9, ("label_set", "v1"): 0.7, ("combined", "v1"): 0.3, ("combined", "v2"): 0.8}
    frame = pd.concat([single, joint])
    p = [right.get(place, 0.8) for place in zip(frame["axis"], frame["variant"], strict=True)]
    frame["is_correct"] = (np.random.default_rng(0).random(len(frame)) < p).astype(object)
    both = {"option_order": "v1", "label_set": "v1"}
    ways = {"v1": both, "v2": both, "v3": {"option_order": "v1", "label_set": BASE}}  # the third makes one change alone
    settings = {(item, way): parts for item in joint["item_id"].unique() for way, parts in ways.items()}
    (one,) = score_report(frame, settings=settings).models
    assert set(one.gaps) == {"v1", "v2"} and one.gaps["v1"].value == pytest.approx(-0.5, abs=0.15)
    cell = (
        frame.assign(score=frame["is_correct"].astype(float))
        .groupby(["item_id", "axis", "variant"])["score"]
        .mean()
        .unstack([1, 2])
    )
    base = frame[frame["variant"] == BASE].drop_duplicates(["item_id", "sample"])
    own = base["is_correct"].astype(float).groupby(base["item_id"]).mean()
    by_hand = cell["combined", "v1"] - own - (cell["option_order", "v1"] - own) - (cell["label_set", "v1"] - own)
    assert one.gaps["v1"].value == pytest.approx(by_hand.mean())
    assert one.additivity.is_made and one.additivity.text.startswith("Several changes at once do not add up for m: v1 is −")
    assert one.additivity in score_report(frame, settings=settings).claims
    (alone,) = score_report(frame).models
    assert alone.gaps == {} and alone.additivity.text == ""
    (shut,) = score_report(frame, settings=settings, closed_gates={"label_set": "nobody checked it."}).models
    assert shut.gaps == {}


def test_wordings_behind_a_closed_gate_are_left_out_and_named():
    report = score_report(readouts("combined"), closed_gates={"combined": "too few were reviewed."})
    assert report.random_axes == () and report.models[0].bar.cells.shape == (40, 1)
    assert report.notes[0] == "Left out of the wordings: too few were reviewed."


def test_roles_are_not_pooled_and_nothing_judged_is_no_report():
    frame = pd.concat([readouts("combined"), readouts("combined", seed=1).assign(role="control")])
    assert score_report(frame).role == "benchmark"
    control = score_report(frame, role="control")
    assert control.models[0].bar.value != score_report(frame).models[0].bar.value
    assert score_report(readouts("combined").assign(is_correct=None)) is None
    assert score_report(readouts("combined")[:0]) is None


def test_a_table_of_intervals_has_whole_degrees_of_freedom_and_no_unit_without_a_number():
    rows = score_rows(score_report(readouts("option_order")).models[0])
    by_interval = {row["interval over"]: (row["±"], row["degrees of freedom"]) for row in rows}
    assert by_interval["other questions and prompts"] == ("–", "–")
    half_width, df = by_interval["other questions"]
    assert half_width.endswith(" points") and df.isdecimal()


def test_text_json_rows_and_tables_hold_one_answer():
    report = score_report(readouts("combined"))
    one = report.models[0]
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["models"][0]["sentence"] == one.claim.text and one.claim.text in "\n".join(report.lines())
    assert plain["models"][0]["intervals"]["wordings"]["half_width"] == pytest.approx(one.bar.half_width("wordings"))
    rows = {row.quantity: row for row in report.rows()}
    whole = rows["score, other questions and wordings"]
    assert whole.claim.text == one.claim.text and whole.estimate == one.bar.by_wordings
    assert len(score_rows(one)) == 4 and len(share_rows(one)) == 4 and len(next_rows(one)) == 3
    bars = score_bars(one)
    assert list(bars.wordings.values()) == [score for _, score in one.bar.cells.by_wording()] and bars.own_prompt == {
        "own prompt": one.own_prompt.value
    }


@pytest.mark.slow
def test_a_small_table_of_prompts_and_repeats_by_import_and_stats(tmp_path, monkeypatch, capsys):
    """The first prompt's repeats are its own, and no further wording."""
    rows = rows_of(n=12, m=4, s=3).rename(columns={"item_id": "input_id", "wording": "prompt_id", "sample": "run_idx"})
    rows["ticket"] = "ticket " + rows["input_id"]
    rows["predicted"] = np.where(rows["score"] == 1, "yes", "no")
    rows.assign(model="m", category="yes").to_csv(tmp_path / "ticket.csv", index=False)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    assert command.main(["import", str(tmp_path / "ticket.csv"), "--map", *MAPPING, "--read", "predicted=predicted"]) == 0
    capsys.readouterr()
    assert command.main(["stats", "ticket", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["score"]["models"]
    bar = error_bar(score_cells(rows_of(n=12, m=4, s=3)))
    assert (one["n_questions"], one["n_wordings"], one["n_runs"]) == (12, 4, pytest.approx(3))
    assert one["score"] == pytest.approx(bar.value)
    halves = {name: row["half_width"] for name, row in one["intervals"].items()}
    assert halves == pytest.approx(bar.half_widths)


@pytest.mark.slow
@pytest.mark.stand_in("test_a_small_table_of_prompts_and_repeats_by_import_and_stats")
def test_the_figures_of_a_public_table_by_import_stats_and_notebook(shared_data, tmp_path, monkeypatch, capsys):
    import flipcore

    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    file = str(shared_data / "crossed" / CROSSED)
    assert command.main(["import", file, "--map", *MAPPING, "--read", "predicted=predicted"]) == 0
    capsys.readouterr()
    assert command.main(["stats", "ticket", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["score"]["models"]
    names = ("questions", "wordings", "elsewhere")
    figures = {one["model"]: [one["score"], *(one["intervals"][name]["half_width"] for name in names)] for one in said}
    assert {model: [round(x, 3) for x in row] for model, row in figures.items()} == {
        "gemma3:4b": [0.829, 0.071, 0.113, 0.299],
        "gemma4:e2b": [0.863, 0.057, 0.096, 0.26],
    }
    with flipcore.open() as scope:
        result = scope.study("ticket").score()
    assert result.claims[0].text.startswith("gemma3:4b: 83% right; with other questions and prompts like these 69 to 91%")
    assert "Other questions alone: 75 to 89%" in result.claims[0].detail
    assert len(result.figure().data) > 8


def labelled(frame, n: int, misread: int = 0) -> list[dict]:
    """What people read in the first `n` outputs of the frame; of `misread` of them they say the opposite of the reader."""
    return [
        {name: row[name] for name in ("model", "item_id", "variant_id", "sample", "extractor", "is_correct", "family")}
        | {"answer": "1", "label": "2" if i < misread else "1", "is_same": i >= misread, "text": "It is 1."}
        | {"label_is_right": row["is_correct"] != (i < misread)}
        for i, row in enumerate(frame.sample(n, random_state=0).to_dict("records"))
    ]


def test_labels_by_people_correct_the_score_of_the_reader_that_they_label():
    whole = readouts("combined", n=84)
    some = sorted(set(whole["item_id"]))[:4]  # not asked in one wording, so they are in no cell
    frame = whole[~(whole["item_id"].isin(some) & (whole["variant"] == "v2"))]
    asked = frame[frame["variant"] != BASE]
    report = score_report(
        frame, labelled=labelled(asked[~asked["item_id"].isin(some)], 200, 20) + labelled(frame[frame["variant"] == BASE], 5)
    )
    (people,) = report.models[0].people
    assert people.n == 200 and people.error.value == pytest.approx(0.1) and people.kinds["another answer"] == 20
    assert people.score.raw.value == pytest.approx(report.models[0].bar.value)
    assert (
        people.score.n_disagreements == 20 and people.kinds["right counted wrong"] + people.kinds["wrong counted right"] == 20
    )
    assert re.match(r"m with 200 labels by people: \d+% \[\d+, \d+\] right; written answer alone: \d+%", people.sentence)
    assert re.match(r"100 more labels: ± [\d.]+ points becomes", people.narrower) and people.sentence in "\n".join(
        report.lines()
    )
    assert people_rows(report.models[0])[0]["labels"] == 200
    of_json = json.loads(json.dumps(report.as_dict()))["models"][0]["people"][0]
    assert of_json["n_labels"] == 200 and of_json["corrected"]["low"] < of_json["corrected"]["value"]
    assert {"read otherwise than people do", "score, corrected by people"} <= {row.quantity for row in report.rows()}
    (few,) = score_report(frame, labelled=labelled(asked[~asked["item_id"].isin(some)], 6, 3)).models[0].people
    assert (
        few.sentence == "6 labels by people are of outputs behind the score of m, too few to correct it. "
        "No interval: 6 labels; at least 10 are needed."
    )
    assert few.table_row()["corrected"] == few.table_row()["by labels alone"] == "–"


@pytest.mark.slow
def test_labels_of_two_models_compare_them_with_the_labels_in_both_scores():
    whole = readouts("combined", n=84)
    frame = pd.concat([whole, whole.assign(model="other")])
    asked = frame[frame["variant"] != BASE]
    labels = [row for _, own in asked.groupby("model") for row in labelled(own, 200, 20)]
    report = score_report(frame, labelled=labels)
    (pair,) = report.by_people.pairs
    assert pair.joint.value == pytest.approx(0) and pair.claim.text in "\n".join(report.lines()) and not pair.claim.is_made
    assert "difference, corrected by people" in {row.quantity for row in report.rows()}
    of_json = json.loads(json.dumps(report.as_dict(), allow_nan=False))["by_people"]
    assert of_json["pairs"][0]["sentence"] == pair.claim.text and of_json["ranks"] is None
    shut = score_report(frame, labelled=labels, closed_gates={"regex": "nobody checked it."})
    assert {one.text for one in shut.by_people.claims} == {"Not claimed: nobody checked it."}
    assert score_report(frame).by_people.claims == () == score_report(whole, labelled=labels).by_people.claims
    people = tuple(replace(errors, model="third") for errors in report.models[0].people)
    third = replace(report.models[0], model="third", people=people, why_not="third left many answers unread.")
    three = replace(report, models=(*report.models, third)).by_people.pairs
    withheld = {pair.claim.withheld for pair in three if "third" in (pair.first, pair.second)}
    assert withheld == {"third left many answers unread."}
    assert [pair.claim.withheld for pair in three if "third" not in (pair.first, pair.second)] == [""]


def test_few_disagreements_and_few_labels_say_how_many_are_missing():
    frame = readouts("combined")
    asked = frame[frame["variant"] != BASE]
    (few,) = score_report(frame, labelled=labelled(asked, 60, 2)).models[0].people
    assert "exact limits of both error rates" in few.sentence and "Label about 240 more" in few.narrower
    (none,) = score_report(frame, labelled=labelled(asked, 60)).models[0].people
    assert "No label differs from the extractor yet" in none.narrower
    (five,) = score_report(frame, labelled=labelled(asked, 5)).models[0].people
    assert "Label about 5 more" in five.narrower and "No interval: 5 labels" in five.sentence
    assert score_report(frame).models[0].people == () and score_report(frame).as_dict()["models"][0]["people"] == []


def test_a_score_says_how_many_answers_were_not_read():
    frame = readouts("option_order")
    base = frame["variant"] == BASE
    few, many = (frame.assign(status=np.where(base & (frame["sample"] == 0) & unread, "unreadable", "ok")) for unread in
                 (frame["item_id"].isin(frame["item_id"].unique()[:2]), True))  # fmt: skip
    assert "unread" not in score_report(few).claims[0].text
    report = score_report(many)
    assert report.claims[0].text.endswith("50% unread, counted as wrong.")
    assert report.models[0].as_dict()["unread"] == 0.5  # of the counted wording, not of the changes beside it


def test_what_is_judged_comes_before_what_it_is_compared_with():
    control = readouts("option_order").assign(role="control")
    benchmark = readouts("option_order", seed=1).assign(role="benchmark")
    benchmark["item_id"] = benchmark["family"] = "b" + benchmark["item_id"]
    assert score_report(pd.concat([control, benchmark])).role == "benchmark"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 20), marks=pytest.mark.slow)])
def test_no_lead_is_claimed_over_answers_that_nobody_read(seeds):
    """Two models of one ability; of the second half of the answers cannot be read. Before, all of these were called higher."""
    n_made = n_withheld = 0
    for seed in seeds:
        first, second = (readouts("combined", n=150, m=6, model=model, seed=2 * seed + i) for i, model in enumerate(("a", "b")))
        unread = np.arange(len(second)) % 2 == 0
        second["status"] = np.where(unread, "unreadable", "ok")
        second["is_correct"] = second["is_correct"].where(~unread, False)
        (pair,) = score_report(pd.concat([first, second])).differences
        n_made += pair.claim.is_made
        n_withheld += "unread, which could make up its lag" in pair.claim.text
    assert n_made == 0 and n_withheld == len(seeds)
    most = np.arange(len(second)) % 3 > 0
    second["status"] = np.where(most, "unreadable", "ok")
    (_, of_few) = score_report(pd.concat([first, second])).models
    assert of_few.claim.text == "Not claimed: 67% of b's answers could not be read (written answer)."
    its_own = second.assign(extractor="strict-match")  # what a log's own scorer read of it is its score
    assert score_report(its_own).models[0].claim.is_made
    second["status"], second["is_correct"] = "unreadable", False
    report = score_report(pd.concat([first, second]))
    assert report.models[1].claim.text == "Not claimed: no answer of b could be read (written answer)."
    assert not report.differences[0].claim.is_made and not report.models[1].elsewhere.is_made


def test_what_is_unread_counts_the_own_prompt_once_and_only_where_it_is_scored():
    """Half of the items are never read, and those alone have no options, so that only one of two changes is made to them."""
    frame = readouts("prompt_format")
    is_lost = frame["item_id"].isin(frame["item_id"].unique()[:20])
    frame.loc[is_lost, ["status", "is_correct"]] = ["unreadable", False]
    both = pd.concat([frame, frame[~is_lost].assign(axis="option_order")])
    assert score_report(both).models[0].unread == 0.5
    drawn = frame.assign(axis="combined")
    drawn["status"] = np.where(drawn["variant"] == BASE, "ok", drawn["status"])
    assert score_report(drawn).models[0].unread == 0.5  # the own prompt is none of the ways that were drawn


def test_a_lead_larger_than_what_is_unread_stands():
    first, second = (readouts("combined", n=150, m=6, model=model, seed=seed) for seed, model in enumerate(("a", "b")))
    first["is_correct"] = True
    second["is_correct"] = second["is_correct"].where(np.arange(len(second)) % 3 == 0, False)
    second["status"] = np.where(np.arange(len(second)) % 20 == 1, "unreadable", "ok")
    (pair,) = score_report(pd.concat([first, second])).differences
    assert pair.claim.is_made and "a scores higher than b" in pair.claim.text


def test_a_lead_on_common_questions_counts_though_the_other_model_leads_over_all_of_its_own():
    """It was withheld, as a lag that 0.0% unread answers could make up."""

    def asked(model, shared_share, own_share):
        parts = []
        for prefix, n, share in (("shared", 40, shared_share), (f"only {model} ", 80, own_share)):
            part = readouts("combined", n=n, m=6, model=model)
            part = part.assign(**{name: prefix + part[name] for name in ("item_id", "family", "variant_id")})
            is_right = np.random.default_rng(0).random(len(part)) < share
            parts.append(part.assign(is_correct=is_right.astype(object)))
        return pd.concat(parts)

    report = score_report(pd.concat([asked("a", 0.1, 0.9), asked("b", 0.9, 0.1)]))
    assert report.find_model("a").bar.value > report.find_model("b").bar.value
    (pair,) = report.differences
    assert (pair.first, pair.second) == ("b", "a") and pair.bar.value > 0.5
    assert pair.claim.is_made and pair.claim.text.startswith("b scores higher than a")


def with_lost_calls(frame, is_lost):
    """The same frame after these calls failed: nothing was read of them."""
    lost = np.asarray(is_lost)
    return frame.assign(
        status=frame["status"].mask(lost, "absent"), is_correct=frame["is_correct"].mask(lost, None).astype(object)
    )


def test_the_interval_holds_whatever_lost_calls_would_have_said():
    """A tenth of the calls failed, all on questions that would have been wrong."""
    frame = readouts("combined", n=200)
    is_wrong = (frame["is_correct"] == False).to_numpy()  # noqa: E712
    is_lost = is_wrong & (np.random.default_rng(1).random(len(frame)) < 0.3)
    (whole,), (one,) = score_report(frame).models, score_report(with_lost_calls(frame, is_lost)).models
    assert 0.02 < one.absent < 0.2 and one.bar.value > whole.bar.value
    assert one.bar.by_questions.low <= whole.bar.by_questions.low < whole.bar.value <= one.bar.by_questions.high
    assert one.bar.by_wordings.low <= whole.bar.by_wordings.low + 1e-9
    assert "of calls have no score; the interval holds whatever they were" in one.claim.text
    assert whole.absent == 0 and "no score" not in whole.claim.text
    assert one.at_level(0.8).bar.by_questions.low > one.bar.by_questions.low


def test_few_lost_calls_that_could_move_nothing_are_not_spoken_of():
    frame = readouts("combined", n=200)
    is_lost = np.arange(len(frame)) < 3
    (one,) = score_report(with_lost_calls(frame, is_lost)).models
    assert one.absent == 0 and "no score" not in one.claim.text


def test_a_score_says_which_questions_of_other_models_it_lacks():
    """A model that has rows of the easy half alone scores higher, and only on questions like those."""
    frame = readouts("combined", n=80)
    is_easy = frame["item_id"].isin(frame["item_id"].unique()[:40])
    report = score_report(pd.concat([frame, frame[is_easy].assign(model="half")]))
    words = "40 of 80 questions have no row of half: nothing is said of questions like those."
    assert words in report.find_model("half").claim.text
    assert "no row" not in report.find_model("m").claim.text


def test_a_lead_that_lost_calls_could_make_up_is_not_claimed():
    frame = readouts("combined", n=200)
    is_wrong = (frame["is_correct"] == False).to_numpy()  # noqa: E712
    better = with_lost_calls(frame.assign(model="b"), is_wrong)
    (difference,) = score_report(pd.concat([frame, better])).differences
    assert not difference.claim.is_made
