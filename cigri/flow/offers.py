"""Offers: what a campaign may use of a cluster in this cycle.
Given by: metascheduler; taken by: campaign schedulers.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, delete, func, insert, select

from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.flow.views.job_destinations import is_share_held
from cigri.states import CampaignState, CampaignType
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.sharing import Offer as OfferRow

ALMOST_A_JOB = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999


class NewOffer(NamedTuple):
    """Cores of a cluster that a campaign may use in this cycle, with at most `jobs` jobs; rank 0 goes first.

    `at_once` of the jobs can start at once; of all campaigns' jobs that ask for the same at most `most_queued` may wait
    for cores there, beside the `starting` ones that waited for cores that are free.
    """

    campaign_id: int
    cluster_id: int
    cores: int
    jobs: int
    rank: int
    at_once: int = LARGEST_INTEGER
    most_queued: int = LARGEST_INTEGER
    starting: int = 0


class ClaimedOffer(NamedTuple):
    """As forecast, `startable` jobs start at once. `replica_budget`, `max_replicas` None: no task is replicated.

    `at_once`, `most_queued`, `starting`: those of the offer. `asked`: by the settings of the campaign there.
    `have_inputs`: only tasks whose own inputs are there may run there.
    """

    campaign_id: int
    cluster_id: int
    jobs: int
    width: int
    walltime: int
    scheduler: str
    type: CampaignType
    startable: int | None = None
    replica_budget: float | None = None
    max_replicas: int | None = None
    at_once: int = LARGEST_INTEGER
    most_queued: int = LARGEST_INTEGER
    starting: int = 0
    asked: int = 0
    have_inputs: bool = False


def put_offers(conn: Connection, offers: Sequence[NewOffer]) -> None:
    """Replace all offers of the last cycle."""
    conn.execute(delete(OfferRow))
    if offers:
        conn.execute(insert(OfferRow).values(at=func.now()), [offer._asdict() for offer in offers])


def take_offers(conn: Connection) -> list[ClaimedOffer]:
    """Every offer, the first in rank first; an offer is taken once."""
    row = OfferRow.c
    limits = (row.at_once, row.most_queued, row.starting)
    taken = conn.execute(delete(OfferRow).returning(row.campaign_id, row.cluster_id, row.jobs, row.rank, *limits))
    offers = {(row.campaign_id, row.cluster_id): row for row in taken}
    if not offers:
        return []
    part = CampaignCluster
    shares = conn.execute(
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.settings["walltime"].as_integer().label("walltime"),
            Campaign.c.scheduler,
            Campaign.c.type,
            cast(func.floor(Forecast.c.ratio * Forecast.c.free + ALMOST_A_JOB), BigInteger).label("startable"),
            Campaign.c.replica_budget,
            Campaign.c.max_replicas,
            part.c.asked,
            Campaign.c.tasks_have_inputs,
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .where(part.c.campaign_id.in_({campaign_id for campaign_id, _ in offers}))
        .where(Campaign.c.state == CampaignState.IN_TREATMENT, ~is_share_held(part.c.campaign_id, part.c.cluster_id))
        .with_for_update(read=True, of=Campaign, skip_locked=True)  # nobody cancels it while its jobs are made
    )
    offered = [(offers[key], row) for row in shares if (key := (row.campaign_id, row.cluster_id)) in offers]
    offered.sort(key=lambda pair: pair[0].rank)
    return [
        ClaimedOffer(
            campaign_id=share.campaign_id,
            cluster_id=share.cluster_id,
            jobs=offer.jobs,
            width=share.width,
            walltime=share.walltime,
            scheduler=share.scheduler,
            type=share.type,
            startable=share.startable,
            replica_budget=share.replica_budget,
            max_replicas=share.max_replicas,
            at_once=offer.at_once,
            most_queued=offer.most_queued,
            starting=offer.starting,
            asked=share.asked,
            have_inputs=share.tasks_have_inputs,
        )
        for offer, share in offered
    ]
