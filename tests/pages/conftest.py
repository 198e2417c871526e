"""Every page test starts with empty caches: they outlive a test and hold another test's store."""

import pytest
import streamlit as st


@pytest.fixture(autouse=True)
def fresh_caches():
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()
