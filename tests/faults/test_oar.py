"""Campaigns on a real OAR cluster over real SSH: preempted, deleted behind our back, too long, left alone by OAR."""

import json
from collections import Counter

import pytest

from cigri.flow.clusters import put_cluster
from tests.grid import Grid, until

pytestmark = pytest.mark.cluster


def test_tasks_are_done_once_though_nobody_schedules_for_a_while(delta: Grid) -> None:
    delta.submit([str(n) for n in range(6)], command="sleep 1")
    delta.run_until(lambda: delta.one("SELECT count(*) FROM jobs WHERE state = 'running'") > 0)
    delta.site.daemon("stop", "almighty")
    for _ in range(5):
        delta.cycle()
    delta.site.daemon("start", "almighty")
    delta.run_to_end(150)
    delta.assert_each_ran_once(6)
    assert delta.one("SELECT count(*) FROM attempts") == 6


def test_jobs_that_are_over_are_left_to_a_server_that_was_away_when_they_ended(delta: Grid) -> None:
    """A kill would find nothing to end, and cost their nodes."""
    with delta.database.begin() as conn:
        put_cluster(conn, delta.site.name, delta.site.config | {"options": {}, "lost_after": 1.0})
    wait = f"until [ -e {delta.place}/go ]; do sleep 0.2; done"
    first = delta.submit([str(n) for n in range(3)], command=wait)
    delta.submit(["stays"], command=f"until [ -e {delta.place}/end ]; do sleep 0.2; done")
    delta.run_until(lambda: delta.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 4)
    delta.site.daemon("stop", "almighty")
    delta.site.sh(f"touch {delta.place}/go")
    over = "SELECT count(*) FROM jobs WHERE campaign_id = :id AND ended_at < now() - interval '3 s'"
    delta.run_until(lambda: delta.one(over, id=first) == 3)
    assert states(delta) == {"Running": 4}
    delta.cycle()
    assert delta.rows("SELECT reason FROM kills") == []
    delta.site.daemon("start", "almighty")
    delta.site.sh(f"touch {delta.place}/end")
    delta.run_to_end()
    until(lambda: states(delta) == {})
    assert delta.site.sh("oarnodes -s | grep -c Suspected || true").strip() == "0"
    assert delta.counts() == {"done": 4}
    assert delta.rows("SELECT reason FROM kills") == []


def states(delta: Grid) -> Counter[str]:
    """Count alice's live jobs by OAR's words."""
    query = "oarstat -J --sql \"state NOT IN ('Terminated', 'Error')\""
    jobs = json.loads(delta.site.sh(query) or "{}")
    return Counter(job["state"] for job in jobs.values())


def test_whole_nodes_are_asked_for_in_oars_words(delta: Grid) -> None:
    seen = f'sort "$CIGRI_NODE_FILE" >{delta.place}/nodes; sort "$OAR_NODEFILE" | uniq -c >{delta.place}/cores'
    delta.submit(["wide"], resources="/nodes=2", types="timesharing=*,*", command=seen)
    delta.run_to_end()
    assert delta.site.sh(f"cat {delta.place}/nodes").split() == ["delta-n1", "delta-n2"]
    assert delta.site.sh(f"cat {delta.place}/cores").split() == ["8", "delta-n1", "8", "delta-n2"]


def test_what_a_local_user_or_an_operator_kills_is_done_again_for_free(delta: Grid) -> None:
    """Two tasks fill the cluster; one gives way to bob, the other is deleted behind our back."""
    wait = f"until [ -e {delta.place}/go ]; do sleep 0.2; done"
    delta.submit(["a", "b"], resources={"cpu": 8}, command=wait)
    until(lambda: delta.cycle() is not None and len(delta.executions()) == 2)
    delta.site.sh("oarsub -l /nodes=1/core=1,walltime=0:1:0 -O /dev/null -E /dev/null 'sleep 1'", user="bob")
    delta.run_until(lambda: delta.one("SELECT count(*) FROM attempts WHERE outcome = 'preempted'") == 1)
    delta.site.sh("oardel --sql \"state = 'Running' AND job_user = 'alice'\"", user="root")
    delta.run_until(lambda: delta.one("SELECT count(*) FROM attempts WHERE outcome = 'preempted'") >= 2)
    assert delta.rows("SELECT DISTINCT priority FROM tasks WHERE deaths > 0") == [{"priority": 20}]
    delta.site.sh(f"touch {delta.place}/go")
    delta.run_to_end()
    assert delta.counts() == {"done": 2}
    assert delta.one("SELECT sum(failures) FROM tasks") == 0
    delta.assert_sane()


def test_a_task_that_takes_too_long_is_warned_and_has_itself_to_blame(delta: Grid) -> None:
    delta.submit(
        ["long"], walltime=40, command=f"trap 'echo warned >{delta.place}/said; exit 1' TERM; sleep 300 & wait"
    )
    delta.run_until(lambda: delta.counts() == {"failed": 1})
    assert delta.rows("SELECT outcome::text FROM attempts") == [{"outcome": "walltime"}]
    assert delta.site.sh(f"cat {delta.place}/said") == "warned\n"
