"""How the workers of a cluster fare, in words for the terminal and the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.text.counts import count_of

# a lost worker is being started anew; one that stayed away is missing
STARTING, AT_WORK, LOST, MISSING, SET_ASIDE = "starting", "at work", "lost", "missing", "set aside"
_FEW = 3


@dataclass(frozen=True)
class WorkerState:
    """One worker of one model. `n_answers` and `n_failures` count calls, `n_losses` how often its process went; `why` is a sentence
    where it is not at work."""

    name: str
    model: str
    state: str
    n_answers: int
    n_failures: int
    n_losses: int
    why: str = ""

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
            "why": self.why if self.state != AT_WORK else "",
        }

    @property
    def sentence(self) -> str:
        """The worker's line in a list."""
        failures = f", {self.n_failures:,} failed" if self.n_failures else ""
        losses = f", lost {self.n_losses:,} times" if self.n_losses > 1 else ", lost once" * self.n_losses
        why = f" ({self.why})" if self.why and self.state != AT_WORK else ""
        return f"{self.name} for {self.model}: {self.state}, {count_of(self.n_answers, 'answer')}{failures}{losses}{why}"


def missing_workers(workers: Sequence[WorkerState]) -> str:
    """A sentence about the workers that are missing or set aside, the first of them by name; "" where there are none."""
    missing = [one for one in workers if one.state in (MISSING, SET_ASIDE)]
    if not missing:
        return ""
    names = "; ".join(f"{one.name}, {one.state}: {one.why.rstrip('.')}" for one in missing[:_FEW])
    more = f"; and {len(missing) - _FEW:,} more" if len(missing) > _FEW else ""
    return f"{len(missing):,} of {len(workers):,} workers get no calls ({names}{more})."


def work_line(workers: Sequence[WorkerState]) -> str:
    """How much each worker did, on a line: by name where they are few, else from the least to the most; "" without workers."""
    if not workers:
        return ""
    ready = [one for one in workers if one.state == AT_WORK]
    counts = [one.n_answers for one in workers]
    if len(workers) <= 2 * _FEW:
        return "by worker " + ", ".join(f"{one.n_answers:,}" for one in workers) + f" ({len(ready):,} at work)"
    return f"{len(ready):,} of {len(workers):,} workers at work, {min(counts):,} to {max(counts):,} answers each"
