"""Whatever is asked, the portal answers or says what is wrong with the question; it never fails over it."""

import pytest

from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import Served

HUGE, MOST, LARGEST = 10**30, 2**63 - 1, 10**18


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/campaigns/{HUGE}", 422),
        (f"/campaigns/{MOST}", 422),
        (f"/campaigns/{LARGEST}", 404),
        (f"/campaigns/1/tasks/{LARGEST}", 404),
        (f"/campaigns/1/tasks?after={LARGEST}", 200),
        ("/campaigns/-1", 404),
        (f"/campaigns/1/tasks/{HUGE}", 422),
        (f"/campaigns/1/tasks/{MOST}", 422),
        (f"/campaigns/1/tasks?after={MOST}", 422),
        ("/campaigns/1/tasks?after=-5", 200),
        ("/campaigns/1/tasks?limit=-1", 400),
        (f"/campaigns/1/tasks?after={HUGE}", 422),
        (f"/campaigns/1/why?task={HUGE}", 422),
        (f"/campaigns/1/parameters?after={MOST}", 422),
        (f"/tasks/{MOST}", 422),
        ("/campaigns?ids=0-99999", 200),
        ("/campaigns?ids=0-100000", 400),
        (f"/campaigns?ids={HUGE}", 400),
        ("/campaigns?ids=x", 400),
        ("/campaigns?user=%00", 422),
        ("/campaigns?user=%C3%BC", 200),
        ("/campaigns/1/description?campaign_id=2", 422),
    ],
)
def test_odd_questions_are_answered(path: str, status: int, portal: Served) -> None:
    with portal.database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2)
    told = portal.get(f"/api/v1{path}")
    assert told.status == status, told.body


def test_a_thousand_ids_may_be_named(portal: Served) -> None:
    ids = ",".join(map(str, range(1, 20_000, 2)))
    told = portal.get(f"/api/v1/campaigns?ids={ids[:10_000].rpartition(',')[0]}")
    assert (told.status, told.body) == (200, [])
