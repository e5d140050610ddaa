"""What the batch systems of the testbed remember, and how they come back with the state of a while ago."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.grid import TESTBED, Site, until

STATE = Path(os.environ.get("CIGRI_TESTBED", "/var/lib/cigri-testbed"))

# a slurmctld that was killed gives job ids anew, and a node on which the old ones still run is drained for its operator
RESUME = "sinfo -h -N -t drain -o %N | sort -u | xargs -r -I NODE scontrol update NodeName=NODE State=RESUME"

# what OAR was about to launch when it was killed it believes to be launching for ever
UNSTICK = "oardel --sql \"state = 'Launching' AND start_time < extract(epoch FROM now()) - 30\" >/dev/null 2>&1 || true"

# without cpusets OAR suspects a node as soon as it cannot find a job there that is to die, until its operator says more
ALIVE = "oarnodesetting --sql \"state = 'Suspected'\" -s Alive >/dev/null 2>&1 || true"

REPAIRS = {  # what operators do after such failures; an execd that dies while it starts a job leaves its queue in error
    "alpha": f"{RESUME} || true",
    "beta": f"{RESUME} || true",
    "gamma": "qmod -cq '*' >/dev/null || true",
    "delta": f"{ALIVE}; {UNSTICK}",
}


class Memory(NamedTuple):
    """A directory with all that a batch system remembers, and the daemons that write there, as they are stopped."""

    directory: Path
    daemons: tuple[str, ...]

    @property
    def copy(self) -> Path:
        return self.directory.with_name(f"{self.directory.name}.older")


MEMORIES: Mapping[str, Memory] = {
    "alpha": Memory(STATE / "alpha" / "state", ("slurmctld",)),
    "beta": Memory(STATE / "beta" / "state", ("slurmctld",)),
    "gamma": Memory(STATE / "gamma" / "sge" / "spool", ("sge_qmaster",)),
    "delta": Memory(STATE / "delta" / "db", ("almighty", "postgres")),
}


def repair(site: Site) -> None:
    """As its operator does."""
    site.sh(REPAIRS[site.name], user="root")


def is_repaired(site: Site) -> bool:
    """Has every node of a Slurm been given back? It drains one some time after it was told that old jobs run there."""
    repair(site)
    return site.name not in ("alpha", "beta") or set(site.sh("sinfo -h -o %T", user="root").split()) == {"idle"}


def remember(site: Site) -> None:
    """Copy the directory while nobody writes there."""
    memory = MEMORIES[site.name]
    for daemon in memory.daemons:
        site.daemon("stop", daemon)
    forget_copy(site)
    subprocess.run(["cp", "-a", str(memory.directory), str(memory.copy)], check=True)
    come_back(site)


def fall_back(site: Site) -> None:
    """Kill the daemons with all that they have started, and bring them back with the copy."""
    memory = MEMORIES[site.name]
    doomed = [pid for daemon in memory.daemons for pid in family(pid_of(site, daemon))]
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in doomed))
    subprocess.run(["rm", "-rf", str(memory.directory)], check=True)
    subprocess.run(["mv", str(memory.copy), str(memory.directory)], check=True)
    come_back(site)


def forget_copy(site: Site) -> None:
    subprocess.run(["rm", "-rf", str(MEMORIES[site.name].copy)], check=True)


def come_back(site: Site) -> None:
    """Start what is not there. All of Grid Engine: an execd would look for its qmaster half a minute later only.

    Slurm is there as soon as it answers: a node with jobs that it has forgotten it drains.
    """
    if site.name in ("alpha", "beta"):
        site.daemon("start", "slurmctld")
        until(lambda: " is UP" in site.sh("scontrol ping || true", user="root"), what="slurmctld answers")
        return
    if site.name == "gamma":
        site.daemon("stop", "sge_execd")
    done = subprocess.run([str(TESTBED), "up", site.name], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def pid_of(site: Site, daemon: str) -> int:
    listed = subprocess.run([str(TESTBED), "daemon", site.name, "list"], capture_output=True, text=True, check=True)
    return int(dict(line.split() for line in listed.stdout.splitlines())[daemon])


def family(pid: int) -> list[int]:
    """A process and all below it; some hold the ports of their ancestor."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    members = [pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members
