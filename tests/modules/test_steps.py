"""Prologues and epilogues on the real local cluster."""

from pathlib import Path

from cigri.flow.event_fixes import fix_events
from cigri.identity.callers import Caller
from tests.grid import Grid


def lines(grid: Grid) -> list[str]:
    path = Path(grid.place) / "steps"
    return path.read_text().splitlines() if path.exists() else []


def say(grid: Grid, word: str) -> str:
    return f'echo {word} "$CIGRI_CAMPAIGN_ID" "$CIGRI_WALLTIME_SECONDS" >>{grid.place}/steps'


def test_the_prologue_comes_before_the_first_task_and_the_epilogue_after_the_last(local: Grid) -> None:
    local.submit(
        ["1", "2", "3"],
        command=say(local, "task"),
        prologue=[say(local, "prologue")],
        epilogue=[say(local, "epilogue")],
        prologue_walltime=77,
        epilogue_walltime=88,
    )
    local.run_to_end()
    assert lines(local) == ["prologue 1 77", *["task 1 600"] * 3, "epilogue 1 88"]
    local.assert_each_ran_once(3)


def test_prologue_and_epilogue_run_where_the_tasks_do(local: Grid) -> None:
    runs = Path(local.place) / "runs 1"
    local.submit(
        ["a", "b"],
        command='cat prepared >"$1"',
        exec_directory=f"{local.place}/runs {{CAMPAIGN_ID}}",
        prologue=["echo ready >prepared"],
        epilogue=["cat a b >both"],
    )
    local.run_to_end()
    assert (runs / "both").read_text() == "ready\nready\n"


def test_a_prologue_is_told_of_the_one_core_it_has(local: Grid) -> None:
    cores = f'read -r cores <"$JOBFEATURES/allocated_cpu"; echo "$cores" >>{local.place}/steps'
    local.submit(["1"], command=cores, prologue=[cores], resources={"cpu": 2})
    local.run_to_end()
    assert lines(local) == ["1", "2"]


def test_a_failing_prologue_lets_no_task_run_until_it_is_mended(local: Grid) -> None:
    mended = Path(local.place) / "mended"
    local.submit(["1", "2"], prologue=[say(local, "prologue"), f"echo no disk >&2; [ -e {mended} ]"])
    local.run_until(lambda: local.rows("SELECT 1 FROM events WHERE code = 'PROLOGUE_FAILED'"))
    local.cycle()
    (event,) = local.rows("SELECT id, subject, message FROM events WHERE closed_at IS NULL")
    assert event["subject"] == "campaign 1 on here"
    assert event["message"] == "failure, exit code 1; stderr ends: no disk"
    assert local.counts() == {"waiting": 2}
    assert local.one("SELECT count(*) FROM jobs") == 1
    mended.touch()
    with local.database.begin() as conn:
        fix_events(conn, [event["id"]], Caller(local.site.user), resubmit=True)
    local.run_to_end()
    assert lines(local) == ["prologue 1 600"] * 2
    local.assert_each_ran_once(2)


def test_a_failing_epilogue_keeps_the_campaign_open_until_it_is_fixed(local: Grid) -> None:
    local.submit(["1"], epilogue=["echo full >&2", "exit 5"])
    local.run_until(lambda: local.rows("SELECT 1 FROM events WHERE code = 'EPILOGUE_FAILED'"))
    local.cycle()
    assert local.one("SELECT state::text FROM campaigns") == "in_treatment"
    with local.database.begin() as conn:
        fix_events(conn, range(1, 9), Caller(local.site.user), resubmit=False)
    local.cycle()
    assert local.one("SELECT state::text FROM campaigns") == "terminated"
