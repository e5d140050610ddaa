"""The driver suite on the real Slurm clusters of scripts/testbed: alpha without accounting, beta with it."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, ResourceRequest, load
from cigri.remote import Answer
from tests.drivers.conformance import USER, Batch, Conformance, Site

pytestmark = pytest.mark.cluster

TESTBED = Path(__file__).parents[2] / "scripts" / "testbed"
OPTIONS = {"partition": "normal", "besteffort_partition": "besteffort"}


@dataclass
class SlurmSite(Site):
    name: str

    def run(self, user: str, script: str) -> Answer:
        command = [str(TESTBED), "exec", self.name, user, "sh", "-c", 'eval "$(cat)"']
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
        return Answer(done.returncode, done.stdout, done.stderr)

    def stop_controller(self) -> None:
        subprocess.run([str(TESTBED), "daemon", self.name, "stop", "slurmctld"], check=True)

    def start_controller(self) -> None:
        subprocess.run([str(TESTBED), "up", self.name], check=True, capture_output=True)


def slurm_site(name: str) -> SlurmSite:
    driver = load("slurm", OPTIONS)
    return SlurmSite(driver, "Slurm 22.05.8", "7777777_1", "Invalid partition name", name, operator="root")


def recording_sites() -> Iterator[tuple[str, SlurmSite]]:
    return ((name, slurm_site(name)) for name in ("alpha", "beta"))


@pytest.fixture(scope="session")
def sites() -> Iterator[dict[str, tuple[SlurmSite, Batch]]]:
    """Both clusters, with the batch that takes longest begun on each."""
    up = subprocess.run([str(TESTBED), "up"], capture_output=True, text=True)
    if up.returncode == 77:
        pytest.skip(up.stderr)
    assert up.returncode == 0, up.stderr
    begun = {}
    for name in ("alpha", "beta"):
        site = slurm_site(name)
        begun[name] = site, site.submit(BatchRequest("overtime", 1, 60, besteffort=False))
    yield begun
    for site, _ in begun.values():
        for user in ("alice", "bob"):
            site.run(user, 'scancel -u "$(id -u)"')


@pytest.fixture(params=["alpha", "beta"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(sites: dict[str, tuple[SlurmSite, Batch]], name: str) -> SlurmSite:
    return sites[name][0]


@pytest.fixture
def overtime(sites: dict[str, tuple[SlurmSite, Batch]], name: str) -> Batch:
    return sites[name][1]


class TestSlurm(Conformance):
    def test_every_option_and_resource_is_one_that_sbatch_knows(self, site: SlurmSite) -> None:
        site.driver = load("slurm", OPTIONS | {"constraint": "big|fast", "nice": 5})
        wish = ResourceRequest(cpu=2, nodes=2, mem=200, others={"gres/gpu": 1})
        body = 'cigri_nodes >"$1/nodes"; ulimit -c >/dev/null; env >"$1/env"\n'
        batch = site.submit(BatchRequest("wishes", 1, 5400, wish, properties="fast"), body)
        shown = site.run(USER, f"scontrol -o show job {batch.ids[1]}").out
        assert batch.until_ended()[1].exit_code == 0
        assert batch.said("nodes") == f"{site.name}-n1\n{site.name}-n2\n"
        for fact in ("NumNodes=2", "CPUs/Task=2", "MinMemoryNode=200M", "TresPerNode=gres:gpu:1", "Requeue=0"):
            assert fact in shown
        for fact in ("Partition=besteffort", "Features=(big|fast)&(fast)", "Nice=5", "TimeLimit=01:30:00"):
            assert fact in shown
