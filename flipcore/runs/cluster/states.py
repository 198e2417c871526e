"""States of a cluster's workers, in words for the terminal and the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.text.counts import count_of

# a lost worker is being started anew; one that stayed away is missing
STARTING, AT_WORK, LOST, MISSING, SET_ASIDE = "starting", "at work", "lost", "missing", "set aside"
_FEW = 3


@dataclass(frozen=True)
class WorkerState:
    """One worker of one model. `n_answers` and `n_failures` count calls, `n_losses` how often its
    process went; `problem` is a sentence where it is not at work."""

    name: str
    model: str
    state: str
    n_answers: int
    n_failures: int
    n_losses: int
    problem: str = ""

    @property
    def row(self) -> dict[str, str | int]:
        """The worker's row in a table, under the names that people see."""
        return {
            "worker": self.name,
            "model": self.model,
            "state": self.state,
            "answers": self.n_answers,
            "failed": self.n_failures,
            "lost": self.n_losses,
            "why": self.problem if self.state != AT_WORK else "",
        }

    @property
    def sentence(self) -> str:
        """The worker's line in a list."""
        failures = f", {self.n_failures:,} failed" if self.n_failures else ""
        losses = (
            f", lost {self.n_losses:,} times"
            if self.n_losses > 1
            else ", lost once" * self.n_losses
        )
        reason = f" ({self.problem})" if self.problem and self.state != AT_WORK else ""
        return (
            f"{self.name} for {self.model}: {self.state},"
            f" {count_of(self.n_answers, 'answer')}{failures}{losses}{reason}"
        )


def missing_workers(workers: Sequence[WorkerState]) -> str:
    """A sentence about the workers that are missing or set aside, the first of them by name; ""
    where there are none."""
    missing = [worker for worker in workers if worker.state in (MISSING, SET_ASIDE)]
    if not missing:
        return ""
    names = "; ".join(
        f"{worker.name}, {worker.state}: {worker.problem.rstrip('.')}" for worker in missing[:_FEW]
    )
    more = f"; and {len(missing) - _FEW:,} more" if len(missing) > _FEW else ""
    return f"{len(missing):,} of {len(workers):,} workers get no calls ({names}{more})."


def work_line(workers: Sequence[WorkerState]) -> str:
    """Return a line on how much each worker did: by name where they are few, else from the least to
    the most; "" without workers."""
    if not workers:
        return ""
    ready = [worker for worker in workers if worker.state == AT_WORK]
    counts = [worker.n_answers for worker in workers]
    if len(workers) <= 2 * _FEW:
        return (
            "by worker "
            + ", ".join(f"{worker.n_answers:,}" for worker in workers)
            + f" ({len(ready):,} at work)"
        )
    return (
        f"{len(ready):,} of {len(workers):,} workers at work, {min(counts):,} to {max(counts):,}"
        " answers each"
    )
