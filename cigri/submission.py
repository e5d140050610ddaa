"""A campaign that a user described, as it is handed over."""

from typing import TYPE_CHECKING

from cigri.errors import CigriError
from cigri.flow.user_to_metascheduler import NewCampaign, NewCampaignCluster
from cigri.states import CampaignType

if TYPE_CHECKING:
    from cigri.jdl import Description


def new_campaign(description: "Description", user: str) -> NewCampaign:
    """All but the parameters of the tasks; raise CigriError for what cannot be obeyed."""
    if description.requirements is not None or description.anywhere is not None:
        raise CigriError("choosing clusters by requirements is not supported yet: name them, and require nothing")
    parts = {
        name: NewCampaignCluster(
            settings.model_dump(mode="json"),
            settings.resources.width,
            settings.max_jobs,
            bool(settings.prologue),
            bool(settings.epilogue),
            settings.limits,
        )
        for name, settings in description.clusters.items()
    }
    kind = CampaignType(description.campaign_type)
    about = (description.name, user, kind, description.project, description.scheduler)
    replicate = description.replicate
    if replicate is None:
        return NewCampaign(*about, {}, parts)
    return NewCampaign(*about, {}, parts, replicate.budget, replicate.max_replicas)
