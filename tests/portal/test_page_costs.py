"""What the page of a campaign costs the portal, counted instead of timed."""

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Select, event

from cigri.database import Database
from cigri.settings.sections import Settings
from modules import portal
from modules.portal.listening import PortalListener
from modules.portal.settings_in_force import SettingsInForce
from tests.factories import end_jobs, submitted_jobs
from tests.portal.browser import Browser
from tests.portal.conftest import Served

MOST_STATEMENTS = 32
"""Of a page with one cluster: who looks, the snapshot, and what is in it."""
MOST_BUILT = 3
"""Statements that are built anew for a page; to build them all takes longer than the database does."""


@pytest.fixture
def costs(web: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Statements that are sent, and those that are built, from now on."""
    counts, begin = Counter[str](), Select.__init__

    def build(self: Any, *entities: Any) -> None:
        counts["built"] += 1
        begin(self, *entities)

    def note(*_cursor: object) -> None:
        counts["sent"] += 1

    monkeypatch.setattr(Select, "__init__", build)
    event.listen(web.database.engine, "after_cursor_execute", note)
    yield counts
    event.remove(web.database.engine, "after_cursor_execute", note)


def test_a_page_sends_few_statements_and_builds_hardly_any(browser: Browser, web: Served, costs: Counter[str]) -> None:
    with web.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, 1, 1, 2))
    assert browser.get("/campaigns/1").status == 200
    costs.clear()
    assert browser.get("/campaigns/1").status == 200
    assert 15 < costs["sent"] <= MOST_STATEMENTS
    assert costs["built"] <= MOST_BUILT


class _NobodyComes(PortalListener):
    """It listens nowhere, and only looks at whether what is imported is searched for garbage."""

    def __init__(self) -> None:
        self.frozen = 0

    def serve(self, _app: object) -> None:
        self.frozen = gc.get_freeze_count()


@pytest.mark.process
def test_what_a_portal_has_imported_is_not_searched_for_garbage(database: Database) -> None:
    """A search of all of it keeps every reader waiting for a fifth of a second, and more on a busy host."""
    listener, usual = _NobodyComes(), gc.get_threshold()
    gc.unfreeze()
    try:
        portal.run(database, SettingsInForce(Settings()), listener)
    finally:
        gc.set_threshold(*usual)
    assert listener.frozen > 50_000
