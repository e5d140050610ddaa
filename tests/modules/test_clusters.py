"""Several clusters, several updators, and what a pass costs."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from cigri.flow.cluster_visits import put_account_failure, put_failure
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.kill_requests import request_kills
from cigri.gateway import account_lanes
from cigri.gateway.account_lanes import ACCOUNTS
from cigri.gateway.transport_gateway import TransportGateway
from cigri.shell.results import ShellResult
from cigri.states import KillReason
from modules import campaign_schedulers, killer, metascheduler, runner, updator
from tests.grid import Grid, Site, local_site, until
from tests.localbatch.host import Host
from tests.waiting import PATIENCE


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Site]:
    """A second cluster on this host."""
    host = Host(tmp_path / "two")
    host.directory.mkdir()
    yield local_site(host.spool, "there", timeout=3.0)
    host.clear()


@pytest.fixture
def two(local: Grid, there: Site) -> Grid:
    local.add(there)
    return local


BOTH: dict[str, dict[str, object]] = {"here": {}, "there": {"max_jobs": 20}}


def test_a_campaign_runs_on_both_of_its_clusters(two: Grid) -> None:
    two.submit([str(number) for number in range(80)], clusters=BOTH, command=f"echo $CIGRI_CLUSTER >>{two.place}/where")
    two.run_to_end()
    two.assert_each_ran_once(80)
    ran = (Path(two.place) / "where").read_text().split()
    done = two.rows("SELECT name, done FROM campaign_clusters JOIN clusters ON id = cluster_id ORDER BY name")
    assert [(row["name"], row["done"]) for row in done] == [(name, ran.count(name)) for name in ("here", "there")]
    assert min(row["done"] for row in done) >= 10


def test_a_cluster_that_hangs_does_not_hold_up_the_other(two: Grid) -> None:
    two.run_until(lambda: two.one("SELECT count(*) FROM cluster_states") == 2)
    two.tune("almighty", patience=1.0)  # only now, so that no earlier visit is under way still
    daemon = Host(Path(str(two.site.config["options"]["spool"])).parent / "two").pid
    os.kill(daemon, signal.SIGSTOP)
    try:
        two.submit([str(number) for number in range(8)])  # of the cluster `here`
        assert updator.run_once(two.tools)["late clusters"] == 1
        two.run_to_end()
        two.assert_each_ran_once(8)
        two.run_until(lambda: two.one("SELECT failures FROM clusters WHERE name = 'there'") > 0)
    finally:
        os.kill(daemon, signal.SIGCONT)
    assert two.rows("SELECT code, subject FROM events WHERE closed_at IS NULL") == [
        {"code": "CLUSTER_UNREACHABLE", "subject": "cluster there"}
    ]


@pytest.mark.parametrize("module", [updator, runner])
def test_a_cluster_that_cannot_be_understood_is_left_out_and_no_other(two: Grid, module: ModuleType) -> None:
    two.submit([str(number) for number in range(60)], clusters=BOTH)
    for each in (updator, metascheduler, campaign_schedulers):
        each.run_once(two.tools)
    with two.database.begin() as conn:
        conn.exec_driver_sql("UPDATE clusters SET config = config || '{\"driver\": \"none\"}' WHERE name = 'there'")
        conn.exec_driver_sql("UPDATE clusters SET visited_at = NULL")
    module.run_once(two.tools)
    name = module.__name__.removeprefix("modules.")
    why = two.one("SELECT message FROM events WHERE subject = :subject", subject=f"cluster there in {name}")
    assert "no driver 'none'" in why
    fact = "visited_at) FROM clusters" if module is updator else "submitted_at) FROM jobs"
    assert two.one(f"SELECT max({fact}") is not None


def test_two_updators_at_once_settle_each_job_once(local: Grid) -> None:
    local.submit([str(number) for number in range(100)])
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") >= 50)
    gateway = TransportGateway()  # as of another process
    stop = threading.Event()

    def update() -> None:
        while not stop.is_set():
            updator.run_once(local.tools._replace(gateway=gateway))

    second = threading.Thread(target=update)
    second.start()
    try:
        local.run_to_end()
    finally:
        stop.set()
        second.join()
        gateway.close()
    local.assert_each_ran_once(100)
    assert local.one("SELECT done FROM campaign_clusters") == 100
    assert local.one("SELECT sum(tasks) FROM completions") == 100


def test_a_locked_cluster_is_left_to_the_one_who_looks_at_it(local: Grid) -> None:
    with local.database.lock("cigri.updator.1") as taken:
        assert taken
        assert updator.run_once(local.tools) == {"clusters": 1, "locked clusters": 1}
    assert updator.run_once(local.tools) == {"clusters": 1, "clusters with other nodes": 1}
    assert updator.run_once(local.tools) == {"clusters": 1}


def test_the_number_of_commands_does_not_grow_with_the_jobs(local: Grid) -> None:
    many = dict.fromkeys(("max_waiting", "keep_waiting", "n_max_queued_jobs"), 400)
    local.add(Site("here", local.site.config | many, local.site.user))
    local.submit([str(number) for number in range(300)], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    spent = []
    for module in (updator, metascheduler, campaign_schedulers, runner, updator):
        before = local.gateway.commands.total()
        module.run_once(local.tools)
        spent.append(local.gateway.commands.total() - before)
    assert local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 300
    assert spent == [2, 0, 0, 1, 1]  # the first visit asks what nodes there are, too
    local.kill_all_jobs()
    until(lambda: local.cycle() and local.counts() == {"cancelled": 300})
    assert local.gateway.commands.total() < 20


def test_accounts_are_asked_a_few_at_a_time(local: Grid) -> None:
    meeting = threading.Barrier(ACCOUNTS)
    users = [f"user{number}" for number in range(ACCOUNTS)]
    with local.database.begin() as conn:
        (cluster,) = list_clusters(conn, "updator")
    met = local.gateway.run_concurrently(cluster, users, lambda user: (meeting.wait(10) >= 0, user))
    assert met.in_time == [(True, user) for user in users]


class Stopped(TransportGateway):
    """The account `ghost` is another name of ours; its commands have no answer until it is `let_go`."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.asked = 0

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if user == "ghost":
            self.asked += 1
            assert self.let_go.wait(PATIENCE)
        return super().run(cluster, self.monitoring_account(cluster), script)


class Slow(Stopped):
    """The first command of `ghost` has failed already, for want of an answer."""

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if user == "ghost" and self.asked == 0:
            self.asked = 1
            raise RemoteOutcomeUnknown(cluster.name, "no answer within 60 s from the script of ghost")
        return super().run(cluster, user, script)


def test_nobody_waits_for_an_account_that_hung_before(local: Grid) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
    local.gateway.close()
    local.gateway = gateway = Slow()
    for _ in range(3):
        updator.run_once(local.tools)
    assert gateway.asked == 1  # the pause is not over
    local.let_accounts_be_asked()
    begun = time.monotonic()
    for _ in range(3):
        updator.run_once(local.tools)  # it is asked, and hangs
    assert time.monotonic() - begun < 30
    assert gateway.asked == 2
    assert local.one("SELECT failures FROM clusters") == 0
    gateway.let_go.set()
    Path(local.place, "go").touch()
    local.run_to_end()
    local.run_until(lambda: not local.rows("SELECT 1 FROM events WHERE closed_at IS NULL"))
    local.assert_each_ran_once(1)


@pytest.mark.parametrize("verb", ["kill", "checkpoint"])
def test_an_account_in_its_pause_is_sent_nothing(local: Grid, verb: str) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    with local.database.begin() as conn:
        (cluster,) = list_clusters(conn, "updator")
        put_account_failure(conn, cluster, local.site.user, "it hangs")
        if verb == "kill":
            request_kills(conn, [1], KillReason.USER, "test")
        else:
            conn.exec_driver_sql("INSERT INTO checkpoint_requests (job_id, asked_by, asked_at) VALUES (1, 'x', now())")
    sent = f"SELECT sent_at IS NOT NULL FROM {'kills' if verb == 'kill' else 'checkpoint_requests'}"
    killer.run_once(local.tools)
    assert not local.one(sent)
    local.let_accounts_be_asked()
    killer.run_once(local.tools)
    assert local.one(sent)
    Path(local.place, "go").touch()


class Hanging(TransportGateway):
    """The account `ghost` is another name of ours; its commands have no answer in time while `hangs`."""

    hangs = True

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if user == "ghost" and self.hangs:
            raise RemoteOutcomeUnknown(cluster.name, "no answer within 60 s from the script of ghost")
        return super().run(cluster, self.monitoring_account(cluster), script)


def test_an_account_that_hangs_delays_only_its_own_user(local: Grid) -> None:
    local.gateway.close()
    local.gateway = gateway = Hanging()
    with local.database.begin() as conn:
        conn.exec_driver_sql("INSERT INTO user_mappings SELECT id, 'haunted', 'ghost' FROM clusters")
    ghostly = local.submit(["1"])
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE campaigns SET grid_user = 'haunted'")
    first = local.submit(["1", "2"])
    campaign_is_over = "SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id"
    local.run_until(lambda: local.one(campaign_is_over, id=first))
    second = local.submit(["3"])  # and with a batch of unknown fate in the way
    assert local.one("SELECT count(*) FROM batches WHERE state = 'launching'") == 1
    local.run_until(lambda: local.one(campaign_is_over, id=second))
    assert local.one("SELECT failures FROM clusters") == 0
    (event,) = local.rows("SELECT code, subject FROM events WHERE closed_at IS NULL")
    assert event == {"code": "ACCOUNT_REFUSED", "subject": "account ghost on here"}
    gateway.hangs = False
    local.run_until(lambda: local.one(campaign_is_over, id=ghostly))
    local.run_until(lambda: not local.rows("SELECT 1 FROM events WHERE closed_at IS NULL"))
    assert local.counts() == {"done": 4}


def has_done(grid: Grid, tasks: int) -> bool:
    return grid.counts().get("done") == tasks


def test_nobody_waits_for_an_account_whose_shells_are_stopped(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_lanes, "BUDGET", 1.0)
    local.gateway.close()
    local.gateway = gateway = Stopped()
    with local.database.begin() as conn:
        conn.exec_driver_sql("INSERT INTO user_mappings SELECT id, 'haunted', 'ghost' FROM clusters")
    local.submit(["1"])
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE campaigns SET grid_user = 'haunted'")
    for done in (2, 4):
        local.submit(["2", "3"])
        local.run_until(partial(has_done, local, done))
    assert gateway.asked == 1  # by the runner: nothing of it was asked again
    assert local.counts() == {"done": 4, "assigned": 1}
    gateway.let_go.set()
    local.run_to_end()
    assert local.counts() == {"done": 5}
    local.assert_sane()


def test_kills_of_an_account_at_work_are_put_off_and_not_counted(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_lanes, "BUDGET", 0.5)
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
        request_kills(conn, [1], KillReason.USER, "test")
    local.gateway.close()
    local.gateway = gateway = Stopped()
    killer.run_once(local.tools)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE kills SET sent_at = sent_at - interval '1 hour'")
    for _ in range(2):
        killer.run_once(local.tools)
        assert local.rows("SELECT sent_at, tries FROM kills") == [{"sent_at": None, "tries": 1}]
    assert gateway.asked == 1
    gateway.let_go.set()
    local.run_to_end()
    assert local.counts() == {"cancelled": 1}


class Refusing(TransportGateway):
    """Lets those in that it knows; `asked` counts the others' tries."""

    def __init__(self, *strangers: str) -> None:
        super().__init__()
        self.strangers = strangers
        self.asked = 0

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if user in self.strangers:
            self.asked += 1
            raise ClusterUnreachable(cluster.name, f"it does not let {user} in", is_login_refused=True)
        return super().run(cluster, self.monitoring_account(cluster), script)


def test_an_account_that_is_not_let_in_is_tried_again_after_150_seconds(local: Grid) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
        (cluster,) = list_clusters(conn, "updator")
        put_account_failure(conn, cluster, "ghost", "it hung before")
    local.let_accounts_be_asked()
    local.gateway.close()
    local.gateway = gateway = Refusing("ghost")
    older = "UPDATE events SET last_at = last_at - make_interval(secs => {}) WHERE code = 'LOGIN_REFUSED'"
    tries = []
    for seconds in (0, 100, 60, 200, 110):
        with local.database.begin() as conn:
            conn.exec_driver_sql(older.format(seconds))
        updator.run_once(local.tools)
        tries.append(gateway.asked)
    assert tries == [1, 1, 2, 2, 3]
    (event,) = local.rows("SELECT code, subject FROM events WHERE closed_at IS NULL")
    assert event == {"code": "LOGIN_REFUSED", "subject": "account ghost on here"}
    assert local.one("SELECT failures FROM clusters") == 0
    gateway.strangers = ()
    with local.database.begin() as conn:
        conn.exec_driver_sql(older.format(3600))
    Path(local.place, "go").touch()
    local.run_to_end()
    local.run_until(lambda: not local.rows("SELECT 1 FROM events WHERE closed_at IS NULL"))
    local.assert_each_ran_once(1)


LOGINS = "SELECT subject, count FROM events WHERE code = 'LOGIN_REFUSED' AND closed_at IS NULL"


def test_an_account_that_is_not_let_in_is_sent_no_jobs_and_others_are(local: Grid) -> None:
    local.gateway.close()
    local.gateway = gateway = Refusing("ghost")
    with local.database.begin() as conn:
        conn.exec_driver_sql("INSERT INTO user_mappings SELECT id, 'haunted', 'ghost' FROM clusters")
    local.submit(["1"])
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE campaigns SET grid_user = 'haunted'")
    campaign = local.submit(["1"])
    local.run_until(lambda: local.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=campaign))
    local.run_until(lambda: local.rows(LOGINS))
    for _ in range(3):
        local.cycle()
    assert gateway.asked == 1
    assert local.rows(LOGINS) == [{"subject": "account ghost on here", "count": 1}]


def test_kills_are_not_sent_again_and_again_by_an_account_that_is_not_let_in(local: Grid) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
        request_kills(conn, [1], KillReason.USER, "test")
    local.gateway.close()
    local.gateway = gateway = Refusing("ghost")
    for _ in range(3):
        killer.run_once(local.tools)
    assert gateway.asked == 1
    assert local.rows(LOGINS) == [{"subject": "account ghost on here", "count": 1}]
    Path(local.place, "go").touch()


@pytest.mark.parametrize(("is_refused", "seconds"), [(True, 150), (False, 5)])
def test_a_cluster_that_lets_nobody_in_is_visited_seldom(local: Grid, is_refused: bool, seconds: int) -> None:
    with local.database.begin() as conn:
        (cluster,) = list_clusters(conn, "updator")
        put_failure(conn, cluster, "CLUSTER_UNREACHABLE", "no", is_login_refused=is_refused)
        assert conn.exec_driver_sql("SELECT blocked_until - now() FROM clusters").scalar_one().seconds == seconds
