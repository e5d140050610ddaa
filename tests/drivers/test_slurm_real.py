"""The driver suite on the real Slurm clusters of scripts/testbed: alpha without accounting, beta with it."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cigri.drivers import BatchRequest, JobControl, RemoteJobState, ResourceRequest, load
from cigri.errors import ArrayTooLarge, SubmissionRefused
from cigri.formats.units import MEGABYTE
from cigri.shell.results import ShellResult
from tests.drivers.conformance import PREFIX, UNDISTURBED, USER, Batch, Conformance, Site, until
from tests.replies.record import Recorder

pytestmark = pytest.mark.cluster

# All that Slurm 22.05's commands read: what their man pages name, and what their binaries hold besides.
SBATCH_VARIABLES = """
    ACCTG_FREQ ARRAY_INX BATCH BURST_BUFFER CLUSTERS CLUSTER_CONSTRAINT CONSTRAINT CONTAINER CORE_SPEC CPUS_PER_GPU
    CPU_FREQ_REQ DEBUG DELAY_BOOT DISTRIBUTION ERROR EXCLUSIVE EXPORT GET_USER_ENV GPUS GPUS_PER_NODE GPUS_PER_SOCKET
    GPUS_PER_TASK GPU_BIND GPU_FREQ GRES GRES_FLAGS HINT IGNORE_PBS INPUT JOB_NAME MEM_BIND MEM_PER_CPU MEM_PER_GPU
    MEM_PER_NODE NETWORK NO_KILL NO_REQUEUE OPEN_MODE OUTPUT OVERCOMMIT PARTITION POWER PROFILE QOS REQUEUE REQ_SWITCH
    RESERVATION SIGNAL SPREAD_JOB THREADS_PER_CORE THREAD_SPEC TIMELIMIT USE_MIN_NODES WAIT WAIT4SWITCH WAIT_ALL_NODES
"""
SQUEUE_VARIABLES = """
    ACCOUNT ALL ARRAY ARRAY_UNIQUE FEDERATION FORMAT FORMAT2 LICENSES LOCAL NAMES PARTITION PRIORITY QOS SIB SIBLING
    SORT STATES USERS
"""
SCANCEL_VARIABLES = "ACCOUNT BATCH CTLD FULL HURRY INTERACTIVE NAME PARTITION QOS STATE USER VERBOSE WCKEY"
OTHER_VARIABLES = """
    SINFO_ALL SINFO_FEDERATION SINFO_FORMAT SINFO_LOCAL SINFO_PARTITION SINFO_SORT
    SACCT_FEDERATION SACCT_FORMAT SACCT_LOCAL
    SCONTROL_ALL SCONTROL_FEDERATION SCONTROL_FUTURE SCONTROL_LOCAL SCONTROL_SIB SCONTROL_SIBLING
    SLURM_BITSTR_LEN SLURM_CLUSTERS SLURM_CONF_OUT SLURM_HINT SLURM_TOPO_LEN SLURM_WORKING_CLUSTER
"""
STEERED = (
    *(f"SBATCH_{name}" for name in SBATCH_VARIABLES.split()),
    *(f"SQUEUE_{name}" for name in SQUEUE_VARIABLES.split()),
    *(f"SCANCEL_{name}" for name in SCANCEL_VARIABLES.split()),
    *OTHER_VARIABLES.split(),
)
WITH_MEANING = {
    "LD_PRELOAD": "/opt/gone.so",  # each command says on stderr that it is not there
    "SBATCH_ACCOUNT": "grid",
    "SBATCH_WCKEY": "key",
    "SLURM_DEBUG_FLAGS": "Protocol",
    "SLURM_EXIT_ERROR": "0",
    "SLURM_TIME_FORMAT": "relative",
    "SLURM_UMASK": "0777",
}
TESTBED = Path(__file__).parents[2] / "scripts" / "testbed"
OPTIONS = {"partition": "normal", "besteffort_partition": "besteffort"}


@dataclass
class SlurmSite(Site):
    name: str

    def run(self, user: str, script: str) -> ShellResult:
        command = [str(TESTBED), "exec", self.name, user, "sh", "-c", 'eval "$(cat)"']
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
        return ShellResult(done.returncode, done.stdout, done.stderr)

    def stop_controller(self) -> None:
        self.daemon("stop", "slurmctld")

    def start_controller(self) -> None:
        subprocess.run([str(TESTBED), "up", self.name], check=True, capture_output=True)

    def daemon(self, verb: str, name: str) -> None:
        subprocess.run([str(TESTBED), "daemon", self.name, verb, name], check=True)

    def begin_again(self, batch: Batch) -> Batch:
        """As an operator may, whatever the job was submitted with."""
        batch.until_seen(RemoteJobState.RUNNING)
        change = f"scontrol update JobId={batch.ids[1]} Requeue=1 && scontrol requeue {batch.ids[1]}"
        assert self.run("root", change).status == 0
        batch.until_seen(RemoteJobState.WAITING)
        return batch


class SteeredSite(SlurmSite):
    """The same cluster, for an account whose start-up files export whatever Slurm's commands read."""

    def run(self, user: str, script: str) -> ShellResult:
        exports = dict.fromkeys(STEERED, "7") | WITH_MEANING
        return super().run(
            user, "export " + " ".join(f"{name}={value}" for name, value in exports.items()) + f"\n{script}"
        )


def slurm_site(name: str) -> SlurmSite:
    driver = load("slurm", OPTIONS)
    logs = 'cd "$(dirname "$(scontrol show config | sed -n "s/^SlurmctldLogFile *= //p")")"'
    condition = f"scontrol -o show nodes; scontrol -o show jobs; {logs}; tail -n 60 slurm*.log"
    known = "Slurm 22.05.8", "7777777_1", "Invalid partition name"
    return SlurmSite(driver, *known, name, operator="root", nodes=f"{name}-n1 {name}-n2", condition=condition)


def recording_sites() -> Iterator[tuple[str, SlurmSite]]:
    return ((name, slurm_site(name)) for name in ("alpha", "beta"))


def record_more(recorder: Recorder) -> None:
    """What only Slurm says."""
    site = recorder.site
    assert isinstance(site, SlurmSite)
    nasty = site.run(USER, "sbatch --parsable -p normal -o /dev/null -J 'a|cigri\nline' --wrap 'sleep 300'").out.strip()
    recorder.ask("status-beside-a-nasty-name", USER, site.driver.status(PREFIX))
    site.run(USER, f"scancel {nasty}")
    for point, request in (
        ("submit-too-much-memory", BatchRequest("fat", 3, 600, ResourceRequest(mem=10_000_000))),
        ("submit-too-large", BatchRequest("large", 60_000, 600)),
    ):
        with suppress(SubmissionRefused):
            site.submit(request)
        recorder.keep(point)
    asked = site.driver.history([(f"{PREFIX}-fat", 1, "")])
    until(lambda: site.run(USER, asked).out.count("FAILED") == (2 if site.name == "beta" else 1))
    recorder.keep("history-of-a-refused-array")
    batch = site.begin_again(site.submit(BatchRequest("again", 1, 600)))
    recorder.ask("status-begun-again", USER, site.driver.status(PREFIX))
    batch.cancel([1])
    if site.name == "beta":
        site.daemon("stop", "slurmdbd")
        recorder.ask("dbd-down-history", USER, site.driver.history([(f"{PREFIX}-codes", 1, "")]))
        site.start_controller()


@pytest.fixture(scope="session", params=["alpha", "beta"])
def begun(request: pytest.FixtureRequest) -> Iterator[tuple[SlurmSite, Batch]]:
    """Each cluster, with the batch that takes longest begun."""
    request.getfixturevalue(f"{request.param}_up")
    site = slurm_site(request.param)
    yield site, site.submit(BatchRequest("overtime", 1, 60, besteffort=False), user=UNDISTURBED)
    for user in ("alice", "bob"):
        site.run(user, 'scancel -u "$(id -u)"')


@pytest.fixture
def site(begun: tuple[SlurmSite, Batch]) -> SlurmSite:
    return replace(begun[0])  # a test may give it another driver


@pytest.fixture
def overtime(begun: tuple[SlurmSite, Batch]) -> Batch:
    return begun[1]


class TestSlurm(Conformance):
    def test_its_nodes_are_told_as_its_controller_knows_them(self, site: SlurmSite) -> None:
        known: Counter[tuple[object, ...]] = Counter()
        for line in site.run("root", "scontrol show node -o").out.splitlines():
            told = dict(word.split("=", 1) for word in line.split() if "=" in word)
            words = sorted(word for word in told["ActiveFeatures"].split(",") if word != "(null)")
            known[int(told["CPUTot"]), int(told["RealMemory"]) * MEGABYTE, str(words), told["Gres"]] += 1
        found: Counter[tuple[object, ...]] = Counter()
        for one in site.driver.parse_nodes(site.run(USER, site.driver.nodes())):
            cores, memory, features = (one.properties[name] for name in ("cores", "memory", "features"))
            gres = f"gpu:{one.properties['gpus']}" if "gpus" in one.properties else "(null)"
            assert one.properties["max_walltime"] == 7 * 86400
            if one.queue == "normal":
                found[cores, memory, str(features), gres] += one.nodes
        assert found == known

    def test_every_option_and_resource_is_one_that_sbatch_knows(self, site: SlurmSite) -> None:
        copied = 'cp /etc/slurm/slurm.conf "$HOME/elsewhere.conf" && printf %s "$HOME/elsewhere.conf"'
        config = site.run(USER, copied).out
        site.driver = load("slurm", OPTIONS | {"constraint": "big|fast", "nice": 5, "config": config})
        wish = ResourceRequest(cpu=2, nodes=2, mem=200, others={"gpu": 1, "matlab": 2})
        body = 'cigri_nodes >"$1/nodes"; ulimit -c >/dev/null; env >"$1/env"\n'
        own = (f"--nodelist={site.name}-n1,{site.name}-n2", "--wckey=key", "--licenses=matlab:1")
        batch = site.submit(BatchRequest("wishes", 1, 5400, wish, properties="fast", backend=own), body)
        shown = site.run(USER, f"scontrol -o show job {batch.ids[1]}").out
        assert batch.until_ended()[1].exit_code == 0
        assert batch.said("nodes") == f"{site.name}-n1\n{site.name}-n2\n"
        for fact in ("NumNodes=2", "CPUs/Task=2", "MinMemoryNode=200M", "TresPerNode=gres:gpu:1", "Licenses=matlab:1"):
            assert fact in shown
        assert f"ReqNodeList={site.name}-n[1-2]" in shown
        for fact in ("Partition=besteffort", "Features=(big|fast)&(fast)", "Nice=5", "TimeLimit=01:30:00", "Requeue=0"):
            assert fact in shown

    def test_a_job_that_is_begun_again_says_so(self, site: SlurmSite) -> None:
        batch = site.begin_again(site.submit(BatchRequest("again", 1, 600)))
        assert batch.live()[1].restarts == 1
        batch.cancel([1])

    def test_an_array_that_is_too_large_is_refused_with_the_limit(self, site: SlurmSite) -> None:
        with pytest.raises(ArrayTooLarge) as refused:
            site.submit(BatchRequest("large", 60_000, 600))
        assert refused.value.largest == {"alpha": 50_000, "beta": 100}[site.name]

    def test_no_variable_of_a_user_steers_slurms_commands(self, site: SlurmSite) -> None:
        driver = site.driver
        steered = SteeredSite(driver, site.version, site.unknown_id, site.refusal, site.name)
        assert driver.parse_probe(steered.run(USER, driver.probe())) == site.version
        assert driver.parse_capacity(steered.run(USER, driver.capacity(""))).total == 16
        assert driver.parse_nodes(steered.run(USER, driver.nodes())) == driver.parse_nodes(
            site.run(USER, driver.nodes())
        )
        with pytest.raises(SubmissionRefused, match=site.refusal):
            steered.submit(BatchRequest("nowhere", 1, 60, besteffort=False, queue="nowhere"))
        batch = steered.submit(
            BatchRequest("steered", 40, 600), 'umask >"$1/umask"; [ $CIGRI_INDEX = 1 ] || sleep 600\n'
        )
        site.batches.append(batch)
        shown = site.run(USER, f"scontrol -o show job {batch.ids[2]}").out
        for fact in ("Account=grid", "TimeLimit=00:10:00", "Partition=besteffort", "Requeue=0", "NumCPUs=1 "):
            assert fact in shown
        usual = site.run(USER, "umask").out
        assert until(lambda: batch.said("umask")) == usual
        until(lambda: batch.live().keys() == batch.ids.keys() - {1})
        # A job that is released goes before the rest of its array: one of the 40 might take a core that has come free.
        whole = steered.submit(BatchRequest("whole", 3, 600, ResourceRequest(nodes=2, cpu=8)))
        site.batches.append(whole)
        for verb, state in (
            (None, RemoteJobState.WAITING),
            (JobControl.HOLD, RemoteJobState.HELD),
            (JobControl.RELEASE, RemoteJobState.WAITING),
        ):
            if verb:
                steered.control(verb, [whole.ids[3]])
            until(lambda state=state: whole.live()[3].state == state)  # type: ignore[misc]
        whole.cancel([1, 2, 3])
        batch.cancel(list(range(2, 41)))
        ended = batch.until_ended()
        assert (ended[1].state, ended[1].exit_code) == (RemoteJobState.SUCCEEDED, 0)
        assert until(lambda: batch.history(by_tag=True)).keys() >= {1}

    def test_a_file_that_makes_sbatch_wait_is_named(self, site: SlurmSite) -> None:
        plugin = 'cp /etc/slurm/slurm.conf "$HOME/own.conf" && echo CliFilterPlugins=user_defaults >>"$HOME/own.conf"'
        config = site.run(USER, f'{plugin} && mkdir -p ~/.slurm && printf %s "$HOME/own.conf"').out
        site.driver = load("slurm", OPTIONS | {"config": config})
        lines = "sbatch:*:time=7-00\\nsalloc:*:wait=yes\\nsbatch:*:comment=own\\n"
        try:
            assert site.run(USER, f"printf '{lines}' >~/.slurm/defaults; chmod 644 ~/.slurm/defaults").status == 0
            batch = site.submit(BatchRequest("defaults", 1, 600))
            shown = site.run(USER, f"scontrol -o show job {batch.ids[1]}").out
            assert "TimeLimit=00:10:00" in shown
            assert "Comment=own" in shown  # the plugin is in force
            site.run(USER, "echo 'sbatch:*:wait=yes' >>~/.slurm/defaults")
            with pytest.raises(SubmissionRefused, match=r"with wait in ~/\.slurm/defaults"):
                site.submit(BatchRequest("waits", 1, 600))
        finally:
            site.run(USER, "rm -r ~/.slurm")
