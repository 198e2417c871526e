import pytest

from tests.lab.pocket import items
from tests.lab.pocket.__main__ import main
from tests.lab.pocket.items import read_items
from tests.lab.pocket.world import FAMILIES

pytestmark = pytest.mark.usefixtures("allowed_folders")


def test_a_folder_without_a_checkpoint_is_refused_with_a_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tests.lab.pocket.__main__.find_spec", lambda name: object())
    assert main(["export", str(tmp_path)]) == 1
    assert "holds no config.json" in capsys.readouterr().err


def test_training_without_torch_names_the_requirements_file(capsys, monkeypatch):
    monkeypatch.setattr("tests.lab.pocket.__main__.find_spec", lambda name: None)
    for command in ("train", "reference"):
        assert main([command, "somewhere"]) == 1
        assert "requirements-train.txt" in capsys.readouterr().err


@pytest.mark.slow
def test_written_items_are_read_back_byte_for_byte(tmp_path):
    items.write_items(tmp_path)
    for family in FAMILIES:
        assert (tmp_path / f"{family}.jsonl").read_bytes() == (items.ITEMS / f"{family}.jsonl").read_bytes()
        assert len(list(read_items(family, tmp_path))) == 770
