"""A command's way to the portal: one connection, which is opened anew when the portal was."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.cli import watching
from cigri.database import Database
from cigri.endpoints import Endpoint, P, R
from cigri.endpoints.identity import whoami
from cigri.endpoints.portal_client import PortalClient
from cigri.errors import PortalUnavailable
from cigri.flow.campaigns import cancel_campaign
from cigri.identity.callers import Caller
from cigri.settings.sections import PortalSettings, Settings
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import serving
from tests.waiting import looks


def test_a_portal_that_was_started_again_is_asked_as_before(database: Database, tmp_path: Path) -> None:
    place, settings = tmp_path / "portal.sock", Settings(portal=PortalSettings())
    remote = PortalClient(place)
    with serving(database, settings, place):
        first = remote.call(whoami)
    with pytest.raises(PortalUnavailable):
        remote.call(whoami)
    with serving(database, settings, place):
        assert remote.call(whoami) == first
    with serving(database, settings, place):
        assert remote.call(whoami) == first
    remote.close()


class NotingRemote(PortalClient):
    """It notes how often it was answered, and how often not."""

    answered = missed = 0

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        try:
            answer = super().call(endpoint, *args, **asked)
        except PortalUnavailable:
            self.missed += 1
            raise
        self.answered += 1
        return answer


def wait_for(fact: Callable[[], object]) -> None:
    for _ in looks():
        if fact():
            return


def test_a_watch_goes_on_with_a_portal_that_was_started_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PERIOD", 0.02)
    place, settings, statuses = tmp_path / "portal.sock", Settings(portal=PortalSettings()), list[int]()
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
    remote = NotingRemote(place)
    watcher = threading.Thread(target=lambda: statuses.append(watching.watch(remote, [campaign], "")))
    with serving(database, settings, place):
        watcher.start()
        wait_for(lambda: remote.answered)
    wait_for(lambda: remote.missed)
    with serving(database, settings, place):
        with database.begin() as conn:
            assert cancel_campaign(conn, campaign, Caller("alice"))
        watcher.join(20)
    remote.close()
    assert statuses == [1]
