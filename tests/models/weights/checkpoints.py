"""Small checkpoints for tests of open weights: the pocket model as it stands, and copies of it in which something differs."""

import json
import shutil

from flipcore.core.paths import POCKET
from flipcore.models.own_models import card_from
from tests.lab.pocket.items import read_items
from tests.lab.pocket.world import FAMILIES

FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


def copy(folder, **changes):
    """The pocket checkpoint in `folder` with files changed: name -> what is merged into its table, or None to leave it out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if changes.get(name, 1) is None:
            continue
        shutil.copy(POCKET / name, folder / name)
        if name in changes:
            table = json.loads((folder / name).read_text()) | changes[name]
            (folder / name).write_text(json.dumps({key: value for key, value in table.items() if value is not None}))
    return folder


def card(model=POCKET, name="open", **changes):
    return card_from(name, "transformers", str(model), **changes)


def prompts(n_each=2):
    """Of every family items that the pocket model knows by heart and some that it never saw, of many lengths."""
    entries = [
        entry
        for family in FAMILIES
        for which in (lambda e: e.dose == 256, lambda e: e.split == "fresh")
        for entry in [e for e in read_items(family) if which(e)][:n_each]
    ]
    return [entry.document[0] or entry.question[: len(entry.question) // 2].rstrip() for entry in entries]
