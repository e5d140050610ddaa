"""A record that was written and is not there, as on NFS when the file is closed: the job says so."""

from dataclasses import replace

import pytest

from cigri.wrapper import JobSpec

from .cluster import Cluster, task


def without_last_record(cluster: Cluster) -> dict[str, str]:
    """The wrapper's tidying takes the last record away."""
    return cluster.program("rm", f'sed -i "\\$d" "{cluster.batch}/journal.1"; exec /bin/rm "$@"')


@pytest.mark.parametrize("exit_code", [0, 3])
@pytest.mark.parametrize("tasks", [1, 2, 30])
def test_the_last_record_vanishes(cluster: Cluster, tasks: int, exit_code: int) -> None:
    calls = tuple(task(number, "sh", "-c", f"exit {exit_code}") for number in range(1, tasks + 1))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, calls)]))
    done = cluster.run(environment=without_last_record(cluster))
    assert done.status == 74
    assert "a record could not be written" in done.err


def test_a_record_of_tasks_side_by_side_vanishes(cluster: Cluster) -> None:
    calls = tuple(task(number, "true") for number in range(1, 9))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, calls, side=4)]))
    without_one = cluster.program(
        "rm", f'sed -i "0,/^end /{{/^end /d}}" "{cluster.batch}/journal.1"; exec /bin/rm "$@"'
    )
    assert cluster.run(environment=without_one).status == 74
