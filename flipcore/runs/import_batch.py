"""A batch of an import, as columns of the tables that it is stored in."""

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import pyarrow

from flipcore.core.records import Completion, Reading
from flipcore.datasets.recorded.log_rows import AskedItem, LogRow
from flipcore.store import recorded, rows
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow

# columns that are fields of a completion as they are, and those that hold fields as JSON
_AS_WRITTEN = tuple(
    "status text finish_reason error raw_reply reasoning n_tokens_in n_tokens_out cost_usd "
    "latency_s n_attempts n_lost n_tokens_reasoning other_model".split()
)
_OF_CALL = ("call_id", "model", "revision", "request", "sample", "parent_id")
_AS_JSON = ("tokens", "top_logprobs", "spread")
_PLACE = ("model", "item_id", "axis", "variant_id", "sample", "extractor")
_READ = "status answer value is_correct span_start span_end reason probabilities label_mass"
_written = attrgetter(*_AS_WRITTEN)

Place = tuple[str, str, str, str, int]  # model, item, axis, variant, sample


class _Columns:
    """Rows of one table by key: tuples of the cells of `names`, and cells that are all the same."""

    def __init__(self, table: str, names: Sequence[str], **same: Any) -> None:
        self.table, self.names, self.same = table, names, same
        self.rows: dict[Any, tuple] = {}

    def arrow(self) -> pyarrow.Table:
        """Return the rows as Arrow holds them."""
        n_rows = len(self.rows)
        cells = zip(self.names, map(list, zip(*self.rows.values(), strict=True)), strict=True)
        shared = {name: [value] * n_rows for name, value in self.same.items()}
        return columns_as_arrow(tables()[self.table], dict(cells) | shared)


class Batch:
    """Rows of some thousand outputs by table, each key once.

    `n_calls` and `n_sources` count before two of one key became one. Readouts called as one of
    `leave` are left out.
    """

    def __init__(self, study_id: str, leave: Collection[str]) -> None:
        self._study_id, self._leave = study_id, leave
        self.n_outputs = self.n_calls = self.n_sources = self.n_chars = 0
        of_study: dict[str, Any] = {"study_id": study_id}
        self.items = _Columns(
            "items",
            "item_id dataset kind question options target category solution source_id meta".split(),
        )
        self.study_items = _Columns(
            "study_items", ("item_id", "role", "position"), confirmatory=False, **of_study
        )
        self.variants = _Columns(
            "variants", "variant_id item_id system parts option_order labels layout target".split()
        )
        self.study_variants = _Columns(
            "study_variants",
            "item_id axis variant_id key position compared_with params".split(),
            **of_study,
        )
        self.calls = _Columns("completions", (*_OF_CALL, *_AS_WRITTEN, *_AS_JSON), simulated=False)
        self.readouts = _Columns("readouts", (*_PLACE, *_READ.split()), **of_study)
        self.sources = _Columns("readout_sources", (*_PLACE, "position", "call_id"), **of_study)

    @property
    def is_full(self) -> bool:
        """Tell whether its texts alone fill the memory that a batch may take."""
        return self.n_chars > recorded.BATCH_CHARS

    def take_item(self, asked: AskedItem | LogRow, position: int) -> None:
        """Take in an item and the way in which it is asked, once each."""
        item, variant = asked.item, asked.variant
        item_id, variant_id = item.item_id, variant.variant_id
        if item_id not in self.items.rows:
            self.items.rows[item_id] = (
                item_id,
                item.dataset,
                item.kind,
                item.question,
                list(item.options),
                item.target,
                item.category,
                item.solution,
                item.source_id,
                rows.json_text(dict(item.meta)),
            )
            self.study_items.rows[item_id] = item_id, asked.role, position
        key = variant.axis, variant_id
        if key in self.study_variants.rows:
            return
        self.variants.rows[variant_id] = (
            variant_id,
            item_id,
            variant.prompt.system,
            rows.json_text(variant.prompt.parts),
            list(variant.order),
            list(variant.labels),
            variant.layout,
            variant.target,
        )
        params = rows.json_text(dict(variant.params))
        place = item_id, variant.axis, variant_id, variant.key, asked.position
        self.study_variants.rows[key] = *place, variant.compared_with, params

    def take_call(
        self,
        model: str,
        revision: str,
        request_text: str,
        *,
        sample: int,
        completion: Completion,
        parent_id: str | None = None,
    ) -> None:
        """Take in a call and what came back; `request_text` is the request as it is stored."""
        self.n_calls += 1
        self.n_chars += len(request_text) + len(completion.text) + len(completion.reasoning)
        top = completion.top_logprobs
        self.calls.rows[completion.call_id] = (
            completion.call_id,
            model,
            revision,
            request_text,
            sample,
            parent_id,
            *_written(completion),
            _json_text(completion.tokens),
            None if top is None else rows.json_text(dict(top)),
            _json_text(completion.spread),
        )

    def take_readout(
        self,
        place: Place,
        extractor: str,
        reading: Reading,
        *,
        is_correct: bool | None,
        call_ids: Sequence[str],
    ) -> None:
        """Take in what an extractor read of some calls."""
        if extractor in self._leave:
            return
        key = *place, extractor
        start, end = reading.span or (None, None)
        self.readouts.rows[key] = (
            *key,
            reading.status,
            reading.answer,
            reading.value,
            is_correct,
            start,
            end,
            reading.reason,
            rows.json_text(reading.probabilities),
            reading.label_mass,
        )
        self.n_sources += len(call_ids)
        for position, call_id in enumerate(call_ids):
            self.sources.rows[*key, position] = *key, position, call_id

    def columns(self) -> dict[str, pyarrow.Table]:
        """Return the columns by table, of tables that have any rows."""
        self.calls.same["created_at"] = rows.now()
        of_items = (self.items, self.study_items, self.variants, self.study_variants)
        by_table = (*of_items, self.calls, self.readouts, self.sources)
        filled = {columns.table: columns.arrow() for columns in by_table if columns.rows}
        if self.calls.rows:
            call_ids = filled["completions"]["call_id"]
            study_ids = [self._study_id] * len(call_ids)
            filled["study_calls"] = pyarrow.table({"study_id": study_ids, "call_id": call_ids})
        return filled


def _json_text(value: Any) -> str | None:
    return None if value is None else rows.json_text(value)
