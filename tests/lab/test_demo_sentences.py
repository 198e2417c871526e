"""The table of sentences before and after: all of them, each with its reason where it changed."""

import json

from tests.lab import demo_sentences
from tests.lab.demo_sentences import BEFORE, PAGE, reason_of, sentences, table


def test_sentences_keep_their_place_where_a_list_changes_its_order():
    cells = [{"axis": "label_set", "sentence": "A."}, {"axis": "option_order", "sentence": "B."}]
    found = {"models": {"m": {"headline": "H.", "cells": cells}}, "notes": ["N."], "n": 3}
    turned = {"models": {"m": {"headline": "H.", "cells": cells[::-1]}}, "notes": ["N."], "n": 3}
    assert dict(sentences(found)) == dict(sentences(turned))
    assert set(dict(sentences(found)).values()) == {"A.", "B.", "H.", "N."}


def test_a_table_has_what_changed_what_came_and_what_is_gone():
    text = table({"models a": "Old.", "notes": "Same.", "gone": "Gone."}, {"models a": "New.", "notes": "Same."})
    assert f"| Old. | New. | {reason_of('models a', 'New.')} |" in text
    assert "| Same. | Same. | the same |" in text and "| Gone. | (nothing) |" in text


def test_each_changed_sentence_of_the_page_has_its_reason():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 10
    assert [row for row in rows if row.endswith("|  |")] == []


def test_every_stored_sentence_stands_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    stored = json.loads(BEFORE.read_text(encoding="utf-8"))
    texts = [text.replace("|", "/") for study in stored.values() for text in study.values()]
    assert [text for text in texts if f"| {text} |" not in page] == []


def test_the_page_is_written_by_the_command(tmp_path, monkeypatch, capsys):
    found = tmp_path / "flips.json"
    found.write_text(json.dumps({"notes": ["New."]}), encoding="utf-8")
    page = tmp_path / "index.md"
    page.write_text("before\n<!-- table -->\nold\n<!-- end of table -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(demo_sentences, "PAGE", page)
    assert demo_sentences.main([str(found), "--write"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before") and text.endswith("after\n") and "New." in text and "old" not in text
    assert "New." in capsys.readouterr().out
