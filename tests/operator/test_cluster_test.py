"""`cigri cluster test` on clusters that are not well: it names the step, says what to do, and leaves nothing behind."""

import getpass
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from cigri.database import server_time
from cigri.drivers.local import LocalDriver
from cigri.localbatch import command
from modules.operator.cluster import check_steps
from modules.operator.cluster import test as cluster_test
from modules.operator.down import ask
from tests.forker import Said
from tests.operator.conftest import EVERYBODY, Cigri, until
from tests.transports.conftest import Sshd, known_line, make_key, require

STEPS = ["configuration", "reach", "login", "account", "directory", "clock", "batch system", "capacity", "nodes", "job"]


@pytest.fixture
def declare(cigri: Cigri, spool: Path, tmp_path: Path) -> Callable[..., None]:
    def declare(*options: str, name: str = "here") -> None:
        own = ("--driver", "local", "--option", f"spool={spool}", "--option", "pools={cpu=1}")
        said = cigri("cluster", "add", name, *own, "--set", f"directory={tmp_path / 'jobs'}", *options)
        assert said.status == 0, said

    return declare


def marks(said: Said) -> str:
    """The mark of each step."""
    lines = [line for line in said.out.splitlines() if not line.startswith("  ")]
    assert [line[2:16].strip() for line in lines] == STEPS
    return "".join(line[0] for line in lines)


def test_a_cluster_that_is_well(cigri: Cigri, declare: Callable[..., None], tmp_path: Path) -> None:
    declare()
    said = cigri("cluster", "test", "here")
    assert (said.status, marks(said)) == (0, "✓✓✓✓✓✓✓✓✓✓")
    assert re.search(r"nodes +1 with cores 1, memory \d", said.out)
    assert list((tmp_path / "jobs").rglob("test-*")) == []


def test_nodes_that_cannot_be_read_are_no_failure(
    cigri: Cigri, declare: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    declare()
    monkeypatch.setattr(LocalDriver, "nodes", lambda _driver: "echo nonsense")
    said = cigri("cluster", "test", "here")
    assert (said.status, marks(said)) == (0, "✓✓✓✓✓✓✓✓!✓")
    assert "docs/reference/resources.md" in said.out


def test_nothing_after_a_failure_is_tried(cigri: Cigri, declare: Callable[..., None]) -> None:
    declare()
    said = cigri("cluster", "test", "here", "--as", "no-such-account")
    assert (said.status, marks(said)) == (1, "✓✗--------")
    assert "choose another with --as" in said.out


def test_a_directory_that_cannot_be_written(cigri: Cigri, declare: Callable[..., None], tmp_path: Path) -> None:
    declare()
    (tmp_path / "jobs").write_text("a file is in the way")
    said = cigri("cluster", "test", "here")
    assert (said.status, marks(said)) == (1, "✓✓✓✓✗-----")
    assert "check the rights and the quota" in said.out


def test_a_batch_system_that_is_not_there(cigri: Cigri, declare: Callable[..., None], spool: Path) -> None:
    declare()
    spool.write_text("a file is in the way")
    said = cigri("cluster", "test", "here")
    assert (said.status, marks(said)) == (1, "✓✓✓✓✓✓✗---")


def test_a_job_that_is_refused(
    cigri: Cigri, declare: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare()
    monkeypatch.setitem(cluster_test.PROBE_STEPS, "capacity", lambda _: "the queue is looked at by the job alone")
    said = cigri("cluster", "test", "here", "--queue", "nosuch")
    assert (said.status, marks(said)) == (1, "✓✓✓✓✓✓✓✓✓✗")
    assert list((tmp_path / "jobs").rglob("test-*")) == []


def test_a_job_that_waits_too_long_is_cancelled(
    cigri: Cigri, declare: Callable[..., None], spool: Path, tmp_path: Path
) -> None:
    declare()
    argv = [sys.executable, "-P", "-m", command.__name__, "submit", "--spool", str(spool), "--pool", "cpu=1"]
    subprocess.run(
        [*argv, "--name", "occupant", "--size", "1", "--walltime", "600", "--", "/bin/sleep", "600"],
        check=True,
        capture_output=True,
    )
    said = cigri("cluster", "test", "here", "--patience", "0.3")
    assert (said.status, marks(said)) == (1, "✓✓✓✓✓✓✓✓✓✗")
    assert "is cancelled; it is waiting" in said.out
    until(lambda: [job["name"] for job in ask(spool, "list", **EVERYBODY)] == ["occupant"])
    assert list((tmp_path / "jobs").rglob("test-*")) == []


@pytest.mark.parametrize(("ahead", "word"), [(30, "ahead of"), (-30, "behind")])
def test_a_clock_that_is_wrong_is_only_a_warning(
    cigri: Cigri, declare: Callable[..., None], monkeypatch: pytest.MonkeyPatch, ahead: int, word: str
) -> None:
    declare()
    late = timedelta(seconds=ahead)
    monkeypatch.setattr(check_steps, "server_time", lambda conn: server_time(conn) - late)
    said = cigri("cluster", "test", "here")
    assert (said.status, marks(said)) == (0, "✓✓✓✓✓!✓✓✓✓")
    assert f"s {word} the database's" in said.out


def test_over_ssh_the_host_key_is_checked_first(cigri: Cigri, declare: Callable[..., None], tmp_path: Path) -> None:
    require("sshd", "openssh-server")
    sshd = Sshd(tmp_path / "sshd", "/usr/local/bin:/usr/bin:/bin")
    sshd.start()
    try:
        front = ("--ssh", f"{getpass.getuser()}@127.0.0.1:{sshd.port}", "--key-file", str(sshd.user_key))
        declare(*front, "--known-hosts", str(sshd.known_hosts))
        said = cigri("cluster", "test", "here")
        assert (said.status, marks(said)) == (0, "✓✓✓✓✓✓✓✓✓✓"), said
        assert "host key known" in said.out
        other = make_key(tmp_path / "other")
        sshd.known_hosts.write_text(known_line(sshd.port, other.with_suffix(".pub")))
        said = cigri("cluster", "test", "here")
        assert (said.status, marks(said)) == (1, "✓✓✗-------")
        assert "HAS CHANGED" in said.out
    finally:
        with suppress(ProcessLookupError):
            sshd.close()
