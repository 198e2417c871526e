"""A batch of an import, as columns of the database tables."""

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import pyarrow

from flipcore.core.records import Completion, Reading
from flipcore.datasets.recorded.log_rows import AskedItem, LogRow
from flipcore.store import recorded, rows
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow

# Fields of a completion that are stored as they are, and those that are stored as JSON.
_PLAIN_FIELDS = tuple(
    "status text finish_reason error raw_reply reasoning n_tokens_in n_tokens_out cost_usd "
    "latency_s n_attempts n_lost n_tokens_reasoning other_model".split()
)
_CALL_COLUMNS = ("call_id", "model", "revision", "request", "sample", "parent_id")
_JSON_FIELDS = ("tokens", "top_logprobs", "spread")
_KEY = ("model", "item_id", "axis", "variant_id", "sample", "extractor")
_READING = "status answer value is_correct span_start span_end reason probabilities label_mass"
_plain_cells = attrgetter(*_PLAIN_FIELDS)

Place = tuple[str, str, str, str, int]  # model, item, axis, variant, sample


class _Columns:
    """Rows of one table by key, as tuples of cells for `names`. `constants` are columns with
    the same value in every row."""

    def __init__(self, table: str, names: Sequence[str], **constants: Any) -> None:
        self.table, self.names, self.constants = table, names, constants
        self.rows: dict[Any, tuple] = {}

    def arrow(self) -> pyarrow.Table:
        """Return the rows as an Arrow table."""
        n_rows = len(self.rows)
        columns = map(list, zip(*self.rows.values(), strict=True))
        cells = dict(zip(self.names, columns, strict=True))
        cells |= {name: [value] * n_rows for name, value in self.constants.items()}
        return columns_as_arrow(tables()[self.table], cells)


class Batch:
    """Rows of some thousand outputs, by table and key. `n_calls` and `n_sources` count rows before
    duplicates of a key are merged. Readouts whose name is in `left_out` are dropped."""

    def __init__(self, study_id: str, left_out: Collection[str]) -> None:
        self._study_id, self._left_out = study_id, left_out
        self.n_outputs = self.n_calls = self.n_sources = self.n_chars = 0
        study: dict[str, Any] = {"study_id": study_id}
        self.items = _Columns(
            "items",
            "item_id dataset kind question options target category solution source_id meta".split(),
        )
        self.study_items = _Columns(
            "study_items", ("item_id", "role", "position"), confirmatory=False, **study
        )
        self.variants = _Columns(
            "variants", "variant_id item_id system parts option_order labels layout target".split()
        )
        self.study_variants = _Columns(
            "study_variants",
            "item_id axis variant_id key position compared_with params".split(),
            **study,
        )
        self.calls = _Columns(
            "completions", (*_CALL_COLUMNS, *_PLAIN_FIELDS, *_JSON_FIELDS), simulated=False
        )
        self.readouts = _Columns("readouts", (*_KEY, *_READING.split()), **study)
        self.sources = _Columns("readout_sources", (*_KEY, "position", "call_id"), **study)

    @property
    def is_full(self) -> bool:
        """True if its texts alone fill the memory that a batch may take."""
        return self.n_chars > recorded.BATCH_CHARS

    def add_item(self, asked: AskedItem | LogRow, position: int) -> None:
        """Add an item and its variant, each unless it is there already. `position` is that of the
        item in the study."""
        item, variant = asked.item, asked.variant
        item_id, variant_id = item.item_id, variant.variant_id
        if item_id not in self.items.rows:
            self.items.rows[item_id] = (
                item_id,
                item.dataset,
                item.kind,
                item.question,
                item.options,
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
            variant.order,
            variant.labels,
            variant.layout,
            variant.target,
        )
        params = rows.json_text(dict(variant.params))
        place = item_id, variant.axis, variant_id, variant.key, asked.position
        self.study_variants.rows[key] = *place, variant.compared_with, params

    def add_call(
        self,
        model: str,
        revision: str,
        request_text: str,
        *,
        sample: int,
        completion: Completion,
        parent_id: str | None = None,
    ) -> None:
        """Add a call and its completion; `request_text` is the request as JSON."""
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
            *_plain_cells(completion),
            _json_text(completion.tokens),
            None if top is None else rows.json_text(dict(top)),
            _json_text(completion.spread),
        )

    def add_readout(
        self,
        place: Place,
        extractor: str,
        reading: Reading,
        *,
        is_correct: bool | None,
        call_ids: Sequence[str],
    ) -> None:
        """Add an extractor's reading of some calls, unless the extractor is left out."""
        if extractor in self._left_out:
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
        """Return an Arrow table per database table with rows."""
        self.calls.constants["created_at"] = rows.now()
        item_tables = (self.items, self.study_items, self.variants, self.study_variants)
        by_table = (*item_tables, self.calls, self.readouts, self.sources)
        arrow_tables = {columns.table: columns.arrow() for columns in by_table if columns.rows}
        if self.calls.rows:
            call_ids = arrow_tables["completions"]["call_id"]
            study_ids = [self._study_id] * len(call_ids)
            columns = {"study_id": study_ids, "call_id": call_ids}
            arrow_tables["study_calls"] = pyarrow.table(columns)
        return arrow_tables


def _json_text(value: Any) -> str | None:
    return None if value is None else rows.json_text(value)
