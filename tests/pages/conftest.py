"""Every page test starts with empty caches: they outlive a test and hold another test's store.

Classifiers are permuted 19 times here, not 199: what a page shows of them is the same, a twentieth of the work."""

import pytest
import streamlit as st

from flipcore.vectors.classifiers import CLASSIFIERS


@pytest.fixture(autouse=True)
def fresh_caches():
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch):
    for kind in {type(one) for one in CLASSIFIERS}:
        monkeypatch.setattr(kind, "n_permutations", min(19, kind.n_permutations))
