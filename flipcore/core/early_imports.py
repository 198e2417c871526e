"""What the first page needs is imported while the browser still loads Streamlit's own program, and waits for nobody."""

import threading
from importlib import import_module

NEEDED = (
    *("duckdb", "scipy.special", "plotly.graph_objects", "flipcore.runs.background", "flipcore.runs.demo"),
    *("flipcore.reports.flips", "flipcore.reports.browser_data.flip_map", "flipcore.stats.flips.readout_mismatch"),
)


def begin() -> threading.Thread:
    """Imports in a thread of its own, which is returned."""
    thread = threading.Thread(target=lambda: [import_module(name) for name in NEEDED], name="flipscope-imports", daemon=True)
    thread.start()
    return thread
