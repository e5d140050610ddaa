"""The local users of a real cluster: they submit the jobs of a load, each at its second."""

import re
import time
from collections.abc import Sequence
from threading import Event
from typing import NamedTuple

from modules.laboratory.load import LocalJob
from tests.bench.slurm import testbed

USER = "bob"
SUBMIT = {
    "alpha": "sbatch --parsable -p normal -N 1 -n 1 -c {cores} -t {minutes} -o /dev/null -J local --wrap '{command}'",
    "delta": "oarsub -l /nodes=1/core={cores},walltime=0:{minutes}:0 -n local -O /dev/null -E /dev/null '{command}'",
}
CANCEL = {"alpha": "scancel {ids}", "delta": "oardel {ids}"}
NUMBER = re.compile(r"^(?:OAR_JOB_ID=)?(\d+)$", re.MULTILINE)


class Begun(NamedTuple):
    """Seconds of the clock; None: it did not start, or did not end."""

    number: int
    submitted: float
    begun: float | None
    ended: float | None


class LocalUsers:
    """`directory`, below the user's home, gets the times at which jobs begin and end."""

    def __init__(self, cluster: str, directory: str, jobs: Sequence[LocalJob]) -> None:
        self.cluster, self.directory, self.jobs = cluster, directory, jobs
        self.submitted: dict[int, float] = {}
        self._ids: list[str] = []

    def live(self, since: float, over: Event) -> None:
        """Submit each job at its second after `since`, until it is over."""
        self._run(f"mkdir -p {self.directory}")
        for number, job in enumerate(self.jobs):
            if over.wait(max(0.0, since + job.submitted - time.time())):
                return
            self._ids += NUMBER.findall(self._run(self._submission(number, job)))
            self.submitted[number] = time.time()  # the batch system knows of it

    def begun(self) -> list[Begun]:
        """What became of those submitted."""
        lines = self._run(f"cd {self.directory} && grep . *").splitlines()
        times = {name: float(at) for name, _, at in (line.partition(":") for line in lines)}
        return [
            Begun(number, at, times.get(f"{number}.begin"), times.get(f"{number}.end"))
            for number, at in self.submitted.items()
        ]

    def leave(self) -> None:
        """Nothing of theirs stays."""
        cancel = CANCEL[self.cluster].format(ids=" ".join(self._ids))
        self._run(f"{cancel} >/dev/null 2>&1; until rm -rf {self.directory}; do sleep 1; done")

    def _submission(self, number: int, job: LocalJob) -> str:
        at = f"date +%s.%N >$HOME/{self.directory}/{number}"
        command = f"{at}.begin; sleep {job.seconds:.2f}; {at}.end"
        return SUBMIT[self.cluster].format(cores=job.cores, minutes=int(job.walltime // 60) + 2, command=command)

    def _run(self, script: str) -> str:
        done = testbed("exec", self.cluster, USER, "sh", "-c", script)
        if done.returncode != 0:
            raise RuntimeError(f"{USER} on {self.cluster}: {script}: {done.stderr}{done.stdout}")
        return done.stdout
