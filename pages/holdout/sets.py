"""Two sets of entries, read from their sources, and the share of them that is set aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import streamlit as st

from flipcore.core.records import Item, digest
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.datasets.sources import written_from
from flipcore.store.queries import holdout
from pages.common import session


@dataclass(frozen=True)
class Sets:
    """Target and retro as they are compared; `study_ids` are the stored studies that ask them in these roles, `record_id` is
    what moves, locks and decisions are kept under: a study's id where the sets are its roles."""

    name: str
    target: tuple[Item, ...]
    retro: tuple[Item, ...]
    record_id: str
    study_ids: tuple[str, ...] = ()
    share_aside: float = 0.0
    n_aside: int = 0
    notes: tuple[str, ...] = ()
    sources: tuple[ItemSource, ...] = ()

    @property
    def sets_id(self) -> str:
        return digest(sorted(item.item_id for item in self.target), sorted(item.item_id for item in self.retro))

    @classmethod
    def of(cls, name: str, target: Iterable[Item], retro: Iterable[Item], **rest) -> Sets:
        """Whole sets that are no study's roles: what is decided on them is kept under what they hold."""
        sets = cls(name, tuple(target), tuple(retro), "", **rest)
        return replace(sets, record_id=f"sets-{sets.sets_id}")

    @property
    def is_of_study(self) -> bool:
        return self.record_id in self.study_ids


def sets_of_sources(name: str, sources: list[ItemSource]) -> Sets:
    return _of_sources(name, tuple(digest(source.__dict__) for source in sources), sources)


@st.cache_resource(show_spinner="Reading both sets …", max_entries=16)
def _of_sources(name: str, keys: tuple[str, ...], _sources: list[ItemSource]) -> Sets:
    """An item that stands in both sets belongs to the target: it is published, so it is no holdout."""
    roles: dict[str, dict[str, Item]] = {"target": {}, "retro": {}}
    notes = []
    for source in _sources:
        if source.role in roles:
            report = load_report(source)
            roles[source.role] |= {item.item_id: item for item in report.items}
            notes += [note for note in report.notes if "refused" in note]
    both = [one for one in roles["retro"] if one in roles["target"]]
    if both:
        notes.append(f"{len(both):,} items of the retro source are target items and were left out of retro.")
    retro = written_from([item for one, item in roles["retro"].items() if one not in roles["target"]], roles["target"])
    return Sets.of(name, roles["target"].values(), retro, notes=tuple(notes), sources=() if both else tuple(_sources))


SHARES = (0.0, 0.3, 0.5)


def share_in_link() -> float:
    """The share that the link sets aside, so that a reload never shows what was hidden."""
    text = st.query_params.get("aside", "")
    return next((share for share in SHARES if text == f"{share:g}"), 0.0)


def keep_in_link(share: float | None) -> None:
    """Puts the chosen share into the link, or takes it out."""
    if share:
        st.query_params["aside"] = f"{share:g}"
    else:
        st.query_params.pop("aside", None)


def choose_share_aside(sets: Sets, is_locked: bool) -> None:
    """The share of entries that only a lock opens: chosen here, or said where the study declares it."""
    if sets.is_of_study:
        st.caption(
            f"Set aside for confirmation: {100 * sets.share_aside:.0f} %, as the study declares. Duplicate it to "
            "have another share."
        )
    else:
        keep_in_link(
            st.segmented_control(
                "Set aside for confirmation",
                SHARES,
                default=share_in_link(),
                key="aside",
                disabled=is_locked or sets.share_aside > 0,
                required=True,
                format_func=lambda share: f"about {100 * share:.0f} %" if share else "nothing",
                help="For good: what is set aside is shown on no page before margins are stored in Locked mode. "
                "Assignment depends only on the entry's own text.",
            )
        )


def divided(sets: Sets, confirmatory: bool) -> Sets:
    """Sets that are no study's: the share that is set aside is shown under a lock only. Then which studies asked them."""
    store = session.store()
    sets, aside = _without_hidden(sets), holdout.entries_aside(store, sets.record_id)
    share = float(st.session_state.get("aside", share_in_link()) or 0.0)
    if share and not aside:
        target, retro = ([item.item_id for item in items] for items in (sets.target, sets.retro))
        aside = holdout.keep_aside(store, sets.record_id, target, retro, share)
    if not aside:
        return _with_studies(sets)

    def part(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if (item.item_id in aside) == confirmatory)

    n_all = len(sets.target) + len(sets.retro)
    share = len(aside) / max(n_all, 1)
    subset = replace(sets, target=part(sets.target), retro=part(sets.retro), share_aside=share)
    n_other = n_all - len(subset.target) - len(subset.retro)
    return _with_studies(replace(subset, n_aside=0 if confirmatory else n_other))


def _without_hidden(sets: Sets) -> Sets:
    """The sets less what a study set aside and no lock has opened: nothing shows that, wherever else it may be read from."""
    store = session.store()
    hidden = holdout.hidden_items(store, [item.item_id for item in (*sets.target, *sets.retro)])
    hidden -= holdout.entries_aside(store, sets.record_id)
    if not hidden:
        return sets
    note = f"{len(hidden):,} entries are left out: a study set them aside, and only its lock opens them."
    target, retro = (tuple(item for item in items if item.item_id not in hidden) for items in (sets.target, sets.retro))
    return replace(sets, target=target, retro=retro, notes=(*sets.notes, note))


def _with_studies(sets: Sets) -> Sets:
    ids = [[item.item_id for item in items] for items in (sets.target, sets.retro)]
    return replace(sets, study_ids=holdout.studies_of(session.store(), *ids))
