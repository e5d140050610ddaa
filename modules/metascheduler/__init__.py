"""Decides who may use what: test campaigns first, then by priority and policy, in offers of cores per cluster.

It also leads each campaign through its life: prologues before, epilogues after, and its end.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from cigri.flow.anyone_to_killer import ask_kills
from cigri.flow.anyone_to_metascheduler import list_wants
from cigri.flow.anyone_to_operator import put_events
from cigri.flow.campaign_schedulers_to_metascheduler import find_ceilings
from cigri.flow.matcher_to_anyone import list_barred
from cigri.flow.metascheduler_to_campaign_schedulers import (
    Want,
    has_open_campaigns,
    list_claims,
    put_offers,
)
from cigri.flow.metascheduler_to_runner import close_campaigns, put_epilogues, put_prologues
from cigri.flow.metascheduler_to_user import put_cuts
from cigri.flow.operator_to_anyone import list_shut
from cigri.flow.operator_to_metascheduler import list_affinities, list_targets
from cigri.flow.runner_to_metascheduler import Recall, Recalled, list_holdings, list_recalled
from cigri.flow.updator_to_metascheduler import Room, add_up_usage, list_rooms, list_usage
from cigri.program import Report, Tools
from cigri.settings import Settings
from cigri.states import KillReason
from modules.metascheduler.cuts import explain
from modules.metascheduler.line import line_up
from modules.metascheduler.policies import Facts, load
from modules.metascheduler.recall import POLICIES as RECALLING
from modules.metascheduler.recall import Shared, news, recall, standings, taken_back
from modules.metascheduler.share import share
from modules.metascheduler.stock import Stock


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """One offer per campaign and cluster that fit together."""
    with tools.database.begin() as conn:
        if not has_open_campaigns(conn):
            return Counter()
        shut = {(share.campaign_id, share.cluster_id) for share in list_shut(conn, tools.settings.hours, now)}
        barred = list_barred(conn)
        report = Counter(
            {
                "prologues": put_prologues(conn, now, shut | barred),
                "epilogues": put_epilogues(conn, now, shut),
                "campaigns ended": close_campaigns(conn, now),
            }
        )
        wants = list_wants(
            conn, tools.settings.budget.errors, tools.settings.jobs.same_cluster, now, tools.settings.policy.scouting
        )
        barred |= shut
        wants = [want for want in wants if (want.campaign_id, want.cluster_id) not in barred]
        if not tools.settings.policy.replicas:
            wants = [want._replace(spare=0) for want in wants if want.waits]
        shared = _share(conn, tools.settings, wants, now)
        put_offers(conn, shared.stock.offers(), now)
        put_cuts(conn, list(explain(shared.stock, taken_back(shared))), now)
        report["jobs taken back"] = _take_back(conn, shared, now)
    report["offers"] = len(shared.stock.given)
    return +report


def _share(conn: Connection, settings: Settings, wants: Sequence[Want], now: datetime | None) -> Shared:
    policy = settings.policy
    usage = list_usage(conn, policy.half_life, now)
    add_up_usage(conn, policy.half_life, now)
    facts = Facts(list_affinities(conn), list_targets(conn), usage)
    order, ceilings, rooms = load(policy.order), find_ceilings(conn, policy.tests), list_rooms(conn)
    everybody = list_claims(conn, [want for want in wants if want.waits], now, everybody=True)
    claims = [claim for claim in everybody if claim.clusters]

    def shared(rooms: Sequence[Room], wants: Sequence[Want]) -> Stock:
        return share(rooms, wants, claims, policy, order, facts, ceilings)

    if policy.order not in RECALLING or not policy.recall:
        return Shared(shared(rooms, wants))

    def find(plan: Sequence[Recall]) -> list[Recalled]:
        return list_recalled(conn, plan, settings.jobs.moves, policy.recall)

    holdings = list_holdings(conn)
    standing = standings(line_up(everybody, policy, order, facts), holdings, wants, rooms)
    return recall(standing, holdings, rooms, wants, find, shared)


def _take_back(conn: Connection, shared: Shared, now: datetime | None) -> int:
    if not shared.recalled:
        return 0
    put_events(conn, list(news(shared)), now)
    return ask_kills(conn, [job.job_id for job in shared.recalled], KillReason.FAIRNESS, "metascheduler", now)
