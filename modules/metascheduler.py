"""Decides who may use what: test campaigns first, then first come first served, in offers of cores per cluster.

It also leads each campaign through its life: prologues before, epilogues after, and its end.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from cigri.flow.metascheduler_to_campaign_schedulers import Offer, Want, has_open_campaigns, list_wants, put_offers
from cigri.flow.metascheduler_to_runner import close_campaigns, put_epilogues, put_prologues
from cigri.flow.operator_to_anyone import list_shut
from cigri.flow.updator_to_metascheduler import Room, list_rooms
from cigri.program import Report, Tools
from cigri.states import CampaignType


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """One offer per campaign and cluster that fit together."""
    with tools.database.begin() as conn:
        if not has_open_campaigns(conn):
            return Counter()
        shut = list_shut(conn, tools.settings.hours, now)
        report = Counter(
            {
                "prologues": put_prologues(conn, now, shut),
                "epilogues": put_epilogues(conn, now, shut),
                "campaigns ended": close_campaigns(conn, now),
            }
        )
        wants = list_wants(conn, tools.settings.budget.errors, tools.settings.jobs.same_cluster, now)
        wants = [want for want in wants if (want.campaign_id, want.cluster_id) not in shut]
        offers = share(list_rooms(conn), wants) if wants else []
        put_offers(conn, offers, now)
    report["offers"] = len(offers)
    return +report


def share(rooms: Sequence[Room], wants: Sequence[Want]) -> list[Offer]:
    """Serve the campaigns in order, each on the emptiest clusters first; pure.

    A cluster takes what its free cores can start at once and `keep_waiting` more, but never more than `max_waiting`
    jobs wait on it. Nobody is offered more than it has tasks waiting that may go there.
    """
    queue = {room.cluster_id: room.config.max_waiting - room.waiting for room in rooms}
    # waiting jobs take the free cores first
    cores = {room.cluster_id: float(room.free + room.config.keep_waiting - room.waiting) for room in rooms}
    places = {room.cluster_id: place for place, room in enumerate(rooms)}
    left = {want.campaign_id: want.waiting for want in wants}
    offers: list[Offer] = []
    usable = [want for want in wants if want.cluster_id in places]
    for want in sorted(usable, key=lambda want: (_rank(want), places[want.cluster_id])):
        tasks = left[want.campaign_id] + want.bound
        jobs = _jobs(want, cores[want.cluster_id], queue[want.cluster_id], tasks)
        if jobs > 0:
            taken = jobs * want.width
            offers.append(Offer(want.campaign_id, want.cluster_id, taken, jobs, len(offers)))
            cores[want.cluster_id] -= jobs / want.ratio
            queue[want.cluster_id] -= jobs
            left[want.campaign_id] -= max(0, jobs - want.bound)
    return offers


def _rank(want: Want) -> tuple[bool, int]:
    return want.type is not CampaignType.TEST, want.campaign_id


def _jobs(want: Want, cores: float, queue: int, tasks: int) -> int:
    if want.type is CampaignType.TEST:  # one task per cluster, whether or not a core is free
        return min(1, queue, tasks) if not want.live else 0
    most = min(queue, tasks, int(cores * want.ratio))
    if want.max_jobs is not None:
        most = min(most, want.max_jobs - want.live)
    if want.is_on_trial:
        most = min(most, 1 - want.live)
    return most
