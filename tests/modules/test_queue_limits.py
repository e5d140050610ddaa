"""What a batch system takes of an account at a time is kept to, whatever it is, and nobody is to blame for it."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from sqlalchemy import text

from cigri.drivers import BatchRequest
from cigri.drivers.local import LocalDriver
from cigri.errors import QueueFull, SubmissionFailed
from cigri.flow.clusters import ClusterRow
from cigri.gateway.transport_gateway import TransportGateway
from cigri.shell.results import ShellResult
from tests.grid import Grid

OPEN = "SELECT code, subject, level::text, message FROM events WHERE closed_at IS NULL ORDER BY id"
KNOWN = "SELECT local_user, most, refused, counts_arrays FROM queue_limits ORDER BY local_user"
ENDED = "SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id"
SENT = """
    SELECT count(j.id) AS jobs, count(DISTINCT b.id) AS arrays FROM jobs j JOIN batches b ON b.id = j.batch_id
    WHERE j.state IN ('launching', 'submitted', 'running') AND b.local_user = :user
"""


class Limited(TransportGateway):
    """The account `ghost` is another name of ours."""

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        return super().run(cluster, self.monitoring_account(cluster), script)


class Limit:
    """What the cluster takes of our own account: jobs, or arrays; `most` is the most that there ever was."""

    def __init__(self, grid: Grid, limit: int, unit: str = "jobs") -> None:
        self.grid, self.limit, self.unit, self.most = grid, limit, unit, 0
        self.is_held_up = False  # the command waits for room and is ended

    def is_full(self, tag: str) -> bool:
        """The batch is committed, and counted, before its submission is written."""
        user = self.grid.one("SELECT local_user FROM batches WHERE tag = :tag", tag=tag)
        if user != self.grid.site.user:
            return False
        [sent] = self.grid.rows(SENT, user=user)
        number = int(sent[self.unit])
        if number <= self.limit:
            self.most = max(self.most, number)
        return number > self.limit


@pytest.fixture
def limited(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Limit]]:
    def choose(limit: int, unit: str = "jobs") -> Limit:
        return given.setdefault("limit", Limit(local, limit, unit))

    def submit(driver: LocalDriver, request: BatchRequest) -> str:
        return "( echo full; exit 1 )" if given["limit"].is_full(request.tag) else say(driver, request)

    def parse_submit(driver: LocalDriver, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        if answer.out == "full\n" and given["limit"].is_held_up:
            raise SubmissionFailed("sbatch", 143, "MaxJobCount", is_held_up=True)
        if answer.out == "full\n":
            raise QueueFull("AssocMaxSubmitJobLimit", counts_arrays=given["limit"].unit == "arrays")
        return read(driver, answer, request)

    given: dict[str, Limit] = {}
    say, read = LocalDriver.submit, LocalDriver.parse_submit
    monkeypatch.setattr(LocalDriver, "submit", submit)
    monkeypatch.setattr(LocalDriver, "parse_submit", parse_submit)
    local.gateway.close()
    with closing(Limited()) as gateway:
        local.gateway = gateway
        yield choose


def let_it_be_looked_for(grid: Grid) -> None:
    with grid.database.begin() as conn:
        conn.execute(text("UPDATE queue_limits SET look_at = now()"))


def assert_nobody_was_blamed(grid: Grid) -> None:
    assert {row["code"] for row in grid.rows("SELECT code FROM events")} <= {"QUEUE_LIMIT", "FINISHED", "BEGUN"}
    assert grid.one("SELECT failures FROM clusters") == 0
    assert grid.one("SELECT coalesce(sum(failures + deaths), 0) FROM tasks") == 0
    assert grid.one("SELECT coalesce(sum(strikes + failed_sends + errors), 0) FROM campaign_clusters") == 0


def test_the_limit_is_found_and_all_of_it_used(local: Grid, limited: Callable[..., Limit]) -> None:
    limit = limited(3)
    local.submit([str(number) for number in range(12)])
    local.run_to_end()
    assert limit.most == 3
    assert [tuple(row.values()) for row in local.rows(KNOWN)] == [(local.site.user, 3, 4, False)]
    [told] = local.rows(OPEN)
    assert (told["code"], told["subject"], told["level"]) == (
        "QUEUE_LIMIT",
        f"account {local.site.user} on here",
        "warning",
    )
    assert "AssocMaxSubmitJobLimit. 3 jobs of the grid were taken at a time, 4 were not" in told["message"]
    assert "max_jobs" in told["message"]
    assert_nobody_was_blamed(local)
    local.assert_each_ran_once(12)


def test_a_submission_that_waited_for_room_is_as_good_as_one_that_was_refused_for_it(
    local: Grid, limited: Callable[..., Limit]
) -> None:
    limit = limited(3)
    limit.is_held_up = True
    local.submit([str(number) for number in range(12)])
    local.run_to_end()
    assert limit.most == 3
    assert [tuple(row.values()) for row in local.rows(KNOWN)] == [(local.site.user, 3, 4, False)]
    [told] = local.rows(OPEN)
    assert told["code"] == "QUEUE_LIMIT"
    assert "MaxJobCount. 3 jobs of the grid were taken at a time, 4 were not" in told["message"]
    assert_nobody_was_blamed(local)
    local.assert_each_ran_once(12)


def test_other_accounts_feel_nothing_and_the_campaign_is_told_why_it_waits(
    local: Grid, limited: Callable[..., Limit]
) -> None:
    """The account's own jobs, which the grid does not know, have all of its limit."""
    limit = limited(0)
    with local.database.begin() as conn:
        conn.exec_driver_sql("INSERT INTO user_mappings SELECT id, 'haunted', 'ghost' FROM clusters")
    mine, other = local.submit(["1", "2", "3", "4"]), local.submit(["1", "2", "3", "4"])
    with local.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET grid_user = 'haunted' WHERE id = :id"), {"id": other})
    local.run_until(lambda: local.one(ENDED, id=other))
    local.run_until(lambda: local.rows("SELECT 1 FROM queue_limits WHERE most = 0 AND refused = 1"))
    local.cycle()
    [cut] = local.rows("SELECT reason::text, name, used, most FROM cuts WHERE campaign_id = :id", id=mine)
    assert dict(cut) == {"reason": "queue_limit", "name": local.site.user, "used": 0, "most": 0}
    batches = local.one("SELECT count(*) FROM batches")
    for _ in range(3):
        local.cycle()
    assert local.one("SELECT count(*) FROM batches") == batches
    assert local.one("SELECT count(*) FROM jobs WHERE state = 'to_launch'") == 0  # other clusters may have them
    limit.limit = 100
    let_it_be_looked_for(local)
    local.run_to_end()
    assert local.rows(OPEN) == []
    assert_nobody_was_blamed(local)
    assert local.counts() == {"done": 8}


def test_where_arrays_are_counted_each_takes_all_that_waits(local: Grid, limited: Callable[..., Limit]) -> None:
    limited(1, "arrays")
    for _ in range(3):
        local.submit(["1", "2", "3", "4"])
    local.run_to_end()
    assert [tuple(row.values()) for row in local.rows(KNOWN)] == [(local.site.user, 1, 2, True)]
    assert "1 arrays of jobs of the grid were taken" in local.rows(OPEN)[0]["message"]
    assert_nobody_was_blamed(local)
    assert local.counts() == {"done": 12}
    assert local.one("SELECT max(size) FROM batches WHERE state = 'submitted'") > 1
