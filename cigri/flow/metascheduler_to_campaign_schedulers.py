"""The metascheduler reads what campaigns want and makes offers; campaign schedulers take them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, delete, func, insert, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from cigri.database import clock
from cigri.states import CampaignState, CampaignType
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.grid import Project
from cigri.tables.policy import Offer as OfferRow

LARGEST = 2**31 - 1
ALMOST = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999
SENDINGS = 200  # latest batches, from which the time of a submission is taken


class Claim(NamedTuple):
    """A campaign that wants some clusters, and has got nothing for `waited` seconds.

    `eta`: its forecast end, as it is published; `pressure`: seconds of the critical path to it. `own_priority`: among
    the campaigns of its user only.
    """

    campaign_id: int
    type: CampaignType
    user: str
    project: str
    priority: int
    waited: float
    eta: datetime | None
    pressure: float
    clusters: tuple[int, ...] = ()
    own_priority: int = 0


class Want(NamedTuple):
    """A campaign that could use a cluster: `width` cores a job, `live` jobs of its own there now.

    `waiting` tasks that any cluster may take; `ratio` jobs per core as forecast; `is_on_trial` after too many failures
    or doubts; `bound` tasks that wait for this very cluster, which has their checkpoints. As forecast: `keep` jobs stay
    waiting behind what can start at once, None: as the cluster is configured; `send` are sent whatever is free, None:
    as the rest allows. `proven`: tasks that succeeded there, those of the same command
    in earlier campaigns with FEWEST, and jobs that have run for a while.

    `mean`: seconds that a task takes there, if one has succeeded; `delay`: seconds that a job waits there even if cores
    are free; `hazard`: kills per core-second. `spare`: tasks in jobs that may have another attempt, on free cores only.
    `sending`: seconds from the order to submit a batch to its acceptance, files of its tasks included; `shunned`: of
    `waiting`, those that failed there last. `queued`: of `live`, those that do not run. `asked`: what its waiting
    tasks ask the batch system for, one number for each bucket (campaign_schedulers_to_anyone.py).
    """

    campaign_id: int
    cluster_id: int
    type: CampaignType
    width: int
    max_jobs: int | None
    live: int
    waiting: int
    ratio: float
    is_on_trial: bool
    bound: int = 0
    keep: int | None = None
    send: int | None = None
    proven: int = 0
    mean: float | None = None
    delay: float = 0.0
    hazard: float = 0.0
    spare: int = 0
    sending: float = 0.0
    shunned: int = 0
    queued: int = 0
    asked: tuple[int, ...] = (0,)

    @property
    def waits(self) -> bool:
        """Is there more to be given to it than what is left over?"""
        return self.waiting > 0 or self.bound > 0 or not self.spare


class Offer(NamedTuple):
    """Cores of a cluster that a campaign may use in this cycle, with at most `jobs` jobs; rank 0 goes first.

    `at_once` of the jobs can start at once; of all campaigns' jobs that ask for the same at most `most_queued` may wait
    for cores there, beside the `starting` ones that waited for cores that are free.
    """

    campaign_id: int
    cluster_id: int
    cores: int
    jobs: int
    rank: int
    at_once: int = LARGEST
    most_queued: int = LARGEST
    starting: int = 0


class TakenOffer(NamedTuple):
    """As forecast, `startable` jobs start at once. `replica_budget`, `max_replicas` None: no task is replicated.

    `at_once`, `most_queued`, `starting`: those of the offer. `asked`: by the settings of the campaign there.
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
    at_once: int = LARGEST
    most_queued: int = LARGEST
    starting: int = 0
    asked: int = 0


def has_open_campaigns(conn: Connection) -> bool:
    """Is there any campaign in treatment?"""
    treated = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT)
    return conn.scalar(treated.limit(1)) is not None


def list_claims(
    conn: Connection, wants: Sequence[Want], now: datetime | None = None, *, everybody: bool = False
) -> list[Claim]:
    """The campaigns that want something, in the order of submission; or all in treatment, these without clusters."""
    clusters: dict[int, list[int]] = defaultdict(list)
    for want in wants:
        clusters[want.campaign_id].append(want.cluster_id)
    waited = func.extract("epoch", clock(now) - func.coalesce(Campaign.c.served_at, Campaign.c.submitted_at))
    found = conn.execute(
        select(
            Campaign.c.id,
            Campaign.c.type,
            Campaign.c.grid_user,
            func.coalesce(Project.c.name, ""),
            Campaign.c.priority,
            cast(waited, DOUBLE_PRECISION),
            Forecast.c.published,
            func.coalesce(Forecast.c.pressure, 0.0),
            Campaign.c.own_priority,
        )
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .order_by(Campaign.c.id)
    )
    wanted = [row for row in found.all() if everybody or row.id in clusters]
    return [Claim._make((*row[:-1], tuple(clusters[row.id]), row.own_priority)) for row in wanted]


def put_offers(conn: Connection, offers: Sequence[Offer], now: datetime | None = None) -> None:
    """Replace all offers of the last cycle."""
    conn.execute(delete(OfferRow))
    if offers:
        conn.execute(insert(OfferRow).values(at=clock(now)), [offer._asdict() for offer in offers])


def take_offers(conn: Connection) -> list[TakenOffer]:
    """Every offer, the first in rank first; an offer is taken once."""
    row = OfferRow.c
    limits = (row.at_once, row.most_queued, row.starting)
    taken = conn.execute(delete(OfferRow).returning(row.campaign_id, row.cluster_id, row.jobs, row.rank, *limits))
    offers = {(row.campaign_id, row.cluster_id): row for row in taken}
    if not offers:
        return []
    part = CampaignCluster
    known = conn.execute(
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            part.c.width,
            part.c.settings["walltime"].as_integer().label("walltime"),
            Campaign.c.scheduler,
            Campaign.c.type,
            cast(func.floor(Forecast.c.ratio * Forecast.c.free + ALMOST), BigInteger).label("startable"),
            Campaign.c.replica_budget,
            Campaign.c.max_replicas,
            part.c.asked,
        )
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .where(part.c.campaign_id.in_({campaign_id for campaign_id, _ in offers}))
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .with_for_update(read=True, of=Campaign, skip_locked=True)  # nobody cancels it while its jobs are made
    )
    found = [(offers[key], row) for row in known if (key := (row.campaign_id, row.cluster_id)) in offers]
    found.sort(key=lambda pair: pair[0].rank)
    return [
        TakenOffer(
            campaign_id=one.campaign_id,
            cluster_id=one.cluster_id,
            jobs=offer.jobs,
            width=one.width,
            walltime=one.walltime,
            scheduler=one.scheduler,
            type=one.type,
            startable=one.startable,
            replica_budget=one.replica_budget,
            max_replicas=one.max_replicas,
            at_once=offer.at_once,
            most_queued=offer.most_queued,
            starting=offer.starting,
            asked=one.asked,
        )
        for offer, one in found
    ]
