"""What the jobs of each offer may carry; pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from cigri.flow.offers import TakenOffer
from cigri.flow.views.job_sizing import SharePace
from cigri.states import CampaignType
from modules.campaign_schedulers.jobs.grouping import OfferedRoom, Size, size

Paces = Mapping[tuple[int, int], SharePace]
Sizes = Mapping[tuple[int, int], Size]
"""What a job may carry, by campaign and cluster."""


def sizes_of(offers: Sequence[TakenOffer], paces: Paces, target: float) -> Sizes:
    """How many tasks a job of each offer takes; a test campaign tries every cluster with one task."""
    wanted = [offer for offer in offers if offer.type is not CampaignType.TEST]
    places = Counter({key: pace.live for key, pace in paces.items()})
    places.update({(offer.campaign_id, offer.cluster_id): offer.jobs for offer in wanted})
    everywhere: Counter[int] = Counter()
    for (campaign_id, _), jobs in places.items():
        everywhere[campaign_id] += jobs
    carried: Counter[int] = Counter()
    for pace in paces.values():
        carried[pace.campaign_id] += pace.carried
    sizes = {}
    for offer in wanted:
        key = offer.campaign_id, offer.cluster_id
        campaign_id = offer.campaign_id
        at_once = min(offer.jobs, offer.at_once)
        room = OfferedRoom(
            offer.jobs, places[key], everywhere[campaign_id], offer.walltime, carried[campaign_id], at_once
        )
        sizes[key] = size(paces[key], room, target)
    return sizes


def limited(offer: TakenOffer, sizes: Sizes) -> TakenOffer:
    """No more jobs than `Size.jobs` says; one that runs tasks side by side counts for as many."""
    size = sizes.get((offer.campaign_id, offer.cluster_id), Size())
    return offer if size.jobs is None else offer._replace(jobs=min(offer.jobs, size.jobs * size.side))
