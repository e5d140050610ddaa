"""scripts/demo as whoever has just got CiGri starts it, and the address that it prints in a real browser."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.terminals import run_on_terminal

DEMO = Path(__file__).parents[3] / "scripts" / "demo"
ENDING = 120.0  # seconds
PATIENCE = 60_000  # milliseconds
WATCH_BARS = """() => {
    window.bars = [];
    const look = () => document.querySelectorAll("main [role=img].bar")
        .forEach((bar) => window.bars.push(bar.getAttribute("aria-label")));
    look();
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
"""It is lost where a page is loaded anew."""
Demo = subprocess.Popen[str]


@pytest.fixture
def demo(chromium: Browser) -> Iterator[Demo]:
    """While `chromium` is there; it goes on until something is written to it; root has to ask for a browser."""
    assert chromium.is_connected()
    argv = [str(DEMO), "--keep", *([] if os.geteuid() else ["--root"])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CIGRI_")}
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=environment) as demo:
        try:
            yield demo
        finally:
            if demo.poll() is None:
                demo.send_signal(signal.SIGTERM)
                demo.communicate(timeout=ENDING)


@pytest.mark.process
@pytest.mark.alone  # the campaign lasts seconds, in which a page has to come
def test_its_address_shows_its_campaign_move(demo: Demo, chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(told(demo, r"(http://\S+)"))
    page.get_by_role("button", name="sign in as").click()
    page.get_by_role("heading", name="Campaigns of").wait_for()
    number = told(demo, r"(\d+) mandelbrot ")
    page.goto(f"{page.url}campaigns/{number}")
    page.evaluate(WATCH_BARS)
    expect(page.get_by_role("img", name="36 done").first).to_be_visible(timeout=PATIENCE)
    assert set(page.evaluate("window.bars")) - {"36 done"}, "nobody saw it before it was over"
    told(demo, "(The demo goes on until you press Enter.)")
    expect(page.locator("main .state").first).to_have_text("ended")
    page.context.close()
    said, _ = demo.communicate("\n", timeout=ENDING)
    assert demo.returncode == 0, said
    assert "36 tasks ran on the cluster localhost" in said


@pytest.mark.process
@pytest.mark.alone  # it is the demo of this checkout, of which there is one
def test_it_draws_nothing_on_a_dumb_terminal() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CIGRI_")}
    status, said = run_on_terminal([DEMO], environment | {"TERM": "dumb"}, DEMO.parent, ENDING)
    assert (status, "\x1b" in said) == (0, False), said
    assert "36 tasks ran on the cluster localhost" in said


def told(demo: Demo, words: str) -> str:
    """What the next line that begins with these words has in their brackets."""
    assert demo.stdout
    lines = []
    for line in demo.stdout:
        lines.append(line)
        if found := re.match(words, line):
            return found[1]
    raise AssertionError("".join(lines))
