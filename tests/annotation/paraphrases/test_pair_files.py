import csv
import io
import json

import pytest

from flipcore.annotation.paraphrases.pair_files import (
    Inventory,
    file_bytes,
    file_rows,
    guessed_columns,
    incoming,
    pair_rows,
    row_originals,
    verdict_rows,
)
from flipcore.annotation.paraphrases.ratings import agreement
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review, studies
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored

pytestmark = [pytest.mark.usefixtures("allowed_folders"), pytest.mark.usefixtures("allowed_callables")]


def read(path, content, **rest):
    """What a file of this content brings, columns guessed."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    rows = file_rows(path)
    columns = rest.pop("columns", None) or guessed_columns({name for row in rows for name in row.values})
    return incoming(rows, columns, **{"dataset": "mine", "generator": "someone", "inventory": Inventory()} | rest)


def inventory(store):
    return Inventory({pair["pair_id"]: pair for pair in review.pairs(store)})


def take_in(store, found):
    review.keep_pairs(store, found.pairs, found.items)
    judgements.keep(store, PAIR_VERDICTS, found.verdicts)


def test_pairs_come_with_items_that_have_the_answer(tmp_path):
    found = read(tmp_path / "a.csv", 'original,paraphrase,answer\nHow many?,What number?,"1,450"\nWho?,Which person?,Ada\n')
    assert [pair["original"] for pair in found.pairs] == ["How many?", "Who?"] and found.refusals == ()
    assert [(item.kind, item.target) for item in found.items] == [("number", "1450"), ("completion", "Ada")]
    assert {pair["item_id"] for pair in found.pairs} == {item.item_id for item in found.items}


def test_a_question_that_is_stored_keeps_its_item(tmp_path):
    found = read(
        tmp_path / "a.csv",
        "original,paraphrase\nHow  many?,What number?\n",
        inventory=Inventory(items={"how many?": "set/1@x"}),
    )
    assert found.pairs[0]["item_id"] == "set/1@x" and found.items == ()


@pytest.mark.parametrize(
    "line, why",
    [
        ('"",What?', "Line 2 has no original"),
        ("Who?,", "Line 2 has no paraphrase"),
        ("Who?,who?", "repeats the original"),
        ("Who?", "Line 2 has 1 columns"),
        (f"Who?,{'x' * 20_001}", "more than 20,000 characters"),
    ],
)
def test_a_bad_row_is_refused_by_its_line_and_harms_no_other(tmp_path, line, why):
    found = read(tmp_path / "a.csv", f"original,paraphrase\n{line}\nGood?,Fine?\n")
    assert len(found.pairs) == 1 and why in found.refusals[0][1] and found.refusals[0][0] == 2


def test_wrong_bytes_are_refused_by_line_and_a_wrong_file_as_a_whole(tmp_path):
    found = read(tmp_path / "a.csv", "original,paraphrase\nthé?,tea?\n".encode() + b"caf\xe9?,coffee?\n")
    assert len(found.pairs) == 1 and "not UTF-8" in found.refusals[0][1]
    assert len(read(tmp_path / "b.csv", "\ufefforiginal;paraphrase\nÜber?;Darüber?\n").pairs) == 1  # Excel: a mark, semicolons
    with pytest.raises(BadInput, match="UTF-16"):
        read(tmp_path / "c.csv", "original,paraphrase\na,b\n".encode("utf-16"))
    with pytest.raises(BadInput, match="Say which columns"):
        read(tmp_path / "d.csv", "left,right\na,b\n")


@pytest.mark.parametrize("said, word", [("True", "yes"), ("no", "no"), ("?", "unsure"), ("1", "yes")])
def test_verdicts_come_with_their_pairs_in_many_spellings(tmp_path, said, word):
    found = read(tmp_path / "a.csv", f"original,paraphrase,annotator,meaning\nWho?,Which one?,7,{said}\n")
    assert [(row["reviewer"], row["meaning"], row["difficulty"]) for row in found.verdicts] == [("7", word, None)]
    assert found.verdicts[0]["paraphrase_hash"] == digest("Which one?")


def test_a_word_that_is_no_verdict_is_refused(tmp_path):
    found = read(tmp_path / "a.csv", "original,paraphrase,reviewer,meaning\nWho?,Which one?,Ada,perhaps\n")
    assert found.verdicts == () and "write yes, no or unsure" in found.refusals[0][1]


def test_a_verdict_on_another_text_is_refused(store, tmp_path):
    pair = made_pairs(1)[0]
    stored(store, [pair])
    row = f"pair_id,reviewer,meaning,original_hash\n{pair['pair_id']},Ada,yes,{digest('another text')}\n"
    found = read(tmp_path / "v.csv", row, inventory=inventory(store))
    assert found.verdicts == () and "was given on another original" in found.refusals[0][1]
    gone = read(tmp_path / "w.csv", "pair_id,reviewer,meaning\nnever,Ada,yes\n", inventory=inventory(store))
    assert "is not stored here" in gone.refusals[0][1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_goes_out_comes_back_the_same_and_only_once(store, tmp_path, kind):
    pairs = [
        pair | {"original": start + pair["original"], "paraphrase": pair["paraphrase"] + " üß"}
        for pair, start in zip(made_pairs(4), ("=1+1 ", "@", "", "-"), strict=True)
    ]
    stored(store, pairs)
    judgements.keep(
        store,
        PAIR_VERDICTS,
        [
            verdict_row(pair, name, said, '=note, "quoted"\nover two lines')
            for pair in pairs
            for name, said in (("Ada", SAME), ("+Bea", OTHER))
        ],
    )
    files = {name: file_bytes(rows(store), kind) for name, rows in (("pairs", pair_rows), ("verdicts", verdict_rows))}
    other = Store.open(tmp_path / "other.duckdb")
    for _ in range(2):
        for name, content in files.items():
            found = read(tmp_path / f"{name}.{kind}", content, inventory=inventory(other))
            assert found.refusals == ()
            take_in(other, found)
    same = [rows(one) for rows in (pair_rows, verdict_rows) for one in (store, other)]
    other.close()
    assert same[0] == same[1] and same[2] == same[3] and len(same[3]) == 8


@pytest.mark.slow
@pytest.mark.stand_in(
    "pages/test_paraphrase_review.py::test_small_paraphrases_come_in_beside_their_originals_and_wait_for_review"
)
def test_rewordings_of_gsm8k_come_in_row_by_row(store, shared_data):
    rows = file_rows(shared_data / "rephrase" / "rephrase_gsm8k.jsonl")
    originals = row_originals("gsm8k", shared_data / "gsm8k" / "test.jsonl")
    found = incoming(
        rows, {"paraphrase": "text"}, dataset="gsm8k", generator="rephrase", inventory=Inventory(), originals=originals
    )
    assert len(found.pairs) + len(found.refusals) == 1319 and len(found.refusals) < 10
    assert found.pairs[0]["paraphrase"].startswith("Janet's ducks produce") and "Answer" not in found.pairs[0]["paraphrase"]
    take_in(store, found)
    states = studies.paraphrase_states(store)
    assert len(states) == len(found.pairs) and set(states["state"]) == {"unreviewed"}
    assert review.pairs(store, [found.pairs[0]["pair_id"]])[0]["target"] == "18"
    with pytest.raises(BadInput, match="row by row"):
        incoming(rows[:5], {"paraphrase": "text"}, dataset="gsm8k", generator="x", inventory=Inventory(), originals=originals)


@pytest.mark.stand_in("test_verdicts_come_with_their_pairs_in_many_spellings")
def test_human_judgements_of_apty_come_in_with_their_raters(store, shared_data):
    rows = file_rows(shared_data / "apty" / "apty_base.csv")
    columns = guessed_columns(rows[0].values) | {
        "meaning": "applied-correctly",
        "paraphrase": "paraphrase-text",
        "generator": "apt",
    }
    assert columns["reviewer"] == "annotator"
    found = incoming(rows, columns, dataset="apty", generator="", inventory=Inventory())
    assert len(found.verdicts) > 450 and all("Line" in why for _, why in found.refusals)
    take_in(store, found)
    verdicts = judgements.standing(store, PAIR_VERDICTS)
    assert len({row["reviewer"] for row in verdicts}) == 15
    several = agreement(verdicts, "meaning")
    assert several.alpha.n_items >= 15 and 0 < several.alpha.raw < 1


@pytest.mark.stand_in("test_pairs_come_with_items_that_have_the_answer")
def test_the_sociology_questions_come_in_with_their_options(shared_data):
    rows = file_rows(shared_data / "rephrase" / "sociology_test_rephrase_english_filtered_question.jsonl")
    originals = row_originals("mmlu", shared_data / "rephrase" / "sociology_test.csv")
    found = incoming(
        rows, {"paraphrase": "text"}, dataset="mmlu", generator="rephrase", inventory=Inventory(), originals=originals
    )
    assert len(found.pairs) + len(found.refusals) == 201 and len(found.items[0].options) == 4


def test_json_lines_that_are_no_objects_are_refused(tmp_path):
    lines = [json.dumps({"original": "Who?", "paraphrase": "Which one?"}), "[1, 2]", "{broken"]
    found = read(tmp_path / "a.jsonl", "\n".join(lines))
    assert len(found.pairs) == 1 and [line for line, _ in found.refusals] == [2, 3]


def test_a_verdict_needs_somebody_who_gave_it(tmp_path):
    content = "original,paraphrase,reviewer,meaning\na b?,b a?,Ada,yes\nc d?,d c?,,no\ne f?,f e?,,\n"
    found = read(tmp_path / "v.csv", content)
    assert (len(found.pairs), len(found.verdicts)) == (2, 1)
    assert found.refusals == ((3, "Line 3 says something of the pair and names no reviewer."),)
    nobody = read(tmp_path / "v.csv", content, columns={name: name for name in ("original", "paraphrase", "meaning")})
    assert len(nobody.pairs) == 3 and nobody.verdicts == () and "No column names the reviewers" in nobody.notes[0]


def test_a_file_without_one_readable_row_says_what_is_wrong_with_the_first(tmp_path):
    with pytest.raises(BadInput, match="No row of the file can be read. Line 2"):
        read(tmp_path / "open.csv", 'original,paraphrase\n"a b?,b a?\nc?,d?\n')


def test_a_nul_character_is_refused_by_line(tmp_path):
    found = read(tmp_path / "nul.csv", "original,paraphrase\na\0b?,b a?\nc d?,d c?\n")
    assert len(found.pairs) == 1 and found.refusals[0][0] == 2 and "NUL" in found.refusals[0][1]


# Pairs and verdicts as files: a spreadsheet runs nothing of them.


def test_csv_cells_that_a_spreadsheet_would_run_are_neutralised():
    rows = list(csv.DictReader(io.StringIO(file_bytes([{"a": "=cmd()", "b": None, "c": 3}], "csv").decode())))
    assert rows == [{"a": "'=cmd()", "b": "", "c": "3"}]
