"""Tests that run other harnesses themselves, where they are installed."""

import importlib.util
import os
import subprocess
import sys


def python_with(module: str) -> str:
    """The interpreter that has a harness: this one, or FLIPSCOPE_HARNESSES; "" where neither has it."""
    if importlib.util.find_spec(module):
        return sys.executable
    python = os.environ.get("FLIPSCOPE_HARNESSES", "")
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return python if python and subprocess.run([python, "-c", look], check=False).returncode == 0 else ""
