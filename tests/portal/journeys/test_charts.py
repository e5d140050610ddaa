"""Charts in a real browser: drawn from the tables of a page, told under the pointer, switched by their legend."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator, Page, ViewportSize, expect
from sqlalchemy import text

from tests.factories import end_jobs, submitted_jobs
from tests.portal.conftest import Served
from tests.portal.journeys.conftest import Visit
from tests.portal.journeys.test_every_page import faults, grave, on_each_screen
from tests.waiting import looks

CHARTED = ["/campaigns/1", "/campaigns/1/course", "/clusters/dahu", "/usage"]
NOTE_TEXTS = """
window.texts = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.texts.push(text);
    write.call(this, text, ...place);
};
"""
"""What is written on canvases is no part of a page."""
REPAINTED = 15.0  # seconds
MARKED = re.compile("marked")
HISTORY = """
INSERT INTO forecast_history
    (campaign_id, cluster_id, at, ratio, remaining, eta, eta_low, eta_high, cores, done, failed)
SELECT 1, cluster, now() - n * interval '1 min', 1, 3, now() + interval '20 min', now() + interval '10 min',
       now() + interval '30 min', 8, CASE WHEN cluster IS NULL THEN 1 END, CASE WHEN cluster IS NULL THEN 1 END
FROM generate_series(1, 20) AS n, (VALUES (1), (NULL)) AS clusters (cluster)
"""
USAGE = """
INSERT INTO cluster_usage (cluster_id, at, total, free, used, used_by_us, unavailable)
SELECT 1, now() - n * interval '15 min', 10, 4, 5, 3, 1 FROM generate_series(1, 20) AS n
"""


@pytest.fixture
def charted(web: Served) -> Served:
    """Campaign 1 was submitted an hour ago, of which 20 minutes are known; dahu was looked at for 5 hours."""
    with web.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '1 hour' WHERE id = 1"))
        conn.execute(text(HISTORY))
        conn.execute(text(USAGE))
    return web


def chart(page: Page, name: str) -> Locator:
    found = page.locator(f"#chart-{name}")
    expect(found.locator(".u-wrap > canvas")).to_be_visible()
    return found


def switch(figure: Locator, name: str) -> Locator:
    return figure.get_by_role("group", name="shown in the chart").get_by_role("button", name=name, exact=True)


def point_at(figure: Locator) -> Locator:
    """What is told under the pointer, in the middle of the chart."""
    over = figure.locator(".u-over")
    over.hover()
    expect(figure.locator(".tip")).to_be_visible()
    return figure.locator(".tip")


def mark(place: Locator) -> None:
    """What is fetched anew is not marked any more."""
    place.evaluate("place => place.classList.add('marked')")


def test_a_chart_has_axes_with_units_and_tells_the_value_under_the_pointer(charted: Served, visit: Visit) -> None:
    page = visit(charted)
    page.add_init_script(NOTE_TEXTS)
    page.goto("/campaigns/1/course")
    for name in ("progress-1", "ends-1", "cores-1"):
        expect(chart(page, name).locator(".u-axis")).to_have_count(2)
    written = page.evaluate("window.texts")
    assert {"tasks", "cores", "predicted end", "forecast at", "0", "4"} <= set(written)
    told = point_at(chart(page, "progress-1"))
    expect(told).to_contain_text(re.compile(r"\d:\d\d.*done: 1.*failed: 1"))
    expect(point_at(chart(page, "cores-1"))).to_contain_text("dahu: 8")
    expect(point_at(chart(page, "ends-1"))).to_contain_text(re.compile(r"predicted end: .*\d:\d\d"))
    page.mouse.move(0, 0)
    expect(told).to_be_hidden()


def test_ticks_of_a_few_seconds_tell_seconds(charted: Served, visit: Visit) -> None:
    with charted.database.begin() as conn:
        conn.execute(text("DELETE FROM forecast_history WHERE at < now() - interval '61 s'"))
        conn.execute(text("UPDATE forecast_history SET eta = NULL, cores = NULL, at = now() - interval '2 s'"))
        conn.execute(text("UPDATE campaigns SET submitted_at = now() - interval '5 s' WHERE id = 1"))
    page = visit(charted)
    page.add_init_script(NOTE_TEXTS)
    page.goto("/campaigns/1/course")
    chart(page, "progress-1")
    ticks = [told for told in page.evaluate("window.texts") if re.match(r"\d+:\d\d", told)]
    assert len(ticks) >= 3
    assert all(re.match(r"\d+:\d\d:\d\d", tick) for tick in ticks)
    assert len(set(ticks)) == len(ticks)


def test_a_switch_hides_a_series_also_after_a_refresh(charted: Served, visit: Visit) -> None:
    page = visit(charted)
    page.clock.install()
    page.goto("/campaigns/1")
    figure = chart(page, "progress-1")
    switch(figure, "done").focus()
    page.keyboard.press("Enter")
    expect(switch(figure, "done")).to_have_attribute("aria-pressed", "false")
    expect(switch(figure, "failed")).to_have_attribute("aria-pressed", "true")
    figure.get_by_text("the figures as a table").click()
    switch(figure, "done").focus()
    mark(figure)
    with page.expect_response("**/course"):
        page.clock.run_for(31_000)
    expect(figure).not_to_have_class(MARKED)
    expect(switch(figure, "done")).to_have_attribute("aria-pressed", "false")
    expect(switch(figure, "done")).to_be_focused()
    expect(figure.get_by_role("table")).to_be_visible()
    told = point_at(figure)
    expect(told).to_contain_text("failed: 1")
    expect(told).not_to_contain_text("done")
    expect(figure.locator(".u-wrap > canvas")).to_have_count(1)
    switch(figure, "done").click()
    expect(point_at(figure)).to_contain_text("done: 1")


def test_a_chart_stays_as_it_is_when_its_page_is_fetched_anew(charted: Served, visit: Visit) -> None:
    page = visit(charted)
    page.goto("/campaigns/1")
    figure = chart(page, "cores-1")
    for place in (figure, page.locator("h1")):
        mark(place)
    with charted.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 1))
    page.evaluate("htmx.trigger('#main', 'changed')")
    expect(page.locator("h1")).not_to_have_class(MARKED)
    expect(figure).to_have_class(MARKED)
    expect(figure.get_by_role("group", name="shown in the chart")).to_have_count(1)
    expect(figure.locator("time").first).to_have_text(re.compile(r"\d:\d\d:\d\d"))
    expect(point_at(figure)).to_contain_text("dahu: 8")


def test_kinds_of_cores_are_switched_one_by_one(charted: Served, visit: Visit) -> None:
    page = visit(charted)
    page.goto("/clusters/dahu")
    figure = chart(page, "day")
    expect(point_at(figure)).to_contain_text(re.compile(r"free: 4.*down: 1.*others': 2.*ours: 3.*together: 10"))
    switch(figure, "free").click()
    expect(point_at(figure)).to_contain_text("together: 6")


def test_figures_of_thousands_and_parts_of_a_core_are_drawn(charted: Served, visit: Visit) -> None:
    """People read 1,500; a script that takes the comma for a part of the number draws nothing."""
    with charted.database.begin() as conn:
        conn.execute(text("DELETE FROM cluster_usage"))
        columns = "cluster_id, at, total, free, used, used_by_us, unavailable"
        row = "1, now() - n * interval '1 min', 2000, 500, 1500, 1200 + n % 2, 0"
        conn.execute(text(f"INSERT INTO cluster_usage ({columns}) SELECT {row} FROM generate_series(1, 300) AS n"))
    page = visit(charted, locale="en-GB")
    page.goto("/clusters/dahu")
    figure = chart(page, "day")
    expect(point_at(figure)).to_contain_text(re.compile(r"free: 500.*ours: 1,200\.\d.*together: 2,000"))
    figure.get_by_text("the figures as a table").click()
    expect(figure.get_by_role("cell", name=re.compile(r"^1,200\.\d+$")).first).to_be_visible()


def test_times_are_those_of_the_readers_zone(charted: Served, visit: Visit) -> None:
    page = visit(charted, timezone_id="Asia/Tokyo", locale="en-GB")
    page.goto("/clusters/dahu")
    figure = chart(page, "day")
    instant = figure.locator("tbody time").nth(10).get_attribute("datetime")
    assert instant
    told = f"{datetime.fromisoformat(instant).astimezone(ZoneInfo('Asia/Tokyo')):%H:%M}"
    expect(figure.locator("tbody time").nth(10)).to_contain_text(told)


def test_another_scheme_of_colours_paints_it_anew(charted: Served, visit: Visit) -> None:
    page = visit(charted)
    page.goto("/usage")
    canvas = chart(page, "used").locator(".u-wrap > canvas")
    light = canvas.evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark")
    assert any(canvas.evaluate("canvas => canvas.toDataURL()") != light for _ in looks(REPAINTED))


@on_each_screen
def test_charts_are_for_anybody(screen: ViewportSize, charted: Served, visit: Visit) -> None:
    page = visit(charted, viewport=screen)
    assert grave(page, CHARTED) == {}
    expect(chart(page, "used")).to_be_visible()
    page.goto("/campaigns/1/course")
    for told in page.get_by_text("the figures as a table").all():
        told.click()
    page.evaluate(AXE_SCRIPT)
    assert faults(page) == []


def test_without_script_the_figures_stand_there(charted: Served, visit: Visit) -> None:
    page = visit(charted, java_script_enabled=False)
    page.goto("/campaigns/1/course")
    figure = page.locator("#chart-cores-1")
    expect(figure.get_by_role("columnheader", name="dahu")).to_be_visible()
    expect(figure.get_by_role("cell", name="8", exact=True).first).to_be_visible()
    expect(page.locator("canvas")).to_have_count(0)
