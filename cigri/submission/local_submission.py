"""gridsub --local: the campaign on the cluster that is this host, whatever clusters it names.

What its jobs ask for is mapped to pools here; where that cannot be done a job takes every core and runs alone.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cigri.errors import DescriptionProblem
from cigri.submission.feedback import SubmissionFeedback

if TYPE_CHECKING:
    from cigri.jdl import CampaignDescription, JobResources
    from cigri.settings.cluster_config import ClusterConfig

USUAL_NAME = "localhost"
SPECIAL = ("queue", "properties", "types", "backend")
"""Settings in the words of some batch system, which this host has not."""


def on_local(
    description: "CampaignDescription", clusters: "Mapping[str, ClusterConfig]", remarks: SubmissionFeedback
) -> "CampaignDescription":
    """With the settings for that cluster, or else with those for any or the first."""
    from cigri.drivers import load
    from cigri.jdl.writing import on_cluster_alone

    here = sorted(cluster for cluster, config in clusters.items() if config.in_use.driver == "local")
    if not here:
        remarks.problems.append(
            DescriptionProblem("--local", "no cluster is this host", "see `cigri cluster add --help`")
        )
        return description
    place = USUAL_NAME if USUAL_NAME in here else here[0]
    pools = load("local", clusters[place].in_use.options).largest()
    settings = description.clusters.get(place) or description.anywhere or next(iter(description.clusters.values()))
    wanted = ["requirements"] if description.requirements is not None else []
    wanted += [field for field in SPECIAL if getattr(settings, field)]
    mapped, lacking = mapped_resources(settings.resources, pools, is_alone=bool(wanted))
    if wanted or lacking:
        remarks.notes.append(f"on {place} each job runs alone: it has no {', '.join([*wanted, *lacking])} like that")
    change = {**dict.fromkeys(SPECIAL[:2], ""), **dict.fromkeys(SPECIAL[2:], ()), "resources": mapped}
    change["type"] = "normal" if settings.type == "normal" else "best-effort"
    local = settings.model_copy(update=change)
    written = on_cluster_alone({"name": description.name, **description.written}, place, local)
    placed = replace(description, clusters={place: local}, spare={}, anywhere=None, requirements=None)
    return replace(placed, is_unplaced=False, written=written)


def mapped_resources(
    asked: "JobResources", pools: Mapping[str, int], *, is_alone: bool
) -> tuple["JobResources", list[str]]:
    """What these pools can give of it, and what they cannot; what tasks compute is kept where there is a pool."""
    from cigri.jdl import JobResources

    amounts: dict[str, int | str] = {}
    lacking = ["resources in OAR's words"] if asked.native else []
    for name, amount in asked.amounts.items():
        times = asked.nodes if name in ("mem", "tmp") else 1
        if name not in pools or (isinstance(amount, int) and times * amount > pools[name]):
            lacking.append(name)
        if name in pools:
            amounts[name] = min(times * amount, pools[name]) if isinstance(amount, int) else amount
    if asked.width > pools["cpu"]:
        lacking.append("cpu")
    cpu = pools["cpu"] if is_alone or lacking else asked.width
    return JobResources.model_validate({"cpu": cpu, **amounts}), lacking
