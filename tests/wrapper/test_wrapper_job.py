"""What a job does on a cluster, under each shell."""

import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.shell.results import ShellResult
from cigri.shell.words import ShellWord
from cigri.wrapper import JobSpec, TaskSpec, parse_start

from .cluster import Cluster, call, task

SKELETONS = {  # what a new account's home holds that a login shell reads
    "debian": {
        ".profile": '[ -z "$BASH_VERSION" ] || . "$HOME/.bashrc"\nif [ -d ~/bin ]; then PATH=~/bin:$PATH; fi\n',
        ".bashrc": "case $- in *i*) ;; *) return ;; esac\n",
        ".bash_logout": 'if [ "$SHLVL" = 1 ]; then\n    [ -x /bin/clear_console ] && /bin/clear_console -q\nfi\n',
    },
    "rocky": {
        ".bash_profile": "if [ -f ~/.bashrc ]; then\n    . ~/.bashrc\nfi\n",
        ".bashrc": "[ ! -f /etc/bashrc ] || . /etc/bashrc\nif [ -d ~/.bashrc.d ]; then . ~/.bashrc.d/*; fi\nunset rc\n",
        ".bash_logout": "# ~/.bash_logout\n\n",
    },
}

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "on-the-cluster.md"


def test_record_says_what_became_of_the_task(cluster: Cluster) -> None:
    cluster.write("echo seen; echo wrong >&2; exit 3")
    before = time.time() * 1000
    assert cluster.run() == ShellResult(3, "", "")
    [record] = cluster.records()
    assert record[:6] == (901, 1001, 1, 1, 3, "exit")
    assert before - 1000 <= record.start_ms <= time.time() * 1000 + 1000
    assert (record.node, record.remote_id) == ("node7", "77_1")
    assert cluster.out() == "seen\n"
    assert (cluster.batch / "1.1.err").read_text() == "wrong\n"
    start = parse_start(cluster.journal()[0])
    assert start
    assert (start.index, start.node, start.remote_id) == (1, "node7", "77_1")


def test_each_index_runs_its_own(cluster: Cluster) -> None:
    cluster.write(*(f"echo {index}" for index in range(1, 600)))
    assert len(list(cluster.batch.glob("tasks.*"))) > 1
    assert all(path.stat().st_size <= 64_000 for path in cluster.batch.glob("tasks.*"))
    for index in (1, 2, 300, 598, 599):
        assert cluster.run(index).status == 0
        assert cluster.out(index) == f"{index}\n"


def test_job_of_a_batch_that_is_gone_runs_nothing(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    shutil.copy(cluster.batch / "job", cluster.home / "job")
    cluster.batch.rename(cluster.batch.with_name("elsewhere"))
    cluster.batch.mkdir()
    (cluster.home / "job").rename(cluster.batch / "job")
    assert cluster.run().status == 74  # claimed, and nothing written down for it
    (cluster.batch / "journal.1").unlink()
    moving = cluster.program("date", f"mv {cluster.batch} {cluster.batch}.void")
    voided = cluster.run(environment=moving)
    assert voided.status == 75
    assert "withdrawn" in voided.err
    assert not (cluster.home / "ran").exists()


def test_a_node_without_the_grids_directory_says_so(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    program = cluster.home / "spooled job"  # batch systems keep a copy of their own
    shutil.copy(cluster.batch / "job", program)
    base = cluster.batch.parents[1]
    base.rename(base.with_name("another home"))
    elsewhere = cluster.run(environment={"CIGRI_NODE": "n7"}, program=program)
    assert (elsewhere.status, f"cigri: {base} is not on " in elsewhere.err) == (77, True)
    base.mkdir()
    withdrawn = cluster.run(program=program)
    assert (withdrawn.status, "withdrawn" in withdrawn.err) == (75, True)
    assert not (cluster.home / "ran").exists()


def test_no_array_index_is_an_error(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    for environment in ({"TEST_INDEX": ""}, {"TEST_INDEX": "undefined"}, {"TEST_INDEX": "", "CIGRI_INDEX": "1"}):
        assert cluster.run(environment=environment).status == 78
    assert cluster.run(7).status == 74
    assert not (cluster.home / "ran").exists()


def test_tasks_of_a_job_follow_each_other(cluster: Cluster) -> None:
    tasks = tuple(
        task(number, "sh", "-c", text)
        for number, text in enumerate(("exit 0", "touch $TMPDIR/.left; exit 5", "ls -A $TMPDIR; exit 6", "echo 4"), 1)
    )
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    assert cluster.run().status == 5
    assert cluster.ends() == [(0, "exit"), (5, "exit"), (6, "exit"), (0, "exit")]
    assert [record.task_id for record in cluster.records()] == [1001, 1002, 1003, 1004]
    assert cluster.out(1, 3) == ""  # the scratch directory is as fresh as for the first
    assert cluster.out(1, 4) == "4\n"


def test_a_directory_that_is_not_there_is_made_and_a_missing_program_told(cluster: Cluster) -> None:
    away, home, data = ShellWord("/dev/null/no where"), ShellWord("", at_home=True), ShellWord("my data/$x")
    tasks = (
        TaskSpec(1, 1, 1, (ShellWord("pwd"),), directory=away),
        TaskSpec(2, 2, 1, (ShellWord("no-such-program"),), directory=home),
        TaskSpec(3, 3, 1, (ShellWord("pwd"),), directory=data),
        TaskSpec(4, 4, 1, (ShellWord("-odd"),)),
    )
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    assert cluster.run().status == 72
    assert cluster.ends() == [(72, "directory"), (127, "exit"), (0, "exit"), (127, "exit")]
    assert cluster.out(1, 3) == f"{cluster.home}/my data/$x\n"
    reason, told = cluster.err(1, 1).splitlines()
    assert reason.startswith("mkdir: ")
    assert told == "cigri: exec_directory /dev/null/no where cannot be made or entered on node7"


def test_a_directory_that_cannot_be_entered_is_told(cluster: Cluster) -> None:
    (cluster.home / "file").touch()
    calls = (TaskSpec(1, 1, 1, (ShellWord("pwd"),), directory=ShellWord("file")),)
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, calls)]))
    assert cluster.run().status == 72
    assert cluster.err().endswith("/file cannot be made or entered on node7\n")


def step(cluster: Cluster, text: str) -> int:
    """Run this prologue, and tell its exit status."""
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, (task(1),))], script=text))
    return cluster.run().status


def test_a_prologue_is_read_by_bash_as_at_a_login(cluster: Cluster) -> None:
    (cluster.home / ".bash_profile").write_text('cd /; module() { echo "loaded $2"; }\n')
    (cluster.home / "site.sh").write_text("SITE=here\n")
    lines = 'source ./site.sh\n[[ $SITE == h* ]]\nmodule load gcc\nmkdir -p a/{b,c}\necho "it\'s $PWD"\n'
    assert step(cluster, lines) == 0
    assert cluster.out() == f"loaded gcc\nit's {cluster.home}\n"
    assert sorted(path.name for path in (cluster.home / "a").iterdir()) == ["b", "c"]


def test_a_prologue_fails_with_its_first_command_that_fails(cluster: Cluster) -> None:
    (cluster.home / ".bash_profile").write_text("false\n")
    assert step(cluster, "echo one\nls /nowhere\necho two\n") == 2
    assert cluster.out() == "one\n"


def test_a_prologue_may_go_on_after_failures(cluster: Cluster) -> None:
    assert step(cluster, "set +e\nfalse\necho two\nexit 3\n") == 3
    assert cluster.out() == "two\n"


@pytest.mark.parametrize("logout", ["false", "[ -t 1 ] && clear", "echo $nowhere_set", "exec true | false"])
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("set -u\nexit 3", 3),
        ("true || exit 4\nexit", 0),
        ("set +e\nfalse\nexit", 1),
        ("(exit 5)", 5),
    ],
)
def test_a_prologue_ends_as_its_lines_say_whatever_is_done_at_logout(
    cluster: Cluster, logout: str, lines: str, code: int
) -> None:
    (cluster.home / ".bash_logout").write_text(f"{logout}\n")
    assert step(cluster, f"{lines}\n") == code


@pytest.mark.parametrize("skeleton", sorted(SKELETONS))
def test_a_prologue_ends_as_its_lines_say_with_the_files_that_accounts_begin_with(
    cluster: Cluster, skeleton: str
) -> None:
    cluster.environment["SHLVL"] = "0"  # that of the login shell is 1, as on a node
    for name, text in SKELETONS[skeleton].items():
        (cluster.home / name).write_text(text)
    assert [step(cluster, "exit 0\n"), cluster.err()] == [0, ""]


@pytest.mark.parametrize("profile", ["export POSIXLY_CORRECT=1", "set -o posix"])
def test_a_prologue_is_read_by_a_bash_that_keeps_to_posix(cluster: Cluster, profile: str) -> None:
    (cluster.home / ".bash_profile").write_text(f"{profile}\n")
    assert step(cluster, "echo one\nexit 3\n") == 3
    assert cluster.out() == "one\n"


def test_a_prologue_may_name_its_interpreter(cluster: Cluster) -> None:
    assert step(cluster, "#!/usr/bin/env python3\nimport os\nprint(os.getcwd())\nraise SystemExit(4)\n") == 4
    assert cluster.out() == f"{cluster.home}\n"


def test_where_there_is_no_bash_a_prologue_is_read_by_sh(cluster: Cluster) -> None:
    directory = cluster.home / "programs"
    directory.mkdir()
    for name in ("sh", "cat", "date", "mkdir", "rm", "stat", "wc"):
        (directory / name).symlink_to(shutil.which(name) or name)
    (cluster.home / ".profile").write_text(f"SITE=here PATH={directory}\n")
    cluster.prelude += f"\nPATH={directory}"
    jobs = [JobSpec(1, 901, (task(1),))]
    cluster.write(plan=replace(cluster.plan, jobs=jobs, script="echo $SITE\nfalse\necho two\n"))
    assert cluster.run().status == 1
    assert cluster.out() == "here\n"


def test_scratch_is_fresh_and_goes_away(cluster: Cluster) -> None:
    cluster.write('[ "$TMPDIR" = "$CIGRI_SCRATCH" ] && stat -c %a . "$TMPDIR" && ls -A "$TMPDIR" && touch "$TMPDIR/x"')
    cluster.home.chmod(0o755)
    assert cluster.run().status == 0
    assert cluster.out() == "755\n700\n"
    assert list(cluster.tmp.iterdir()) == []


def test_scratch_of_somebody_else_is_not_taken(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    squatted = cluster.tmp / "cigri-grid-1-34-1"
    squatted.mkdir()
    (squatted / "theirs").touch()
    assert cluster.run().status == 73
    assert cluster.ends() == [(73, "scratch")]
    assert cluster.err() == f"cigri: no fresh scratch directory {squatted}/scratch on node7\n"
    assert (squatted / "theirs").exists()
    assert not (cluster.home / "ran").exists()


def test_scratch_of_the_batch_system_is_used_and_left_to_it(cluster: Cluster) -> None:
    given, nodes = cluster.tmp / "given", cluster.tmp / "nodes"
    given.mkdir()
    nodes.write_text("a\nb\n")
    cluster.prelude += f" CIGRI_SCRATCH={given} CIGRI_NODE_FILE={nodes} cigri_epoch=1700000000123"
    look = 'echo "$TMPDIR $CIGRI_SCRATCH $CIGRI_NODEFILE"; cat "$CIGRI_NODE_FILE"; ls -A "$TMPDIR"; touch "$TMPDIR/x"'
    jobs = [JobSpec(1, 901, (task(1, "sh", "-c", look), task(2, "sh", "-c", look)))]
    cluster.write(plan=replace(cluster.plan, jobs=jobs))
    assert cluster.run(environment=cluster.program("date", "exit 1")).status == 0
    assert cluster.out(1, 1) == cluster.out(1, 2) == f"{given} {given} {nodes}\na\nb\n"
    assert given.is_dir()
    assert all(0 <= record.start_ms - 1700000000123 < 20_000 for record in cluster.records())


def test_output_that_cannot_be_created_is_told(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    (cluster.batch / "1.1.out").mkdir()
    assert cluster.run().status == 73
    assert cluster.ends() == [(73, "output")]
    assert not (cluster.home / "ran").exists()


def test_environment_is_the_documented_one(cluster: Cluster) -> None:
    path, plain = f"{cluster.home}:/usr/bin:/bin", "a  b\n'c' $HOME `x` \\"
    plan = replace(cluster.plan, environment={"PLAIN": plain, "PATH": path})
    plan = replace(plan, amounts={"nodes": 1, "cpu": 2, "mem": 2048, "tmp": 10})
    calls = (
        TaskSpec(
            1001,
            41,
            3,
            (ShellWord("env"), ShellWord("-0")),
            environment={"PLAIN": "nearer", "ADDED": "é"},
            continues=True,
        ),
        task(42, "sh", "-c", 'env -0; cat "$CIGRI_NODE_FILE"'),
    )
    cluster.write(plan=replace(plan, jobs=[JobSpec(1, 901, calls)]))
    stale = {"CIGRI_NODE": "of-another-job", "cigri_halted": "1", "cigri_pid": "1"}
    assert cluster.run(environment=stale | {"CIGRI_SCRATCH": "/", "cigri_epoch": "1"}).status == 0
    first, second = (dict(pair.split("=", 1) for pair in cluster.out(1, n).split("\0")[:-1]) for n in (1, 2))
    assert (first["PLAIN"], first["ADDED"]) == ("nearer", "é")
    assert (second["PLAIN"], second["PATH"]) == (plain, path)
    assert "ADDED" not in second
    assert cluster.out(1, 2).split("\0")[-1] == "node7\n"
    given = {name: value for name, value in first.items() if name.startswith("CIGRI_") or name == "TMPDIR"}
    assert not any(name.startswith("cigri_") for name in first)
    place = f"{cluster.tmp}/cigri-grid-1-34-1"
    expected = {
        "CIGRI_CAMPAIGN_ID CIGRI_CAMPAIGNID": "12",
        "CIGRI_JOB_NAME CIGRI_JOBNAME": "it's a campaign",
        "CIGRI_JOB_ID CIGRI_JOBID": "901",
        "CIGRI_TASK_ID": "1001",
        "CIGRI_TASK_NUMBER": "41",
        "CIGRI_ATTEMPT": "3",
        "CIGRI_CHECKPOINT": "1",
        "CIGRI_BATCH_ID": "34",
        "CIGRI_INDEX": "1",
        "CIGRI_REMOTE_ID": "77_1",
        "CIGRI_CLUSTER": "dahu",
        "CIGRI_NODE": "node7",
        "CIGRI_NODE_FILE CIGRI_NODEFILE": f"{place}/nodes",
        "CIGRI_USER": "ann",
        "CIGRI_WORKDIR CIGRI_WORKING_DIRECTORY": str(cluster.home),
        "CIGRI_RESOURCES": "cpu=1",
        "CIGRI_RESOURCE_NODES": "1",
        "CIGRI_RESOURCE_CPU": "2",
        "CIGRI_RESOURCE_MEM": "2048",
        "CIGRI_RESOURCE_TMP": "10",
        "CIGRI_WALLTIME": "1:01:01",
        "CIGRI_WALLTIME_SECONDS": "3661",
        "CIGRI_SCRATCH TMPDIR": f"{place}/scratch",
        "CIGRI_SCRATCH_BASE": str(cluster.tmp),
    }
    assert given == {name: value for names, value in expected.items() for name in names.split()}
    documented = re.findall(r"`(CIGRI_\w+|TMPDIR)`", "".join(re.findall(r"^\| `.*?\|", DOCUMENT.read_text(), re.M)))
    assert sorted(documented) == sorted(given)


def test_what_was_not_asked_for_is_not_set_whatever_a_job_around_has_left(cluster: Cluster) -> None:
    show = 'echo "${CIGRI_RESOURCE_MEM-none} ${CIGRI_RESOURCE_TMP-none} $CIGRI_RESOURCE_GPU_MEM"'
    cluster.write(plan=replace(cluster.plan, amounts={"cpu": 2, "gpu_mem": 7}, jobs=[call(1, "sh", "-c", show)]))
    assert cluster.run(environment={"CIGRI_RESOURCE_MEM": "1", "CIGRI_RESOURCE_TMP": "2"}).status == 0
    assert cluster.out() == "none none 7\n"


@pytest.mark.parametrize("given", [False, True], ids=["own", "of the batch system"])
def test_a_temporary_directory_is_kept_on_demand_and_found_again(cluster: Cluster, given: bool) -> None:
    if given:
        (cluster.home / "theirs").mkdir()
        cluster.prelude += "\nCIGRI_SCRATCH=$HOME/theirs CIGRI_NODE_FILE=/dev/null"
    jobs = [call(1, "sh", "-c", 'pwd >"$TMPDIR/left"')]
    cluster.write(plan=replace(cluster.plan, keep_tmp=True, jobs=jobs))
    assert cluster.run().status == 0
    node, _, place = (cluster.batch / "kept.1").read_text().strip().partition(":")
    assert (node, place) == ("node7", f"{cluster.tmp}/cigri-grid-1-34-1/scratch")
    assert [path.name for path in Path(place).parent.rglob("*")] == ["scratch", "left"]
    assert [path.name for path in cluster.batch.glob("status*")] == []


def test_each_task_may_have_a_fresh_directory_of_its_own(cluster: Cluster) -> None:
    tasks = [
        TaskSpec(n, n, 1, (ShellWord("sh"), ShellWord("-c"), ShellWord("ls; pwd; : >left")), {}, ShellWord(""))
        for n in (1, 2)
    ]
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 1, tuple(tasks))]))
    assert cluster.run().status == 0
    places = [cluster.batch / f"1.{position}.work" for position in (1, 2)]
    assert [cluster.out(1, position) for position in (1, 2)] == [f"{place}\n" for place in places]
    assert all((place / "left").exists() for place in places)


def test_a_temporary_directory_is_kept_of_a_job_that_was_killed(dash: Cluster) -> None:
    jobs = [call(1, "sh", "-c", 'echo >"$TMPDIR/left"; kill -KILL $PPID')]
    dash.write(plan=replace(dash.plan, keep_tmp=True, jobs=jobs))
    dash.run()
    place = (dash.batch / "kept.1").read_text().strip().partition(":")[2]
    assert (Path(place) / "left").exists()


def test_nothing_is_kept_where_nobody_asked_for_it(dash: Cluster) -> None:
    dash.write('echo >"$TMPDIR/left"')
    assert dash.run().status == 0
    assert not (dash.batch / "kept.1").exists()
    assert [*dash.tmp.iterdir()] == []


def test_host_name_when_the_batch_system_gives_no_node(cluster: Cluster) -> None:
    host = Path("/proc/sys/kernel/hostname").read_text().strip()
    cluster.prelude = "CIGRI_INDEX=$TEST_INDEX"
    cluster.write(plan=replace(cluster.plan, jobs=[call(1, "true")]))
    outer_job = {"CIGRI_NODE": "elsewhere", "CIGRI_REMOTE_ID": "1"}
    assert cluster.run(environment=outer_job).status == 0
    [record] = cluster.records()
    assert (record.node, record.remote_id) == (host, "")


def test_node_file_holds_all_nodes_that_the_driver_knows(cluster: Cluster) -> None:
    cluster.prelude += "\ncigri_nodes() { printf '%s\\n' a b; }"
    jobs = [call(1, "sh", "-c", 'cat "$CIGRI_NODE_FILE"')]
    cluster.write(plan=replace(cluster.plan, jobs=jobs))
    assert cluster.run().status == 0
    assert cluster.out() == "a\nb\n"


def test_nobody_reads_the_standard_input(cluster: Cluster) -> None:
    cluster.write("cat; readlink /proc/self/fd/0")
    assert cluster.run().status == 0
    assert cluster.out() == "/dev/null\n"


def test_clock_that_jumps_does_not_matter(cluster: Cluster) -> None:
    fake = 'echo x >>"$HOME/asked"; expr 1700000000000 + 86400000 \\* $(wc -l <"$HOME/asked")'
    tasks = (task(1, "true"), task(2, "true"))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    assert cluster.run(environment=cluster.program("date", fake)).status == 0
    for record in cluster.records():
        assert 0 <= record.start_ms - 1700086400000 < 20_000
        assert record.duration_ms < 20_000


def test_date_without_milliseconds_and_system_without_uptime(cluster: Cluster) -> None:
    cluster.write("exit 0")
    job = cluster.batch / "job"
    job.write_text(job.read_text().replace("/proc/uptime", "/proc/no-such-file"))
    fake = '[ "$1" = +%s ] || { echo 17000000003N; exit; }; echo x >>$HOME/asked; echo 17000000$(wc -l <"$HOME/asked")0'
    assert cluster.run(environment=cluster.program("date", fake)).status == 0
    [record] = cluster.records()
    assert (record.start_ms, record.duration_ms) == (1700000020000, 10000)
