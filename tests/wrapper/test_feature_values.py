"""What the portal tells jobs of Machine/Job Features is what the wrapper writes for them."""

import os
from dataclasses import replace

import pytest

from cigri.wrapper import JobSpec
from cigri.wrapper.feature_settings import FeatureSpec
from cigri.wrapper.feature_values import list_known_features

from .cluster import Cluster, task

WALLTIME = 3661
DECLARED = {"hs06": "100.5", "jobslots": "8", "hs06_job": "9.5", "max_swap_bytes": "5000", "shutdown_command": "off"}
PLANS = {
    "nothing said": FeatureSpec(),
    "much": FeatureSpec(4, 1, 4001, None, 90, 2500000000, DECLARED, True, 1.25),
    "revised": FeatureSpec(cpu=2, mem=3, scratch=7, grace=0),
    "no factor": FeatureSpec(cpu=2, mem=1, with_draft=True),
    "little": FeatureSpec(cpu=2, mem=1, with_draft=True, factor=0.333),
}
SHOW = """\
for place in "$MACHINEFEATURES" "$JOBFEATURES"; do
    for f in "$place"/*; do [ ! -f "$f" ] || echo "${place##*/} ${f##*/} $(cat "$f")"; done
done"""


@pytest.fixture(autouse=True)
def _no_batch_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SLURM_", "OAR_", "NSLOTS", "MACHINEFEATURES", "JOBFEATURES", "JOBSTATUS")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_portal_tells_what_the_wrapper_writes(cluster: Cluster, plan: FeatureSpec, side: int) -> None:
    """As far as the grid knows: what a node has, and a limit of the shell on processor time, only the wrapper does."""
    plan = replace(plan, cpu=plan.cpu * side)
    tasks = tuple(task(number, "sh", "-c", SHOW) for number in range(1, side + 1))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks, side=side)], features=plan))
    assert cluster.run().status == 0
    written: dict[str, dict[str, str]] = {}
    for line in cluster.out(1, 1).splitlines():
        place, key, value = line.split(" ", 2)
        written.setdefault(place.partition(".")[0], {})[key] = value
    known = list_known_features(plan, WALLTIME, side)
    assert known.machine == {key: written["machinefeatures"].get(key) for key in known.machine}
    assert known.job == {key: written["jobfeatures"].get(key) for key in known.job}
    measured = {"job_id", "jobstart_secs", "scratch_limit_bytes", "disk_limit_GB", "hs06_job", "max_rss_bytes"}
    assert written["jobfeatures"].keys() - known.job.keys() <= measured
