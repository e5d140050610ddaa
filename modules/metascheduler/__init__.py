"""Decides who may use what: test campaigns first, then by priority and policy, in offers of cores per cluster.

It also leads each campaign through its life: prologues before, epilogues after, and its end.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from cigri.flow.campaign_schedulers_to_metascheduler import find_ceilings
from cigri.flow.metascheduler_to_campaign_schedulers import (
    Want,
    has_open_campaigns,
    list_claims,
    list_wants,
    put_offers,
)
from cigri.flow.metascheduler_to_runner import close_campaigns, put_epilogues, put_prologues
from cigri.flow.metascheduler_to_user import put_cuts
from cigri.flow.operator_to_anyone import list_shut
from cigri.flow.operator_to_metascheduler import list_affinities, list_targets
from cigri.flow.updator_to_metascheduler import add_up_usage, list_rooms, list_usage
from cigri.program import Report, Tools
from cigri.settings import PolicySettings
from modules.metascheduler.cuts import explain
from modules.metascheduler.policies import Facts, load
from modules.metascheduler.share import share
from modules.metascheduler.stock import Stock


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
        wants = list_wants(
            conn, tools.settings.budget.errors, tools.settings.jobs.same_cluster, now, tools.settings.policy.scouting
        )
        wants = [want for want in wants if (want.campaign_id, want.cluster_id) not in shut]
        if not tools.settings.policy.replicas:
            wants = [want._replace(spare=0) for want in wants if want.waits]
        shared = _share(conn, tools.settings.policy, wants, now)
        put_offers(conn, shared.offers(), now)
        put_cuts(conn, list(explain(shared)), now)
    report["offers"] = len(shared.given)
    return +report


def _share(conn: Connection, settings: PolicySettings, wants: Sequence[Want], now: datetime | None) -> Stock:
    usage = list_usage(conn, settings.half_life, now)
    add_up_usage(conn, settings.half_life, now)
    facts = Facts(list_affinities(conn), list_targets(conn), usage)
    claims, ceilings = list_claims(conn, [want for want in wants if want.waits], now), find_ceilings(conn)
    return share(list_rooms(conn), wants, claims, settings, load(settings.order), facts, ceilings)
