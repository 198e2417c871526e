"""Each guess about logs as a field; what differs from the guess becomes a word that `--map` takes."""

import streamlit as st

from flipcore.core.records import KINDS, ROLES
from flipcore.datasets.recorded.log_documents import JOINS
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_rows import UNNAMED
from flipcore.runs.log_corrections import CLUSTERS, TARGETS
from flipcore.runs.log_survey import Survey
from pages.common.notes import plain

MOST_FILES = 12
PROMPT_HELP = "The name of the prompt that these outputs answer. Write base for the one that the others are compared with."
SAMPLE_HELP = "The number of the first sample, from 0. Write rows if each row is a further sample of its prompt."


def corrections(log_survey: Survey, key: str) -> list[str]:
    """The words that `--map` would take, from the fields on the page."""
    words = []
    left, right = st.columns(2)
    name = left.text_input("Name of the study", log_survey.name, key=f"log-name-{key}")
    words += [f"name={name}"] if name != log_survey.name else []
    leave = right.multiselect("Readouts to leave out", list(log_survey.readouts), key=f"log-leave-{key}")
    words += [f"leave={','.join(leave)}"] if leave else []
    with st.popover("Correct a guess", icon=":material/edit:"):
        for model in log_survey.models:
            alias = st.text_input(f"Model {plain(model)}", model, key=f"log-model-{key}-{model}")
            words += [f"model={alias}" if model == UNNAMED else f"model:{model}={alias}"] if alias != model else []
        for task, kind in log_survey.kinds.items():
            selection = st.selectbox(f"Kind of {plain(task)}", KINDS[:3], KINDS[:3].index(kind), key=f"log-kind-{key}-{task}")
            words += [f"kind:{task}={selection}"] if selection != kind else []
            words += _of_task(log_survey, task, key)
        words += _of_axes(log_survey, key)
        words += _of_files(log_survey, key)
        join = st.selectbox("Rows are one item by", JOINS, None, key=f"log-join-{key}", placeholder="hash, id or text")
        words += [f"join={join}"] if join else []
    return words


def _of_task(log_survey: Survey, task: str, key: str) -> list[str]:
    """Role, clusters and right answers of one task."""
    role_box, cluster_box, target_box = st.columns(3)
    role = role_box.selectbox(f"Item role of {plain(task)}", ROLES, None, key=f"log-role-{key}-{task}", placeholder="as logged")
    own = log_survey.clusters[task]
    cluster = cluster_box.selectbox(
        f"Clusters of {plain(task)}", CLUSTERS, CLUSTERS.index(own), key=f"log-cluster-{key}-{task}"
    )
    target = target_box.selectbox(
        f"Right answers of {plain(task)}", list(TARGETS), None, key=f"log-target-{key}-{task}", placeholder="as recognised"
    )
    words = [f"role:{task}={role}"] if role else []
    words += [f"cluster:{task}={cluster}"] if cluster != own else []
    return words + ([f"target:{task}={target}"] if target else [])


def _of_axes(log_survey: Survey, key: str) -> list[str]:
    """Name and harmlessness of each axis beside the log's own prompt."""
    words = []
    for axis in (one for one in log_survey.axes if one != OWN_PROMPT):
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        name = left.text_input(f"Axis {plain(axis)}", axis, key=f"log-axis-{key}-{axis}") or axis
        words += [f"axis:{axis}={name}"] if name != axis else []
        if not right.toggle("Harmless change", True, key=f"log-harmless-{key}-{axis}"):
            words.append(f"harmless:{name}=no")
    return words


def _of_files(log_survey: Survey, key: str) -> list[str]:
    """Prompt and first sample of each file."""
    words = []
    for file in log_survey.files[:MOST_FILES]:
        name = file.source.name
        left, right = st.columns([3, 2])
        prompt = left.text_input(
            f"Prompt of {plain(name)}", key=f"log-prompt-{key}-{name}", placeholder="as recognised", help=PROMPT_HELP
        )
        sample = right.text_input(
            f"First sample of {plain(name)}", key=f"log-sample-{key}-{name}", placeholder="as logged", help=SAMPLE_HELP
        )
        words += [f"prompt:{name}={prompt.strip()}"] if prompt.strip() else []
        words += [f"sample:{name}={sample.strip()}"] if sample.strip() else []
    if len(log_survey.files) > MOST_FILES:
        st.caption(f"The first {MOST_FILES} of {len(log_survey.files):,} files. For the others use --map on the command line.")
    return words
