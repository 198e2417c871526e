"""What one reviewer's verdicts moved: acceptance of each source with and without them."""

from flipcore.annotation.paraphrases.effect import own_acceptance


def verdict(pair, reviewer, keeps=True, kind="person"):
    said = "yes" if keeps else "no"
    return {
        "pair_id": pair,
        "reviewer": reviewer,
        "reviewer_kind": kind,
        "by_choice": False,
        "rule_version": "majority",
        "meaning": said,
        "difficulty": "yes",
        "solution_path": "yes",
    }


SOURCES = {f"p{i}": "choices · authors" for i in range(20)} | {"q0": "problems · authors"}


def test_ten_verdicts_say_from_where_to_where_they_moved_acceptance():
    # Bo kept all of 12 pairs; Ada rejects 4 that nobody else saw and keeps 6: 12 of 12 becomes 18 of 22 pairs
    rows = [verdict(f"p{i}", "Bo") for i in range(12)] + [verdict(f"p{i}", "Ada", keeps=i > 15) for i in range(12, 20)]
    (said,) = own_acceptance(rows, SOURCES, "Ada")
    assert said.startswith("8 verdicts of Ada on the 20 stored paraphrases of choices · authors moved acceptance from 1.00 [")
    assert "of 12 pairs to 0.80 [" in said and said.endswith("of 20 pairs.")


def test_below_ten_pairs_there_is_a_share_without_an_interval():
    (said,) = own_acceptance([verdict("q0", "Ada")], SOURCES, "Ada")
    assert said == (
        "1 verdict of Ada on the 1 stored paraphrases of problems · authors moved acceptance from unknown (no pair "
        "reviewed) to 1.00 of 1 pair."
    )


def test_who_judged_nothing_and_what_models_said_moves_nothing():
    rows = [verdict("p1", "Bo"), verdict("p2", "judge", kind="model")]
    assert own_acceptance(rows, SOURCES, "Ada") == [] and own_acceptance(rows, SOURCES, "judge") == []
    (said,) = own_acceptance([*rows, verdict("p1", "Ada")], SOURCES, "Ada")
    assert said.endswith("moved nothing: acceptance is 1.00 of 1 pair.")
