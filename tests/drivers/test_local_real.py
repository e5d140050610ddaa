"""The driver suite on the batch system of this host."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, RemoteJobState, ResourceRequest, load
from cigri.localbatch import client
from cigri.shell.results import ShellResult
from tests.drivers.conformance import USER, Batch, Conformance, Site
from tests.localbatch.host import Host

pytestmark = pytest.mark.process

NOBODY = 65534
PYTHON = "/usr/bin/python3"
CLIENT = os.path.dirname(client.__file__)


@dataclass
class LocalSite(Site):
    """A host whose users are this process' user and, when that is root, nobody."""

    host: Host
    copy: str  # the directory of one of the client

    def run(self, user: str, script: str) -> ShellResult:
        other = None
        if user == self.rival:  # to whom this interpreter and these sources may be closed
            other, script = NOBODY, script.replace(sys.executable, PYTHON).replace(CLIENT, self.copy)
        place = self.host.directory if other is None else "/"
        done = subprocess.run(
            ["sh"], cwd=place, user=other, group=other, input=script, capture_output=True, text=True, timeout=60
        )
        return ShellResult(done.returncode, done.stdout, done.stderr)

    def stop_controller(self) -> None:
        """Without its spool no daemon can be reached, nor started."""
        self.host.stop()
        self.host.spool.rename(self.host.directory / "away")
        self.host.spool.write_text("")

    def start_controller(self) -> None:
        self.host.spool.unlink()
        (self.host.directory / "away").rename(self.host.spool)

    def close(self) -> None:
        self.host.clear()
        shutil.rmtree(self.host.directory)


def local_site() -> LocalSite:
    """For nobody too: the directories of a test are its own user's alone."""
    directory = Path(tempfile.mkdtemp(prefix="cigri-conformance-", dir="/tmp"))
    directory.chmod(0o755)
    host = Host(directory)
    host.pools = ["cpu=16", "mem=1000"]
    driver = load("local", {"spool": str(host.spool), "pools": {"cpu": 16, "mem": 1000}})
    version = f"local batch system with cpu=16, mem=1000 (process {host.pid}, user id {os.geteuid()})"
    rival = "nobody" if os.geteuid() == 0 and os.access(PYTHON, os.X_OK) else ""
    shutil.copy(client.__file__, directory / "client.py")
    ids, home = "7777777_1", os.path.expanduser("~")
    words = {"home": home, "rival": rival, "never_preempts": "all jobs are equal here, none gives way"}
    return LocalSite(driver, version, ids, "has no queue", host, str(directory), **words)


def recording_sites() -> Iterator[tuple[str, LocalSite]]:
    site = local_site()
    yield "", site
    site.close()


@pytest.fixture(scope="module")
def site() -> Iterator[LocalSite]:
    site = local_site()
    yield site
    site.close()


@pytest.fixture(scope="module", autouse=True)
def overtime(site: LocalSite) -> Batch:
    return site.submit(BatchRequest("overtime", 1, 3, notice=1))


class TestLocal(Conformance):
    def test_besteffort_jobs_give_way(self, site: Site) -> None:
        """Here none does: all jobs are equal."""
        first = site.submit(BatchRequest("victims", 2, 600, ResourceRequest(cpu=6)))
        first.until_seen(RemoteJobState.RUNNING)
        second = site.submit(BatchRequest("rival", 1, 600, ResourceRequest(cpu=6), besteffort=False), user=USER)
        second.until_seen(RemoteJobState.WAITING)
        first.cancel([1, 2])
        second.until_seen(RemoteJobState.RUNNING)
        second.cancel([1])
        second.until_ended()
