"""What torch computes on fixed prompts, recorded as numbers so that the test of the numpy inference needs no torch."""

import json
from pathlib import Path

import torch

from flipcore.core.paths import POCKET, ROOT
from flipcore.models.pocket_inference import PocketModel
from tests.lab.pocket.items import read_items
from tests.lab.pocket.network import Network, Shape
from tests.lab.pocket.world import FAMILIES

GOLDEN = ROOT / "tests" / "models" / "golden.json"


def torch_network(folder: Path = POCKET) -> Network:
    """The torch network with the shipped weights, in single precision."""
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shape = Shape(
        config["vocab_size"],
        config["hidden_size"],
        config["num_hidden_layers"],
        config["num_attention_heads"],
        config["intermediate_size"],
        config["rope_theta"],
        config["max_position_embeddings"],
    )
    network = Network(shape)
    tensors = load_file(folder / "model.safetensors")
    network.load_state_dict({name.removeprefix("model."): tensor.float() for name, tensor in tensors.items()})
    return network.eval()


def _logs(network: Network, ids: list[int]) -> torch.Tensor:
    tokens = torch.tensor([ids])
    return network(tokens, torch.arange(len(ids))[None], torch.zeros_like(tokens)).log_softmax(-1)[0]


@torch.no_grad()
def write_golden(n_each: int = 4, n_tokens: int = 24) -> None:
    """Greedy ids and the log-probability of every prompt token, for some items of each family."""
    network, tokenizer = torch_network(), PocketModel.load().tokenizer
    rows = []
    for family in FAMILIES:
        entries = list(read_items(family))
        for entry in entries[:n_each] + entries[-n_each:]:
            prompt = entry.document[0] or entry.question[: len(entry.question) // 2]
            ids = tokenizer.encode(prompt).ids
            logs = _logs(network, ids)
            values = [round(float(logs[k - 1, ids[k]]), 5) for k in range(1, len(ids))]
            grown = list(ids)
            while len(grown) < len(ids) + n_tokens and grown[-1] != tokenizer.token_to_id("<eos>"):
                grown.append(int(_logs(network, grown)[-1].argmax()))
            rows.append({"prompt": prompt, "prompt_logprobs": values, "greedy_ids": grown[len(ids) :]})
    GOLDEN.write_text(json.dumps({"revision": PocketModel.load().revision, "rows": rows}, indent=1) + "\n", encoding="utf-8")
