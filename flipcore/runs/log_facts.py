"""What a log's rows say against its own plan and against each other, counted while they are read: sentences for the audit.

Items × epochs that were planned and that are there, ids that the plan does not know, models that answered, temperatures, times.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from flipcore.datasets.recorded.log_records import LogAbout, LogRecord
from flipcore.text.counts import count_of

MOST_ITEMS = 200_000  # of a file whose rows are counted item by item


@dataclass
class LogFacts:
    """Of one file: `about` is what it says of itself."""

    file: str
    about: LogAbout
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)  # (item, epoch) -> rows
    served: Counter[str] = field(default_factory=Counter)
    temperatures: Counter[float] = field(default_factory=Counter)
    n_backward: int = 0

    def add(self, record: LogRecord) -> None:
        """One row."""
        if self.about.plan and len(self.rows) < MOST_ITEMS:
            self.rows[record.item, str(record.sample)] += 1
        if record.served_model:
            self.served[record.served_model] += 1
        temperature = record.sampling.get("temperature")
        if isinstance(temperature, (int, float)):
            self.temperatures[float(temperature)] += 1
        self.n_backward += record.is_backward

    def sentences(self) -> Iterator[tuple[str, str]]:
        """(what it is about, the sentence) of each thing that does not fit."""
        yield from self._against_plan()
        if len(self.served) > 1:
            names = ", ".join(f"{name} ({n:,})" for name, n in self.served.most_common(4))
            yield "several models", f"{self.file}: {len(self.served)} models answered under one name: {names}."
        if len(self.temperatures) > 1:
            heats = ", ".join(f"{heat:g} ({n:,})" for heat, n in self.temperatures.most_common(4))
            yield "several temperatures", f"{self.file}: the rows were asked at {len(self.temperatures)} temperatures: {heats}."
        if self.n_backward:
            ends = count_of(self.n_backward, "sample ends", "samples end")
            yield "times", f"{self.file}: {ends} before {'it' if self.n_backward == 1 else 'they'} started."

    def _against_plan(self) -> Iterator[tuple[str, str]]:
        plan = self.about.plan
        if not plan or not self.rows or len(self.rows) >= MOST_ITEMS:
            return
        items, n_epochs = Counter(item for item, _ in self.rows), int(plan.get("epochs") or 1)
        twice = sum(n - 1 for n in self.rows.values() if n > 1)
        if twice:
            yield "rows doubled", f"{self.file}: {count_of(twice, 'row is', 'rows are')} there twice, the same item and epoch."
        planned_ids = plan.get("ids")
        others = [item for item in items if planned_ids and item not in planned_ids]
        if others:
            n = count_of(len(others), "item is", "items are")
            yield "items of no plan", f"{self.file}: {n} not in the log's own list of samples, the first {others[0]}."
        n_planned = int(plan.get("items") or 0)
        missing = n_planned - (len(items) - len(others))
        if n_planned and missing > 0:
            yield (
                "rows missing",
                f"{self.file}: the log planned {n_planned:,} items × {count_of(n_epochs, 'epoch')}; "
                f"{count_of(missing, 'item is', 'items are')} missing. The score is of those that are left.",
            )
        short = sum(n < n_epochs for n in items.values())
        if short:
            yield (
                "epochs missing",
                f"{self.file}: {short:,} of {len(items):,} items have fewer than the {n_epochs} epochs that were planned.",
            )
