"""Whatever stands in the texts of jobs, clusters and users: each page is shown, and shows it as text."""

from urllib.parse import quote

import pytest
from sqlalchemy import text

from cigri.flow.events import NewEvent, put_events
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.identity.callers import AccessScope
from cigri.states import EventLevel
from tests.factories import run_jobs, submitted_jobs
from tests.hostile_words import WORDS, put_everywhere
from tests.portal.browser import Browser, signed_in
from tests.portal.conftest import Served
from tests.portal.test_browser_pages import PAGES

OF_OPERATORS = ["/operator", "/?user=*", "/campaigns/3", "/usage?user=*"]
OF_PROGRAMS = [
    "/api/v1/campaigns",
    "/api/v1/campaigns/1",
    "/api/v1/campaigns/1/tasks",
    "/api/v1/campaigns/1/failures",
    "/api/v1/campaigns/1/why",
    "/api/v1/events",
    "/api/v1/clusters",
    "/metrics",
]


def wrong(browser: Browser, paths: list[str]) -> dict[str, object]:
    """Pages that fail, or in which a word is more than text."""
    found: dict[str, object] = {}
    for path in paths:
        told = browser.get(path)
        is_page = told.headers["content-type"].startswith("text/html")
        if told.status >= 500 or (is_page and "<script>alert" in told.text):
            found[path] = told.status, told.words[:300]
    return found


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_every_page_survives_what_others_write(word: str, web: Served) -> None:
    with web.database.begin() as conn:
        run_jobs(conn, submitted_jobs(conn, 1, 1, 1))
        put_pass(conn, ModulePass("updator", "here", 1, 0.5, {}, "it raised"))
        put_events(conn, [NewEvent("CLUSTER_UNREACHABLE", EventLevel.ERROR, "dahu", "it is away", cluster_id=1)])
        put_events(conn, [NewEvent("INVARIANT", EventLevel.ERROR, "tasks", "sums differ")])
        conn.execute(text("INSERT INTO user_mappings (cluster_id, grid_user, local_user) VALUES (1, 'nobody', 'no')"))
    mine = signed_in(web.database, web.port)
    operators = signed_in(web.database, web.port, "root", AccessScope.OPERATE)
    written = put_everywhere(web.database, word)
    assert len(written) >= (20 if word else 10), written
    assert {"events.message", "clusters.name"} & written
    with web.database.begin() as conn:
        names = conn.scalars(text("SELECT name FROM clusters")).all()
    clusters = [f"/clusters/{quote(name, safe='')}" for name in names if name and len(name) < 1000]
    assert wrong(mine, PAGES + clusters) == {}
    assert wrong(operators, PAGES + OF_OPERATORS + clusters) == {}
    assert wrong(mine, OF_PROGRAMS) == {}
