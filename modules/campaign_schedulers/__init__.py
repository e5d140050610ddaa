"""Fills each campaign's offers with its tasks; which task goes where is the campaign's own scheduler's choice.

A scheduler is a file here with a pure function `choose`; its name stands in `campaigns.scheduler`.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.errors import ConfigError
from cigri.flow.campaign_schedulers_to_runner import NewJob, WaitingTask, put_jobs, take_continuing, take_waiting
from cigri.flow.metascheduler_to_campaign_schedulers import TakenOffer, take_offers
from cigri.program import Report, Tools
from cigri.states import CampaignType


class Place(NamedTuple):
    """Room for `jobs` jobs on a cluster."""

    cluster_id: int
    jobs: int


class Assignment(NamedTuple):
    """These tasks (indexes into the list given) are one job on this cluster."""

    cluster_id: int
    tasks: tuple[int, ...]


Choose = Callable[[int, Sequence[Place]], Iterator[Assignment]]
"""Given the number of waiting tasks, best first, and the places: never one task twice, never more jobs than offered."""


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """Turn every offer into jobs to launch."""
    with tools.database.begin() as conn:
        offers = take_offers(conn)
        report: Report = Counter()
        for campaign_id, mine in groupby(offers, key=lambda offer: offer.campaign_id):
            jobs = _jobs(conn, campaign_id, list(mine), tools.settings.jobs.same_cluster, now)
            report["jobs"] += put_jobs(conn, campaign_id, jobs, now)
    return +report


def _jobs(
    conn: Connection, campaign_id: int, offers: Sequence[TakenOffer], patience: float, now: datetime | None
) -> list[NewJob]:
    """Tasks with a checkpoint come first, and on its cluster; the others as the campaign's scheduler chooses."""
    stopped, free = take_continuing(
        conn, campaign_id, {offer.cluster_id: offer.jobs for offer in offers}, patience, now
    )
    jobs, places = [], {}
    for offer in offers:
        continued = stopped[offer.cluster_id]
        jobs += [NewJob(offer.cluster_id, offer.width, offer.walltime, [task]) for task in continued]
        if offer.jobs > len(continued):
            places[offer.cluster_id] = offer._replace(jobs=offer.jobs - len(continued))
    if places:
        room = sum(offer.jobs for offer in places.values())
        jobs += assign([*free, *take_waiting(conn, campaign_id, room - len(free))], places)
    return jobs


def assign(tasks: Sequence[WaitingTask], offers: dict[int, TakenOffer]) -> list[NewJob]:
    """The jobs that the campaign's scheduler makes of its tasks."""
    first = next(iter(offers.values()))
    choose = load(first.scheduler or default(first.type))
    chosen = choose(len(tasks), [Place(offer.cluster_id, offer.jobs) for offer in offers.values()])
    return [
        NewJob(
            assignment.cluster_id,
            offers[assignment.cluster_id].width,
            offers[assignment.cluster_id].walltime,
            [tasks[index] for index in assignment.tasks],
        )
        for assignment in chosen
    ]


def default(type: CampaignType) -> str:
    return "test" if type is CampaignType.TEST else "workqueue"


def names() -> list[str]:
    """Every scheduler there is."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Choose:
    """The scheduler in the file of that name."""
    if name not in names():
        raise ConfigError(f"no campaign scheduler {name!r}; there are: {', '.join(names())}")
    choose: Choose = importlib.import_module(f"{__name__}.{name}").choose
    return choose
