"""Imports beside others: the first page's needs before it is asked for, and what two threads may
want at once."""

import threading
from importlib import import_module

NEEDED = (
    *(
        "duckdb",
        "scipy.special",
        "plotly.graph_objects",
        "flipcore.runs.background",
        "flipcore.runs.demo",
    ),
    *(
        "flipcore.reports.flips",
        "flipcore.reports.browser_data.flip_map",
        "flipcore.stats.flips.readout_mismatch",
    ),
)
LEARNERS = tuple(
    f"sklearn.{part}"
    for part in (
        "linear_model",
        "feature_extraction.text",
        "model_selection",
        "pipeline",
        "preprocessing",
        "utils.extmath",
    )
)
_one_thread = threading.Lock()


def learners() -> None:
    """scikit-learn, to be called before a function imports a part of it. Two threads that begin
    with it at the same time find half a module (its parts import each other, and CPython gives way
    rather than wait for ever). ImportError where it is not installed."""
    with _one_thread:
        for name in LEARNERS:
            import_module(name)


def begin() -> threading.Thread:
    """Imports in a thread of its own, which is returned."""
    thread = threading.Thread(
        target=lambda: [import_module(name) for name in NEEDED],
        name="flipscope-imports",
        daemon=True,
    )
    thread.start()
    return thread
