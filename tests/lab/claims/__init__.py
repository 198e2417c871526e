"""How often the product's sentences are false: every claim, in the worlds where it would be, through the code that says it.

Each module named in `MODULES` ends in one tuple ``CELLS``; ``python -m tests.lab.claims`` runs them. See `cell`.
"""

from importlib import import_module

from tests.lab.claims.cell import Cell

MODULES = (
    "flips",
    "memory",
    "pocket",
    "holdout",
    "texts",
    "copied",
    "likeness",
    "gates",
    "audit",
    "ranking",
    "score",
    "corrected",
    "regression",
    "choices",
)


def cells_of(module: str) -> tuple[Cell, ...]:
    """The cells of one module of this folder, in its order."""
    return import_module(f"{__name__}.{module}").CELLS


def all_cells() -> dict[str, tuple[Cell, ...]]:
    """Module -> its cells."""
    return {module: cells_of(module) for module in MODULES}
