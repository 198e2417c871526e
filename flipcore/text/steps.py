"""How many steps a worked solution takes."""

from __future__ import annotations

import math
import re

_CALCULATION = re.compile(r"<<[^<>\n]*>>")  # GSM8K's calculator chains


def n_steps(solution: str) -> float:
    """Calculations marked `<<…>>`, else the lines before the final answer; NaN where there is no solution."""
    worked = solution.rpartition("####")[0] if "####" in solution else solution
    n_calculations = len(_CALCULATION.findall(worked))
    lines = sum(bool(line.strip()) for line in worked.splitlines())
    return float(n_calculations or lines) or math.nan
