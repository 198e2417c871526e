"""States of a cluster's workers, in words for the terminal and the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.text.counts import count_of

# A lost worker is being restarted, a missing one stayed away too long, and one is set aside for a
# fault of its model or of its answers.
STARTING, AT_WORK, LOST, MISSING, SET_ASIDE = "starting", "at work", "lost", "missing", "set aside"
_MAX_NAMED = 3


@dataclass(frozen=True)
class WorkerState:
    """One worker of one model."""

    name: str
    model: str
    state: str
    n_answers: int  # calls
    n_failures: int  # calls
    n_losses: int  # how often its process was lost
    problem: str = ""  # a sentence on why it is not at work

    @property
    def row(self) -> dict[str, str | int]:
        """The worker's row in a table on screen."""
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
        """The worker's line in a list on screen."""
        failures = f", {self.n_failures:,} failed" if self.n_failures else ""
        losses = ""
        if self.n_losses:
            losses = ", lost once" if self.n_losses == 1 else f", lost {self.n_losses:,} times"
        reason = f" ({self.problem})" if self.problem and self.state != AT_WORK else ""
        return (
            f"{self.name} for {self.model}: {self.state},"
            f" {count_of(self.n_answers, 'answer')}{failures}{losses}{reason}"
        )


def missing_workers(workers: Sequence[WorkerState]) -> str:
    """Return a sentence on missing and set-aside workers, naming the first few; "" for none."""
    missing = [worker for worker in workers if worker.state in (MISSING, SET_ASIDE)]
    if not missing:
        return ""
    names = "; ".join(
        f"{worker.name}, {worker.state}: {worker.problem.rstrip('.')}"
        for worker in missing[:_MAX_NAMED]
    )
    more = f"; and {len(missing) - _MAX_NAMED:,} more" if len(missing) > _MAX_NAMED else ""
    return f"{len(missing):,} of {len(workers):,} workers get no calls ({names}{more})."


def work_line(workers: Sequence[WorkerState]) -> str:
    """Return a line on the answers of each worker, or with many workers their least and most. ""
    without workers."""
    if not workers:
        return ""
    ready = [worker for worker in workers if worker.state == AT_WORK]
    counts = [worker.n_answers for worker in workers]
    if len(workers) <= 2 * _MAX_NAMED:
        return (
            "by worker "
            + ", ".join(f"{worker.n_answers:,}" for worker in workers)
            + f" ({len(ready):,} at work)"
        )
    return (
        f"{len(ready):,} of {len(workers):,} workers at work, {min(counts):,} to {max(counts):,}"
        " answers each"
    )
