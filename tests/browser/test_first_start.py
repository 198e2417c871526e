"""The README's first command: an empty store, the demo under way, and every card answered on the page that opened."""

import json
import re
import time

import pytest

from tests.browser.serving import ROOT, browser_page, dashboard
from tests.browser.test_main_job import no_fault

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(600),  # longer than MAX_S, which says which card had no answer
    pytest.mark.usefixtures("allowed_folders"),
]
MAX_S, LEAST_WORDS, REDRAWN_S = 420, 60, 30
ANSWERS = {
    "Does the answer flip?": re.compile("of answers change|changes answers"),
    "Is it memory?": re.compile("The model remembers|Memory shown|Undecided|None shown|No memory"),
    "Is the holdout fair?": re.compile("All 4|The sets c|Undecided: "),
}


def test_the_page_stays_from_an_empty_store_to_the_last_verdict(tmp_path):
    seen = {}
    with dashboard(ROOT / "app.py", tmp_path / "flips.duckdb") as url, browser_page() as page:
        faults = page.errors
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        begin = time.monotonic()
        whole_at = begin
        page.goto(url)
        page.get_by_text("Three questions, answered by the demo").wait_for(timeout=90_000)
        while len(seen) < len(ANSWERS) and time.monotonic() - begin < MAX_S:
            if len(page.inner_text("[data-testid=stMain]").split()) > LEAST_WORDS:
                whole_at = time.monotonic()
            assert time.monotonic() - whole_at < REDRAWN_S, f"the page went blank after {whole_at - begin:.0f} s: {faults}"
            assert no_fault(page), page.locator("[data-testid=stException]").first.inner_text()
            for question, said in ANSWERS.items():
                card = page.locator("[data-testid=stColumn]").filter(has=page.get_by_role("heading", name=question))
                if question not in seen and card.count() and said.search(card.first.inner_text()):
                    seen[question] = round(time.monotonic() - begin)
            page.wait_for_timeout(500)
        print(f"seconds until each card had its answer: {json.dumps(seen)}")
        page.wait_for_timeout(6_000)  # what was set off by the last answer is drawn
        assert len(page.inner_text("[data-testid=stMain]").split()) > LEAST_WORDS
        assert set(seen) == set(ANSWERS) and not faults
