"""What a result rests on: the declaration, the gates, what is set aside, the locks and the decisions."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from flipcore.core.locks import MANIFEST, STATE
from flipcore.extractors import title_of
from flipcore.reports.decision_record import table_of
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.markup import Markup, data_link, folded, paragraph, section, tag
from flipcore.reports.locks import claim_of
from flipcore.reports.whole_study import WholeStudy
from flipcore.store.queries import decisions, locks
from flipcore.text.counts import count_of


def moment(when: Any) -> str:
    """A stored time in UTC, so that it is the same wherever the report is written."""
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"


def decisions_part(c: WholeStudy) -> Markup:
    """The decision record of the study, the newest first."""
    record = decisions.decisions(c.store, c.study_id)
    moves = decisions.n_moves(c.store, c.study_id)
    note = f"{moves:,} {'move of a threshold was' if moves == 1 else 'moves of a threshold were'} logged on this study."
    if record.empty:
        return section(
            "Decisions", "decisions", paragraph("No decision has been written down yet."), paragraph(note, cls="quiet")
        )
    return section("Decisions", "decisions", data_table(decisions_table(c)), paragraph(note, cls="quiet"))


def decisions_table(c: WholeStudy) -> Table:
    """A row a decision, the newest first."""
    rows = [_decision(row) for row in decisions.decisions(c.store, c.study_id).to_dict("records")]
    return Table("decisions", "Decisions", rows, f"Decision record. {c.provenance}.")


def _decision(row: Mapping[Any, Any]) -> dict[str, object]:
    before = table_of(row["came_from"])
    return {
        "when": moment(row["created_at"]),
        "who": row["reviewer"],
        "page": row["page"],
        "mode": row["mode"],
        "we decide": row["resolution"] or "",
        "decision": row["sentence"],
        "instead of": before.get("sentence", ""),
        "settings": ", ".join(f"{key} {value}" for key, value in sorted(table_of(row["settings"]).items())),
    }


def settings_part(c: WholeStudy) -> Markup:
    """The declaration, with what kept any of it from being claimed."""
    toml = c.study.to_toml()
    saved = paragraph(data_link("Save the declaration", f"{c.study_id}.toml", toml, "text/plain;charset=utf-8"), cls="links")
    declared = folded("The study as it was declared (TOML)", tag("pre", toml), saved)
    plugins = [paragraph(f"Plug-ins of other packages: {c.plugins}.")] if c.plugins else []
    return section("Settings, gates and locks", "settings", *_gates(c), *_locks(c), *plugins, declared)


def _gates(c: WholeStudy) -> list[Markup]:
    if not c.closed_gates:
        return [paragraph("No gate is closed.")]
    rows = [
        {"what": title_of(name).replace("_", " "), "why it is not claimed": why} for name, why in sorted(c.closed_gates.items())
    ]
    return [data_table(Table("gates", "Gates", rows, f"Gates that are closed. {c.provenance}."))]


def _locks(c: WholeStudy) -> list[Markup]:
    """What is set aside, and each lock with the word that may be said of it."""
    parts = []
    if n := locks.n_set_aside(c.store, c.study_id):
        parts.append(
            paragraph(
                f"{count_of(n, 'item was', 'items were')} set aside for confirmation and not counted here without a lock."
            )
        )
    if hidden := locks.held_sentence(c.store, c.study_id):
        parts.append(paragraph(hidden))
    every = locks.locks(c.store, c.study_id)
    for one in every:
        claim = claim_of(c.store, one, every)
        fixed = {key: value for key, value in one["settings"].items() if key != STATE}
        fixed_text = tag("pre", json.dumps(fixed, indent=2, sort_keys=True, ensure_ascii=False))
        who = f"Stored by {one['reviewer']} on {moment(one['created_at'])}, {one['lock_id']}."
        manifest = json.dumps({name: one[name] for name in MANIFEST}, indent=1, sort_keys=True, ensure_ascii=False)
        link = data_link("Save its manifest", f"lock-{one['lock_id']}.json", manifest, "application/json")
        check = paragraph(link, ": flipscope verify FILE compares it with a database.", cls="links")
        parts.append(folded(f"{claim.text} {claim.detail}", paragraph(who, cls="quiet"), fixed_text, check))
    return parts
