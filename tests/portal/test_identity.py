"""The kernel says who asks, and nothing that is sent changes it."""

import os
import pwd

import pytest

from cigri.endpoints.identity import whoami
from cigri.settings.sections import PortalSettings, Settings
from tests.portal.conftest import Serve, Served


def test_the_name_is_that_of_the_account(portal: Served) -> None:
    told = portal.call(whoami)
    assert told.user == pwd.getpwuid(os.geteuid()).pw_name
    assert told.is_operator, "whoever runs the portal can do all of it anyway"


@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Remote-User": "root"}, {"X-Forwarded-For": "uid 0"}, {"Forwarded": "for=root"}, {"Remote-User": "root"}],
    ids=str,
)
def test_headers_make_nobody_somebody_else(headers: dict[str, str], portal: Served, nobody: int) -> None:
    told = portal.get("/api/v1/whoami", uid=nobody, headers=headers)
    assert told.body == {"user": "nobody", "is_operator": False, "scope": "operate", "how": "kernel"}


def test_operators_are_named_in_the_settings(serve: Serve, nobody: int) -> None:
    portal = serve(Settings(portal=PortalSettings(operators=("nobody",))))
    assert portal.get("/api/v1/whoami", uid=nobody).body["is_operator"]


def test_an_account_without_a_name_is_a_stranger(portal: Served, nobody: int) -> None:
    told = portal.get("/api/v1/whoami", uid=nobody - 7)
    assert told.status == 401
    assert told.body["detail"] == f"the account with number {nobody - 7} has no name on this host"
