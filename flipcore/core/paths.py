"""Where things are: the one place that knows how the tree is laid out."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
ITEMS = DATA / "items"
NAMES = DATA / "names"
PARAPHRASES = DATA / "paraphrases"
POCKET = DATA / "pocket"
INBOX = DATA / "inbox"
MODELS_TOML = DATA / "models.toml"
DATABASE = DATA / "flips.duckdb"
