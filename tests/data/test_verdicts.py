import json
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "data" / "paraphrases"


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_every_shipped_rewording_has_one_verdict_of_each_reviewer():
    pairs = {row["pair_id"] for row in lines("shipped.jsonl")}
    given = Counter((row["reviewer"], row["pair_id"]) for row in lines("verdicts.jsonl"))
    reviewers = {reviewer for reviewer, _ in given}
    assert reviewers and given == Counter((reviewer, pair) for reviewer in reviewers for pair in pairs)


def test_a_verdict_that_is_not_yes_says_why_and_not_all_pass():
    rows = lines("verdicts.jsonl")
    doubtful = [row for row in rows if {row["meaning"], row["difficulty"], row["solution_path"]} != {"yes"}]
    assert doubtful and all(row["note"].strip() for row in doubtful)
    assert {row[check] for row in rows for check in ("meaning", "difficulty", "solution_path")} <= {"yes", "no", "unsure"}


def test_a_fresh_store_waits_for_people_and_shows_what_models_said_beside(tmp_path):
    from flipcore.runs import demo
    from flipcore.store.connection import Store
    from flipcore.store.queries import studies

    store = Store.open(tmp_path / "flips.duckdb")
    for _ in range(2):
        demo.fill_store(store)  # twice: nothing is doubled
    states = studies.paraphrase_states(store)
    store.close()
    assert len(states) == len(lines("shipped.jsonl")) and set(states["state"]) == {"unreviewed"}
    assert set(states["n_reviewers"]) == {0} and {row["reviewer_kind"] for row in lines("verdicts.jsonl")} == {"model"}
    assert set(states["n_models"]) == {len({row["reviewer"] for row in lines("verdicts.jsonl")})}
    assert 0 < (2 * states["n_models_kept"] > states["n_models"]).sum() < len(states)
