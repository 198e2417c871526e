"""Which two sets are compared: an example, a study's roles, a kept version, or two of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import streamlit as st

from flipcore.datasets import load_report
from flipcore.demo import DATA
from flipcore.errors import FlipscopeError
from flipcore.records import Item, digest
from flipcore.store import holdout_queries, queries
from flipcore.study import ItemSource, Study
from pages.common import session
from pages.common.notes import plain
from pages.new_study.items import items_step

EXAMPLES = {
    "pocket": "Example: pocket problems, read up to 256 times v never read",
    "halves": "Example: two halves of our own choices",
    "unlike": "Example: our own word problems v pocket problems",
}
_SOURCES = {
    "halves": [ItemSource("flipscope_choice", role="target", n=36), ItemSource("flipscope_choice", role="retro")],
    "unlike": [ItemSource("flipscope_problems", role="target"),
               ItemSource("pocket_problems", role="retro", n=72, where={"split": "fresh"})],
}
OWN = "own"


@dataclass(frozen=True)
class Sets:
    """Target and retro as they are compared; `study_id` names a stored study of just these roles, `record_id` what moves,
    locks and decisions are kept under."""

    name: str
    target: tuple[Item, ...]
    retro: tuple[Item, ...]
    study_id: str | None
    record_id: str
    share_aside: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def sets_id(self) -> str:
        return digest(sorted(item.item_id for item in self.target), sorted(item.item_id for item in self.retro))

    @classmethod
    def of(cls, name: str, target: Iterable[Item], retro: Iterable[Item], study_id: str | None = None, **rest) -> Sets:
        """Sets that are whole: what is decided on them is kept under their study, or under what they hold."""
        made = cls(name, tuple(target), tuple(retro), study_id, study_id or "", **rest)
        return made if study_id else replace(made, record_id=f"sets-{made.sets_id}")


def example_study() -> Study:
    """The declared study of the first example: the model in the box on both sets."""
    return Study.read(DATA / "holdout.toml")


def chosen_sets(confirmatory: bool = False) -> Sets | None:
    """The sets that the selector names, or None after saying what is missing. With `confirmatory` only what was set aside."""
    studies = {f"study:{row['study_id']}": row["name"] for row in holdout_queries.studies_with_both(session.store())}
    versions = {f"version:{row['version_id']}": f"Version of {row['name']}, {row['created']}"
                for row in reversed(holdout_queries.versions(session.store()))}
    names = EXAMPLES | {key: f"Study: {name}" for key, name in studies.items()} | versions | {OWN: "Two sets of your own"}
    known = [one for one in (st.query_params.get("sets"), st.session_state.get("sets-chosen")) if one in names]
    start = known[0] if known else next(iter(names))
    wanted = st.selectbox("Sets", list(names), index=list(names).index(start), key=f"sets-{start}", format_func=names.get,
                          label_visibility="collapsed")
    st.session_state["sets-chosen"] = st.query_params["sets"] = wanted
    try:
        return _sets(wanted, names[wanted], confirmatory)
    except FlipscopeError as error:
        st.error(plain(error), icon=":material/error:")
        return None


def _sets(wanted: str, name: str, confirmatory: bool) -> Sets | None:
    kind, _, key = wanted.partition(":")
    if kind == "study":
        roles = [tuple(holdout_queries.role_items(session.store(), key, role, confirmatory=confirmatory))
                 for role in ("target", "retro")]
        return Sets.of(name, *roles, key, share_aside=queries.study(session.store(), key).confirmatory_share)
    if kind == "version":
        row = next(one for one in holdout_queries.versions(session.store()) if one["version_id"] == key)
        found = [tuple(holdout_queries.items(session.store(), list(row[side]))) for side in ("target_ids", "retro_ids")]
        return _divided(Sets.of(name, *found), confirmatory)
    if kind == "pocket":
        study = example_study()
        stored = queries.study(session.store(), study.study_id) is not None
        return _divided(_loaded(name, list(study.items), study.study_id if stored else None), confirmatory)
    return _own(name, confirmatory) if kind == OWN else _divided(_loaded(name, _SOURCES[kind]), confirmatory)


def _own(name: str, confirmatory: bool) -> Sets | None:
    sources = st.session_state.setdefault("holdout-sources", [])
    with st.expander("The two sets: add items as target and as retro", expanded=len({one.role for one in sources}) < 2):
        items_step(sources)
    lacking = [role for role in ("target", "retro") if role not in {source.role for source in sources}]
    if lacking:
        st.info(f"Add items as {' and as '.join(lacking)} to compare two sets: the target is the published benchmark, retro is "
                "what was written to look like it.", icon=":material/library_add:")
        return None
    return _divided(_loaded(name, sources), confirmatory)


def _loaded(name: str, sources: list[ItemSource], study_id: str | None = None) -> Sets:
    return _of_sources(name, tuple(source_key(source) for source in sources), study_id, sources)


def source_key(source: ItemSource) -> str:
    return digest(source.__dict__)


@st.cache_resource(show_spinner="Reading both sets …", max_entries=16)
def _of_sources(name: str, keys: tuple[str, ...], study_id: str | None, _sources: list[ItemSource]) -> Sets:
    """An item that stands in both sets belongs to the target: it is published, so it is no holdout."""
    roles: dict[str, dict[str, Item]] = {"target": {}, "retro": {}}
    notes = []
    for source in _sources:
        if source.role in roles:
            report = load_report(source)
            roles[source.role] |= {item.item_id: item for item in report.items}
            notes += [note for note in report.notes if "refused" in note]
    both = [one for one in roles["retro"] if one in roles["target"]]
    if both and study_id is None:
        notes.append(f"{len(both):,} items of the retro source are target items and were left out of retro.")
    retro = tuple(item for one, item in roles["retro"].items() if one not in roles["target"])
    return Sets.of(name, roles["target"].values(), retro, study_id, notes=tuple(notes))


def _divided(sets: Sets, confirmatory: bool) -> Sets:
    """Sets that are no study's: the share that the link sets aside is shown under a lock only."""
    share = float(st.session_state.get("aside") or 0.0)
    if share == 0 or sets.study_id is not None:
        return sets

    def kept(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if (int(digest("aside", item.item_id)[:8], 16) / 16**8 < share) == confirmatory)

    return replace(sets, target=kept(sets.target), retro=kept(sets.retro), share_aside=share)
