"""What a task's exit code means, on the real local cluster."""

from pathlib import Path

from cigri.flow.event_fixes import fix_events
from cigri.identity.callers import Caller
from modules import updator
from tests.grid import Grid, until


def open_events(grid: Grid) -> list[int]:
    return [row["id"] for row in grid.rows("SELECT id FROM events WHERE closed_at IS NULL ORDER BY id")]


def fix(grid: Grid, *, resubmit: bool) -> None:
    with grid.database.begin() as conn:
        assert fix_events(conn, open_events(grid), Caller(grid.site.user), resubmit=resubmit) > 0


def order(grid: Grid) -> list[int]:
    return [int(line) for line in (Path(grid.place) / "ran").read_text().split()]


def test_a_failing_task_is_tried_as_often_as_its_campaign_allows(local: Grid) -> None:
    local.submit(["1"], command="echo no such luck >&2; exit 3", retries=2)
    local.submit(["1"], command="exit 4")
    local.run_until(lambda: local.counts() == {"failed": 2})
    tasks = local.rows("SELECT attempts, failures, deaths FROM tasks ORDER BY id")
    assert tasks == [{"attempts": 3, "failures": 3, "deaths": 0}, {"attempts": 1, "failures": 1, "deaths": 0}]
    assert [row["exit_code"] for row in local.rows("SELECT exit_code FROM attempts ORDER BY task_id, number")] == [
        *(3, 3, 3),
        4,
    ]
    events = local.rows("SELECT code, count, message FROM events WHERE campaign_id = 1")
    assert events == [{"code": "TASK_FAILED", "count": 1, "message": "failure, exit code 3; stderr ends: no such luck"}]
    local.cycle()
    assert local.one("SELECT count(*) FROM campaigns WHERE state = 'in_treatment'") == 2
    fix(local, resubmit=False)
    local.cycle()
    assert local.one("SELECT count(*) FROM campaigns WHERE state = 'terminated'") == 2
    local.assert_sane()


def test_a_resubmitted_task_runs_again_and_the_campaign_ends(local: Grid) -> None:
    local.submit(["1", "2"], command=f"[ -e {local.place}/mended ]")
    local.run_until(lambda: local.counts() == {"failed": 2})
    (Path(local.place) / "mended").touch()
    fix(local, resubmit=True)
    local.run_to_end()
    assert local.counts() == {"done": 2}
    assert local.executions() == {0: 2, 1: 2}
    local.assert_sane()


def test_what_cannot_run_tells_why(local: Grid) -> None:
    local.submit(["1"], exec_file="/no/such/program")
    local.submit(["1"], exec_directory="/dev/null/directory")
    local.run_until(lambda: local.counts() == {"failed": 2})
    first, second = local.rows("SELECT message FROM events WHERE code = 'TASK_FAILED' ORDER BY campaign_id")
    assert first["message"].startswith("failure, exit code 127; stderr ends: ")
    assert "/no/such/program: not found" in first["message"]
    assert second["message"].startswith("failure, exit code 72; stderr ends: mkdir: ")
    assert "cigri: exec_directory /dev/null/directory cannot be made or entered on " in second["message"]
    assert not local.executions()


def test_exit_66_goes_ahead_of_an_older_task_that_failed(local: Grid) -> None:
    once = f"mark={local.place}/$CIGRI_TASK_NUMBER; [ -e $mark ] && exit 0; touch $mark"
    local.submit(["1", "2"], command=f"{once}; exit $((3 + 63 * CIGRI_TASK_NUMBER))", retries=1, max_jobs=2)
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs") == 2)
    until(lambda: updator.run_once(local.tools) and local.counts() == {"waiting": 2})
    local.run_to_end()
    again = local.rows("SELECT task_id FROM attempts WHERE number = 2 ORDER BY job_id")
    assert [row["task_id"] for row in again] == [2, 1]


def test_exit_66_goes_first_in_line_and_67_last(local: Grid) -> None:
    """One task at a time: 0 asks for the end of the line, 1 for its head, once each."""
    once = f"mark={local.place}/$CIGRI_TASK_NUMBER; [ -e $mark ] && exit 0; touch $mark"
    command = f"{once}; case $CIGRI_TASK_NUMBER in 0) exit 67 ;; 1) exit 66 ;; esac"
    local.submit([str(number) for number in range(5)], command=command, max_jobs=1)
    local.run_to_end()
    assert order(local) == [0, 1, 1, 2, 3, 4, 0]
    told = local.rows("SELECT code, closed_at IS NOT NULL AS closed FROM events WHERE code ~ 'RESUBMIT' ORDER BY id")
    assert told == [{"code": "RESUBMIT_END", "closed": True}, {"code": "RESUBMIT", "closed": True}]
    assert local.rows("SELECT sum(resubmissions)::int AS n, sum(failures + deaths)::int AS f FROM tasks") == [
        {"n": 2, "f": 0}
    ]
    local.assert_sane()


def test_resubmission_on_request_has_a_bound(local: Grid) -> None:
    local.tune("jobs", resubmissions=2)
    local.submit(["1"], command="exit 66")
    local.run_until(lambda: local.counts() == {"failed": 1})
    assert local.executions() == {0: 3}
    assert local.one("SELECT message FROM events WHERE code = 'TASK_FAILED'") == (
        "resubmit, exit code 66, once more than the setting jobs.resubmissions allows"
    )
