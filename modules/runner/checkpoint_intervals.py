"""How often the tasks of launches are asked to save their state, where their users leave that to the grid."""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from sqlalchemy import Connection

from cigri.estimates.checkpoint_interval import CheckpointCost, CheckpointInterval, choose_rhythm
from cigri.flow.launches import LaunchGroup
from cigri.flow.views.checkpoint_costs import CheckpointCosts, list_saving_figures
from cigri.jdl.checkpoint import CheckpointSettings
from cigri.states import JobKind


def with_rhythms(conn: Connection, cluster_id: int, launches: Sequence[LaunchGroup]) -> list[LaunchGroup]:
    """These launches, each with the rhythm that pays there, if one does."""
    before = {
        launch.campaign_id: checkpoint.before_walltime
        for launch in launches
        if (checkpoint := _checkpoint(launch)) is not None and checkpoint.period is None
    }
    figures = list_saving_figures(conn, cluster_id, before)
    return [launch._replace(rhythm=rhythm_of(launch, before, figures)) for launch in launches]


def rhythm_of(
    launch: LaunchGroup, before: Mapping[int, int], figures: Mapping[int, CheckpointCosts]
) -> CheckpointInterval | None:
    """By the campaigns' seconds `before` the walltime, and what is known of them there.

    Saving takes as long as it took, or as its user allows before the walltime where that is not known; who ends of the
    signal waits in the queue again.
    """
    if launch.kind is not JobKind.TASKS or launch.campaign_id not in before:
        return None
    most, known, (job, *_) = before[launch.campaign_id], figures[launch.campaign_id], launch.jobs
    cost = CheckpointCost(most) if known.seconds is None else CheckpointCost(known.seconds, known.delay)
    return choose_rhythm(known.hazard * job.width, cost, job.walltime - most)


def _checkpoint(launch: LaunchGroup) -> CheckpointSettings | None:
    """None also where it cannot be read: then the batch is refused when it is planned."""
    described = launch.settings.get("checkpoint")
    try:
        return None if described is None else CheckpointSettings.model_validate(described)
    except ValidationError:
        return None
