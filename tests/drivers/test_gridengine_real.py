"""The driver suite on the real Grid Engine cell of scripts/testbed, gamma."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cigri.drivers import BatchRequest, JobControl, RemoteJob, RemoteJobState, ResourceRequest, load
from cigri.errors import ArrayTooLarge, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.conformance import PREFIX, RIVAL, UNDISTURBED, USER, Batch, Conformance, Site, until
from tests.replies.record import Recorder

pytestmark = pytest.mark.cluster

TESTBED = Path(__file__).parents[2] / "scripts" / "testbed"
OPTIONS: dict[str, Any] = {
    "queue": "all.q",
    "besteffort_queue": "besteffort.q",
    "besteffort_properties": "besteffort=TRUE",
    "pe": "smp",
    "suspends": False,  # besteffort.q ends jobs instead
}
# Each process alone is below the limit.
GREEDY = """mkfifo "$1/fifo"
exec 3<>"$1/fifo"
for part in 1 2 3 4; do python3 -c 'x = bytearray(150_000_000); input()' <"$1/fifo" & done
wait
"""
SAYS = 'printf "%s|" "$NSLOTS" "$PE" "$QUEUE" "$TMPDIR" >"$1/said"; cigri_nodes >"$1/nodes"; ulimit -v >"$1/memory"\n'
# What of the variables in Grid Engine's man pages and programs does not lead to its qmaster.
STEERED = """
    GE_LONGNAME GE_SHORTNAME LANGUAGE MORE_INFO SGE_COMMLIB_DEBUG SGE_COMMLIB_DEBUG_NO_RESOLVE SGE_COMMLIB_DEBUG_RESOLVE
    SGE_DELAY_AFTER_SUBMIT SGE_ENABLE_COREDUMP SGE_ENABLE_MSG_ID SGE_JSV_TIMEOUT SGE_LOAD_AVG SGE_LONG_QNAMES
    SGE_QSTAT_ENV_DEBUG SGE_SINGLE_LINE SGE_TEST_HEARTBEAT_TIMEOUT SGE_TEST_SOCKET_BIND DRMAA_LIBRARY_PATH
"""
REQUESTS_OF_A_USER = (
    "-sync y -N private -h -q lowprio.q\n-V -l licence=2 -t 7-9 -hold_jid private -a 203001010000 -m bes -soft\n"
)
REQUESTS_OF_THE_SITE = "# The site's own.\n-sync y -P grid -q lowprio.q\n-N 'named' -soft -l arch='lx-amd64'\n"


@dataclass
class GridEngineSite(Site):
    def run(self, user: str, script: str) -> ShellResult:
        command = [str(TESTBED), "exec", "gamma", user, "sh", "-c", 'eval "$(cat)"']
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
        return ShellResult(done.returncode, done.stdout, done.stderr)

    def stop_controller(self) -> None:
        subprocess.run([str(TESTBED), "daemon", "gamma", "kill", "sge_qmaster"], check=True)

    def start_controller(self) -> None:
        """Alone, an execd would only look for its qmaster half a minute later."""
        subprocess.run([str(TESTBED), "daemon", "gamma", "stop", "sge_execd"], check=True)
        subprocess.run([str(TESTBED), "up", "gamma"], check=True, capture_output=True)


class SteeredSite(GridEngineSite):
    """The same cell, for an account whose start-up files export whatever Grid Engine's commands read."""

    def run(self, user: str, script: str) -> ShellResult:
        exports = " ".join(f"{name}=2" for name in STEERED.split())
        levels = 'SGE_DEBUG_LEVEL="2 0 0 0 0 0 0 0" SGE_DEBUG_TARGET=stderr LD_PRELOAD=/opt/gone.so'
        return super().run(user, f"export {exports} {levels}\n{script}")


def gridengine_site() -> GridEngineSite:
    known = "Grid Engine 8.1.9", "7777777.1", "unknown queue"
    return GridEngineSite(load("gridengine", OPTIONS), *known, nodes="gamma", condition="qstat -f -u '*'")


def recording_sites() -> Iterator[tuple[str, GridEngineSite]]:
    yield "", gridengine_site()


def record_more(recorder: Recorder) -> None:
    """Jobs in error, in deletion, begun anew, at their limits; refusals; queues that are suspended, disabled, lost."""
    site, driver = recorder.site, recorder.site.driver
    record_refusals(recorder)
    site.run(USER, f"qsub -b y -shell n -t 1-2 -N {PREFIX}-error -o /dev/null -j y -wd /nowhere true")
    greedy = site.submit(BatchRequest("greedy", 1, 60, ResourceRequest(mem=300), besteffort=False), GREEDY)
    until(lambda: any("state E" in job.reason for job in live(site)))
    recorder.keep("status-of-errors")
    until(lambda: not greedy.live())
    greedy.history()
    recorder.keep("history-of-a-greedy-job")
    two = site.submit(BatchRequest("two", 2, 600))
    two.until_seen(RemoteJobState.RUNNING)
    rival = site.submit(BatchRequest("rival2", 1, 600, ResourceRequest(cpu=2), besteffort=False), user=RIVAL)
    rival.until_seen(RemoteJobState.RUNNING)
    recorder.ask("capacity-suspended", USER, driver.capacity(""))
    rival.cancel([1])
    two.until_ended()
    site.run("root", "qmod -d besteffort.q")
    recorder.ask("capacity-disabled", USER, driver.capacity(""))
    site.run("root", "qmod -e besteffort.q")
    record_lost_node(recorder)
    site.run(USER, 'qdel -u "$(id -un)"')


def record_refusals(recorder: Recorder) -> None:
    site = recorder.site
    requests = {
        "submit-refused-impossible": BatchRequest("never", 2, 60, ResourceRequest(cpu=40)),
        "submit-refused-large": BatchRequest("large", 100_000, 60),
        "submit-refused-resource": BatchRequest("gpu", 2, 60, ResourceRequest(others={"gpu": 1})),
    }
    for point, request in requests.items():
        with suppress(SubmissionRefused):
            site.submit(request)
        recorder.keep(point)


def record_lost_node(recorder: Recorder) -> None:
    """The execd and all its jobs die at once, as with their node; and one job is in deletion meanwhile."""
    site = recorder.site
    lost = site.submit(BatchRequest("lost", 3, 600, besteffort=False), 'echo >>"$1/begun"\nsleep 300\n')
    until(lambda: lost.said("begun") == "\n\n\n")
    subprocess.run([str(TESTBED), "daemon", "gamma", "kill", "sge_execd"], check=True)
    site.run("root", f"kill -KILL $(pgrep -f 'sge_shepherd -bg|{PREFIX}-lost')")
    until(lambda: "'state_string'>u" in site.run(USER, site.driver.capacity("")).out)
    recorder.keep("capacity-lost")
    lost.cancel([1])
    lost.live()
    recorder.keep("status-of-deleted-jobs")
    subprocess.run([str(TESTBED), "up", "gamma"], check=True, capture_output=True)
    until(lambda: not lost.live())
    lost.history()
    recorder.keep("history-of-a-lost-node")


@contextmanager
def files_of_defaults(site: Site) -> Iterator[None]:
    """What a user and the site may write down for qsub and qstat."""
    common = '"$SGE_ROOT/$SGE_CELL/common"'
    display, aliases = "-ext -urg -pri -r -u * -s r\n", "/home/ * * /nowhere/\n"
    files = {"sge_request": REQUESTS_OF_A_USER, "sge_qstat": display, "sge_aliases": aliases}
    for name, text in files.items():
        assert site.run(USER, f"printf %s {shlex.quote(text)} >~/.{name}").status == 0
    for name, text in (("sge_request", REQUESTS_OF_THE_SITE), ("sge_qstat", "-u *\n")):
        assert site.run("root", f"printf %s {shlex.quote(text)} >{common}/{name}").status == 0
    try:
        yield
    finally:
        site.run(USER, "rm -f ~/.sge_request ~/.sge_qstat ~/.sge_aliases")
        site.run("root", f"rm -f {common}/sge_request {common}/sge_qstat")


def live(site: Site) -> list[RemoteJob]:
    return site.driver.parse_status(site.run(USER, site.driver.status(PREFIX)), PREFIX)


@pytest.fixture(scope="session")
def begun(gamma_up: None) -> Iterator[tuple[GridEngineSite, Batch]]:
    site = gridengine_site()
    yield site, site.submit(BatchRequest("overtime", 1, 2, notice=0, besteffort=False), user=UNDISTURBED)
    for user in (USER, RIVAL):
        site.run(user, 'qdel -u "$(id -un)"')


@pytest.fixture
def site(begun: tuple[GridEngineSite, Batch]) -> GridEngineSite:
    return replace(begun[0])


@pytest.fixture
def overtime(begun: tuple[GridEngineSite, Batch]) -> Batch:
    return begun[1]


class TestGridEngine(Conformance):
    def test_its_host_is_told_as_it_is(self, site: Site) -> None:
        [told] = [one for one in site.driver.parse_nodes(site.run(USER, site.driver.nodes())) if one.queue == "all.q"]
        total = site.run(USER, "sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo").out
        [licences] = re.findall(r"licence=(\d+)", site.run(USER, "qconf -se gamma").out)
        assert told.properties["memory"] == pytest.approx(int(total) * 1024, rel=0.01)
        assert (told.properties["licence"], told.properties["platform"]) == (int(licences), "lx-amd64")
        assert told.nodes == 1

    def test_the_walltime_is_kept_with_notice(self, site: Site, overtime: Batch) -> None:
        """Grid Engine lets 90 s pass between a notice and the end, however few were asked for: so one has no notice."""
        [job] = overtime.until_ended().values()
        assert job.state == RemoteJobState.TIMEOUT
        noticed = site.submit(BatchRequest("noticed", 1, 60, notice=58))
        until(lambda: noticed.said("warned") == "warned\n")
        assert [job.state for job in noticed.live().values()] == [RemoteJobState.RUNNING]
        noticed.cancel([1])

    def test_a_job_that_ends_by_the_notice_has_exceeded_its_walltime(self, site: Site) -> None:
        batch = site.submit(BatchRequest("simple", 1, 60, notice=59), "trap - USR1\nsleep 60\n")
        assert batch.until_ended()[1].state == RemoteJobState.TIMEOUT

    def test_a_job_over_its_memory_is_told_from_one_over_its_time(self, site: Site) -> None:
        batch = site.submit(BatchRequest("greedy", 1, 60, ResourceRequest(mem=300)), GREEDY)
        assert batch.until_ended()[1].state == RemoteJobState.OUT_OF_MEMORY

    def test_no_exit_status_makes_grid_engine_begin_a_job_anew_or_keep_it_in_error(self, site: Site) -> None:
        batch = site.submit(BatchRequest("odd", 3, 60), 'echo >>"$1/begun"; exit $((97 + CIGRI_INDEX))\n')
        assert {job.exit_code for job in batch.until_ended().values()} == {98, 1}
        assert batch.said("begun") == "\n\n\n"

    def test_every_option_and_resource_is_one_that_qsub_knows(self, site: GridEngineSite) -> None:
        wish = ResourceRequest(cpu=2, mem=1001, others={"licence": 1, "none": 0})
        site.driver = load("gridengine", OPTIONS | {"project": "grid", "priority": -7, "properties": "arch=lx*"})
        own = ("--priority=-100", "--soft=mem_free=998G", "--reserve=y", "--job-share=3")
        properties = "-l hostname=gam*,mem_total=1G -soft -l mem_free=999G"
        batch = site.submit(
            BatchRequest("wishes", 1, 5400, wish, besteffort=False, properties=properties, backend=own), SAYS
        )
        shown = " ".join(site.run(USER, f"qstat -j {batch.ids[1].partition('.')[0]}").out.split())
        assert batch.until_ended()[1].exit_code == 0
        assert batch.said("said").startswith("2|smp|all.q|/tmp/")
        assert (batch.said("nodes"), batch.said("memory")) == ("gamma\n", f"{2 * 501 * 1024}\n")
        for fact in ("project: grid", "priority: -100", "hard_queue_list: all.q", "soft resource_list: mem_free=998G"):
            assert fact in shown
        assert "reserve: y" in shown
        assert "jobshare: 3" in shown

    def test_sizes_have_the_unit_of_the_complex_that_the_site_names(self, site: GridEngineSite) -> None:
        site.driver = load("gridengine", OPTIONS | {"memory": "h_fsize", "disk": "scratch"})
        batch = site.submit(BatchRequest("units", 1, 60, ResourceRequest(mem=10, tmp=50), besteffort=False), "exit 0\n")
        shown = site.run(USER, f"qstat -j {batch.ids[1].partition('.')[0]}").out
        assert "h_fsize=10M" in shown
        assert re.search(r"scratch=50(,|$)", shown, re.MULTILINE)
        assert batch.until_ended()[1].exit_code == 0

    def test_a_host_is_left_out_of_those_that_a_user_names(self, site: Site) -> None:
        request = BatchRequest("hosts", 1, 60, properties="arch=lx*,h=gam*|other", exclude=("other", "third"))
        assert site.submit(request, "exit 0\n").until_ended()[1].exit_code == 0
        with pytest.raises(SubmissionRefused, match="no suitable queues"):
            site.submit(replace(request, tag="no-hosts", exclude=("other", "gamma")))

    def test_what_can_never_start_is_refused(self, site: Site) -> None:
        wishes = [ResourceRequest(cpu=40), ResourceRequest(others={"licence": 99}), ResourceRequest(others={"gpu": 1})]
        for wish in wishes:
            with pytest.raises(SubmissionRefused, match=r"Unable to run job: .*(no suitable queues|unknown resource)"):
                site.submit(BatchRequest("never", 2, 60, wish))

    def test_an_array_that_is_too_large_is_refused_with_the_limit(self, site: Site) -> None:
        with pytest.raises(ArrayTooLarge) as refused:
            site.submit(BatchRequest("large", 100_000, 60))
        assert refused.value.largest == 75_000

    def test_normal_jobs_are_suspended_and_resumed(self, site: Site) -> None:
        site.driver = load("gridengine", {"queue": "all.q"})
        batch = site.submit(BatchRequest("pausing", 1, 60, besteffort=False))
        batch.until_seen(RemoteJobState.RUNNING)
        for verb, state in (
            (JobControl.SUSPEND, RemoteJobState.SUSPENDED),
            (JobControl.RESUME, RemoteJobState.RUNNING),
        ):
            site.control(verb, [*batch.ids.values(), site.unknown_id])
            batch.until_seen(state)
        batch.cancel([1])

    def test_a_digit_may_begin_a_tag(self, site: Site) -> None:
        driver = site.driver
        request = BatchRequest("7-a.b", 1, 60)
        ids = driver.parse_submit(site.run(USER, driver.submit(request)), request)
        try:
            [job] = until(lambda: driver.parse_history(site.run(USER, driver.history([("7-a.b", 1, "")]))))
            assert (job.tag, job.remote_id) == ("7-a.b", ids[1])
        finally:
            driver.parse_cancel(site.run(USER, driver.cancel([ids[1]])))

    def test_no_variable_or_file_of_a_user_steers_grid_engines_commands(self, site: GridEngineSite) -> None:
        driver = site.driver
        steered = SteeredSite(driver, site.version, site.unknown_id, site.refusal, nodes=site.nodes)
        others = site.submit(BatchRequest("others", 1, 600), user=RIVAL)
        with files_of_defaults(site):
            assert driver.parse_probe(steered.run(USER, driver.probe())) == site.version
            assert driver.parse_capacity(steered.run(USER, driver.capacity(""))).total == 16
            assert driver.parse_nodes(steered.run(USER, driver.nodes()))
            with pytest.raises(SubmissionRefused, match=site.refusal):
                steered.submit(BatchRequest("nowhere", 1, 60, besteffort=False, queue="nowhere"))
            batch = steered.submit(BatchRequest("steered", 40, 600), "[ $CIGRI_INDEX = 1 ] || sleep 600\n")
            site.batches.append(batch)
            shown = " ".join(site.run(USER, f"qstat -j {batch.ids[1].partition('.')[0]}").out.split())
            for fact in ("project: grid", "hard_queue_list: besteffort.q", "soft resource_list: arch=lx-amd64"):
                assert f"{fact} " in shown
            for word in ("licence", "named", "private", "hold_jid", "mail_options", "execution_time", "2030"):
                assert word not in shown
            batch.site = steered
            until(lambda: batch.live().keys() == batch.ids.keys() - {1})
            assert batch.live()[40].state == RemoteJobState.WAITING
            assert {job.tag for job in live(steered)} == {batch.request.tag}
            for verb, state in ((JobControl.HOLD, RemoteJobState.HELD), (JobControl.RELEASE, RemoteJobState.WAITING)):
                steered.control(verb, [batch.ids[40]])
                until(lambda state=state: batch.live()[40].state == state)  # type: ignore[misc]
            batch.cancel(list(range(2, 41)))
            assert batch.until_ended()[1].state == RemoteJobState.SUCCEEDED
        others.cancel([1])

    @pytest.mark.parametrize("file", ["~/.sge_qstat", "$SGE_ROOT/$SGE_CELL/common/sge_qstat"])
    def test_a_file_by_which_qstat_hides_jobs_is_named_and_nothing_concluded(self, site: Site, file: str) -> None:
        batch = site.submit(BatchRequest("hidden", 1, 600))
        try:
            for options in ("-ext\n-qs d", "-l arch=none", "-f -ne"):
                assert site.run("root" if "ROOT" in file else USER, f"echo '{options}' >{file}").status == 0
                for question in (batch.live, batch.history):
                    with pytest.raises(UnreadableOutput, match=r"sge_qstat: with -\w+ qstat may hide jobs"):
                        question()
        finally:
            site.run("root", f"rm {file.replace('~', '/home/alice')}")
