"""The shipped checkpoint is small and is the one that its checksums name."""

import json

from tests.lab.pocket.items import POCKET


def test_the_checkpoint_is_small_and_matches_its_checksums():
    import hashlib

    sums = json.loads((POCKET / "checksums.json").read_text(encoding="utf-8"))
    assert "model.safetensors" in sums
    assert all(hashlib.sha256((POCKET / name).read_bytes()).hexdigest() == value for name, value in sums.items())
    assert (POCKET / "model.safetensors").stat().st_size < 8e6
