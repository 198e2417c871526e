"""What the catalogue says of claims stands in the table of simulations."""

from pathlib import Path

import pytest

from flipcore.claims.catalogue import ASSERTIONS

TABLE = Path(__file__).parents[1] / "stats" / "claims.md"
ROWS = [line.split("|") for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
CELLS = {(cells[1].strip(), cells[2].strip()) for cells in ROWS}


@pytest.mark.parametrize("assertion", ASSERTIONS, ids=lambda assertion: assertion.name)
def test_each_world_of_a_claim_was_simulated(assertion):
    assert assertion.worlds and {(assertion.name, world) for world in assertion.worlds} <= CELLS
