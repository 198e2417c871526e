"""The decision record: what was decided from which outputs, and whether the data changed since."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import parse_qs

import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.reports.compared_pairs import sides
from flipcore.store.connection import Store
from flipcore.store.queries import decisions
from flipcore.store.queries.decisions import UNKNOWN, changes, data_state
from flipcore.store.queries.inspection import inspection, source_of
from flipcore.text.counts import count_of

# The fields that stored evidence must have to be shown.
EVIDENCE = {"item", "axis", "variant", "extractor", "calls"}
UNCHANGED = "Nothing that it rests on has changed since."


@dataclass(frozen=True)
class Entry:
    """A decision in the record.

    `before` is the claim that it replaced, or "". `evidence` names the outputs that were looked at,
    {} for none. `verdicts` counts paraphrases by state. `since` says what changed in the data.
    `query` is the query string of the link to the page as it was when decided.
    """

    decision_id: str
    study_id: str
    study: str
    page: str
    mode: str
    sentence: str
    resolution: str
    before: str
    settings: Mapping[str, Any]
    reviewer: str
    when: pd.Timestamp
    query: str
    evidence: Mapping[str, Any]
    verdicts: Mapping[str, int]
    since: str
    is_replaced: bool

    @property
    def subject(self) -> str:
        """The name of the study or of the two sets; the study's id where there is no name."""
        return self.study or str(self.settings.get("sets") or self.study_id)

    @property
    def is_current(self) -> bool:
        """True if nothing in the data changed since the decision."""
        return self.since == UNCHANGED

    @property
    def is_changed(self) -> bool:
        """True if the data are known to have changed."""
        return not self.is_current and self.since != UNKNOWN

    @property
    def moment(self) -> str:
        return f"{self.when:%Y-%m-%d %H:%M}"

    @property
    def outputs(self) -> str:
        """A description of the outputs that were looked at; "" if none was open."""
        if not self.evidence:
            return ""
        axis = str(self.evidence["axis"]).replace("_", " ")
        calls = " and ".join(map(str, self.evidence["calls"]))
        return f"{self.evidence['item']}, {axis}, {self.evidence['variant']}: {calls}"

    @property
    def settings_text(self) -> str:
        texts = []
        for name, value in sorted(self.settings.items()):
            if value is not None:
                texts.append(f"{name.replace('_', ' ')} {value}")
        return ", ".join(texts)

    @property
    def verdicts_text(self) -> str:
        return ", ".join(f"{n:,} {state}" for state, n in self.verdicts.items()) or "no paraphrase"

    def row(self) -> dict[str, str]:
        since = self.since
        if self.is_replaced:
            since = f"Replaced by a later decision. {since}"
        return {
            "when": self.moment,
            "who": self.reviewer,
            "study": self.subject,
            "page": self.page.replace("_", " "),
            "mode": self.mode,
            "we decide": self.resolution,
            "decision": self.sentence,
            "instead of": self.before,
            "settings": self.settings_text,
            "outputs": self.outputs,
            "paraphrases": self.verdicts_text,
            "since": since,
        }


def entries(store: Store, *, study_id: str = "", page: str = "", words: str = "") -> list[Entry]:
    """Return the record, newest first; "" selects every study, page or text. `words` must all occur
    in an entry's text. A decision is replaced by a later one of the same study and page."""
    states: dict[tuple[str, str | None], dict[str, Any] | BadInput] = {}
    pages_seen: set[tuple[str, str]] = set()
    record = []
    for row in decisions.record(store).to_dict("records"):
        decided_page = (row["study_id"], row["page"])
        if study_id in ("", row["study_id"]) and page in ("", row["page"]):
            locked_page = row["page"] if row["mode"] == decisions.LOCKED else None
            state_key = (row["study_id"], locked_page)
            # Many decisions share one state of the data, which is slow to compute.
            if state_key not in states:
                try:
                    states[state_key] = data_state(store, row["study_id"], locked_page)
                except BadInput as error:
                    # The decision of a refused lock stays readable and shows the reason.
                    states[state_key] = error
            is_replaced = decided_page in pages_seen
            record.append(_entry(row, states[state_key], is_replaced=is_replaced))
        # Rows come newest first, so a later decision of the same page was seen before.
        pages_seen.add(decided_page)
    terms = words.casefold().split()
    matching = []
    for entry in record:
        text = " ".join(entry.row().values()).casefold()
        if all(term in text for term in terms):
            matching.append(entry)
    return matching


def moves_sentence(n: int) -> str:
    """Say how often a threshold was moved."""
    if n == 0:
        return "No threshold was moved."
    times = "once" if n == 1 else f"{n:,} times"
    return f"A threshold was moved {times}; every move is kept."


def count_sentence(record: Sequence[Entry]) -> str:
    """Say how many decisions there are, and for how many the data changed or cannot be compared."""
    n_changed = sum(entry.is_changed for entry in record)
    n_current = sum(entry.is_current for entry in record)
    n_unknown = len(record) - n_changed - n_current
    states = (
        (n_current, "still current"),
        (n_changed, "on data that has changed"),
        (n_unknown, "on data that nobody can compare"),
    )
    total = count_of(len(record), "decision")
    counts = [(n, state) for n, state in states if n]
    if len(counts) == 1:
        _, only_state = counts[0]
        return f"{total}, all {only_state}" if len(record) > 1 else f"{total}, {only_state}"
    return f"{total}: {', '.join(f'{n:,} {state}' for n, state in counts)}"


def _entry(
    row: Mapping[Any, Any], state: Mapping[str, Any] | BadInput, *, is_replaced: bool
) -> Entry:
    evidence, basis = json_object(row["evidence"]), json_object(row["basis"])
    since = str(state) if isinstance(state, BadInput) else changes(basis, state)
    verdicts = basis.get("verdicts")
    # An older version may have stored fewer fields.
    has_evidence = EVIDENCE <= set(evidence) and isinstance(evidence["calls"], list)
    return Entry(
        decision_id=row["decision_id"],
        study_id=row["study_id"],
        study=row["study"],
        page=row["page"],
        mode=row["mode"],
        sentence=row["sentence"],
        resolution=row["resolution"] or "",
        before=str(json_object(row["came_from"]).get("sentence", "")),
        settings=json_object(row["settings"]),
        reviewer=row["reviewer"],
        when=row["created_at"],
        query=str(json_object(row["place"]).get("query", "")),
        evidence=evidence if has_evidence else {},
        # A basis that cannot be compared says nothing about paraphrases.
        verdicts=verdicts if since != UNKNOWN and isinstance(verdicts, dict) else {},
        since=since or UNCHANGED,
        is_replaced=is_replaced,
    )


def json_object(value: Any) -> dict[str, Any]:
    """Return a stored JSON object; {} if the value is anything else."""
    content = json.loads(value) if isinstance(value, str) else value
    return content if isinstance(content, dict) else {}


def outputs_in_view(store: Store, study_id: str, model: str, query: str) -> dict[str, Any]:
    """Return {item, axis, variant, extractor, calls} of the outputs that a link opens.

    `query` is the link's query string. `calls` are the call ids of the first sample on the left and
    on the right. {} if the link opens no output.
    """
    link = {name: values[-1] for name, values in parse_qs(query.removeprefix("?")).items()}
    item, axis, extractor = link.get("item", ""), link.get("axis", ""), link.get("readout", "")
    # On pages that show several models at once, "of" is the opened one.
    model = link.get("of") or model or link.get("model", "")
    view = inspection(store, study_id, model, item, axis) if item and axis and extractor else None
    if view is None:
        return {}
    readouts = chain.from_iterable(variant.readings for variant in view.variants)
    if not any(readout.extractor == extractor for readout in readouts):
        return {}
    pair_by_variant = sides(view, extractor)
    variant = link.get("variant", "")
    if variant not in pair_by_variant:
        # As in the inspector, which starts with the first variant.
        variant = next(iter(pair_by_variant))
    calls = []
    for seen_variant, samples in pair_by_variant[variant]:
        if samples:
            variant_id, sample = seen_variant.variant_id, samples[0].sample
            call_id = source_of(store, study_id, model, item, axis, variant_id, sample, extractor)
            if call_id:
                calls.append(call_id)
    return {"item": item, "axis": axis, "variant": variant, "extractor": extractor, "calls": calls}
