"""What stands before batch commands, so that nothing an account exports or has as defaults steers them."""

import getpass
import subprocess
from pathlib import Path

import pytest

from cigri.drivers.gridengine.environment import LIST_JOBS, site_request
from cigri.drivers.slurm.environment import FORGET

pytestmark = pytest.mark.process

SHELLS = (["dash"], ["bash", "--posix"], ["busybox", "sh"])


def told(shell: list[str], script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    known = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run([*shell, "-s"], input=script, capture_output=True, text=True, env=known, timeout=120)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_variables_that_steer_slurm_are_forgotten_of_whatever_version(shell: list[str]) -> None:
    forgotten = ("SBATCH_WAIT", "SBATCH_OF_A_LATER_VERSION", "SQUEUE_FORMAT", "SCONTROL_ALL", "SLURM_CLUSTERS")
    kept = ("SBATCH_ACCOUNT", "SBATCH_WCKEY", "SLURM_CONF", "SLURM_JWT", "SLURM_MPI_TYPE", "MY_SBATCH_WAIT")
    values = dict.fromkeys((*forgotten, *kept), "a line\nSBATCH_WCKEY=none")
    answer = told(shell, f"{FORGET}env", **values)
    assert {name for name in values if f"\n{name}=" in f"\n{answer.stdout}"} == set(kept)
    assert answer.stderr == ""


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_the_sites_own_default_request_is_said_anew(shell: list[str], tmp_path: Path) -> None:
    common = tmp_path / "default" / "common"
    common.mkdir(parents=True)
    (common / "sge_request").write_text("# -h\n-q a.q -sync\ny -P 'grid'\n\n-l h=n*,arch=\"lx\"\n")
    (tmp_path / "h=n7,arch=lx").touch()
    for has_queue, queue in ((True, ""), (False, "-q a.q ")):
        script = f"cd {tmp_path}\n{site_request(has_queue=has_queue)}echo $cigri_site"
        answer = told(shell, script, SGE_ROOT=str(tmp_path))
        assert (answer.stdout, answer.stderr) == (f"{queue}-P grid -l h=n*,arch=lx\n", "")
    (common / "sge_request").unlink()
    assert told(shell, f"{site_request(has_queue=True)}echo $cigri_site", SGE_ROOT=str(tmp_path)).stdout == "\n"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("defaults", "wrong"),
    [("# -l\n-ext -u * -s r\n-pri -urg -r -ncb\n", ""), ("-ext\n-u bob -qs d\n", "-qs"), ("-l arch=none\n", "-l")],
)
def test_jobs_are_listed_unless_a_file_of_defaults_may_hide_some(
    shell: list[str], tmp_path: Path, defaults: str, wrong: str
) -> None:
    common = tmp_path / "default" / "common"
    common.mkdir(parents=True)
    (common / "sge_qstat").write_text(defaults)
    (tmp_path / "qstat").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "qstat").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    answer = told(shell, f"{LIST_JOBS}cigri_list && echo done", SGE_ROOT=str(tmp_path), PATH=path)
    listed = f"-xml -s prs -u {getpass.getuser()}\ndone\n"
    assert answer.stdout == ("" if wrong else listed)
    assert (f"{common}/sge_qstat: with {wrong} qstat may hide jobs" in answer.stderr) == bool(wrong)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("echo $$ >{pid}\necho 'Welcome there'\necho 7.1-2:1\nexec sleep 3600", (0, "Welcome there\n7.1-2:1\n")),
        ("echo 7.1-2:1", (0, "7.1-2:1\n")),
        ("echo Unable to run job: no >&2\nexit 25", (25, "")),
        ("exit 0", (0, "")),
    ],
)
def test_a_submission_that_would_wait_for_its_jobs_is_left_when_they_are_taken(
    shell: list[str], tmp_path: Path, body: str, expected: tuple[int, str]
) -> None:
    common = tmp_path / "default" / "common"
    common.mkdir(parents=True)
    (common / "sge_request").write_text("-sync y\n")
    (tmp_path / "qsub").write_text(f"#!/bin/sh\n{body.format(pid=tmp_path / 'pid')}\n")
    (tmp_path / "qsub").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    answer = told(shell, f"{site_request(has_queue=True)}qsub -terse", SGE_ROOT=str(tmp_path), PATH=path)
    assert (answer.returncode, answer.stdout) == expected
    if (tmp_path / "pid").exists():
        assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
