from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.datasets.sources import written_from
from flipcore.stats.holdout.entries import paired_rows


def item(dataset, key, source=None):
    return Item.make(dataset=dataset, key=key, kind="number", question=f"{dataset} {key}?", target="1", source_id=source)


TARGET = [item("gsm8k", key) for key in ("1", "2", "a/b")]


def test_a_source_is_named_by_item_id_or_by_key():
    retro = [item("new", "1", "2"), item("new", "2", TARGET[0].item_id), item("new", "3", "a/b"), item("new", "4")]
    found = written_from(retro, [one.item_id for one in TARGET])
    assert [one.source_id for one in found] == [TARGET[1].item_id, TARGET[0].item_id, TARGET[2].item_id, None]
    assert [one.item_id for one in found] == [one.item_id for one in retro]


def test_a_name_of_no_entry_or_of_two_pairs_with_nothing():
    target = [*TARGET, item("other", "1")]
    retro = [item("new", "1", "1"), item("new", "2", "elsewhere")]
    assert written_from(retro, [one.item_id for one in target]) == tuple(retro)


def test_a_file_that_says_what_each_entry_was_written_from_makes_source_pairs(tmp_path):
    path = tmp_path / "retro.csv"
    path.write_text("question,answer,written_from\nnew one?,3,2\nnew two?,4,1\n", encoding="utf-8")
    loaded = load_report(ItemSource("file", path=str(path)))
    assert any("The item it was written from is read from column 'written_from'" in note for note in loaded.notes)
    retro = written_from(loaded.items, [one.item_id for one in TARGET])
    assert paired_rows(TARGET, retro).tolist() == [1, 0, 3, 4]
