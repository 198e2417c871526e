"""The open store, the running studies and cached reads: the interface between pages and core.

Results are cached once per study, revision and settings, and all sessions share them. Slow
computations run in a thread of their own, and the page shows the current step meanwhile.
"""

import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import in_cached_function

from flipcore.access.acting import Permission, acting, acting_as, require
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.paths import own_models_toml
from flipcore.core.study import Study
from flipcore.core.work import Work, at_work
from flipcore.models import model_cards
from flipcore.store import kept_results
from flipcore.store.connection import Store
from flipcore.store.queries import locks, scores, studies
from pages.common.links import remember_missing
from pages.common.opened import open_store_and_registry
from pages.common.showing import plain

P = ParamSpec("P")
T = TypeVar("T")
# Quicker work shows no progress line, because the line would only flicker.
FIRST_LINE_S, NEXT_LINE_S = 0.3, 0.5


def store() -> Store:
    """Return the open store; where it cannot be opened, show the reason and stop the page."""
    try:
        return open_store_and_registry()[0]
    except FlipscopeError as error:
        st.error(str(error), icon=":material/database_off:")
        st.stop()


def registry():
    """Return the registry of running studies."""
    # `store` stops the page where the store cannot be opened.
    store()
    return open_store_and_registry()[1]


def revision(study_id: str) -> int:
    return store().revision(study_id)


def computed(step: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function that Streamlit caches: run it in a thread, acting for the same person.

    The page shows `step` until the function returns. The thread goes on when the person leaves the
    page, and the next visitor finds the result in the cache. If several sessions ask at the same
    time, Streamlit computes once. The function must not draw or read the session state.
    """

    def decorate(cached_function: Callable[P, T]) -> Callable[P, T]:
        @wraps(cached_function)
        def call_and_wait(*args: P.args, **kwargs: P.kwargs) -> T:
            # The surrounding computation already has a thread and a progress line.
            if at_work() or in_cached_function.get():
                return cached_function(*args, **kwargs)
            return _in_thread(step, partial(cached_function, *args, **kwargs))

        return call_and_wait

    return decorate


def _in_thread(step: str, call: Callable[[], T]) -> T:
    # A new thread acts for nobody, so it has to be given the person.
    person = acting()

    def call_as_person() -> T:
        with acting_as(person):
            return call()

    return _waiting(Work(step, call_as_person))


def _waiting(work: Work[T]) -> T:
    """Wait for the work and return its result; show its progress line meanwhile."""
    line_place, wait_s = st.empty(), FIRST_LINE_S
    while not work.has_ended:
        try:
            work.result(wait_s)
        except TimeoutError:
            line_place.caption(f":material/hourglass_top: {plain(work.line)}")
            wait_s = NEXT_LINE_S
    # Remove the line before the caller draws the result.
    line_place.empty()
    return work.result(0)


def cached(
    step: str = "",
    *,
    max_entries: int = 24,
    revision: Callable[[str], Any] = revision,
    is_kept: bool = False,
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache a function of a study and of hashable settings, for all sessions.

    The first argument is a study's id or an object with a `study_id`. The result is computed again
    when the study's `revision` or the cards of models have changed. The function must depend on
    its arguments only, not on the session. Callers need the permission to read.

    Parameters
    ----------
    step
        What the page says while the function runs in a thread. With "" it runs without one.
    max_entries
        How many results are kept in memory.
    revision
        Study id -> a hashable value that changes when the result must be computed again.
    is_kept
        Also store the result of a finished study beside the database, for the next server. This
        suits small results that are slow to compute and depend on rows of the study only.
    """

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        memory = _memory_by_revision(_kept(make) if is_kept else make, max_entries)
        remembered = computed(step)(memory) if step else memory

        @wraps(make)
        def read(study: Any, *settings: Any) -> T:
            # Memory is shared by all sessions, so the permission is asked for before it is read.
            require(Permission.READ)
            study_id = study if isinstance(study, str) else study.study_id
            return remembered((revision(study_id), _stamp_of_cards()), study, *settings)

        return read

    return decorate


def _stamp_of_cards() -> tuple[int, int]:
    """Return time (ns) and size (bytes) of the file of the user's models; (0, 0) without one.

    The cards in it say what a model can have read in training.
    """
    # The command line writes this file, too, so a signal between pages would not be enough.
    try:
        status = own_models_toml().stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _kept(make: Callable[..., T]) -> Callable[..., T]:
    """Return `make` with a cache beside the database, which outlives the server."""
    # Streamlit runs every page's script as the module `__main__`, so the name needs the file.
    file = Path(inspect.getsourcefile(make) or "")
    name = f"{'/'.join(file.parts[-3:])} {make.__qualname__}"

    @wraps(make)
    def read_or_make(study: Any, *settings: Any) -> T:
        study_id = study if isinstance(study, str) else study.study_id
        # Results depend on the models' training data, which is in their cards and in no row.
        try:
            cards = model_cards()
        except BadInput:
            # The Models page reports a damaged file of models; other pages work without it.
            return make(study, *settings)
        names = [name, *map(repr, (study, *settings)), repr(cards)]
        return kept_results.kept(store(), study_id, names, partial(make, study, *settings))

    return read_or_make


def _memory_by_revision(make: Callable[..., T], max_entries: int) -> Callable[..., T]:
    """Return `make` cached in memory, with the revision as a further first argument."""

    @wraps(make)
    def make_at(at_revision: Any, *settings: Any) -> T:
        return make(*settings)

    # Streamlit's cache key holds the source of `make`, which `wraps` passes on. It also takes the
    # names of the arguments from the signature, and that of `make` lacks the revision.
    make_at.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("at_revision", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("settings", inspect.Parameter.VAR_POSITIONAL),
        ]
    )
    return st.cache_resource(show_spinner=False, max_entries=max_entries)(make_at)


def choose_study(fits: Callable[[Study], bool] | None = None) -> str | None:
    """Draw the selector of studies and return the chosen study's id; None without any study.

    The id is in the link (`?study=`), because two studies may have the same name. Without a
    link the selector starts at the study that was chosen on another page. If that does not fit
    this page, it starts at the newest study for which `fits` returns True.
    """
    names = names_of_studies()
    if not names:
        return None
    suited = [study_id for study_id in names if fits is None or fits(declared(study_id))]
    suited = suited or list(names)
    link = st.query_params.get("study", "")
    earlier_choice = st.session_state.get("study-id")
    start, is_default = suited[0], True
    if link in names:
        start, is_default = link, False
    elif earlier_choice in suited:
        start, is_default = earlier_choice, False
    choice = st.selectbox(
        "Study",
        list(names),
        index=list(names).index(start),
        # A widget keeps its value, but a link must win over it, so each start has its own key.
        key=f"study-{start}",
        label_visibility="collapsed",
        width=400,
        format_func=lambda study_id: names.get(study_id, study_id),
    )
    remember_missing("study", link, names, choice)
    # A study that nobody chose must not follow the person to other pages.
    if not is_default or choice != start:
        st.session_state["study-id"] = choice
    if link != choice:
        st.query_params["study"] = choice
    return choice


def names_of_studies() -> dict[str, str]:
    """Return study id -> name, newest first.

    Studies that this version cannot read are left out; only the page Studies shows them.
    """
    rows = all_studies()
    rows = rows[rows["problem"] == ""] if len(rows) else rows
    names = dict(zip(rows["study_id"], rows["name"], strict=True)) if len(rows) else {}
    # The browser cannot tell choices with equal labels apart.
    shared_names = {name for name, n_studies in Counter(names.values()).items() if n_studies > 1}
    return {
        study_id: f"{name} · {study_id[:6]}" if name in shared_names else name
        for study_id, name in names.items()
    }


def all_studies() -> pd.DataFrame:
    """Return one row per study, newest first; read again only after a commit."""
    require(Permission.READ)
    # A shallow copy, so that a page that adds a column does not change the cached rows.
    return _all_studies(store().revision_of_all).copy(deep=False)


@st.cache_resource(show_spinner=False, max_entries=2)
def _all_studies(revision: int) -> pd.DataFrame:
    return studies.studies(store())


def study_row(study_id: str) -> dict:
    """Return the study's row of `all_studies`."""
    return all_studies().set_index("study_id", drop=False).loc[study_id].to_dict()


def lock_id(study_id: str, page: str) -> str:
    """Return the id of the page's lock on the study; "" without a lock.

    The store refuses to read under "".
    """
    return (locks.lock_of_page(store(), study_id, page) or {"lock_id": ""})["lock_id"]


def readouts(
    study_id: str,
    *,
    lock: str | None = None,
    paraphrases: str = "standing",
    everything: bool = False,
    of_scores: bool = False,
) -> pd.DataFrame:
    """Return one row per readout of the study, read again only after a commit.

    With a `lock` (its id) these are the readouts of the items that were set aside. `of_scores`
    adds the readouts of which a score is made: shares and grades by the log's scorers. The other
    arguments are those of `studies.readouts`.
    """
    grades_of = scores.graders(store(), study_id, declared(study_id).scorers) if of_scores else ()
    # A shallow copy is enough: pandas copies a column on writing, so no page changes the cached
    # rows.
    return _readouts(study_id, lock, paraphrases, everything, grades_of).copy(deep=False)


@cached("Reading the answers")
def _readouts(
    study_id: str, lock: str | None, paraphrases: str, everything: bool, grades_of: tuple[str, ...]
) -> pd.DataFrame:
    return studies.readouts(
        store(),
        study_id,
        lock=lock,
        paraphrases=paraphrases,
        everything=everything,
        grades_of=grades_of,
    )


# A declaration never changes, so its revision is constant.
@cached(max_entries=64, revision=lambda study_id: 0)
def declared(study_id: str) -> Study:
    """Return the study's declaration."""
    return studies.declared(store(), study_id)


def doses(study_id: str) -> dict[str, int]:
    """Return item id -> how often the item was in the training data, where the item says so."""
    return studies.doses(store(), study_id)


def fresh_items(study_id: str) -> set[str]:
    """Return the ids of items that are marked as never used for calibration."""
    return studies.fresh_items(store(), study_id)


def study_items(study_id: str) -> pd.DataFrame:
    """Return one row per item of the study, read again only after a commit."""
    # A shallow copy, so that a page that adds a column does not change the cached rows.
    return _study_items(study_id).copy(deep=False)


@cached()
def _study_items(study_id: str) -> pd.DataFrame:
    return studies.study_items(store(), study_id)


def roles(study_id: str) -> set[str]:
    """Return the roles of the study's items."""
    # The declaration of recorded outputs does not name the roles, so read them from the items.
    study = declared(study_id)
    return set(study_items(study_id)["role"]) if study.is_recorded else study.roles


def temperature(study_id: str, model: str) -> float | None:
    """Return the temperature at which the model was asked; None if it is not known."""
    return next((use.temperature for use in declared(study_id).models if use.name == model), None)
