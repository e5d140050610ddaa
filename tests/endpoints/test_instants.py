"""In one instant a question is asked of the database once, however many ask it; later only where its answer changed."""

from collections.abc import Iterator

import pytest
from sqlalchemy import event

from cigri.database import Database
from cigri.endpoints.campaign_changes import resubmit_tasks
from cigri.endpoints.campaigns import campaign, failures
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.pending_reasons import why
from cigri.endpoints.read_cache import LatestAnswers, keep_latest_answers
from cigri.endpoints.tasks import latest_tasks
from cigri.flow.holds import hold_campaign
from cigri.settings.sections import Settings
from cigri.states import Outcome
from tests.callers import ALICE, BOB
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


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
    with InProcessClient(database, Settings, ALICE).snapshot() as grid:
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
    here = InProcessClient(database, Settings, ALICE)
    for is_held in (False, True):
        with here.snapshot() as grid:
            assert grid.call(campaign, campaign_id=1).campaign.is_held is is_held
            with database.begin() as conn:
                hold_campaign(conn, 1, ALICE)
            assert grid.call(campaign, campaign_id=1).campaign.is_held is is_held, "it is one instant"
    assert here.call(campaign, campaign_id=1).campaign.is_held


def test_how_tasks_failed_is_read_again_once_more_have(database: Database, said: list[str]) -> None:
    keep_latest_answers(database.engine)

    def fail(tasks: int, code: int) -> None:
        with database.begin() as conn:
            end_jobs(conn, cluster, submitted_jobs(conn, 1, cluster, tasks), Outcome.FAILURE, exit_code=code)

    def groups() -> tuple[list[tuple[int, int | None]], int]:
        """Number and exit code of each, and how often the failures were read."""
        said.clear()
        kinds = InProcessClient(database, Settings, ALICE).call(failures, campaign_id=1)
        return [(kind.number, kind.exit_code) for kind in kinds], sum("exit_code" in one for one in said)

    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, 5, user="alice")
    assert groups() == ([], 0)
    fail(2, 3)
    assert groups() == ([(2, 3)], 1)
    assert groups() == ([(2, 3)], 0)
    fail(1, 4)
    assert groups() == ([(2, 3), (1, 4)], 1)
    InProcessClient(database, Settings, ALICE).call(resubmit_tasks, campaign_id=1, tasks=[(2, 2)])
    assert groups() == ([(2, 3)], 1)
    fail(1, 5)
    assert groups() == ([(2, 3), (1, 5)], 1), "as many failed before, and otherwise"


def test_what_tasks_wrote_is_kept_for_their_owner_alone(database: Database) -> None:
    keep_latest_answers(database.engine)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, 1, user="alice")
        end_jobs(conn, cluster, submitted_jobs(conn, 1, cluster, 1), Outcome.FAILURE, exit_code=3)
    for _ in range(2):
        for caller, ends in ((ALICE, "no such file"), (BOB, None)):
            (kind,) = InProcessClient(database, Settings, caller).call(failures, campaign_id=1)
            assert kind.stderr_ends == ends


def test_the_answers_that_were_asked_for_longest_ago_go() -> None:
    latest, calculated = LatestAnswers(2), list[str]()

    def ask(question: str, mark: int = 0) -> None:
        def calculate() -> int:
            calculated.append(question)
            return mark

        assert latest.find(question, mark, calculate) == mark

    for question in ("a", "b", "a", "c", "a", "b"):
        ask(question)
    assert calculated == ["a", "b", "c", "b"]
    ask("b", 1)
    ask("b", 1)
    assert calculated == ["a", "b", "c", "b", "b"]
