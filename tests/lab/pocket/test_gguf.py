import numpy as np
import pytest

from flipcore.core.errors import MissingPackage
from tests.lab.pocket.gguf import paired, tensor_name, write_gguf


def test_halves_of_a_head_become_neighbours():
    # two heads of four rows: the Llama layout turns row k with row k + 2, llama.cpp row 2k with row 2k + 1
    rows = paired(np.arange(8)[:, None], n_heads=2)[:, 0]
    assert rows.tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_every_tensor_of_the_checkpoint_has_a_name_in_llama_cpp():
    assert tensor_name("model.embed_tokens.weight") == "token_embd.weight"
    assert tensor_name("model.layers.3.mlp.down_proj.weight") == "blk.3.ffn_down.weight"
    assert tensor_name("model.layers.0.input_layernorm.weight") == "blk.0.attn_norm.weight"


def test_without_the_package_the_sentence_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.lab.pocket.gguf.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="pip install gguf"):
        write_gguf(tmp_path / "x.gguf")
