"""UMAP in a process of its own: it compiles itself for some ten seconds, in which no page of this
one would come to its turn.

`python -m flipcore.vectors.map_process` is that process. It reads what it is asked for from its
input, and ends with it.
"""

import atexit
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from flipcore.core.errors import FlipscopeError
from flipcore.stats.holdout import projection


class _Drawer:
    """The drawing process, begun when first asked and after it ended. The second asker waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> subprocess.Popen[bytes]:
        with self._lock:
            return self._begin()

    def _begin(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=Path(__file__).resolve().parents[2],
            )
        return self._process

    def places(self, *request: object) -> np.ndarray:
        with self._lock:
            process = self._begin()
            # pipes, as it was begun
            assert process.stdin is not None and process.stdout is not None
            try:
                pickle.dump(request, process.stdin)
                process.stdin.flush()
                outcome = pickle.load(process.stdout)
            except (OSError, EOFError) as error:
                raise FlipscopeError(
                    f"The process that draws the map ended with code {process.wait()}."
                ) from error
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


_DRAWER = _Drawer()
begin = _DRAWER.begin
atexit.register(_DRAWER.end)


def umap_places(units: np.ndarray, seed: int, n_neighbours: int, min_distance: float) -> np.ndarray:
    """As `projection.umap_places`, with its errors; FlipscopeError if the process was ended."""
    return _DRAWER.places(units, seed, n_neighbours, min_distance)


def _serve() -> None:
    """In the process: a map for everything that is asked, or what went wrong."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # what a library prints is no answer
    if hasattr(os, "nice"):
        os.nice(10)  # pages come first
    # imported and compiled before it is asked for
    projection.umap_places(np.eye(8, dtype=np.float32))
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            outcome: object = projection.umap_places(*request)
        except Exception as error:
            outcome = error
        pickle.dump(outcome, answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
