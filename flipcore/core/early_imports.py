"""Slow imports that are made early, in a thread, or under a lock."""

import threading
from importlib import import_module

# Modules that the first page needs. Imported early, they are ready when a browser asks for it.
NEEDED = (
    "duckdb",
    "scipy.special",
    "plotly.graph_objects",
    "flipcore.runs.background",
    "flipcore.runs.demo",
    "flipcore.reports.flips",
    "flipcore.reports.browser_data.flip_map",
    "flipcore.stats.flips.readout_mismatch",
)
LEARNERS = (
    "sklearn.linear_model",
    "sklearn.feature_extraction.text",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.utils.extmath",
)
_learners_lock = threading.Lock()


def learners() -> None:
    """Import scikit-learn; call this before a function imports a part of it.

    Its parts import each other. If two threads begin at the same time, CPython lets one of them see
    a half-imported module rather than wait for ever. Raises ImportError if it is not installed.
    """
    with _learners_lock:
        for name in LEARNERS:
            import_module(name)


def begin() -> threading.Thread:
    """Import the modules of NEEDED in a thread, and return the thread."""
    thread = threading.Thread(
        target=lambda: [import_module(name) for name in NEEDED],
        name="flipscope-imports",
        daemon=True,
    )
    thread.start()
    return thread
