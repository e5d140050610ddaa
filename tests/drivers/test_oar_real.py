"""The driver suite on the real OAR 2.5 cluster of scripts/testbed."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, JobControl, RemoteJobState, ResourceRequest, load
from cigri.errors import SubmissionRefused, UnreadableOutput
from cigri.formats.units import MEGABYTE
from cigri.shell.results import ShellResult
from tests.drivers.conformance import PREFIX, UNDISTURBED, USER, Batch, Conformance, Site, until

pytestmark = pytest.mark.cluster

# What OAR's commands, and the Perl that they are, take from whoever calls them; its wrappers set the rest themselves.
STEERED = {
    "LD_PRELOAD": "/opt/gone.so",  # each command says on stderr that it is not there
    "OAR_OARSTAT_OUTPUT_FORMAT": "2",
    "OAR_JOB_ID": "7777777",
    "OAR_JOBID": "7777777",
    "OAR_JOB_KEY_FILE": "/nowhere/key",
    "OAR_CPUSET": "/nowhere",
    "DISPLAY": "nowhere:0",
    "XAUTHORITY": "/nowhere",
    "PERL5OPT": "-MNowhere",
    "PERL5DB": "die",
    "PERLIO": ":crlf",
    "PERL_UNICODE": "",
    "OARCONFFILE": "/nowhere",
    "OARDIR": "/nowhere",
    "OARDO_USER": "root",
    "PERL5LIB": "/nowhere",
}
TESTBED = Path(__file__).parents[2] / "scripts" / "testbed"


class OarSite(Site):
    def run(self, user: str, script: str) -> ShellResult:
        command = [str(TESTBED), "exec", "delta", user, "sh", "-c", 'eval "$(cat)"']
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
        return ShellResult(done.returncode, done.stdout, done.stderr)

    def daemon(self, verb: str, name: str) -> None:
        subprocess.run([str(TESTBED), "daemon", "delta", verb, name], check=True, capture_output=True, timeout=60)

    def stop_controller(self) -> None:
        """Without Almighty OAR's database still answers, and rightly so."""
        self.daemon("stop", "almighty")
        self.daemon("stop", "postgres")

    def start_controller(self) -> None:
        subprocess.run([str(TESTBED), "up", "delta"], check=True, capture_output=True, timeout=60)


class SteeredSite(OarSite):
    """The same cluster, for an account whose start-up files export whatever OAR's commands read."""

    def run(self, user: str, script: str) -> ShellResult:
        exports = " ".join(f"{name}={value}" for name, value in STEERED.items())
        return super().run(user, f"export {exports}\n{script}")


def oar_site() -> OarSite:
    known = "OAR 2.5.9", "7777777", "The queue nowhere does not exist"
    return OarSite(load("oar", {}), *known, nodes="delta-n1 delta-n2", condition="oarnodes -s; oarstat")


def recording_sites() -> Iterator[tuple[str, OarSite]]:
    yield "", oar_site()


@pytest.fixture(scope="session")
def begun(delta_up: None) -> Iterator[tuple[OarSite, Batch]]:
    """The cluster, with the batch that takes longest begun."""
    site = oar_site()
    yield site, site.submit(BatchRequest("overtime", 1, 60, besteffort=False), user=UNDISTURBED)
    site.run("root", "oardel --sql \"state NOT IN ('Terminated', 'Error')\"")


@pytest.fixture
def site(begun: tuple[OarSite, Batch]) -> OarSite:
    return begun[0]


@pytest.fixture
def overtime(begun: tuple[OarSite, Batch]) -> Batch:
    return begun[1]


class TestOar(Conformance):
    def test_its_nodes_are_told_as_oar_itself_finds_them_by_their_properties(self, site: OarSite) -> None:
        site.driver = load("oar", {"memory": "mem"})
        found = site.driver.parse_nodes(site.run(USER, site.driver.nodes()))
        assert len(found) > 1
        for one in found:
            size = one.properties["mem"]
            assert one.properties["memory"] == int(str(size)) * MEGABYTE
            told = site.run(USER, f"oarnodes -J --sql 'mem = {size}'").out
            assert len(set(re.findall(r'"network_address" : "(.*?)"', told))) == one.nodes

    def test_each_word_of_a_request_is_one_that_oarsub_knows(self, site: OarSite) -> None:
        options = {"project": "default", "properties": "host <> 'nowhere'", "memory": "mem", "types": ["state"]}
        site.driver = load("oar", options)
        shapes = ("/nodes=9", "{cpu=2}/nodes=1/core=2+/nodes=1/core=1")
        wish = ResourceRequest(cpu=2, nodes=2, mem=500, native=shapes)
        request = BatchRequest("wishes", 1, 5400, wish, besteffort=False, properties="core > 0")
        with pytest.raises(SubmissionRefused, match="not enough resources"):
            site.submit(replace(request, tag="impossible", resources=replace(wish, native=shapes[:1])))
        request = replace(
            request, resources=replace(wish, native=shapes[1:]), types=("timesharing=*,*", "state=permissive")
        )
        batch = site.submit(request, 'cigri_nodes >"$1/nodes"; sort "$OAR_NODEFILE" | uniq -c >"$1/cores"\n')
        shown = site.run(USER, f"oarstat -f -j {batch.ids[1]}").out
        assert batch.until_ended()[1].exit_code == 0
        assert batch.said("nodes").split() == ["delta-n1", "delta-n2"]
        assert sorted(batch.said("cores").split()[::2]) == ["1", "2"]
        for fact in ("walltime=1:30:0", "timesharing=*,*", "host <> 'nowhere') AND (core > 0) AND (mem >= 500"):
            assert fact in shown
        site.driver = oar_site().driver

    def test_what_was_submitted_while_nobody_listened_is_found_by_its_name(self, site: OarSite) -> None:
        site.daemon("stop", "almighty")
        try:
            with pytest.raises(UnreadableOutput, match="Cannot connect to executor"):
                site.submit(BatchRequest("unheard", 2, 600), "exit 0\n")
        finally:
            site.start_controller()
        tag = f"{PREFIX}-unheard"
        asked = site.driver.history([(tag, 1, ""), (tag, 2, "")])
        ended = {(1, RemoteJobState.SUCCEEDED), (2, RemoteJobState.SUCCEEDED)}
        until(lambda: {(j.index, j.state) for j in site.driver.parse_history(site.run(USER, asked))} == ended)

    def test_a_job_that_oar_submits_again_is_the_same_one(self, site: OarSite) -> None:
        """A node that is dead when a job is launched gives the job another id."""
        site.daemon("stop", "node-2")
        try:
            request = BatchRequest("again", 1, 600, ResourceRequest(native=("{host='delta-n2'}/nodes=1/core=1",)))
            batch = site.submit(request, 'echo "$CIGRI_REMOTE_ID" >>"$1/ran"\n')
            until(lambda: (jobs := batch.live()) and jobs[1].remote_id != batch.ids[1])
            job = batch.live()[1]
            assert (job.state, job.restarts) == (RemoteJobState.WAITING, 1)
        finally:
            site.daemon("start", "node-2")
        ended = batch.until_ended(60)[1]
        assert (ended.state, ended.remote_id) == (RemoteJobState.SUCCEEDED, job.remote_id)
        assert batch.said("ran").split() == [job.remote_id]

    def test_no_variable_of_a_user_steers_oars_commands(self, site: OarSite) -> None:
        driver = site.driver
        steered = SteeredSite(driver, site.version, site.unknown_id, site.refusal, nodes=site.nodes)
        assert driver.parse_probe(steered.run(USER, driver.probe())) == site.version
        assert driver.parse_capacity(steered.run(USER, driver.capacity(""))).total == 16
        assert driver.parse_nodes(steered.run(USER, driver.nodes())) == driver.parse_nodes(
            site.run(USER, driver.nodes())
        )
        with pytest.raises(SubmissionRefused, match=site.refusal):
            steered.submit(BatchRequest("nowhere", 1, 60, besteffort=False, queue="nowhere"))
        batch = steered.submit(BatchRequest("steered", 20, 600), "[ $CIGRI_INDEX = 1 ] || sleep 600\n")
        site.batches.append(batch)
        until(lambda: batch.live().keys() == batch.ids.keys() - {1})
        assert batch.live()[20].state == RemoteJobState.WAITING
        for verb, state in ((JobControl.HOLD, RemoteJobState.HELD), (JobControl.RELEASE, RemoteJobState.WAITING)):
            steered.control(verb, [batch.ids[20]])
            until(lambda state=state: batch.live()[20].state == state)  # type: ignore[misc]
        batch.cancel(list(range(2, 21)))
        assert batch.until_ended()[1].state == RemoteJobState.SUCCEEDED
