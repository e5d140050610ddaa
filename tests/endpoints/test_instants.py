"""In one instant a question is asked of the database once, however many parts of a page ask it; later it is anew."""

from collections.abc import Iterator

import pytest
from sqlalchemy import event

from cigri.database import Database
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.pending_reasons import why
from cigri.endpoints.tasks import latest_tasks
from cigri.flow.holds import hold_campaign
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster


@pytest.fixture
def said(database: Database) -> Iterator[list[str]]:
    """Statements, as they come."""
    statements = list[str]()

    def note(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(database.engine, "before_cursor_execute", note)


def test_a_campaign_is_looked_up_once_for_all_parts_of_its_page(database: Database, said: list[str]) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2)
    with InProcessClient(database, ALICE).snapshot() as grid:
        whole = grid.call(campaign, campaign_id=1)
        grid.call(latest_tasks, campaign_id=1)
        grid.call(why, campaign_id=1)
        assert grid.call(campaign, campaign_id=1) == whole
    lookups = [statement for statement in said if "FROM campaigns" in statement and "grid_user" in statement]
    assert len(lookups) == 1


def test_what_was_seen_is_not_remembered_longer(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2)
    here = InProcessClient(database, ALICE)
    for is_held in (False, True):
        with here.snapshot() as grid:
            assert grid.call(campaign, campaign_id=1).campaign.is_held is is_held
            with database.begin() as conn:
                hold_campaign(conn, 1, ALICE)
            assert grid.call(campaign, campaign_id=1).campaign.is_held is is_held, "it is one instant"
    assert here.call(campaign, campaign_id=1).campaign.is_held
