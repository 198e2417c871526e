import json
import math

from flipcore.stats.holdout.verdict import difficulty_test
from flipcore.stats.holdout.versions import edited, read_results, result_of
from tests.reports.browser_data.test_margins import made


def version(retro, results, target=("t",), **settings):
    return {"retro_ids": list(retro), "target_ids": list(target), "results": results, "settings": {"seed": 0} | settings}


def test_a_result_survives_json_and_a_missing_number_is_none():
    kept = result_of(made("odd one out", p=math.nan, value=math.nan, bound=(0.0, math.nan)))
    assert json.loads(json.dumps(kept)) == kept and (kept["p"], kept["value"], kept["bound"]) == (None, None, [0.0, None])
    assert result_of(difficulty_test(5, 10, 4, 10))["state"] == "undecided"


def test_an_edit_that_helps_is_said_to_have_helped():
    before = result_of(made("prediction", p=0.01, value=0.7, bound=(0.0, 0.75)))
    after = result_of(made("prediction", p=0.3, value=0.53, bound=(0.0, 0.58)))
    said = edited(version("abc", {"prediction": before}), version("abde", {"prediction": after}))
    assert said == [
        "Since the version before, 2 retro entries are new or changed, 1 are gone.",
        "Prediction accuracy: 0.700 → 0.530; the outcome went from different to equivalent.",
    ]
    back = edited(version("abde", {"prediction": after}), version("abc", {"prediction": before}))
    assert back[1].endswith("the outcome went from equivalent to different.")


def test_a_change_within_one_state_is_nearer_or_not():
    old, new = (result_of(made("semantic", value=value, bound=(-0.1, 0.1), margin=None)) for value in (0.02, 0.01))
    assert edited(version("a", {"semantic": old}), version("b", {"semantic": new}))[1].endswith(
        "nearer to no difference; still undecided."
    )
    assert edited(version("a", {"semantic": new}), version("b", {"semantic": old}))[1].endswith("no nearer; still undecided.")


def test_what_makes_two_versions_hard_to_compare_is_said():
    one = result_of(made("prediction"))
    said = edited(version("a", {"prediction": one}), version("a", {"semantic": one}, target=("t", "u"), seed=1))
    assert "not answers to the same question" in said[1] and "The seed changed as well" in said[2] and len(said) == 3
    lost = one | {"value": None}
    assert "has no estimate" in edited(version("a", {"prediction": one}), version("a", {"prediction": lost}))[1]


def test_a_version_of_an_earlier_release_is_read():
    # before the rename the source's p-values were stored under p_seed, and the open outcome was called inconclusive
    today = result_of(made("prediction", bound=(0.0, 0.7)))
    old = {("p_seed" if key == "p_source" else key): value for key, value in today.items()} | {"state": "inconclusive"}
    assert read_results({"prediction": old}) == {"prediction": today}
    assert edited(version("a", {"prediction": old}), version("b", {"prediction": today}))[1].endswith("still undecided.")
