"""Jobs that leave anything in the place of their files, here and over a real sshd: only their own tasks suffer."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from cigri.flow.campaigns import cancel_campaign
from cigri.flow.grid_identity import grid_key
from cigri.identity.callers import Caller
from tests.grid import Grid, until

HERE = 'cd "$(dirname "$(readlink "/proc/$$/fd/1")")" || exit 1; box=../../outbox/$CIGRI_BATCH_ID-$CIGRI_INDEX; '
FILES = 'journal.$CIGRI_INDEX "$box" "$CIGRI_INDEX.1.err"'
MANY = 30_000


class Plant(NamedTuple):
    """What a job leaves, and the sh expression with which somebody else sees it, in `$f` in turn."""

    script: str
    looks: str


PLANTS = {
    "fifo": Plant(f'for f in {FILES}; do rm -f "$f"; mkfifo "$f"; done', '[ -p "$f" ]'),
    "device": Plant(f'for f in {FILES}; do ln -sf /dev/zero "$f"; done', '[ "$(readlink "$f")" = /dev/zero ]'),
    "huge": Plant(f'for f in {FILES}; do truncate -s 1T "$f"; done', '[ "$(stat -c %s "$f")" = 1099511627776 ]'),
    "another's": Plant(
        f'for f in {FILES}; do rm -f "$f"; ln -s "$PWD/told" "$f"; done; '
        'echo "end 1 $CIGRI_JOB_ID $CIGRI_TASK_ID $CIGRI_ATTEMPT 1 0 exit 1700000000000 5 n r ." >told',
        'grep -q "^end 1 " "$f"',
    ),
    "rubbish": Plant(
        f'for f in {FILES}; do rm -f "$f"; yes "" | head -c 1048576 >"$f"; done',
        '[ "$(wc -l <"$f")" = 1048576 ]',
    ),
    "many": Plant(
        f"(cd ../../outbox && seq -f 1-%.0f {MANY} | xargs touch); rm -f journal.$CIGRI_INDEX",
        f'case $f in *journal.*) [ ! -e "$f" ] ;; *) [ "$(ls "$base/outbox" | wc -l)" -ge {MANY} ] ;; esac',
    ),
}


@pytest.fixture(params=["local", pytest.param("beta", marks=pytest.mark.cluster)])
def grid(request: pytest.FixtureRequest) -> Grid:
    """Each of these in turn; most tests of Slurm run on the other one, meanwhile."""
    found: Grid = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def base(grid: Grid) -> Iterator[str]:
    """Where the grid keeps its files on the cluster; what hostile jobs leave there is not for the next test."""
    with grid.database.begin() as conn:
        key = grid_key(conn)
    base = f"{grid.site.config.get('directory', f'/home/{grid.site.user}/.cigri')}/{key}"
    yield base
    grid.site.sh(f"rm -rf {base}")


@pytest.mark.parametrize("what", PLANTS)
def test_what_a_hostile_job_leaves_hurts_its_own_task_alone(grid: Grid, base: str, what: str) -> None:
    grid.tune("jobs", deaths=0)
    hostile = f'if [ "$CIGRI_TASK_NUMBER" = 1 ]; then {HERE}{PLANTS[what].script}; kill -KILL $PPID; fi'
    campaign = grid.submit(["1", "2", "3"], command=hostile)
    grid.submit(["1", "2", "3"])
    let_it_plant(grid, base, campaign, what)
    grid.run_until(lambda: grid.counts() == {"done": 5, "failed": 1})
    assert grid.one("SELECT number FROM tasks WHERE state = 'failed'") == 1
    assert_nobody_else_was_hurt(grid)


@pytest.mark.parametrize("what", PLANTS)
def test_a_hostile_campaign_can_be_cancelled(grid: Grid, base: str, what: str) -> None:
    """Its wrappers, too, meet what lies in the place of their files."""
    campaign = grid.submit(["1", "2"], command=f"{HERE}{PLANTS[what].script}; exec sleep 300")
    grid.submit(["1", "2"])
    let_it_plant(grid, base, campaign, what)
    with grid.database.begin() as conn:
        assert cancel_campaign(conn, campaign, Caller(grid.site.user))
    grid.run_until(lambda: grid.counts() == {"done": 2, "cancelled": 2})
    assert_nobody_else_was_hurt(grid)


def let_it_plant(grid: Grid, base: str, campaign: int, what: str) -> None:
    grid.run_until(lambda: files_of_task_1(grid, base, campaign))
    until(lambda: is_planted(grid, base, campaign, what))


def assert_nobody_else_was_hurt(grid: Grid) -> None:
    assert grid.one("SELECT failures FROM clusters") == 0
    assert not grid.rows("SELECT 1 FROM events WHERE code IN ('ACCOUNT_REFUSED', 'CLUSTER_UNREACHABLE')")
    grid.assert_sane()


def files_of_task_1(grid: Grid, base: str, campaign: int) -> list[str]:
    """Journal, outbox and standard error of its job, as CiGri knows their places, once it is submitted."""
    found = grid.rows(
        "SELECT batch_id, array_index FROM tasks JOIN attempts ON task_id = tasks.id JOIN jobs ON job_id = jobs.id"
        " WHERE tasks.campaign_id = :campaign AND tasks.number = 1 AND jobs.submitted_at IS NOT NULL",
        campaign=campaign,
    )
    if not found:
        return []
    batch, index = found[0]["batch_id"], found[0]["array_index"]
    directory = f"{base}/c{campaign}/b{batch}"
    return [f"{directory}/journal.{index}", f"{base}/outbox/{batch}-{index}", f"{directory}/{index}.1.err"]


def is_planted(grid: Grid, base: str, campaign: int, what: str) -> bool:
    paths = " ".join(files_of_task_1(grid, base, campaign))
    script = f"base={base}; for f in {paths}; do {PLANTS[what].looks} || exit 0; done; echo planted"
    return grid.site.sh(script, grid.site.user) == "planted\n"
