"""What the wrapper makes is the account's alone, whatever its umask is; what tasks make has the account's umask."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from cigri import drivers
from cigri.jdl.command import OWN_DIRECTORY
from cigri.shell.words import OutputPattern, ShellWord
from cigri.wrapper import CheckpointRequestFile, JobKey, JobSpec, TaskSpec, ask_checkpoints, revoke, void_batch
from cigri.wrapper.cached_bundles import bundle, take_files
from cigri.wrapper.input_cache import CachedFile
from cigri.wrapper.job_status_files import announce
from tests.file_modes import UMASKS, open_to_others, umask

from .cluster import BASE, Cluster, until
from .test_cache import finish, packed, send

KEY = JobKey(12, 34, 1)
SEEN = 'find "$MACHINEFEATURES" "$JOBFEATURES" "$JOBSTATUS" "${TMPDIR%/*}" ! -type l -perm /077'
GIVEN = {
    "gridengine": {"SGE_TASK_ID": "1", "JOB_ID": "77", "HOSTNAME": "node7"},
    "local": {"CIGRI_ARRAY_INDEX": "1", "CIGRI_LOCAL_ID": "77_1"},
    "oar": {"OAR_ARRAY_INDEX": "1", "OAR_JOB_ID": "77"},
    "slurm": {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_JOB_ID": "77", "SLURMD_NODENAME": "node7"},
}
WRITES = f"umask; {SEEN}; : >made; mkdir -p out; : >out/result"


@pytest.fixture(params=UMASKS, ids=oct)
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    mask: int = request.param
    with umask(mask):
        yield mask


def jobs(command: str, directory: ShellWord, side: int = 1) -> list[JobSpec]:
    words = (ShellWord("sh"), ShellWord("-c"), ShellWord(command))
    outputs = (OutputPattern("out", is_name=True),)
    return [JobSpec(1, 901, tuple(TaskSpec(n, n, 1, words, {}, directory, outputs=outputs) for n in (1, 2)), side=side)]


@pytest.mark.parametrize("side", [1, 2])
def test_all_that_a_batch_leaves_is_private_but_what_its_tasks_made(cluster: Cluster, mask: int, side: int) -> None:
    plan = replace(cluster.plan, jobs=jobs(WRITES, OWN_DIRECTORY, side), keep_tmp=True, script="echo")
    cluster.write(plan=plan)
    assert cluster.run().status == 0
    file, directory = ("-rw-rw-rw-", "drwxrwxrwx") if mask == 0 else ("-rw-r--r--", "drwxr-xr-x")
    made = [f"{file} {cluster.batch}/1.{n}.{name}" for n in (1, 2) for name in ("work/made", "d/out/result")]
    made += [f"{directory} {cluster.batch}/1.{n}.d/out" for n in (1, 2)]
    assert sorted(open_to_others(cluster.base, *cluster.tmp.iterdir())) == sorted(made)
    assert {cluster.out(1, n) for n in (1, 2)} == {f"{mask:04o}\n"}, "its umask, and nothing that others could read"


@pytest.mark.parametrize("driver", drivers.names())
def test_jobs_of_every_batch_system_are_private_and_have_their_umask(dash: Cluster, mask: int, driver: str) -> None:
    (dash.home / "nodes").write_text("node7\n")
    given = GIVEN[driver] | {"cigri_umask": "0000", "OAR_NODEFILE": str(dash.home / "nodes")}
    dash.prelude = drivers.load(driver, {"spool": "/spool"} if driver == "local" else {}).prelude
    dash.write(f"umask; {SEEN}")
    with umask(0o027):
        assert dash.run(environment=given).status == 0
    assert dash.out() == "0027\n"
    assert open_to_others(dash.base, *dash.tmp.iterdir()) == []


def test_a_directory_that_is_made_for_tasks_is_private_and_one_that_is_there_stays(cluster: Cluster, mask: int) -> None:
    there = cluster.home / "there"
    there.mkdir(mode=0o770)
    before = there.stat().st_mode
    cluster.write(plan=replace(cluster.plan, jobs=jobs("mkdir out", ShellWord("/there/is/none", at_home=True))))
    assert cluster.run().status == 0
    assert open_to_others(there / "is") == []
    assert there.stat().st_mode == before


def test_what_an_earlier_version_left_open_is_closed(cluster: Cluster, mask: int) -> None:
    cluster.outbox.mkdir(parents=True)
    cluster.base.chmod(0o755)
    cluster.write(":")
    assert cluster.base.stat().st_mode & 0o777 == 0o700


def test_the_shell_that_submits_has_its_umask_again(cluster: Cluster, mask: int) -> None:
    plan = replace(cluster.plan, jobs=jobs(":", OWN_DIRECTORY))
    assert cluster.ask(cluster.script(plan) + 'umask; echo "$cigri_umask"').out == f"{mask:04o}\n" * 2


def test_inputs_are_private(cluster: Cluster, mask: int) -> None:
    content = b"a small one"
    tree = packed(mesh=b"mesh")
    file, directory = CachedFile(sha256(b"large").hexdigest()), CachedFile(sha256(tree).hexdigest(), is_packed=True)
    cluster.fetch(take_files(BASE, "a"), bundle([(sha256(content).hexdigest(), content)]))
    send(cluster, file, 0, b"large")
    send(cluster, directory, 0, tree)
    assert finish(cluster, file)
    assert finish(cluster, directory)
    assert len([*(cluster.base / "cache").iterdir()]) == 3
    assert open_to_others(cluster.base) == []


def test_what_the_grid_tells_batches_is_private(cluster: Cluster, mask: int) -> None:
    cluster.write("until [ -e $HOME/go ]; do sleep 0.05; done", ":")
    job = cluster.start()
    until(lambda: (cluster.batch / "1.1.out").exists())
    for script in (
        ask_checkpoints(BASE, [CheckpointRequestFile(KEY, True)]),
        announce(BASE, [KEY], 1_900_000_000),
        revoke(BASE, [JobKey(12, 34, 2)]),
        void_batch(BASE, 12, 35),
    ):
        assert cluster.ask(script).status == 0
    assert {"checkpoint.1", "shutdown.1", "journal.2"} <= {path.name for path in cluster.batch.iterdir()}
    assert (cluster.batch.parent / "b35.void").is_dir()
    assert open_to_others(cluster.base, *cluster.tmp.iterdir()) == []
    (cluster.home / "go").touch()
    job.communicate(timeout=60)
    assert job.returncode == 0
