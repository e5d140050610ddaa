"""The status of running jobs as the grid reads it from a front-end, and what it tells them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.errors import UnreadableOutput
from cigri.shell.results import ShellResult
from cigri.wrapper import JobKey, JobSpec
from cigri.wrapper.feature_settings import FeatureSpec
from cigri.wrapper.job_status_files import announce, parse_status_files, parse_told, read_status, withdraw
from cigri.wrapper.termination_cost import parse_status

from .cluster import BASE, Cluster, task, until

KEY = JobKey(12, 34, 1)
WAIT = 'touch "$HOME/here"; until [ -e "$HOME/go" ]; do sleep 0.02; done'


@contextmanager
def _running(
    cluster: Cluster, command: str = ":", tasks: int = 2, environment: dict[str, str] | None = None
) -> Iterator[None]:
    """A job of several tasks, in its first one; its end is waited for."""
    calls = (task(1, "sh", "-c", f"{command}; {WAIT}"), *(task(i, "true") for i in range(2, tasks + 1)))
    plan = replace(cluster.plan, jobs=[JobSpec(1, 901, calls)], features=FeatureSpec(cpu=2, estimate=40))
    cluster.write(plan=plan)
    job = cluster.start(environment=environment or {})
    until((cluster.home / "here").exists)
    try:
        yield
    finally:
        (cluster.home / "go").touch()
        job.communicate(timeout=120)


def _read(cluster: Cluster) -> dict[str, str]:
    return parse_status_files(cluster.ask(read_status(BASE, [KEY])), [KEY])[KEY]


def test_status_of_a_pilot_is_read_whole(cluster: Cluster) -> None:
    with _running(cluster):
        status, ignored = parse_status(_read(cluster), 2)
    assert ignored == ()
    assert (status.used_cpu, status.add_uncom_time, status.can_postpone_last_job) == (2, 0, True)
    assert status.last_job_start is not None
    assert status.last_exp_job_end == status.last_job_start + 40
    assert _read(cluster) == {}


def test_what_a_program_says_of_itself_is_read(cluster: Cluster) -> None:
    said = 'cd "$JOBSTATUS"; echo 1 >used_CPU; echo junk >last_job_start; echo 5 >mine; mkfifo add_uncom_time; '
    said += 'printf "%0500d" 7 >priority_factor; printf "= 12 34 2\\n" >can_postpone_last_job'
    with _running(cluster, said, tasks=1):
        found = _read(cluster)
    assert found.pop("priority_factor") == "0" * 100
    assert found == {"used_CPU": "1", "last_job_start": "junk", "can_postpone_last_job": "= 12 34 2"}


@pytest.mark.parametrize("place", ["directory", "http://site/status"])
def test_status_in_a_directory_of_the_site(cluster: Cluster, place: str) -> None:
    site = cluster.home / "directory"
    site.mkdir()
    given = str(site) if place == "directory" else place
    with _running(cluster, environment={"JOBSTATUS": given}):
        assert ("used_CPU" in _read(cluster)) is (place == "directory")


def test_jobs_that_say_nothing_are_in_the_answer(cluster: Cluster) -> None:
    keys = [JobKey(12, 34, i) for i in (1, 2)] + [JobKey(99, 1, 1)]
    with _running(cluster, tasks=1):
        assert parse_status_files(cluster.ask(read_status(BASE, keys)), keys) == {key: {} for key in keys}


def test_status_is_not_read_while_it_is_written(cluster: Cluster) -> None:
    with _running(cluster):
        with (cluster.batch / "status.1" / "used_CPU").open("r+") as held:
            subprocess.run(["flock", str(held.fileno())], pass_fds=[held.fileno()], check=True)
            assert _read(cluster) == {}
        assert "used_CPU" in _read(cluster)


def test_shutdown_is_announced_and_withdrawn(cluster: Cluster) -> None:
    keys = [KEY, JobKey(99, 1, 1)]
    own, machine = _news(cluster)
    with _running(cluster):
        for at in (1_800_000_000, 1_700_000_000):
            assert parse_told(cluster.ask(announce(BASE, keys, at))) == {KEY}
            assert own.read_text() == machine.read_text() == f"{at}\n"
        assert parse_told(cluster.ask(withdraw(BASE, keys))) == {KEY}
        assert [os.path.lexists(news) for news in (own, machine)] == [False, False]
    left = ("machine", "shutdown", "own", "host")
    assert [path.name for path in cluster.batch.iterdir() if path.name.startswith(left)] == []


LIST = """list() {
    for key in $(ls "$MACHINEFEATURES") $(ls "$JOBFEATURES"); do
        cat "$MACHINEFEATURES/$key" "$JOBFEATURES/$key" 2>&- | grep -q . && echo "$key" || echo "$key is broken"
    done >"$HOME/$1"
}
"""


@pytest.mark.parametrize("side", [1, 2])
def test_a_listing_shows_what_can_be_read_and_nothing_else(cluster: Cluster, side: int) -> None:
    """A shutdown is no broken link at first; running jobs, and each of the tasks side by side, find it listed later."""
    tell = 'list first$1; touch "$HOME/here$1"; until [ -e "$HOME/go" ]; do sleep 0.02; done; list later$1'
    calls = tuple(task(i, "sh", "-c", LIST + tell, "sh", str(i)) for i in range(1, side + 1))
    plan = replace(cluster.plan, jobs=[JobSpec(1, 901, calls, side=side)], features=FeatureSpec(cpu=2))
    cluster.write(plan=plan)
    job = cluster.start()
    until(lambda: all((cluster.home / f"here{i}").exists() for i in range(1, side + 1)))
    cluster.ask(announce(BASE, [KEY], 1_800_000_000))
    (cluster.home / "go").touch()
    job.communicate(timeout=120)
    for i in range(1, side + 1):
        first, later = (set((cluster.home / f"{name}{i}").read_text().splitlines()) for name in ("first", "later"))
        assert {"total_cpu", "allocated_cpu"} <= first
        assert not [key for key in first | later if "broken" in key]
        assert later - first == {"shutdowntime", "shutdowntime_job"}


def test_a_shutdown_of_the_machine_is_announced_and_withdrawn_alone(cluster: Cluster) -> None:
    own, machine = _news(cluster)
    with _running(cluster):
        assert parse_told(cluster.ask(announce(BASE, [KEY], 1_800_000_000, machine_only=True))) == {KEY}
        assert (own.exists(), machine.read_text()) == (False, "1800000000\n")
        cluster.ask(announce(BASE, [KEY], 1_800_000_000))
        assert parse_told(cluster.ask(withdraw(BASE, [KEY], machine_only=True))) == {KEY}
        assert (own.exists(), machine.exists()) == (True, False)


def test_job_with_features_of_the_site_is_told_nothing(cluster: Cluster) -> None:
    site = cluster.home / "site"
    site.mkdir()
    with _running(cluster, environment={"JOBFEATURES": str(site), "MACHINEFEATURES": str(site)}):
        assert parse_told(cluster.ask(announce(BASE, [KEY], 1_800_000_000))) == set()
    assert list(site.iterdir()) == []


def test_job_that_started_before_the_machine_was_told_of_is_told_as_before(cluster: Cluster) -> None:
    with _running(cluster):
        site, journal = cluster.home / "site", cluster.batch / "journal.1"
        site.mkdir()
        journal.write_text(journal.read_text() + f"features 1 {site}/status {site}/news .\n")
        assert parse_told(cluster.ask(announce(BASE, [KEY], 1_800_000_000))) == {KEY}
        assert [path.name for path in site.iterdir()] == ["news"]
        assert parse_told(cluster.ask(announce(BASE, [KEY], 1_800_000_000, machine_only=True))) == set()


def _news(cluster: Cluster) -> tuple[Path, Path]:
    """Where the job and its machine are told of a shutdown."""
    own, machine = cluster.batch / "own.1" / "jobfeatures", cluster.batch / "host.1" / "machinefeatures"
    return own / "shutdowntime_job", machine / "shutdowntime"


@pytest.mark.parametrize(
    "answer",
    [
        ShellResult(1, "cigri-status 1\ncigri-status end\n", ""),
        ShellResult(0, "", ""),
        ShellResult(0, "cigri-status 1\n= 12 34 1\n", ""),
        ShellResult(0, "cigri-status 1\n= 12 34 2\ncigri-status end\n", ""),
        ShellResult(0, "cigri-status 1\ncigri-status end\n", ""),
    ],
)
def test_answer_that_is_not_whole_is_none(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        parse_status_files(answer, [KEY])
