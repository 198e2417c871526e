"""The open store, the running studies and cached reads: the one seam between pages and core.

Pages remember here what they computed, once per study, revision and settings, for all who look.
What takes long is computed in a thread of its own, and the page says meanwhile what it is and for
how long.
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
from pages.common.opened import opened
from pages.common.showing import plain

P = ParamSpec("P")
T = TypeVar("T")
# Work that is quicker shows no line: it would only flicker.
FIRST_LINE_S, NEXT_LINE_S = 0.3, 0.5


def store() -> Store:
    """The one open store; a page that cannot have it shows the sentence and stops."""
    try:
        return opened()[0]
    except FlipscopeError as error:
        st.error(str(error), icon=":material/database_off:")
        st.stop()


def registry():
    # Shows the sentence and stops the page where the store cannot be opened.
    store()
    return opened()[1]


def revision(study_id: str) -> int:
    return store().revision(study_id)


def computed(step: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function that Streamlit remembers run in a thread, for the same person.

    The page shows `step` until it has returned. Whoever leaves the page leaves the thread at work,
    and the next who looks finds what it made. Streamlit lets one thread compute what several ask
    for. The function must not draw, nor ask what the session holds.
    """

    def decorate(remembered: Callable[P, T]) -> Callable[P, T]:
        @wraps(remembered)
        def wait_for(*args: P.args, **kwargs: P.kwargs) -> T:
            # Part of something that is being computed: it has a thread and a line already.
            if at_work() or in_cached_function.get():
                return remembered(*args, **kwargs)
            return _in_thread(step, partial(remembered, *args, **kwargs))

        return wait_for

    return decorate


def _in_thread(step: str, call: Callable[[], T]) -> T:
    # A new thread acts for nobody, so the person is taken along.
    person = acting()

    def call_as_person() -> T:
        with acting_as(person):
            return call()

    return _waiting(Work(step, call_as_person))


def _waiting(work: Work[T]) -> T:
    """Return the work's result; until then its line stands where this is called."""
    place, wait_s = st.empty(), FIRST_LINE_S
    while not work.has_ended:
        try:
            work.result(wait_s)
        except TimeoutError:
            place.caption(f":material/hourglass_top: {plain(work.line)}")
            wait_s = NEXT_LINE_S
    # The line goes before the result is drawn.
    place.empty()
    return work.result(0)


def cached(
    step: str = "",
    max_entries: int = 24,
    revision: Callable[[str], Any] = revision,
    *,
    is_kept: bool = False,
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Remember a function of a study's id, or of a view that has one, and of hashable settings.

    It is computed again when the study's `revision` is another, or the cards of models are. What
    takes long says `step` meanwhile. What is remembered was read by somebody else, so who asks must
    be allowed to read. A view's own statistics depend on what its fields say and on nothing that
    the session holds.
    `is_kept` also keeps what is computed of a finished study beside the database, for the next
    server: what is large, quick to compute, or made of anything but rows of the study is not.
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
    """Return what changes with the user's own models, whose cards say what they can have read."""
    # The command line writes the file, too, so no page can tell the others.
    try:
        status = own_models_toml().stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _kept(make: Callable[..., T]) -> Callable[..., T]:
    """Have a function of a study and settings read what an earlier server computed."""
    # Streamlit calls the module of every page's script `__main__`, so the file tells them apart.
    file = Path(inspect.getsourcefile(make) or "")
    name = f"{'/'.join(file.parts[-3:])} {make.__qualname__}"

    @wraps(make)
    def read_or_make(study: Any, *settings: Any) -> T:
        study_id = study if isinstance(study, str) else study.study_id
        # What a model can have seen, and how it was trained, is in its card and in no row.
        try:
            cards = model_cards()
        except BadInput:
            # A damaged file of models is the Models page's to say; numbers without it still stand.
            return make(study, *settings)
        names = [name, *map(repr, (study, *settings)), repr(cards)]
        return kept_results.kept(store(), study_id, names, partial(make, study, *settings))

    return read_or_make


def _memory_by_revision(make: Callable[..., T], max_entries: int) -> Callable[..., T]:
    """Remember `make` behind a first argument that only tells one revision from another."""

    @wraps(make)
    def make_at(at_revision: Any, *settings: Any) -> T:
        return make(*settings)

    # `wraps` keeps the source of `make`, which is a part of Streamlit's key, but Streamlit would
    # also name the arguments by the signature of `make`, which lacks the revision.
    make_at.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("at_revision", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("settings", inspect.Parameter.VAR_POSITIONAL),
        ]
    )
    return st.cache_resource(show_spinner=False, max_entries=max_entries)(make_at)


def chosen_study(fits: Callable[[Study], bool] | None = None) -> str | None:
    """Return the study that the page looks at, chosen in the header.

    Its id stands in the link (`?study=`): names may be alike. Without a link it is the one that was
    chosen on another page; if that does not fit this page, the newest that does.
    """
    names = names_of_studies()
    if not names:
        return None
    suited = [study_id for study_id in names if fits is None or fits(declared(study_id))] or list(
        names
    )
    link = st.query_params.get("study", "")
    candidates = (
        [link]
        if link in names
        else [study_id for study_id in suited if study_id == st.session_state.get("study-id")]
    )
    start = candidates[0] if candidates else suited[0]
    choice = st.selectbox(
        "Study",
        list(names),
        index=list(names).index(start),
        # A key per start: a widget keeps its value, and a link must win over it.
        key=f"study-{start}",
        label_visibility="collapsed",
        width=400,
        format_func=lambda study_id: names.get(study_id, study_id),
    )
    remember_missing("study", link, names, choice)
    if candidates or choice != start:
        st.session_state["study-id"] = choice
    if link != choice:
        st.query_params["study"] = choice
    return choice


def names_of_studies() -> dict[str, str]:
    """Study -> its name, newest first.

    A study that this version cannot read is shown under Studies and nowhere else.
    """
    rows = all_studies()
    # What cannot be read has no page but Studies.
    rows = rows[rows["problem"] == ""] if len(rows) else rows
    names = dict(zip(rows["study_id"], rows["name"], strict=True)) if len(rows) else {}
    # Equal labels would be one choice to the browser.
    alike = {name for name, n in Counter(names.values()).items() if n > 1}
    return {
        study_id: f"{name} · {study_id[:6]}" if name in alike else name
        for study_id, name in names.items()
    }


def all_studies() -> pd.DataFrame:
    """Return `queries.studies`, read again only after a commit."""
    require(Permission.READ)
    # A shallow copy: a page that adds a column changes it for itself alone.
    return _all_studies(store().revision_of_all).copy(deep=False)


@st.cache_resource(show_spinner=False, max_entries=2)
def _all_studies(revision: int) -> pd.DataFrame:
    return studies.studies(store())


def study_row(study_id: str) -> dict:
    return all_studies().set_index("study_id", drop=False).loc[study_id].to_dict()


def lock_id(study_id: str, page: str) -> str:
    """The lock of a page on a study; "" without one, which the store refuses to read under."""
    return (locks.lock_of_page(store(), study_id, page) or {"lock_id": ""})["lock_id"]


def readouts(
    study_id: str,
    *,
    lock: str | None = None,
    paraphrases: str = "standing",
    everything: bool = False,
    of_scores: bool = False,
) -> pd.DataFrame:
    """Return the study's readouts, read again only after a commit.

    Under a lock those of the items that were set aside. `of_scores` are those that a score is made
    of: shares and grades of the log's scorers too.
    """
    grades_of = scores.graders(store(), study_id, declared(study_id).scorers) if of_scores else ()
    # A shallow copy is enough: pandas copies a column that is written to, so no page changes the
    # rows of another.
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


# No revision changes a declaration.
@cached(max_entries=64, revision=lambda study_id: 0)
def declared(study_id: str) -> Study:
    return studies.declared(store(), study_id)


def doses(study_id: str) -> dict[str, int]:
    """Item -> how often it was in the training data, of items that say so themselves."""
    return studies.doses(store(), study_id)


def fresh_items(study_id: str) -> set[str]:
    """Items that say of themselves that nothing was ever calibrated on them."""
    return studies.fresh_items(store(), study_id)


def study_items(study_id: str) -> pd.DataFrame:
    # A shallow copy: a page that adds a column changes it for itself alone.
    return _study_items(study_id).copy(deep=False)


@cached()
def _study_items(study_id: str) -> pd.DataFrame:
    return studies.study_items(store(), study_id)


def roles(study_id: str) -> set[str]:
    """Return the roles of the study's items.

    The declaration of a recording does not say them, so they are read as stored.
    """
    study = declared(study_id)
    return set(study_items(study_id)["role"]) if study.is_recorded else study.roles


def temperature(study_id: str, model: str) -> float | None:
    """Return the temperature at which this model was asked; None where it is not known."""
    return next((use.temperature for use in declared(study_id).models if use.name == model), None)
