"""Cells of the claims about holdout: see `flipcore.lab.claims.cell` for how to add one."""

from __future__ import annotations

from flipcore.lab.claims.cell import Cell

CELLS: tuple[Cell, ...] = ()
