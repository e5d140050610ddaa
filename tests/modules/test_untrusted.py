"""What users' accounts write and print is not trusted, and harms nobody."""

import logging
import os
import re
from contextlib import closing
from pathlib import Path

import pytest

from cigri.errors import RemoteOutcomeUnknown
from cigri.flow.clusters import ClusterRow
from cigri.gateway.transport_gateway import TransportGateway
from cigri.shell.results import ShellResult
from cigri.transports.persistent_shell import LARGEST_ANSWER
from modules import campaign_schedulers, metascheduler, runner, updator
from tests.grid import Grid, until


def outbox(grid: Grid) -> Path:
    return Path(grid.site.config["directory"]) / str(grid.one("SELECT key FROM grid")) / "outbox"


def names(grid: Grid) -> set[str]:
    return {path.name for path in outbox(grid).iterdir()}


@pytest.fixture
def running(local: Grid) -> Grid:
    """Three jobs that run until the file `go` is there."""
    local.submit(["1", "2", "3"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 3)
    return local


def post(grid: Grid, name: str, text: str) -> None:
    (outbox(grid) / name).write_text(text)


def test_forged_and_broken_records_change_nothing_and_do_not_stay(
    running: Grid, caplog: pytest.LogCaptureFixture
) -> None:
    batch = running.one("SELECT id FROM batches")
    rows = running.rows("SELECT job_id, task_id FROM attempts ORDER BY job_id")
    (job, task), (other_job, other_task), (third_job, third_task) = [tuple(row.values()) for row in rows]
    end = "0 exit 1700000000000 5 n r ."
    forged = {
        f"{batch}-1": f"end 1 {other_job} {other_task} 1 1 {end}",  # of another job
        f"{batch}-2": f"end 1 {other_job} {task} 1 1 {end}",  # of another task
        f"{batch}-3": f"end 1 {third_job} {third_task} 2 1 {end}\n"  # of another attempt
        f"end 1 {third_job} {third_task} 1 2 {end}",  # of a position that the job has not
        f"{batch}-9": f"end 1 {job} {task} 1 1 {end}",  # of an index that the batch has not
        "99-1": f"end 1 {job} {task} 1 1 {end}",  # of a batch that is not
        "98-1": "",
        "97-1": f"end 1 {job} {task} 1 1 0 exit {'9' * 16} 5 n r .",  # starts after the end of time
        "96-1": f"end 1 {'9' * 5000} {task} 1 1 {end}",
        "95-1": f"end 1 {job} {task} 1 1 0 exit 1700000000000 5 n\x7f r .",
        "1-": "x",
        "1-1-1": "x",
    }
    for name, text in forged.items():
        post(running, name, f"{text}\n")
    (outbox(running) / "94-1").mkdir()
    (outbox(running) / "93-1").symlink_to("/dev/zero")
    os.mkfifo(outbox(running) / "92-1")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            updator.run_once(running.tools)
    assert running.counts() == {"assigned": 3}
    assert sum("no live attempt" in message for message in caplog.messages) == 2
    live = {f"{batch}-{index}" for index in (1, 2, 3)}
    assert names(running) == {"1-", "1-1-1"} | live
    assert not running.rows("SELECT 1 FROM events WHERE level <> 'info'")
    (Path(running.place) / "go").touch()
    running.run_to_end()
    running.assert_each_ran_once(3)


def test_an_unreadable_record_of_a_living_job_is_perhaps_being_written(running: Grid) -> None:
    batch = running.one("SELECT id FROM batches")
    row = running.rows("SELECT job_id, task_id FROM attempts ORDER BY job_id")[0]
    whole = f"end 1 {row['job_id']} {row['task_id']} 1 1 0 exit 1700000000000 5 n r ."
    post(running, f"{batch}-1", whole[:-2])
    for _ in range(2):
        updator.run_once(running.tools)
    assert running.counts() == {"assigned": 3}
    post(running, f"{batch}-1", whole)
    updator.run_once(running.tools)
    assert running.counts() == {"assigned": 2, "done": 1}
    (Path(running.place) / "go").touch()
    running.run_to_end()
    running.assert_each_ran_once(3)


def test_the_repeated_record_of_a_task_does_not_end_its_jobs_next_one(running: Grid) -> None:
    """The outbox is acknowledged at the next visit; a new process has forgotten what to acknowledge."""
    batch = running.one("SELECT id FROM batches")
    with running.database.begin() as conn:  # the first job carries two tasks
        conn.exec_driver_sql("UPDATE attempts SET job_id = 1, position = 2 WHERE job_id = 2")
    row = running.rows("SELECT task_id FROM attempts WHERE job_id = 1 AND position = 1")[0]
    post(running, f"{batch}-1", f"end 1 1 {row['task_id']} 1 1 0 exit 1700000000000 5 n r .\n")
    for _ in range(2):
        with closing(TransportGateway()) as gateway:
            updator.run_once(running.tools._replace(gateway=gateway))
    assert running.rows("SELECT outcome::text FROM attempts WHERE job_id = 1 ORDER BY position") == [
        {"outcome": "success"},
        {"outcome": None},
    ]
    assert running.one("SELECT state::text FROM jobs WHERE id = 1") == "running"


class Odd(TransportGateway):
    """The account `ghost` is another name of ours, and its shell says odd things while `is_odd`."""

    is_odd = True

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        answer = super().run(cluster, self.monitoring_account(cluster), script)
        return answer._replace(out=answer.out.replace("cigri-outbox 1", "ghost")) if self.is_odd else answer


def test_an_account_that_talks_nonsense_is_its_own_users_trouble(running: Grid) -> None:
    with running.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
    with closing(Odd()) as gateway:
        odd = running.tools._replace(gateway=gateway)
        updator.run_once(odd)
        assert running.one("SELECT failures FROM clusters") == 0
        (event,) = running.rows("SELECT code, subject FROM events WHERE closed_at IS NULL")
        assert event == {"code": "ACCOUNT_REFUSED", "subject": "account ghost on here"}
        gateway.is_odd = False
        asked = gateway.commands.total()
        updator.run_once(odd)
        assert gateway.commands.total() == asked + 1  # the visitor alone: the other is left alone for a while
        assert running.one("SELECT count FROM events WHERE closed_at IS NULL") == 1
        running.let_accounts_be_asked()
        updator.run_once(odd)
        assert not running.rows("SELECT 1 FROM events WHERE closed_at IS NULL")
    (Path(running.place) / "go").touch()


class CutOff(TransportGateway):
    """The account `ghost` is another name of ours; while its scripts run the connection is lost."""

    is_cut_off = True

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if user == "ghost" and self.is_cut_off:
            raise RemoteOutcomeUnknown(cluster.name, "the connection was lost", is_front_end=True)
        return super().run(cluster, self.monitoring_account(cluster), script)


FRONT_END_AWAY = [
    {"code": "CLUSTER_UNREACHABLE", "subject": "cluster here", "message": "here: the connection was lost"}
]
SAID_OF_FRONT_END = "SELECT code, subject, message FROM events WHERE closed_at IS NULL"


def test_a_connection_lost_while_an_account_is_asked_is_no_fault_of_it(running: Grid) -> None:
    with running.database.begin() as conn:
        conn.exec_driver_sql("UPDATE batches SET local_user = 'ghost'")
    with closing(CutOff()) as gateway:
        cut_off = running.tools._replace(gateway=gateway)
        updator.run_once(cut_off)
        assert running.rows(SAID_OF_FRONT_END) == FRONT_END_AWAY
        assert running.one("SELECT failures FROM clusters") == 1
        gateway.is_cut_off = False
        with running.database.begin() as conn:
            conn.exec_driver_sql("UPDATE clusters SET blocked_until = now() - interval '1 s'")
        updator.run_once(cut_off)
        assert running.rows(SAID_OF_FRONT_END) == []
        assert running.one("SELECT failures FROM clusters") == 0
    (Path(running.place) / "go").touch()


def test_a_connection_lost_while_jobs_are_submitted_is_no_fault_of_their_account(local: Grid) -> None:
    campaign = local.submit(["1"])
    with local.database.begin() as conn:
        conn.exec_driver_sql(f"UPDATE campaigns SET grid_user = 'ghost' WHERE id = {campaign}")
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    with closing(CutOff()) as gateway:
        runner.run_once(local.tools._replace(gateway=gateway))
    assert local.rows(SAID_OF_FRONT_END) == FRONT_END_AWAY


class Flooding(TransportGateway):
    """The account `ghost` is another name of ours, and its shell says more than anybody listens to while `floods`."""

    floods = True

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        flood = f"head -c {LARGEST_ANSWER + 1} /dev/zero | tr '\\0' x\n" if user == "ghost" and self.floods else ""
        return super().run(cluster, self.monitoring_account(cluster), flood + script)


def test_an_account_that_says_too_much_is_its_own_users_trouble(running: Grid) -> None:
    campaign = running.submit(["1"], command=f"until [ -e {running.place}/go ]; do sleep 0.05; done")
    running.run_until(lambda: running.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 4)
    with running.database.begin() as conn:
        conn.exec_driver_sql(f"UPDATE batches SET local_user = 'ghost' WHERE campaign_id = {campaign}")
    (Path(running.place) / "go").touch()
    until(lambda: sum(running.executions().values()) == 4)
    with closing(Flooding()) as gateway:
        flooded = running.tools._replace(gateway=gateway)
        until(lambda: updator.run_once(flooded) is not None and running.counts() == {"done": 3, "assigned": 1})
        assert running.one("SELECT failures FROM clusters") == 0
        (event,) = running.rows("SELECT code, subject, message FROM events WHERE closed_at IS NULL")
        assert (event["code"], event["subject"]) == ("ACCOUNT_REFUSED", "account ghost on here")
        assert f"printed more than {LARGEST_ANSWER} bytes; the rest was not read" in event["message"]
        gateway.floods = False
        running.let_accounts_be_asked()
        until(lambda: updator.run_once(flooded) is not None and running.counts() == {"done": 4})
    assert running.rows("SELECT 1 FROM events WHERE closed_at IS NULL") == []


class Slow(TransportGateway):
    """To tell of more than a thousand files takes longer than anybody waits."""

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if any(int(found) > 2 * 1000 for found in re.findall(r"head -n (\d+)", script)):
            raise RemoteOutcomeUnknown(cluster.name, "no answer within 60 s")
        return super().run(cluster, user, script)


def test_an_outbox_too_full_for_one_answer_is_read_in_several(running: Grid) -> None:
    for number in range(3000):
        post(running, f"1-{number}", "x\n")
    (Path(running.place) / "go").touch()
    until(lambda: sum(running.executions().values()) == 3)
    over = "UPDATE clusters SET blocked_until = now() WHERE failures > 0"
    with closing(Slow()) as gateway:
        slow = running.tools._replace(gateway=gateway)

        def visit() -> bool:
            updator.run_once(slow)
            with running.database.begin() as conn:  # the pauses of the cluster
                conn.exec_driver_sql(over)
            return running.counts() == {"done": 3}

        until(visit)
    running.assert_sane()


def test_binary_rubbish_in_standard_error_stops_nobody(local: Grid) -> None:
    local.submit(["1"], command=r"printf 'zero \000 and \377' >&2; exit 1")
    local.submit(["1"])
    local.run_until(lambda: local.counts() == {"failed": 1, "done": 1})
    message = local.one("SELECT message FROM events WHERE code = 'TASK_FAILED'")
    assert message == "failure, exit code 1; stderr ends: zero \\x00 and \ufffd"


def test_a_record_of_a_duration_beyond_reason_is_no_record(local: Grid) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: len(local.executions()) == 1)
    until(lambda: outbox(local).is_dir())
    post(local, f"{local.one('SELECT id FROM batches')}-1", f"end 1 1 1 1 1 0 exit 1700000000000 {'9' * 16} n r .\n")
    local.cycle()
    assert local.counts() == {"assigned": 1}
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.counts() == {"done": 1}
