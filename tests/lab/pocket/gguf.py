"""The checkpoint as one GGUF file, which llama.cpp and what is built on it load. Needs the package `gguf`.

llama.cpp's own converter refuses tokenizers that it does not know by name; this one is qwen2's pre-tokenizer with other merges.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from flipcore.core.errors import MissingPackage
from flipcore.core.paths import POCKET

NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def tensor_name(name: str) -> str:
    """llama.cpp's name of a tensor of the Llama layout."""
    whole = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    if name in whole:
        return whole[name]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.weight"


def paired(matrix: np.ndarray, n_heads: int) -> np.ndarray:
    """Rows of a query or key matrix in llama.cpp's order: it turns neighbours, the Llama layout turns halves of a head."""
    rows, columns = matrix.shape
    return matrix.reshape(n_heads, 2, rows // n_heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_gguf(path: Path, folder: Path = POCKET) -> None:
    """Write the checkpoint in `folder` to `path`, matrices in half precision. MissingPackage without gguf."""
    if find_spec("gguf") is None:
        raise MissingPackage("This needs the package gguf, which is not installed; run `pip install gguf`.")
    import gguf

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(path, "llama")
    _describe(writer, config)
    _tokens(writer, folder, config)
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            tensor = paired(tensor, config["num_attention_heads"])
        writer.add_tensor(tensor_name(name), tensor.astype(np.float32) if tensor.ndim == 1 else tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer, config: dict) -> None:
    writer.add_name("Flipscope pocket model")
    writer.add_file_type(1)  # mostly half precision
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])


def _tokens(writer, folder: Path, config: dict) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = {token["id"] for token in tokenizer["added_tokens"]}
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if number in special else 1 for number in range(len(tokens))])  # 3 is control, 1 normal
    writer.add_token_merges([" ".join(merge) for merge in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(True)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    writer.add_chat_template(settings["chat_template"])
