"""Tasks that are done again with more memory and time have them, on a real cluster, and the others do not."""

from pathlib import Path

from cigri.flow.tasks import WaitingTask, redo_tasks
from cigri.identity.callers import Caller
from cigri.states import TaskState
from modules.campaign_schedulers.jobs.bucket_order import by_bucket
from tests.grid import Grid


def test_a_task_that_needed_more_time_gets_it(local: Grid) -> None:
    """It was ended at its walltime; what it is given the next time it finds in its variables."""
    told = 'echo "$CIGRI_TASK_NUMBER $CIGRI_WALLTIME_SECONDS $CIGRI_RESOURCE_MEM"'
    command = f'[ "$1" != slow ] || [ "$CIGRI_WALLTIME_SECONDS" != 2 ] || sleep 600; {told}'
    campaign = local.submit(["slow", "quick"], command=command, walltime=2, temporal_grouping=False)
    local.run_until(lambda: local.counts() == {"done": 1, "failed": 1})
    with local.database.begin() as conn:
        own = {"walltime": 60, "mem": 500}
        assert redo_tasks(conn, campaign, Caller(local.site.user), None, [TaskState.FAILED], own) == 1
    local.run_to_end()
    assert local.counts() == {"done": 2}
    outs = [path.read_text() for path in Path(local.site.config["directory"]).rglob("*.out")]
    assert sorted(filter(None, outs)) == ["0 60 500\n", "1 2 \n"]
    local.assert_sane()


def test_a_task_with_amounts_of_its_own_goes_alone() -> None:
    tasks = [WaitingTask(1, 7, 0, 10), WaitingTask(2, 8, 1, 20, is_special=True), WaitingTask(3, 7, 0, 10)]
    chosen = [([task.id for task in alike], is_alone) for alike, is_alone in by_bucket(tasks, [1], set())]
    assert chosen == [([2], True), ([1, 3], False)]
