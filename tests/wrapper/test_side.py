"""Tasks that a job runs side by side, under each shell."""

import os
import signal
from dataclasses import replace
from pathlib import Path

from cigri.wrapper import JobKey, JobSpec, TaskSpec, journal, parse_journal

from .cluster import BASE, Cluster, task, until

KEY = JobKey(12, 34, 1)
COUNT = 60


def write(cluster: Cluster, tasks: tuple[TaskSpec, ...], side: int = 4, prelude: str = "") -> None:
    jobs = [JobSpec(1, 901, tasks, side=side)]
    cluster.prelude += f"\n{prelude}"
    cluster.write(plan=replace(cluster.plan, jobs=jobs))


def numbered(command: str, count: int = COUNT) -> tuple[TaskSpec, ...]:
    return tuple(task(number, "sh", "-c", f"n={number}; {command}") for number in range(1, count + 1))


def positions(cluster: Cluster) -> tuple[list[int], bool]:
    found = parse_journal(cluster.ask(journal(BASE, [KEY])), [KEY])[KEY]
    return sorted(record.position for record in found.records), found.is_stopped


def test_each_task_runs_once_and_keeps_what_is_its_own(cluster: Cluster) -> None:
    fresh = '[ "$(ls -A "$TMPDIR")" = "" ] || exit 9; touch "$TMPDIR/x"'
    odd = f'{fresh}; echo $n >>$HOME/ran; echo "out $n"; [ $n != 7 ] || exit 3'
    write(cluster, numbered(odd))
    assert cluster.run().status == 3
    assert sorted((cluster.home / "ran").read_text().split(), key=int) == [str(n) for n in range(1, COUNT + 1)]
    assert positions(cluster) == (list(range(1, COUNT + 1)), True)
    codes = {record.position: record.exit_code for record in cluster.records()}
    assert codes == {n: 3 if n == 7 else 0 for n in range(1, COUNT + 1)}
    assert all(cluster.out(1, n) == f"out {n}\n" for n in range(1, COUNT + 1))
    assert list(cluster.tmp.iterdir()) == []


def test_as_many_run_at_a_time_as_there_are_workers(cluster: Cluster) -> None:
    """Each of the first four waits for the other three."""
    meet = "touch $HOME/at.$n; until [ $(ls $HOME/at.* | wc -l) -ge 4 ]; do sleep 0.02; done"
    write(cluster, numbered(meet, 8))
    assert cluster.run().status == 0
    assert positions(cluster) == (list(range(1, 9)), True)


def test_group_that_is_asked_to_end_records_what_ran_and_begins_no_other(cluster: Cluster) -> None:
    for number in (signal.SIGTERM, signal.SIGXCPU):
        write(cluster, numbered("touch $HOME/at.$n; while :; do sleep 0.02; done", 8))
        job = cluster.start()
        until(lambda: len(list(cluster.home.glob("at.*"))) == 4)
        job.send_signal(number)
        job.communicate(timeout=120)
        assert job.returncode in (125, 143)  # bash forgets how a worker ended when a signal comes
        assert positions(cluster) == ([1, 2, 3, 4], True)
        assert {record.cause.value for record in cluster.records()} <= {"terminated", "walltime"}
        assert list(cluster.tmp.iterdir()) == []
        cluster.ask(f"rm -rf {cluster.batch} $HOME/at.* {cluster.outbox}/*")


def test_signals_of_users_reach_each_task(cluster: Cluster) -> None:
    write(cluster, numbered("trap 'exit 5' USR1; touch $HOME/at.$n; while :; do sleep 0.02; done", 4))
    job = cluster.start()
    until(lambda: len(list(cluster.home.glob("at.*"))) == 4)
    job.send_signal(signal.SIGUSR1)
    job.communicate(timeout=120)
    assert cluster.ends() == [(5, "exit")] * 4


def test_group_that_is_killed_keeps_what_was_done(cluster: Cluster) -> None:
    write(cluster, numbered("echo $n >>$HOME/ran; sleep 0.01", 200))
    job, ran = cluster.start(), cluster.home / "ran"
    until(lambda: ran.exists() and len(ran.read_text().split()) >= 40)
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate(timeout=120)
    begun = {int(line) for line in ran.read_text().split()}
    done, is_stopped = positions(cluster)
    assert not is_stopped
    assert len(ran.read_text().split()) == len(begun)
    assert set(done) <= begun
    lowest = sorted(set(range(1, 201)) - set(done))[:4]
    assert begun - set(done) <= set(lowest)


def test_worker_that_is_killed_alone_leaves_doubt_about_its_task_only(cluster: Cluster) -> None:
    write(cluster, numbered("[ $n != 5 ] || kill -KILL $PPID; exit 0", 30))
    assert cluster.run().status == 137
    done, is_stopped = positions(cluster)
    assert (sorted(set(range(1, 31)) - set(done)), is_stopped) == ([5], False)


def test_features_are_those_of_the_tasks_share(cluster: Cluster) -> None:
    look = 'for key in allocated_cpu max_rss_bytes wall_limit_secs; do read -r v <"$JOBFEATURES/$key"; echo $v; done'
    features = replace(cluster.plan.features, cpu=4, mem=4000)
    jobs = [JobSpec(1, 901, numbered(look, 4), side=4)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, features=features))
    assert cluster.run().status == 0
    assert [cluster.out(1, n).split() for n in range(1, 5)] == [["1", str(1000 * 2**20), "3661"]] * 4


def status(path: Path) -> dict[str, str]:
    """What a task has noted of JOBSTATUS."""
    return dict(line.split(" ", 1) for line in path.read_text().splitlines())


def test_status_is_that_of_all_tasks_that_run(cluster: Cluster) -> None:
    """As the draft defines it: of two workers with three tasks, the second one is shorter; then one worker idles."""
    tell = 'flock -s 9; for f in "$JOBSTATUS"/*; do echo "${f##*/} $(cat "$f")"; done >$HOME/$1'
    show = f'show() {{ {{ {tell}; }} 9<"$JOBSTATUS/used_CPU"; }}'
    show += "; wait_for() { until [ -e $HOME/$1 ]; do sleep 0.05; done; }"
    alone = 'until [ "$(cat "$JOBSTATUS/used_CPU")" = 2 ]; do sleep 0.05; done; show alone'
    tasks = (
        task(1, "sh", "-c", f"{show}; wait_for third; show both; touch $HOME/read; {alone}"),
        task(2, "sleep", "3"),
        task(3, "sh", "-c", f"{show}; touch $HOME/third; wait_for read"),
    )
    features = replace(cluster.plan.features, cpu=4, estimate=100)
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks, side=2)], features=features))
    assert cluster.run().status == 0
    both, later = status(cluster.home / "both"), status(cluster.home / "alone")
    third, lost = int(both["last_job_start"]), int(both["add_uncom_time"])
    first = third - lost // 2  # what is lost are the two cores of the first task, until the third one began
    starts = sorted(record.start_ms // 1000 for record in cluster.records())
    assert [abs(first - starts[0]) <= 1, abs(third - starts[2]) <= 1] == [True, True]
    assert third - first in (3, 4, 5)
    assert both == {
        "used_CPU": "4",
        "last_job_start": str(third),
        "first_exp_job_end": str(first + 100),
        "last_exp_job_end": str(third + 100),
        "last_max_job_end": both["last_max_job_end"],
        "add_uncom_time": str(lost),
        "add_final_exp_waste": str(2 * (third - first)),
        "can_postpone_last_job": "False",
        "priority_factor": "10",
    }
    idle = {"used_CPU": "2", "last_exp_job_end": str(first + 100), "add_final_exp_waste": "0"}
    assert later == both | idle


def test_ends_that_nobody_can_guess_are_absent_beside_others(cluster: Cluster) -> None:
    look = '[ -n "$(cat "$JOBSTATUS/add_uncom_time")" ] && ls "$JOBSTATUS" >$HOME/seen.$n'
    write(cluster, numbered(look, 2), side=2)
    assert cluster.run().status == 0
    known = (cluster.home / "seen.1").read_text().split()
    assert not {"first_exp_job_end", "last_exp_job_end", "add_final_exp_waste"} & set(known)
