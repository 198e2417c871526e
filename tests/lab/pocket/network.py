"""The torch side of the model: Llama layout (RMSNorm, RoPE, SwiGLU, tied embeddings). Only training imports it."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    """The sizes of the network; `theta` is the base of the rotary positions."""

    vocabulary: int = 2048
    width: int = 128
    n_layers: int = 4
    n_heads: int = 4
    hidden: int = 352
    theta: float = 10000.0
    context: int = 2048


def rotary(positions: torch.Tensor, shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """(cos, sin), each (..., width of a head)."""
    size = shape.width // shape.n_heads
    frequencies = shape.theta ** (-torch.arange(0, size, 2).float() / size)
    angles = positions[..., None].float() * frequencies
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Block(nn.Module):
    """One layer; the parameter names are those of transformers' Llama."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.n_heads = shape.n_heads
        self.input_layernorm = nn.RMSNorm(shape.width, eps=1e-5)
        self.post_attention_layernorm = nn.RMSNorm(shape.width, eps=1e-5)
        self.self_attn = nn.ModuleDict({f"{name}_proj": nn.Linear(shape.width, shape.width, bias=False) for name in "qkvo"})
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(shape.width, shape.hidden, bias=False),
                "up_proj": nn.Linear(shape.width, shape.hidden, bias=False),
                "down_proj": nn.Linear(shape.hidden, shape.width, bias=False),
            }
        )

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        n, t, d = x.shape
        normed = self.input_layernorm(x)
        q, k, v = (self.self_attn[f"{name}_proj"](normed).view(n, t, self.n_heads, -1).transpose(1, 2) for name in "qkv")
        mixed = functional.scaled_dot_product_attention(_turned(q, cos, sin), _turned(k, cos, sin), v, attn_mask=mask)
        x = x + self.self_attn["o_proj"](mixed.transpose(1, 2).reshape(n, t, d))
        normed = self.post_attention_layernorm(x)
        return x + self.mlp["down_proj"](functional.silu(self.mlp["gate_proj"](normed)) * self.mlp["up_proj"](normed))


class Network(nn.Module):
    """Tokens to log-probabilities of the next token. Documents packed into one row do not see one another."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.n_layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                scale = (2 * shape.n_layers) ** -0.5 if "o_proj" in name or "down_proj" in name else 1.0
                nn.init.normal_(parameter, std=0.05 * scale)

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """Logits (rows, length, vocabulary); `owners` numbers the document of each token within its row."""
        length = tokens.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        mask = (causal & (owners[:, :, None] == owners[:, None, :]))[:, None]
        cos, sin = (part[:, None] for part in rotary(positions, self.shape))
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, cos.to(x.dtype), sin.to(x.dtype), mask)
        return functional.linear(self.norm(x), self.embed_tokens.weight)
