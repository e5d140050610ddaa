"""Jobs that leave anything in the place of their files, here and over a real sshd: only their own tasks suffer."""

import pytest

from tests.grid import Grid

HERE = 'cd "$(dirname "$(readlink /proc/self/fd/1)")" || exit 1; box=../../outbox/$CIGRI_BATCH_ID-$CIGRI_INDEX; '
LEAVE = {
    "fifo": 'for f in journal.$CIGRI_INDEX "$box" "$CIGRI_INDEX.1.err"; do rm -f "$f"; mkfifo "$f"; done',
    "device": 'for f in journal.$CIGRI_INDEX "$box" "$CIGRI_INDEX.1.err"; do ln -sf /dev/zero "$f"; done',
    "huge": 'for f in journal.$CIGRI_INDEX "$box" "$CIGRI_INDEX.1.err"; do truncate -s 1T "$f"; done',
    "another's": 'for f in journal.$CIGRI_INDEX "$box"; do rm -f "$f"; ln -s "$f.x" "$f"; '
    'echo "end 1 $CIGRI_JOB_ID $CIGRI_TASK_ID $CIGRI_ATTEMPT 1 0 exit 1700000000000 5 n r ." >"$f.x"; done',
    "many": "seq -f 1-%.0f 30000 | (cd ../../outbox && xargs touch); rm -f journal.$CIGRI_INDEX",
}


@pytest.mark.parametrize("what", LEAVE)
def test_what_a_hostile_job_leaves_hurts_its_own_task_alone(grid: Grid, what: str) -> None:
    grid.tune("jobs", deaths=0)
    hostile = f'if [ "$CIGRI_TASK_NUMBER" = 1 ]; then {HERE}{LEAVE[what]}; kill -KILL $PPID; fi'
    grid.submit(["1", "2", "3"], command=hostile)
    grid.submit(["1", "2", "3"])
    grid.run_until(lambda: grid.counts() == {"done": 5, "failed": 1})
    assert grid.one("SELECT number FROM tasks WHERE state = 'failed'") == 1
    assert grid.one("SELECT failures FROM clusters") == 0
    assert not grid.rows("SELECT 1 FROM events WHERE code = 'ACCOUNT_REFUSED'")
    grid.assert_sane()
