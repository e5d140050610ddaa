"""Lists of CiGri 3's paths, wherever a page of ours ends: each parameter is told once, and each task."""

import pytest

from cigri.database import Database
from cigri.endpoints import paging
from modules.portal.cigri3 import campaigns
from modules.portal.cigri3.dispatch import BASE
from tests.factories import a_campaign
from tests.portal.cigri3.conftest import get
from tests.portal.conftest import Served

PARAMETERS = [f"p{number}" for number in range(5)]


@pytest.fixture
def campaign(database: Database) -> int:
    with database.begin() as conn:
        return a_campaign(conn, PARAMETERS, user="nobody")


@pytest.mark.parametrize("size", range(1, len(PARAMETERS) + 2))
def test_a_description_has_all_its_parameters(
    size: int, campaign: int, portal: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "LONGEST_PAGE", size)
    for most in (len(PARAMETERS), len(PARAMETERS) + 1):
        monkeypatch.setattr(campaigns, "MOST_PARAMETERS", most)
        assert get(portal, f"/campaigns/{campaign}/jdl")["params"] == PARAMETERS
    monkeypatch.setattr(campaigns, "MOST_PARAMETERS", len(PARAMETERS) - 1)
    told = portal.get(f"{BASE}/campaigns/{campaign}/jdl")
    assert (told.status, f"/api/v1/campaigns/{campaign}/parameters" in told.body["message"]) == (400, True)


@pytest.mark.parametrize("limit", range(1, len(PARAMETERS) + 2))
def test_links_lead_to_each_task_once(limit: int, campaign: int, portal: Served) -> None:
    told, path = list[str](), f"/campaigns/{campaign}/jobs?limit={limit}"
    while path:
        page = get(portal, path)
        told += [item["parameters"] for item in page["items"]]
        assert len(told) <= len(PARAMETERS), "it goes on for ever"
        path = next((link["href"] for link in page["links"] if link["rel"] == "next"), "")
    assert told == PARAMETERS
