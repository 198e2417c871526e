"""The checkpoint in the layout that transformers, llama.cpp's converter and vLLM load as a Llama."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from tests.lab.pocket.tokenizer import BOS, EOS, PAD

if TYPE_CHECKING:
    from tests.lab.pocket.network import Network, Shape

SUMS = "checksums.json"
FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", SUMS)
CHAT_TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}"


def configuration(shape: Shape, tokenizer: Tokenizer) -> dict:
    """config.json of a Llama; every size that inference needs."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "dtype": "float16",
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.n_layers,
        "num_attention_heads": shape.n_heads,
        "num_key_value_heads": shape.n_heads,
        "head_dim": shape.width // shape.n_heads,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": 1e-5,
        "rope_theta": shape.theta,
        "tie_word_embeddings": True,
        "vocab_size": shape.vocabulary,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": tokenizer.token_to_id(BOS),
        "eos_token_id": tokenizer.token_to_id(EOS),
        "pad_token_id": tokenizer.token_to_id(PAD),
    }


def _write(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def export(network: Network, tokenizer: Tokenizer, folder: Path) -> None:
    """Write config.json, model.safetensors (half precision), the tokenizer's files, and checksums.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"model.{name}": parameter.detach().float().numpy().astype(np.float16)
        for name, parameter in network.state_dict().items()
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write(folder / "config.json", configuration(network.shape, tokenizer))
    ids = {"bos_token_id": tokenizer.token_to_id(BOS), "eos_token_id": tokenizer.token_to_id(EOS)}
    _write(folder / "generation_config.json", {**ids, "do_sample": False})
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BOS,
            "eos_token": EOS,
            "pad_token": PAD,
            "model_max_length": network.shape.context,
            "clean_up_tokenization_spaces": False,
            "chat_template": CHAT_TEMPLATE,
        },
    )
    write_checksums(folder)


def write_checksums(folder: Path) -> None:
    """sha256 of each file that the model consists of."""
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES if name != SUMS}
    _write(folder / SUMS, sums)
