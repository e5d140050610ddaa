"""Simulated clusters have what campaigns take along: the way of their files is not simulated."""

from collections.abc import Mapping

from cigri.flow.submissions import NewCampaign, NewCampaignCluster

ClustersByName = Mapping[str, NewCampaignCluster]


def without_inputs(campaign: NewCampaign) -> NewCampaign:
    """The same, of which nothing has to be anywhere before its tasks start."""
    anywhere = _light(campaign.anywhere) if campaign.anywhere else campaign.anywhere
    return campaign._replace(clusters=_light(campaign.clusters), anywhere=anywhere)


def _light(parts: ClustersByName) -> ClustersByName:
    return {
        name: part._replace(settings={**part.settings, "inputs": [], "task_inputs": None})
        for name, part in parts.items()
    }
