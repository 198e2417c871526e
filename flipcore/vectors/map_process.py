"""Run UMAP in a separate process: it compiles for some ten seconds, which would block all pages of
this process.

`python -m flipcore.vectors.map_process` is that process. It reads requests from its standard input,
and exits when the input ends.
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
    """The drawing process, started at the first request, and again if it has ended. It handles
    one request at a time; others wait for the lock."""

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
                # The folder of `flipcore`, which need not be installed.
                cwd=Path(__file__).resolve().parents[2],
            )
        return self._process

    def places(self, *request: object) -> np.ndarray:
        with self._lock:
            process = self._begin()
            # Both are pipes, by the arguments of `Popen`.
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
    """Return `projection.umap_places` from the process, with its errors; raises FlipscopeError
    if the process has ended."""
    return _DRAWER.places(units, seed, n_neighbours, min_distance)


def _serve() -> None:
    """Answer requests in the drawing process, each with a map or with its error."""
    # Libraries may print, so only this function keeps the pipe to the parent process.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    if hasattr(os, "nice"):
        os.nice(10)  # pages have priority
    # Import and compile UMAP before the first request.
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
