"""A campaign that a user described, as it is handed over."""

from typing import TYPE_CHECKING

from cigri.flow.dependencies import RequiredCampaign
from cigri.flow.submissions import NewCampaign, NewCampaignCluster
from cigri.states import CampaignType

if TYPE_CHECKING:
    from cigri.jdl import CampaignDescription, ClusterSettings


def new_campaign(description: "CampaignDescription", user: str) -> NewCampaign:
    """The campaign as the tables take it, without tasks: their parameters follow one by one."""
    replicate = description.replicate
    return NewCampaign(
        description.name,
        user,
        CampaignType(description.campaign_type),
        description.project,
        description.scheduler,
        {},
        {name: _part(settings) for name, settings in description.clusters.items()},
        replicate.budget if replicate else None,
        replicate.max_replicas if replicate else None,
        description.requirements,
        {name: _part(settings) for name, settings in description.spare.items()} if description.anywhere else None,
        description.priority,
        description.written,
        description.notify,
    )


def wanted_before(description: "CampaignDescription") -> list[RequiredCampaign]:
    """What it is to wait for."""
    return [
        RequiredCampaign(each.campaign, each.tasks == "same", each.when, each.tolerance.tasks, each.tolerance.share)
        for each in description.after
    ]


def _part(settings: "ClusterSettings") -> NewCampaignCluster:
    return NewCampaignCluster(
        settings.model_dump(mode="json"),
        settings.resources.width,
        settings.max_jobs,
        bool(settings.prologue),
        bool(settings.epilogue),
        settings.limits,
    )
