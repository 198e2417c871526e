"""Where weights may be read from, what they are known by, and what is said when they cannot be read."""

import os

import pytest

from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.paths import POCKET
from flipcore.models import open_backend
from flipcore.models.weights import backend
from tests.models.weights.checkpoints import card, copy

pytestmark = pytest.mark.skipif(not (POCKET / "model.safetensors").is_file(), reason="the pocket checkpoint is not here")


def test_a_folder_without_weights_and_a_name_that_is_not_in_the_cache_are_sentences(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(BadInput, match="no checkpoint"):
        backend.folder_of(str(tmp_path))
    with pytest.raises(BadInput, match="safetensors file, the only kind"):
        backend.folder_of(str(copy(tmp_path / "a", **{"model.safetensors": None})))
    for name in ("nobody/nothing-7b", "not a name at all/../..", "x" * 300):
        with pytest.raises(BadInput, match="hf download NAME"):
            backend.folder_of(name)
    assert backend.folder_of(str(POCKET)) == POCKET.resolve()


def test_on_a_network_only_the_folders_of_the_admin_are_read(tmp_path, monkeypatch):
    folder = copy(tmp_path / "elsewhere")
    assert backend.folder_of(str(folder)) == folder.resolve()
    monkeypatch.setattr("flipcore.models.weights.backend.is_access_on", lambda: True)
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", "")
    with pytest.raises(BadInput, match="outside of the folders"):
        backend.folder_of(str(folder))
    monkeypatch.setenv("FLIPSCOPE_FOLDERS", str(tmp_path))
    assert backend.folder_of(str(folder)) == folder.resolve()


def test_what_it_is_known_by_changes_with_weights_tokenizer_and_configuration_and_with_nothing_else(tmp_path):
    plain = backend.weights_digest(copy(tmp_path / "a"))
    assert backend.weights_digest(copy(tmp_path / "b")) == plain == backend.weights_digest(tmp_path / "a")
    weights = (tmp_path / "b" / "model.safetensors").read_bytes()
    (tmp_path / "b" / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    os.utime(tmp_path / "b" / "model.safetensors", ns=(1, 1))
    others = [
        backend.weights_digest(tmp_path / "b"),
        backend.weights_digest(copy(tmp_path / "c", **{"config.json": {"rms_norm_eps": 1e-6}})),
        backend.weights_digest(copy(tmp_path / "d", **{"tokenizer_config.json": {"chat_template": "x"}})),
    ]
    assert len({plain, *others}) == 4
    (tmp_path / "a" / "remark.txt").write_text("a remark")
    assert backend.weights_digest(tmp_path / "a") == plain


def test_of_a_large_file_blocks_from_its_beginning_to_its_end_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "_WHOLE", 1_000)
    monkeypatch.setattr(backend, "_BLOCK", 10)
    path = tmp_path / "large"
    digests = []
    for place in (None, 0, 9_999):
        content = bytearray(10_000)
        if place is not None:
            content[place] = 1
        path.write_bytes(content)
        digests.append(backend._file_digest(path, 10_000, len(digests)))
    assert len(set(digests)) == 3


def test_without_the_packages_the_sentence_names_the_file_that_brings_them(monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"torch and transformers here.*requirements-transformers.txt"):
        open_backend("open", {"open": card()})
