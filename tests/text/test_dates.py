"""What could have been seen: every order of two dates, and dates that are months or years."""

import re
from datetime import date

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS, load
from flipcore.models import model_cards
from flipcore.text.dates import could_have_been_seen, span

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.parametrize(
    ("published", "cutoff", "answer"),
    [
        ("2024-05-01", "2023-10-01", "no"),
        ("2021-10-27", "2023-10-01", "yes"),
        ("2023-10-01", "2023-10-01", "yes"),
        ("2023-10-02", "2023-10-01", "no"),
        (None, "2023-10-01", "unknown"),
        ("", "2023-10-01", "unknown"),
        ("2024-05-01", None, "unknown"),
        (None, None, "unknown"),
        ("2023-12-15", "2023-12", "unknown"),  # a cut-off in December may be its last day
        ("2024-01-01", "2023-12", "no"),
        ("2023-12-01", "2023-12", "yes"),
        ("2023-11-30", "2023-12", "yes"),
        ("2023", "2023-06-01", "unknown"),
        ("2022", "2023-06-01", "yes"),
        ("2024-02", "2023", "no"),
    ],
)
def test_only_what_came_out_after_the_last_possible_day_could_not_have_been_seen(published, cutoff, answer):
    assert could_have_been_seen(published, cutoff).answer == answer


def test_the_sentence_names_both_dates_and_what_is_assumed():
    no, yes = (could_have_been_seen(day, "2023-10-01").sentence for day in ("2024-05-01", "2021-10-27"))
    assert "2024-05-01" in no and "2023-10-01" in no and "if that cut-off is true and nothing of it was public earlier" in no
    assert "could have been seen" in yes and "another question" in yes
    assert "no publication date" in could_have_been_seen(None, "2023").sentence
    assert "not declared" in could_have_been_seen("2023", None).sentence


def test_a_month_is_all_of_its_days_also_in_a_leap_year():
    assert span("date", "2024-02") == (date(2024, 2, 1), date(2024, 2, 29))
    assert span("date", "2023") == (date(2023, 1, 1), date(2023, 12, 31))


@pytest.mark.parametrize("wrong", ["May 2023", "2023-13", "2023-02-30", "20230501", "2023-1-1"])
def test_what_is_no_date_gets_a_sentence(wrong):
    with pytest.raises(BadInput, match=f"training cut-off is '{re.escape(wrong)}'; write it as year-month-day"):
        could_have_been_seen("2024-01-01", wrong)


def test_every_declared_cutoff_can_be_read():
    cutoffs = [card.cutoff for card in model_cards().values() if card.cutoff]
    assert cutoffs and all(span("cut-off", cutoff) for cutoff in cutoffs)


@pytest.mark.stand_in("test_a_row_of_gsm1k_is_newer_than_one_of_gsm8k")
def test_gsm8k_could_have_been_seen_where_gsm1k_could_not(shared_data):
    new = load(ItemSource("gsm1k", path=str(shared_data / "gsm1k" / "gsm1k_public_50.csv")))
    old = load(ItemSource("gsm8k", path=str(shared_data / "gsm8k" / "test.jsonl"), n=5))
    assert len(new) == 50 and {item.kind for item in new} == {"number"} and LOADERS["gsm1k"].kind == "number"
    assert {could_have_been_seen(item.published, "2023-10-01").answer for item in new} == {"no"}
    assert {could_have_been_seen(item.published, "2023-10-01").answer for item in old} == {"yes"}


def test_a_row_of_gsm1k_is_newer_than_one_of_gsm8k(tmp_path):
    (tmp_path / "gsm1k.csv").write_text("answer,question\n7,How many pears?\n")
    (tmp_path / "gsm8k.jsonl").write_text('{"question": "How many?", "answer": "3+4=<<3+4=7>>7\\n#### 7"}\n')
    (new,) = load(ItemSource("gsm1k", path=str(tmp_path / "gsm1k.csv")))
    (old,) = load(ItemSource("gsm8k", path=str(tmp_path / "gsm8k.jsonl")))
    assert [could_have_been_seen(item.published, "2023-10-01").answer for item in (new, old)] == ["no", "yes"]


def test_a_gsm1k_answer_that_is_no_number_is_refused(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("answer,question\nseven,How many?\n")
    with pytest.raises(BadInput, match="'seven', which is no number"):
        load(ItemSource("gsm1k", path=str(path)))
