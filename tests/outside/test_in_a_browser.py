"""The first hour in Chromium, from a fresh server: drop files, read the headline, open outputs, share the link."""

import re
import shutil
import subprocess
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from tests.browser.serving import browser_page, free_port, wait_until_healthy
from tests.outside.clone import RUNS
from tests.outside.quiz import HOLDOUT, QUIZ, QuizServer, flat_row_of, row_of
from tests.outside.test_first_hours import add_model, outputs_of, paraphrased, said_by
from tests.outside.user import write_csv, write_jsonl

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextmanager
def dashboard(user):
    """The address of a dashboard that the user started."""
    port = free_port()
    log = user.folder.parent / "dashboard.log"
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            [str(user.command), "--server.headless=true", f"--server.port={port}"],
            cwd=user.folder,
            env=user.environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_healthy(port, server, log)
            yield f"http://localhost:{port}"
        finally:
            server.terminate()
            server.wait(20)
    assert "Traceback" not in log.read_text(encoding="utf-8")


@contextmanager
def browser():
    """A page of somebody who has taken the tour."""
    with browser_page() as page:
        page.set_default_timeout(90_000)
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        try:
            yield page
            assert page.locator("[data-testid=stException]").count() == 0
        except BaseException:
            print(page.url, main_text(page), sep="\n")  # what was there in place of what was waited for
            raise


def drop(page, address, *files):
    """Drop files on Studies, import them as a study and wait for its audit."""
    page.goto(f"{address}/studies")
    page.locator("input[type=file]").first.set_input_files([str(file) for file in files])
    page.get_by_role("button", name="Import as a study").click()
    page.get_by_role("button", name="Ask again").wait_for()
    page.get_by_text("How to read this").wait_for()  # the end of the page is there


def main_text(page):
    return " ".join(page.locator("[data-testid=stMain]").inner_text().split())


def share(page, words):
    """Open the page's link in a window of somebody else, which shows the same words."""
    with page.context.browser.new_context() as theirs:
        other = theirs.new_page()
        other.set_default_timeout(90_000)
        other.goto(page.url)
        other.get_by_text(words).first.wait_for()


@pytest.fixture
def somebody(whole_user):
    """Somebody who imported a table before, so that the demo does not start."""
    write_csv(whole_user.folder / "first.csv", [{"id": i, "score": 1} for i in range(10)])
    said_by(whole_user.flipscope("import", "first.csv"))
    return whole_user


def look_at(page, words):
    """Open the outputs behind the first comparison, those of both models, and read these words in one."""
    findings = page.locator("[class*=st-key-look-]:not([class*=st-key-look-score])")
    findings.get_by_role("button", name=re.compile(r"Look at \d+")).first.click()
    page.get_by_text("Sample 1: read as").nth(1).wait_for()
    page.get_by_text(words).first.wait_for()
    assert "item=" in page.url and "study=" in page.url


def test_two_tables_of_outputs(somebody):
    files = [write_csv(somebody.folder / "alpha.csv", outputs_of(32)), write_csv(somebody.folder / "beta.csv", outputs_of(24))]
    with dashboard(somebody) as address, browser() as page:
        drop(page, address, *files)
        said = main_text(page)
        assert "alpha: 80% right" in said and "beta: 60% right" in said and "+20.0 points" in said
        look_at(page, "The answer is 48.")
        share(page, "The answer is 48.")


def test_two_inspect_logs_of_two_commits(somebody):
    with dashboard(somebody) as address, browser() as page:
        drop(page, address, RUNS / "inspect" / "old.eval", RUNS / "inspect" / "new.eval")
        said = main_text(page)
        assert re.search(r"commit \w{7}: 75% right", said) and re.search(r"commit \w{7}: 60% right", said)
        assert "+15.0 points" in said
        look_at(page, "It is 12")
        share(page, "It is 12")


@pytest.mark.parametrize("has_results", [True, False], ids=["with results", "without results"])
def test_two_lm_eval_sample_files(somebody, has_results):
    files = []
    for model in ("alpha", "beta"):
        (samples,) = (RUNS / "lm_eval" / model).glob("samples_*.jsonl")
        files.append(samples)
        files += (RUNS / "lm_eval" / model).glob("results_*.json") if has_results else []
    if not has_results:  # as somebody names them who was sent two files
        files = [shutil.copy(path, somebody.folder / f"{path.parent.name}.jsonl") for path in files]
    with dashboard(somebody) as address, browser() as page:
        drop(page, address, *files)
        said = main_text(page)
        assert "alpha: 80% right" in said and "beta: 70% right" in said
        page.get_by_text(re.compile("alpha scores higher than beta")).first.wait_for()
        if not has_results:
            page.get_by_text("What the import said").click()
            page.get_by_text("have no results file beside them").first.wait_for()
        assert ("have no results file beside them" in main_text(page)) != has_results
        look_at(page, "It is 14")
        share(page, "It is 14")


def ask_beside(user, server, toml, rows):
    """Add the model, and hand the study to the open dashboard, as `run` does."""
    (user.folder / "study.toml").write_text(toml, encoding="utf-8")
    for name, some in rows.items():
        (write_jsonl if name.endswith("l") else write_csv)(user.folder / name, some)
    said = said_by(user.flipscope("run", "study.toml"))
    assert "it appears there under Studies" in said


@pytest.mark.parametrize("fails", [False, True], ids=["all answered", "a fifth fails"])
def test_twenty_questions_to_a_server_without_log_probabilities(somebody, fails):
    is_refused = (lambda item: item % 5 == 0) if fails else (lambda item: False)
    with QuizServer(lambda item: item < 15, is_refused) as server:
        add_model(somebody, server)
        with dashboard(somebody) as address, browser() as page:
            page.goto(f"{address}/studies")
            page.get_by_text("first, recorded").first.wait_for()
            ask_beside(somebody, server, QUIZ, {"quiz.jsonl": [row_of(item) for item in range(20)]})
            page.goto(f"{address}/studies")
            page.get_by_text("Quiz").first.wait_for()
            page.get_by_text(re.compile(r"[Rr]ight on 75% \[.*\] of " + ("16" if fails else "20"))).first.wait_for()
            said = main_text(page)
            assert ("16 failed" in said) == fails
            page.goto(f"{address}/flips")
            page.get_by_text(re.compile("The answer differs between two prompts of one question")).first.wait_for()
            assert ("in 10% (likely " if not fails else "in 12% (likely ") in main_text(page)
            box = page.locator(".flipmap .scroller").bounding_box()
            page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 82 + 12)
            page.get_by_text("Right answer:", exact=False).wait_for()
            assert "item=" in page.url
            share(page, "Right answer:")


# In the headline; a table's hidden cell has "+20.0 points" too.
INFLATION = re.compile(r"scores 20\.0 points higher on the benchmark|higher on the benchmark: 20\.0 points")


def test_a_holdout_of_two_tables(somebody):
    rows = {
        "public.csv": [flat_row_of(item) for item in range(40)],
        "fresh.csv": [flat_row_of(item) for item in range(100, 140)],
    }
    with QuizServer(lambda item: item < 36 or 100 <= item < 128) as server:
        add_model(somebody, server)
        with dashboard(somebody) as address, browser() as page:
            page.goto(f"{address}/studies")
            page.get_by_text("first, recorded").first.wait_for()
            ask_beside(somebody, server, HOLDOUT, rows)
            page.goto(f"{address}/studies")
            page.get_by_text(re.compile(r"\+20\.0 points")).first.wait_for()
            page.locator("a", has_text="Open").first.click()
            page.wait_for_url(re.compile("/holdout.*study"))
            page.get_by_text(INFLATION).first.wait_for()
            share(page, INFLATION)


def test_fifteen_paraphrases_by_two_reviewers(somebody):
    write_csv(somebody.folder / "asked.csv", paraphrased())
    said_by(somebody.flipscope("import", "asked.csv", "--map", "axis:recorded=paraphrase"))
    source = quote("asked · asked, recorded")
    with dashboard(somebody) as address:
        for name, keys in (("Ada", "yyy"), ("Bea", "nyy")):
            with browser() as page:
                page.goto(f"{address}/paraphrase_review?shared=100&source={source}")
                page.get_by_label("Your name").fill(name)
                page.keyboard.press("Enter")
                page.locator(".review .pair").wait_for()
                for place in range(15):
                    pair = page.locator(".review").get_attribute("data-pair")
                    for key in keys if place < 3 else "yyy":
                        page.keyboard.press(key)
                    if place < 14:
                        page.locator(f".review:not([data-pair='{pair}'])").wait_for()
                page.locator(".review .saved", has_text="all stored").wait_for()
                page.get_by_role("button", name="See what your 15 verdicts changed").wait_for()
        with browser() as page:
            page.goto(f"{address}/paraphrase_review?part=Agreement&source={source}")
            page.get_by_text("On 15 pairs judged by two or more, 80% of the judgements agree").first.wait_for()
            page.get_by_text("People differ on 3 of the pairs").first.wait_for()
            share(page, "On 15 pairs judged by two or more")
