"""Record what a real Slurm says: python -m tests.replies.record_slurm, as root; the testbed forgets all its jobs."""

import subprocess
from pathlib import Path

from cigri.drivers import BatchRequest, Driver, RemoteState, ResourceRequest, load
from cigri.remote import Answer
from tests.drivers.conformance import RIVAL, USER, until
from tests.drivers.test_slurm_real import OPTIONS, TESTBED, SlurmSite

VERSION = "22.05.8"
FOLDER = Path(__file__).parent / "slurm"
ENDS = "#!/bin/sh\ncase $SLURM_ARRAY_TASK_ID in 1) exit ;; 2) exit 3 ;; 3) kill -9 $$ ;; esac\nsleep 300\n"


def keep(name: str, answer: Answer) -> Answer:
    """One file: the exit status, standard output, standard error."""
    text = f"exit status {answer.status}\n== out ==\n{answer.out}== err ==\n{answer.err}"
    (FOLDER / f"{VERSION}-{name}.txt").write_text(text)
    return answer


def submit(site: SlurmSite, tag: str, size: int, job: str = ENDS, **wishes: object) -> Answer:
    request = BatchRequest(tag, size, 600, **wishes)  # type: ignore[arg-type]
    return site.run(USER, f"printf %s '{job}' >job\n{site.driver.submit(request)}")


def states(site: SlurmSite, tag: str) -> set[RemoteState]:
    driver = site.driver
    return {job.state for job in driver.parse_history(site.run(USER, driver.history([(tag, 1, "")])))}


def record_life(site: SlurmSite) -> None:
    """An array from its submission to what is remembered of it, beside a job with a nasty name."""
    driver, name, tag = site.driver, site.name, "cigri-7-1"
    nasty = "sbatch -o /dev/null --job-name='a|cigri\nline' --wrap 'sleep 300'"
    site.run(USER, nasty)
    keep(f"status-none-of-ours-{name}", site.run(USER, driver.status("cigri-")))
    answer = keep(f"submit-{name}", submit(site, tag, 30))
    ids = driver.parse_submit(answer, BatchRequest(tag, 30, 600))
    wanted = {RemoteState.SUCCEEDED, RemoteState.FAILED, RemoteState.RUNNING, RemoteState.WAITING}
    until(lambda: states(site, tag) == wanted)
    site.run(USER, f"scontrol hold {ids[30]} && scontrol hold {ids[28]}")
    keep(f"status-{name}", site.run(USER, driver.status("cigri-")))
    keep(f"cancel-{name}", site.run(USER, driver.cancel([ids[4], ids[5], ids[30]])))
    until(lambda: RemoteState.KILLED in states(site, tag))
    asked = driver.history([(tag, index, ids[index]) for index in ids])
    if name == "beta":  # slurmdbd hears of it a little later
        until(lambda: site.run(USER, asked).out.count("CANCELLED by") == 3)
    keep(f"history-{name}", site.run(USER, asked))
    keep(f"cancel-denied-{name}", site.run(RIVAL, driver.cancel([ids[6]])))
    site.run(USER, 'scancel -u "$(id -u)"')


def record_refusals(site: SlurmSite) -> None:
    driver, name = site.driver, site.name
    keep(f"submit-unknown-partition-{name}", submit(site, "cigri-7-2", 3, queue="nowhere"))
    too_much = ResourceRequest(mem=10_000_000)
    keep(f"submit-too-much-memory-{name}", submit(site, "cigri-7-3", 3, resources=too_much))
    rows = 2 if name == "beta" else 1
    asked = driver.history([("cigri-7-3", 1, "")])
    until(lambda: site.run(USER, asked).out.count("FAILED") == rows)
    keep(f"history-of-a-refused-array-{name}", site.run(USER, asked))
    keep(f"history-never-{name}", site.run(USER, driver.history([("cigri-0-0", 1, "7777777_1")])))


def record_answers_about_the_cluster(site: SlurmSite) -> None:
    driver, name = site.driver, site.name
    keep(f"capacity-{name}", site.run(USER, driver.capacity("")))
    keep(f"capacity-unknown-partition-{name}", site.run(USER, driver.capacity("nowhere")))
    keep(f"probe-{name}", site.run(USER, driver.probe()))


def record_silence(site: SlurmSite) -> None:
    """The same questions to a dead controller."""
    driver, name = site.driver, site.name
    site.stop_controller()
    keep(f"down-submit-{name}", submit(site, "cigri-7-4", 3))
    keep(f"down-status-{name}", site.run(USER, driver.status("cigri-")))
    keep(f"down-history-{name}", site.run(USER, driver.history([("cigri-7-1", 1, "1_1")])))
    keep(f"down-cancel-{name}", site.run(USER, driver.cancel(["1_1"])))
    keep(f"down-capacity-{name}", site.run(USER, driver.capacity("")))
    keep(f"down-probe-{name}", site.run(USER, driver.probe()))
    site.start_controller()


def main() -> None:
    subprocess.run([str(TESTBED), "down", "--purge"], check=True)
    subprocess.run([str(TESTBED), "up"], check=True)
    driver: Driver = load("slurm", OPTIONS)
    alpha, beta = (SlurmSite(driver, VERSION, "", "", name) for name in ("alpha", "beta"))
    for site in (alpha, beta):
        record_life(site)
        record_refusals(site)
    record_answers_about_the_cluster(alpha)
    record_silence(alpha)
    subprocess.run([str(TESTBED), "daemon", "beta", "stop", "slurmdbd"], check=True)
    keep("dbd-down-history-beta", beta.run(USER, driver.history([("cigri-7-1", 1, "1_1")])))
    beta.start_controller()


if __name__ == "__main__":
    main()
