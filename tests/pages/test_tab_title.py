"""When the browser's tab is given its title: before the page, except where the page would then wait for the store."""

import threading

import pytest

from pages.common import tab_title


@pytest.mark.parametrize(("has_opened", "order"), [(False, ["page", "title"]), (True, ["title", "page"])])
def test_the_first_page_of_a_fresh_start_is_drawn_before_the_store_is_opened_for_the_title(monkeypatch, has_opened, order):
    is_open, happened = threading.Event(), []
    if has_opened:
        is_open.set()
    monkeypatch.setattr(tab_title, "is_open", is_open)
    monkeypatch.setattr(tab_title, "_show", lambda: happened.append("title"))
    with tab_title.around_page():
        happened.append("page")
    assert happened == order
