"""A drag of every choice in Chromium, beside Ranking's board: `python -m tests.benchmarks.choices_paint` writes choices_paint.md.

480 ways of counting 12,000 items, and some 5,000 of them. A drag is timed from the handle's event to the next frame after all is
drawn; what the browser itself computes for it is its script alone.
"""

import json
import os
import platform
import statistics
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flipcore.charts.theme import LIGHT
from flipcore.claims.decisions import Decision
from flipcore.reports.browser_data import every_choice
from flipcore.reports.browser_data.parts import BOARD, part, script_of
from flipcore.reports.browser_data.ranking import board as ranking_board
from flipcore.reports.choices import ChoicesReport
from flipcore.reports.ranking import ranking_report
from flipcore.stats.choices.choice import selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.readouts import ItemFacts, answers_of, material_of
from tests.benchmarks.test_choices_speed import N, readouts, timed
from tests.browser.serving import browser_page

N_DRAGS = 30
# Of each drag: milliseconds until the board's own script is done, and until the next frame is begun.
DRAG = """async (n) => {
  const slider = document.querySelector("input[type=range]");
  const last = Number(slider.max), times = [];
  for (let i = 0; i < n; i += 1) {
    await new Promise((done) => requestAnimationFrame(done));
    slider.value = String((i * 3) % (last + 1));
    const start = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.offsetHeight;
    const drawn = performance.now() - start;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push([drawn, performance.now() - start]);
  }
  return times;
}"""
FIRST = """(data) => {
  const start = performance.now();
  window.drawBoard({ data, parentElement: document.querySelector("main"), setTriggerValue: () => {} });
  document.body.offsetHeight;
  return performance.now() - start;
}"""


def measured(page, board) -> dict[str, float]:
    """First paint and drags of a board, in milliseconds, and its size in kB."""
    data = board.data() | {"board": "b", "colours": asdict(LIGHT), "locked": False, "opened": ""}
    text = json.dumps(data, allow_nan=False)
    page.set_content(f"<style>{part('board').css}</style><main>{part('board').html}</main>")
    page.evaluate(f"() => {{ window.drawBoard = {script_of(part('board', BOARD).js)}; }}")
    first = page.evaluate(FIRST, json.loads(text))
    page.wait_for_timeout(500)
    page.evaluate(DRAG, 5)
    times = page.evaluate(DRAG, N_DRAGS)
    scripts, frames = zip(*times, strict=True)
    cuts = statistics.quantiles(frames, n=20)
    return {
        "first": first,
        "script": statistics.median(scripts),
        "median": statistics.median(frames),
        "p95": cuts[-1],
        "kB": len(text) / 1e3,
    }


def boards() -> Iterator[tuple[str, Any, float, float]]:
    """Yield the name, the board, and the CPU seconds of Python, alone and as a ratio to Ranking's board."""
    frame = readouts()
    ids = [f"q{i}" for i in range(N)]
    facts = ItemFacts(
        categories={item: f"c{i % 40}" for i, item in enumerate(ids)},
        repeated=set(ids[::50]),
        wrong_key=set(ids[1:200:2]),
        disputed=set(ids[1:600:2]),
        category_groups={f"group {k}": [f"c{k}"] for k in range(9)},
    )
    ranking, ranking_seconds = timed(lambda: ranking_board(ranking_report(frame), 0.95))
    yield "Ranking's board", ranking, ranking_seconds, 1.0
    material = material_of(answers_of(frame, "regex", facts).of_models("A", "B"), facts)
    for also in ([], ["categories"]):
        choices = selected(material.choices, also=also)

        def made(choices=choices):
            curve = count(material, choices)
            report = ChoicesReport(Decision("A", "B"), curve, material.choices, is_locked=False)
            view = every_choice.start_of(material.choices)
            return every_choice.board(report, curve, view), len(curve)

        (board, n_ways), seconds = timed(made)
        yield f"{n_ways:,} specifications", board, seconds, seconds / ranking_seconds


def rows() -> Iterator[str]:
    with browser_page() as page:
        page.set_default_timeout(120_000)
        for name, board, seconds, ratio in boards():
            times = measured(page, board)
            cells = [
                f"{seconds:.1f} s, {ratio:.2f}",
                *(f"{times[key]:.0f}" for key in ("first", "script", "median", "p95", "kB")),
            ]
            yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    lines = [
        "# A drag of every choice in Chromium",
        "",
        "`python -m tests.benchmarks.choices_paint` writes this: 12,000 items, two models, 5 extractors, 2 prompts, 2 runs, on "
        f"{os.cpu_count()} cores ({platform.machine()}). Milliseconds; medians of {N_DRAGS} drags, from the handle's event until all",
        "is drawn (script), and until the frame after that (to paint).",
        f"Load of the machine at the start: {os.getloadavg()[0]:.0f}; times to paint are as good as that.",
        "",
        "| board | made by Python, ratio of CPU | first paint | drag, script | drag, to paint | p95 | kB sent |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows():
        lines.append(row)
        Path(__file__).with_suffix(".md").write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
