"""`gridstat -j JOB -O -E`: what a job wrote, brought from a real cluster of this host."""

import getpass
from pathlib import Path

import pytest

from cigri.cli import command, gridstat
from cigri.database import Database
from cigri.flow.archive import put_purged
from tests.cli.at_work import run_campaign
from tests.cli.conftest import AsUser
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster, submitted_jobs

COMMAND = gridstat
PROGRAM = "sh -c 'echo out of $CIGRI_TASK_NUMBER; printf err >&2' x"


@pytest.mark.usefixtures("both_ways")
def test_an_output_comes_as_it_was_written(run: Run, database: Database, cluster: Path, as_user: AsUser) -> None:
    campaign = run_campaign(database, PROGRAM, prologue=["echo prepared"])
    tasks = run("-f", campaign, "--json").json[0]["tasks"]
    first, second = (task["job_id"] for task in tasks)
    assert run("-j", first, "-O") == (0, "out of 0\n", "")
    assert run("-j", second, "-E") == (0, "err", "")
    assert run("-T", f"{campaign}:1", "-O") == (0, "out of 1\n", "")
    both = run("-j", second, "-O", "-E")
    titles = "==> task 1, attempt 1, stdout <==\nout of 1\n==> task 1, attempt 1, stderr <==\nerr\n"
    assert both == (0, titles, "")
    prologue = min(first, second) - 1
    assert "Kind:       prologue" in run("-j", prologue).out
    assert run("-j", prologue, "-O") == (0, "prepared\n", "")
    [written] = cluster.glob(f"*/c{campaign}/b*/2.1.err")
    written.unlink()
    half = run("-j", second, "-O", "-E")
    assert half.status == 1
    assert half.out == "==> task 1, attempt 1, stdout <==\nout of 1\n"
    assert "the file was removed" in half.err
    gone = run("-j", second, "-E")
    assert (gone.status, gone.out) == (1, "")
    with database.begin() as conn:
        put_purged(conn, [campaign])
    assert "were removed from the clusters on" in run("-j", second, "-E").err
    as_user("mallory")
    others = run("-j", first, "--json").json["attempts"]
    assert [attempt["parameter"] for attempt in others] == [None], "parameters are the owner's"
    refused = run("-j", first, "-O")
    assert (refused.status, refused.out) == (1, "")
    assert f"belongs to {command.grid_user()}" in refused.err
    as_user("root")
    assert run("-j", first, "-O").status == 0


@pytest.mark.usefixtures("both_ways")
def test_a_job_that_has_not_started_has_no_output_yet(run: Run, database: Database, cluster: Path) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu", options={"spool": str(cluster)}, directory=str(cluster))
        (job,) = submitted_jobs(conn, a_campaign(conn, 1, user=getpass.getuser()), 2, 1)
    printed = run("-j", job, "-O")
    assert (printed.status, printed.out) == (1, "")
    assert "not there yet" in printed.err
