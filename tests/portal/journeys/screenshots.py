"""docs/pictures: the home page, and a campaign on three clusters, one of which fails at some of it.

The campaign is made in virtual time, so that pictures differ only where pages do. Where a directory is named, each page
is pictured there whole, on a laptop and on a phone, in light and in dark, and docs/pictures stay as they are.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import Connection

from cigri.database import embedded, schema
from cigri.database.virtual import VirtualTimeDatabase
from cigri.eligibility.quotas import QuotaRule
from cigri.flow.audit import put_audit
from cigri.flow.events import NewEvent, put_events
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.quotas import QuotaAmounts, put_quota
from cigri.gateway.transport_gateway import TransportGateway
from cigri.identity.callers import AccessScope, Caller
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import NodeSettings, PortalSettings, Settings
from cigri.states import EventLevel, Outcome
from modules import metascheduler, predictor
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, note_passes, run_jobs, submitted_jobs
from tests.portal.browser import LINK, made_link
from tests.portal.conftest import Served, serving
from tests.portal.journeys.conftest import CHROMIUM

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
USER = "alice"
OPERATORS_LINK = "o" * len(LINK)
WIDTH = 1100
PICTURED = {"home": ("/", 760, ".bar"), "campaign": ("/campaigns/1", 1420, "#chart-progress-1 .u-over")}
"""Pages, how much of each is shown, and what is waited for."""
LOOKED_AT = [
    *("/", "/?user=*", "/campaigns/1", "/campaigns/2", "/campaigns/4", "/campaigns/1?state=failed"),
    *("/campaigns/1/strip", "/campaigns/1/tasks/0", "/submit", "/submit?example=table", "/events", "/clusters"),
    *("/clusters/luke", "/usage"),
]
LOOKED_AT_BY_OPERATORS = [
    *("/operator", "/operator/audit", "/operator/quotas", "/clusters/dahu", "/events?of=grid"),
]
WIDTHS = (1280, 390)
HEIGHT = 800
SETTLED = 10_000  # milliseconds
SPEEDS = {"dahu": 4, "luke": 2, "bigfoot": 1}
"""Tasks that each cluster ends in a round."""
ROUNDS, ROUND = 50, timedelta(minutes=1)
FORECAST_EVERY = 5  # rounds


@contextmanager
def demo_grid() -> Iterator[VirtualTimeDatabase]:
    with embedded.temporary() as directory:
        with psycopg.connect(embedded.url(directory), autocommit=True) as conn:
            conn.execute("CREATE DATABASE demo")
        database = VirtualTimeDatabase(embedded.url(directory, "demo"))
        database.make_clock()
        schema.upgrade(database)
        yield database
        database.close()


def work(database: VirtualTimeDatabase) -> None:
    """An hour of it."""
    tools = PassContext(database, Settings(), TransportGateway())
    database.set_time(NOON)
    with database.begin() as conn:
        clusters = {name: a_cluster(conn, name) for name in SPEEDS}
        names = list(clusters)
        a_campaign(conn, [f"--column {i % 25} --row {i // 25}" for i in range(600)], name="mandelbrot", clusters=names)
        a_campaign(conn, 2500, name="protein-folding", clusters=["dahu", "luke"])
        a_campaign(conn, 40, name="calibration", clusters=["bigfoot"])
        end_jobs(conn, clusters["bigfoot"], submitted_jobs(conn, 3, clusters["bigfoot"], 31))
        a_campaign(conn, 90, name="ocean-currents", clusters=["dahu", "luke"])
        end_jobs(conn, clusters["dahu"], submitted_jobs(conn, 4, clusters["dahu"], 66), seconds=90)
        for code, failing in ((1, 14), (137, 7), (2, 3)):
            failed = submitted_jobs(conn, 4, clusters["luke"], failing)
            end_jobs(conn, clusters["luke"], failed, Outcome.FAILURE, exit_code=code, node="luke-7")
        a_campaign(conn, 25, name="smoke-test", clusters=["bigfoot"])
        end_jobs(conn, clusters["bigfoot"], submitted_jobs(conn, 5, clusters["bigfoot"], 25), seconds=12)
    for turn in range(ROUNDS):
        database.set_time(NOON + turn * ROUND)
        with database.begin() as conn:
            for name, speed in SPEEDS.items():
                jobs = submitted_jobs(conn, 1, clusters[name], speed + turn % 3)
                failing = 2 if name == "luke" and turn % 16 == 5 else 0
                end_jobs(conn, clusters[name], jobs[:failing], Outcome.FAILURE, exit_code=1, node="luke-7")
                end_jobs(conn, clusters[name], jobs[failing:], seconds=240)
            end_jobs(conn, clusters["dahu"], submitted_jobs(conn, 2, clusters["dahu"], 5 + turn // 2), seconds=200)
        if turn % FORECAST_EVERY == FORECAST_EVERY - 1:
            predictor.run_once(tools)
    with database.begin() as conn:
        for name, speed in SPEEDS.items():
            run_jobs(conn, submitted_jobs(conn, 1, clusters[name], 4 * speed))
        run_jobs(conn, submitted_jobs(conn, 2, clusters["dahu"], 60))
        note_passes(conn)
    for module in (predictor, metascheduler):
        module.run_once(tools)
    with database.begin() as conn:
        declare(conn, clusters)


def declare(conn: Connection, clusters: dict[str, int]) -> None:
    """What operators have said and are told."""
    olga = Caller("olga", is_operator=True, scope=AccessScope.OPERATE)
    put_audit(conn, olga, "set_quota", {"rule": "*,*,all,/", "cores": 64})
    put_audit(conn, olga, "drain_cluster", {"cluster": "bigfoot", "by": "+2h", "kill": False})
    put_audit(conn, Caller(USER), "hold_campaign", {"campaign_id": 2, "cluster": ""})
    put_quota(conn, QuotaRule.parse("*,*,all,/"), QuotaAmounts(64, None, None, None), "")
    put_quota(conn, QuotaRule.parse("*,ocean,all,*"), QuotaAmounts(None, 500, 3_600_000, 30), "dahu")
    put_exclusion(conn, clusters["luke"], "luke", "luke-7", "17 of its last 20 tasks failed", NodeSettings())
    for cluster in ("luke", "bigfoot"):
        told = f"{cluster} does not answer: connection timed out"
        put_events(
            conn, [NewEvent("CLUSTER_UNREACHABLE", EventLevel.ERROR, cluster, told, cluster_id=clusters[cluster])]
        )


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def sign_in(browser: Browser, portal: Served, link: str = LINK) -> Page:
    origin = f"http://127.0.0.1:{portal.port}"
    page = browser.new_context(base_url=origin, locale="en-GB", timezone_id="UTC").new_page()
    page.goto(f"/sign-in?link={link}")
    page.get_by_role("button", name="sign in as").click()
    page.wait_for_url("/")
    return page


def take_for_docs(page: Page) -> None:
    """Each page, as docs show it."""
    PICTURES.mkdir(exist_ok=True)
    for name, (path, height, shown) in PICTURED.items():
        page.set_viewport_size({"width": WIDTH, "height": height})
        page.goto(path)
        page.locator(shown).first.wait_for()
        page.screenshot(path=PICTURES / f"{name}.png")


def take_all(page: Page, directory: Path, paths: list[str]) -> None:
    """Each page whole, on each screen and in each scheme; what comes behind a page is waited for."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in paths:
        name = re.sub(r"\W+", "-", path).strip("-") or "home"
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.goto(path)
            page.locator("[hx-trigger^=load] > a:only-child").first.wait_for(state="detached", timeout=SETTLED)
            page.emulate_media(color_scheme="light")
            page.screenshot(path=directory / f"{name}-{width}-light.png", full_page=True)
            page.emulate_media(color_scheme="dark")
            page.screenshot(path=directory / f"{name}-{width}-dark.png", full_page=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="screenshots", description="Make pictures of the portal's pages.")
    parser.add_argument("directory", nargs="?", type=Path, help="picture every page there, not those of docs/pictures")
    parser.add_argument("paths", nargs="*", help="pages to picture, as /campaigns/1; all of them without")
    options = parser.parse_args()
    if CHROMIUM is None:
        print("screenshots: no chromium here; `apt-get install chromium` brings one", file=sys.stderr)
        return 1
    with demo_grid() as database, tempfile.TemporaryDirectory() as directory:
        work(database)
        settings = Settings(portal=PortalSettings(), data_directory=Path(directory))
        with serving(database, settings, Path(directory) / "portal.sock", "127.0.0.1:0") as portal:
            made_link(portal.database, USER)
            made_link(portal.database, "root", OPERATORS_LINK, AccessScope.OPERATE)
            with chromium() as browser:
                page = sign_in(browser, portal)
                if options.directory is None:
                    take_for_docs(page)
                else:
                    theirs = LOOKED_AT_BY_OPERATORS
                    paths = options.paths or [path for path in LOOKED_AT if path not in theirs]
                    take_all(page, options.directory, [path for path in paths if path not in theirs])
                    operator = sign_in(browser, portal, OPERATORS_LINK)
                    take_all(operator, options.directory, [path for path in options.paths or theirs if path in theirs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
