"""Machine/Job Features: what a job finds in the three directories, and the status that a pilot keeps."""

import grp
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.wrapper import JobKey, JobSpec
from cigri.wrapper.feature_settings import FeatureSpec
from cigri.wrapper.job_status_files import announce

from .cluster import BASE, Cluster, call, task, until

SHOW = 'for f in "$MACHINEFEATURES"/* "$JOBFEATURES"/*; do [ ! -e "$f" ] || echo "${f##*/}=$(cat "$f")"; done'
STATUS = 'for f in "$JOBSTATUS"/*; do echo "${f##*/}=$(cat "$f")"; done'
CPUS = os.cpu_count() or 1
STANDARD = {
    "allocated_cpu": "1",
    "cpu_limit_secs": "3661",
    "grace_secs_job": "60",
    "job_id": "77_1",
    "total_cpu": str(CPUS),
    "wall_limit_secs": "3661",
}
ASKED = FeatureSpec()
DAEMON = 1  # a group of every system, which root may give
FOREIGN = ("SLURM_", "OAR_", "NSLOTS", "JOB_ID", "MACHINEFEATURES", "JOBFEATURES", "JOBSTATUS")


@pytest.fixture(autouse=True)
def _no_batch_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)


def _seen(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def _shown(cluster: Cluster, plan: FeatureSpec = ASKED, environment: Mapping[str, str] = {}) -> dict[str, str]:
    """What a job of one task sees, but for the two values that depend on the moment."""
    jobs = [call(1, "sh", "-c", SHOW)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, features=plan))
    assert cluster.run(environment=environment).status == 0
    seen = _seen(cluster.out())
    [record] = cluster.records()
    if "SLURM_JOB_START_TIME" not in environment:
        assert abs(int(seen.pop("jobstart_secs")) - record.start_ms // 1000) <= 2
    assert int(seen.pop("scratch_limit_bytes")) > 1_000_000
    return seen


def test_standard_keys_and_no_trace_afterwards(cluster: Cluster) -> None:
    assert _shown(cluster) == STANDARD
    assert list(cluster.tmp.iterdir()) == []
    assert sorted(path.name for path in cluster.batch.iterdir()) == [
        "1.1.err",
        "1.1.out",
        "job",
        "journal.1",
        "tasks.0",
    ]


def test_what_was_asked_for_is_what_is_granted(cluster: Cluster) -> None:
    seen = _shown(cluster, FeatureSpec(cpu=3, nodes=2, mem=4000, grace=90))
    expected = {"allocated_cpu": "6", "cpu_limit_secs": str(6 * 3661), "max_rss_bytes": str(4000 * 2**20)}
    assert seen == STANDARD | expected | {"grace_secs_job": "90"}


def test_names_of_the_draft_stand_beside_the_others(cluster: Cluster) -> None:
    declared = {"hs06": "100.5", "jobslots": "8", "shutdown_command": "/sbin/it's off"}
    plan = FeatureSpec(cpu=2, mem=4000, scratch=2500000000, with_draft=True, factor=1.25, declared=declared)
    jobs = [call(1, "sh", "-c", SHOW)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, features=plan))
    assert cluster.run().status == 0
    seen = _seen(cluster.out())
    cores = list(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology"))
    physical = {((core / "physical_package_id").read_text(), (core / "core_id").read_text()) for core in cores}
    assert seen.get("phys_cores", "0") == str(len(physical))
    assert seen["log_cores"] == str(CPUS)
    assert float(seen["hs06_job"]) == pytest.approx(100.5 * 2 / CPUS, abs=0.001)
    known = {
        "allocated_CPU": "2",
        "cpu_limit_secs": "7322",
        "cpu_limit_secs_lrms": "9152",
        "cpufactor_lrms": "1.250",
        "disk_limit_GB": "2.500",
        "hs06": "100.5",
        "jobslots": "8",
        "mem_limit_MB": str(4000 * 2**20 // 10**6),
        "scratch_limit_bytes": "2500000000",
        "shutdown_command": "/sbin/it's off",
        "wall_limit_secs_lrms": "4576",
    }
    assert {key: seen.get(key) for key in known} == known
    assert float(seen["jobstart_secs"]) > 1e9


def test_what_nobody_declares_of_a_machine_is_absent(cluster: Cluster) -> None:
    """The limits of the batch system are those that it was asked for then."""
    seen = _shown(cluster, FeatureSpec(with_draft=True))
    assert not {"cpufactor_lrms", "jobslots", "hs06", "hs06_job", "shutdown_command", "grace_secs"} & seen.keys()
    assert (seen["wall_limit_secs_lrms"], seen["cpu_limit_secs_lrms"]) == ("3661", "3661")


def test_slurm_says_more(cluster: Cluster) -> None:
    said = {
        "SLURM_CPUS_ON_NODE": "4",
        "SLURM_MEM_PER_CPU": "1000",
        "SLURM_JOB_START_TIME": "1700000000",
        "SLURM_JOB_END_TIME": "1700001800",
    }
    seen = _shown(cluster, FeatureSpec(cpu=3, mem=1), said)
    expected = {
        "allocated_cpu": "4",
        "wall_limit_secs": "1800",
        "cpu_limit_secs": "7200",
        "jobstart_secs": "1700000000",
    }
    assert seen == STANDARD | expected | {"max_rss_bytes": str(4 * 1000 * 2**20)}


def test_oar_says_more(cluster: Cluster) -> None:
    (cluster.home / "nodes").write_text("n1\nn1\nn2\n")
    said = {"OAR_NODEFILE": str(cluster.home / "nodes"), "OAR_JOB_WALLTIME_SECONDS": "600"}
    seen = _shown(cluster, FeatureSpec(), said)
    assert seen == STANDARD | {"allocated_cpu": "3", "wall_limit_secs": "600", "cpu_limit_secs": "1800"}


def test_grid_engine_says_more(cluster: Cluster) -> None:
    assert _shown(cluster, FeatureSpec(), {"NSLOTS": "2"}) == STANDARD | {
        "allocated_cpu": "2",
        "cpu_limit_secs": "7322",
    }


def test_junk_of_a_batch_system_is_not_believed(cluster: Cluster) -> None:
    junk = {
        "SLURM_CPUS_ON_NODE": "4(x2)",
        "NSLOTS": "-3",
        "OAR_JOB_WALLTIME_SECONDS": "1:00:00",
        "SLURM_MEM_PER_NODE": "08",
    }
    assert _shown(cluster, environment={**junk, "SLURM_JOB_END_TIME": "9" * 30, "OAR_NODEFILE": "/none"}) == STANDARD


def test_limit_of_the_shell_on_cpu_time_counts_when_it_is_lower(cluster: Cluster) -> None:
    cluster.argv = ["prlimit", "--cpu=1000:1000", *cluster.argv]
    assert _shown(cluster)["cpu_limit_secs"] == "1000"


def test_directories_of_the_site_are_left_alone(cluster: Cluster) -> None:
    sites = {name: cluster.home / name for name in ("MACHINEFEATURES", "JOBFEATURES", "JOBSTATUS")}
    for directory in sites.values():
        directory.mkdir()
    (sites["JOBFEATURES"] / "allocated_cpu").write_text("junk")
    cluster.write(SHOW)
    assert cluster.run(environment={name: str(path) for name, path in sites.items()}).status == 0
    assert cluster.out() == "allocated_cpu=junk\n"
    assert [sorted(path.name for path in directory.iterdir()) for directory in sites.values()] == [
        [],
        ["allocated_cpu"],
        [],
    ]
    assert f"features 2 {sites['JOBSTATUS']} - - ." in cluster.journal()


def test_addresses_of_the_site_are_left_alone(cluster: Cluster) -> None:
    sites = {
        "MACHINEFEATURES": "http://site/machine",
        "JOBFEATURES": "https://site/job/7",
        "JOBSTATUS": "http://site/s",
    }
    show = 'echo "$MACHINEFEATURES $JOBFEATURES $JOBSTATUS"'
    jobs = [JobSpec(1, 901, (task(1, "sh", "-c", show), task(2, "sh", "-c", show)))]
    cluster.write(plan=replace(cluster.plan, jobs=jobs))
    assert cluster.run(environment=sites).status == 0
    assert cluster.out(1, 1) == cluster.out(1, 2) == " ".join(sites.values()) + "\n"
    assert not (cluster.batch / "http:").exists()


def test_only_what_the_site_does_not_give_is_given(cluster: Cluster) -> None:
    site = cluster.home / "site"
    site.mkdir()
    cluster.write(f'{SHOW}; echo "$JOBFEATURES"; ls -A "$JOBSTATUS"; touch "$JOBSTATUS/used_CPU"')
    assert cluster.run(environment={"JOBFEATURES": str(site)}).status == 0
    assert cluster.out() == f"total_cpu={CPUS}\n{site}\n"
    assert list(site.iterdir()) == []
    assert not (cluster.batch / "status.1").exists()
    told = f"features 2 {cluster.batch}/status.1 - {cluster.batch}/machine.1 ."
    assert told in cluster.journal(), "a job that reads the site's directory cannot be told of its shutdown"


def test_directories_of_the_batch_system_are_used(cluster: Cluster) -> None:
    scratch, given = cluster.home / "scratch", cluster.home / "given"
    scratch.mkdir()
    for name in ("machinefeatures", "jobfeatures", "jobstatus"):
        (given / name).mkdir(parents=True)
    cluster.prelude += f" CIGRI_SCRATCH={scratch} cigri_features={given} cigri_space=12345"
    cluster.write(plan=replace(cluster.plan, jobs=[call(1, "sh", "-c", f'{SHOW}; ls -A "$TMPDIR"')]))
    failing = {name: "exit 9" for name in ("mkdir", "ln", "df", "rm", "wc")}
    path = {}
    for name, text in failing.items():
        path = cluster.program(name, text)
    assert cluster.run(environment=path).status == 0
    assert "scratch_limit_bytes=12345\n" in cluster.out()
    news = f"{given}/jobfeatures/shutdowntime_job {given}/machinefeatures/shutdowntime"
    assert f"features 2 {given}/jobstatus {news} ." in cluster.journal()


def test_scratch_of_the_batch_system_and_no_directories(cluster: Cluster) -> None:
    scratch = cluster.home / "scratch"
    scratch.mkdir()
    cluster.prelude += f" CIGRI_SCRATCH={scratch}"
    cluster.write(plan=replace(cluster.plan, jobs=[call(1, "sh", "-c", SHOW)]))
    assert cluster.run().status == 0
    assert _seen(cluster.out()).items() >= STANDARD.items()
    assert (list(cluster.tmp.iterdir()), list(scratch.iterdir())) == ([], [])


MODES = """
stat -L -c '%A %G' "${JOBFEATURES%/*}" "$MACHINEFEATURES" "$JOBFEATURES" "$MACHINEFEATURES/total_cpu" \\
    "$JOBFEATURES/job_id" | sort | uniq -c | tr -s ' '"""


@pytest.mark.parametrize("side", [1, 2])
def test_a_group_that_the_site_names_may_read_the_directories(cluster: Cluster, side: int) -> None:
    """It may pass the directory in which they are, and see no other file there; others see nothing."""
    group = grp.getgrgid(DAEMON if os.getuid() == 0 else os.getgid()).gr_name
    tasks = tuple(task(i, "sh", "-c", MODES) for i in range(1, side + 1))
    plan = replace(cluster.plan, jobs=[JobSpec(1, 901, tasks, side=side)], features=FeatureSpec(readers=group))
    cluster.write(plan=plan)
    assert cluster.run().status == 0
    assert cluster.out() == f" 2 -rw-r----- {group}\n 1 drwx--x--- {group}\n 2 drwxr-x--- {group}\n"


def test_nobody_else_may_read_the_directories_where_the_site_names_none(cluster: Cluster) -> None:
    group = grp.getgrgid(os.getgid()).gr_name
    cluster.write(MODES)
    assert cluster.run().status == 0
    assert cluster.out() == f" 2 -rw------- {group}\n 3 drwx------ {group}\n"


def test_a_group_that_is_not_there_hurts_no_job(cluster: Cluster) -> None:
    seen = _shown(cluster, FeatureSpec(readers="nobody-is-in-it"))
    assert seen == STANDARD


ADDRESS = "https://grid.example.org/features/34_" + "s" * 43


def test_a_job_is_told_where_the_portal_serves_its_features(cluster: Cluster) -> None:
    """Its status stays a directory: no server lets one lock a file."""
    show = 'echo "$MACHINEFEATURES $JOBFEATURES"; [ -d "$JOBSTATUS" ]'
    jobs = [call(index, "sh", "-c", show) for index in (1, 2)]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, features=FeatureSpec(address=ADDRESS)))
    for index in (1, 2):
        assert cluster.run(index).status == 0
        assert cluster.out(index, 1) == f"{ADDRESS}/{index}/machinefeatures {ADDRESS}/{index}/jobfeatures\n"


@pytest.mark.parametrize("given", ["MACHINEFEATURES", "JOBFEATURES"])
def test_what_the_site_gives_goes_before_what_the_portal_serves(cluster: Cluster, given: str) -> None:
    jobs = [call(1, "sh", "-c", 'echo "$MACHINEFEATURES"; echo "$JOBFEATURES"')]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, features=FeatureSpec(address=ADDRESS)))
    assert cluster.run(environment={given: "http://site/own"}).status == 0
    served = {name: f"{ADDRESS}/1/{name.lower()}" for name in ("MACHINEFEATURES", "JOBFEATURES")}
    assert cluster.out().split() == list((served | {given: "http://site/own"}).values())


@pytest.mark.parametrize("news", ["shutdown.1", "machine.1"])
def test_a_pilot_hears_of_a_shutdown_though_its_tasks_ask_the_portal(cluster: Cluster, news: str) -> None:
    first = f'echo 1 >"$HOME/{cluster.batch.relative_to(cluster.home)}/{news}"'
    tasks = (task(1, "sh", "-c", first), task(2, "touch", "second"))
    features = FeatureSpec(address=ADDRESS, estimate=30)
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)], features=features))
    assert cluster.run().status == 143
    assert not (cluster.home / "second").exists()


def test_job_hears_of_a_shutdown_from_the_front_end(cluster: Cluster) -> None:
    wait = 'touch "$HOME/here"; until [ -e "$JOBFEATURES/shutdowntime_job" ]; do sleep 0.02; done'
    cluster.write(f'[ ! -e "$JOBFEATURES/shutdowntime_job" ] || exit 9; {wait}; cat "$JOBFEATURES/shutdowntime_job"')
    job = cluster.start()
    until((cluster.home / "here").exists)
    cluster.ask(announce(BASE, [JobKey(12, 34, 1)], 1_800_000_000))
    job.communicate(timeout=120)
    assert cluster.out() == "1800000000\n"
    assert not (cluster.batch / "shutdown.1").exists()


def test_pilot_keeps_its_status(cluster: Cluster) -> None:
    tasks = tuple(task(i, "sh", "-c", f"{STATUS}; sleep 1.1") for i in (1, 2, 3))
    plan = FeatureSpec(cpu=2, estimate=40)
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks, priority=20)], features=plan))
    assert cluster.run().status == 0
    seen = [_seen(cluster.out(1, position)) for position in (1, 2, 3)]
    starts = [record.start_ms // 1000 for record in cluster.records()]
    for status, start in zip(seen, starts, strict=True):
        assert abs(int(status["last_job_start"]) - start) <= 1
        ends = {int(status["first_exp_job_end"]), int(status["last_exp_job_end"])}
        assert ends == {int(status["last_job_start"]) + 40}
        assert int(status["last_max_job_end"]) - starts[0] in range(3660, 3663)
        assert (status["used_CPU"], status["add_uncom_time"], status["add_final_exp_waste"]) == ("2", "0", "0")
        assert status["priority_factor"] == "20"
    assert [status["can_postpone_last_job"] for status in seen] == ["True", "True", "False"]


def test_ends_that_nobody_can_guess_are_absent(cluster: Cluster) -> None:
    tasks = tuple(task(i, "sh", "-c", STATUS) for i in (1, 2))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    assert cluster.run().status == 0
    assert not {"first_exp_job_end", "last_exp_job_end"} & _seen(cluster.out()).keys()


def test_single_task_finds_an_empty_status_of_its_own(cluster: Cluster) -> None:
    cluster.write('ls -A "$JOBSTATUS"; echo 1 >"$JOBSTATUS/used_CPU"')
    assert cluster.run().status == 0
    assert cluster.out() == ""


def test_status_is_locked_while_it_is_written(cluster: Cluster) -> None:
    """What a reader that holds the lock reads does not change."""
    tasks = (
        task(1, "sh", "-c", 'touch "$HOME/here"; until [ -e "$HOME/go" ]; do sleep 0.02; done'),
        task(2, "sh", "-c", STATUS),
    )
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    job = cluster.start()
    until((cluster.home / "here").exists)
    lock = cluster.batch / "status.1" / "used_CPU"
    with lock.open() as held:
        subprocess.run(["flock", "-s", str(held.fileno())], pass_fds=[held.fileno()], check=True)
        (cluster.home / "go").touch()
        job.communicate(timeout=120)
    status = _seen(cluster.out(1, 2))
    assert status["can_postpone_last_job"] == "True"


def test_status_is_not_written_without_a_lock(cluster: Cluster) -> None:
    tasks = tuple(task(i, "sh", "-c", STATUS) for i in (1, 2))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    assert cluster.run(environment=cluster.program("flock", "exit 1")).status == 0
    assert cluster.out(1, 2) == "used_CPU=\n"


def test_short_tasks_write_it_once_a_second(cluster: Cluster) -> None:
    tasks = tuple(task(i, "true") for i in range(1, 31))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    counting = cluster.program("flock", 'echo x >>"$HOME/locked"; exec /usr/bin/flock "$@"')
    assert cluster.run(environment=counting).status == 0
    seconds = sum(record.duration_ms for record in cluster.records()) / 1000
    assert len((cluster.home / "locked").read_text().split()) < 25, seconds


@pytest.mark.parametrize(("left", "is_run"), [(1, False), (10_000, True)])
def test_no_task_is_started_that_could_not_end_before_a_shutdown(cluster: Cluster, left: int, is_run: bool) -> None:
    announce = f'echo $(($(date +%s) + {left})) >"$HOME/.cigri/grid-1/c12/b34/shutdown.1"'
    tasks = (task(1, "sh", "-c", announce), task(2, "touch", "second"))
    plan = replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)], features=FeatureSpec(estimate=30))
    cluster.write(plan=plan)
    assert cluster.run().status == (0 if is_run else 143)
    assert (cluster.home / "second").exists() is is_run


def test_names_are_those_of_the_documents() -> None:
    written = set(re.findall(r'\$(?:cigri_own|cigri_machine|JOBSTATUS)/(\w+)"', _source()))
    table = Path(__file__).parents[2] / "docs" / "reference" / "machine-job-features.md"
    assert written <= set(re.findall(r"`(\w+)`", table.read_text()))


def _source() -> str:
    return (Path(__file__).parents[2] / "cigri" / "wrapper" / "features.sh").read_text()
