"""Quarantines: a campaign or cluster that made a module fail is left alone by it for a while.
Given by: almighty, campaign schedulers, janitor, killer, matcher, metascheduler, notifier, predictor, runner, stager,
updator; taken by: almighty, campaign schedulers, janitor, killer, matcher, metascheduler, notifier, operator, portal,
predictor, runner, stager, updator, users.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import IDS, bound_id_list, interval, pause_after, values_table
from cigri.database.typed_rows import read_all
from cigri.estimates.backoff import CAMPAIGNS_THAT_BREAK_A_MODULE, CLUSTERS_THAT_BREAK_A_MODULE
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.states import EventLevel
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Quarantine

IN_QUARANTINE = "IN_QUARANTINE"
FAILED_IN_PART = "MODULE_FAILED_IN_PART"


class QuarantineView(NamedTuple):
    """What is left out: what a module does for a campaign (`cluster` empty), or all that it does on a cluster."""

    module: str
    campaign_id: int | None
    cluster: str
    since: datetime
    until: datetime
    failures: int
    error: str


def list_quarantined(conn: Connection, module: str) -> dict[int, bool]:
    """Campaigns that have failed in this module: are they to be left out (True), or tried again?"""
    row = Quarantine.c
    statement = select(row.campaign_id, row.until > func.now()).where(
        row.module == module, row.campaign_id.is_not(None)
    )
    return {id: is_left_out for id, is_left_out in conn.execute(statement) if id is not None}


def list_quarantined_campaigns(conn: Connection, modules: Collection[str]) -> set[int]:
    """Campaigns that one of these modules leaves out now."""
    row = Quarantine.c
    statement = select(row.campaign_id).where(
        row.module.in_(modules), row.until > func.now(), row.campaign_id.is_not(None)
    )
    return {id for id in conn.scalars(statement) if id is not None}


def is_cluster_left_out(module: str) -> ColumnElement[bool]:
    """Does the module leave out the cluster of the statement around it now?"""
    row = Quarantine.c
    quarantine = select(row.id).where(row.module == module, row.cluster_id == Cluster.c.id, row.until > func.now())
    return quarantine.correlate(Cluster).exists()


def has_failed(module: str) -> ColumnElement[bool]:
    """Has the module failed on the cluster in the statement around it, and not done well since?"""
    row = Quarantine.c
    return select(row.id).where(row.module == module, row.cluster_id == Cluster.c.id).correlate(Cluster).exists()


def put_campaign_failures(conn: Connection, module: str, errors: Mapping[int, str]) -> None:
    """Leave these campaigns out of the module's passes, longer each time, and tell their users and the operator."""
    for campaign_id, error in errors.items():
        _leave_out(conn, module, error, campaign_id=campaign_id)
    put_events(conn, [_event(module, id, error) for id, error in errors.items()])
    if errors:
        examples = "; ".join(f"campaign {id}: {error}" for id, error in list(errors.items())[:3])
        message = f"{len(errors)} campaigns were left out, and are tried again: {examples}"
        put_events(conn, [NewEvent(FAILED_IN_PART, EventLevel.ERROR, f"module {module}", message)])


def put_visit_failure(conn: Connection, module: str, cluster_id: int, name: str, error: str) -> None:
    """The module itself fails on this cluster: it does not visit it for a while, and the operator is told."""
    _leave_out(conn, module, error, cluster_id=cluster_id)
    message = f"module {module} fails on cluster {name}, leaves it out, and tries again: {error}"
    event = NewEvent(IN_QUARANTINE, EventLevel.ERROR, _visits(module, name), message, cluster_id=cluster_id)
    put_events(conn, [event])


def end_quarantines(conn: Connection, module: str, campaign_ids: Collection[int]) -> None:
    """Of these campaigns, which have gone well in the module; their events are closed."""
    if not campaign_ids:
        return
    row, well = Quarantine.c, values_table("well", IDS, [(id,) for id in campaign_ids])
    conn.execute(delete(Quarantine).where(row.module == module, row.campaign_id == well.c.id))
    close_events(conn, [IN_QUARANTINE], [_part(module, id) for id in campaign_ids], "cigri")
    left = select(row.id).where(row.module == module, row.campaign_id.is_not(None))
    if conn.scalar(left.limit(1)) is None:
        close_events(conn, [FAILED_IN_PART], [f"module {module}"], "cigri")


def end_visit_quarantine(conn: Connection, module: str, cluster_id: int, name: str) -> None:
    """The module has gone well on the cluster: it visits it as usual again, and the event is closed."""
    conn.execute(delete(Quarantine).where(Quarantine.c.module == module, Quarantine.c.cluster_id == cluster_id))
    close_events(conn, [IN_QUARANTINE], [_visits(module, name)], "cigri")


def list_quarantines(conn: Connection, campaign_ids: Collection[int]) -> list[QuarantineView]:
    """Of these campaigns, and of their clusters, what modules leave out or have left out."""
    return read_all(conn, QuarantineView, _left_out(), {"campaigns": list(campaign_ids)})


@cache
def _left_out() -> Select[*tuple[Any, ...]]:
    """Built once: it takes longer to build than to answer."""
    row, part = Quarantine.c, CampaignCluster.c
    clusters = select(part.cluster_id).where(part.campaign_id.in_(bound_id_list("campaigns")))
    return (
        select(row.module, row.campaign_id, func.coalesce(Cluster.c.name, "").label("cluster"), row.since, row.until)
        .add_columns(row.failures, row.error)
        .outerjoin(Cluster, Cluster.c.id == row.cluster_id)
        .where(row.campaign_id.in_(bound_id_list("campaigns")) | row.cluster_id.in_(clusters))
        .order_by(row.since, row.id)
    )


def _leave_out(conn: Connection, module: str, error: str, **what: int) -> None:
    """`what`: a campaign's id, or a cluster's."""
    column = Quarantine.c[next(iter(what))]
    backoff = CAMPAIGNS_THAT_BREAK_A_MODULE if "campaign_id" in what else CLUSTERS_THAT_BREAK_A_MODULE
    new = insert(Quarantine).values(
        module=module,
        since=func.now(),
        until=func.now() + interval(backoff.seconds(1)),
        failures=1,
        error=error,
        **what,
    )
    again = {
        "until": func.now() + pause_after(Quarantine.c.failures + 1, backoff),
        "failures": Quarantine.c.failures + 1,
        "error": new.excluded.error,
    }
    conn.execute(
        new.on_conflict_do_update(
            index_elements=[Quarantine.c.module, column], index_where=column.is_not(None), set_=again
        )
    )


def _event(module: str, campaign_id: int, error: str) -> NewEvent:
    message = f"module {module} fails on this campaign, leaves it out, and tries again: {error}"
    return NewEvent(IN_QUARANTINE, EventLevel.ERROR, _part(module, campaign_id), message, campaign_id)


def _part(module: str, campaign_id: int) -> str:
    return f"campaign {campaign_id} in {module}"


def _visits(module: str, cluster: str) -> str:
    return f"cluster {cluster} in {module}"
