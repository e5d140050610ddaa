"""Totals: sums over the tasks of a campaign on a cluster, of which forecasts are made.
Given by: operator, predictor, runner, updator, users; taken by: operator, runner, updator, users.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Connection, ScalarSelect, bindparam, column, delete, func, select, update
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, Insert, aggregate_order_by, insert
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.elements import ColumnElement

from cigri.estimates.durations import counted
from cigri.flow.profiles import changed_profile
from cigri.flow.views.campaign_progress import COUNTED
from cigri.tables.campaigns import CampaignCluster, Completion
from cigri.tables.tasks import TaskCount


def totals(lasted: Sequence[float], times: int = 1) -> dict[str, Any]:
    """The parameters of `changed_totals`: tasks of these durations have succeeded, or (-1) do not count any longer."""
    return {
        "done_more": times * len(lasted),
        "seconds_more": times * sum(lasted),
        "squares_more": times * sum(seconds**2 for seconds in lasted),
        "durations_more": [times * count for count in counted(lasted)],
    }


def changed_totals() -> dict[str, ColumnElement[Any]]:
    """New values of a share's totals, by column, with the parameters that `totals` gives."""
    part = CampaignCluster.c
    more, squares = (bindparam(name, type_=DOUBLE_PRECISION) for name in ("seconds_more", "squares_more"))
    return {
        "done": part.done + bindparam("done_more", type_=BigInteger),
        "seconds": func.greatest(part.seconds + more, 0.0),
        "squares": func.greatest(part.squares + squares, 0.0),
        "durations": _added(part.durations, bindparam("durations_more", type_=ARRAY(BigInteger))),
    }


@cache
def added_up(*, has_done: bool) -> Update:
    """Add to the totals of a share, and with `has_done` to the tasks that were done there in this minute."""
    part = CampaignCluster.c
    campaign_id, cluster_id, failed, again = (
        bindparam(name, type_=BigInteger) for name in ("campaign", "here", "failed_more", "again_more")
    )
    statement = update(CampaignCluster).where(part.campaign_id == campaign_id, part.cluster_id == cluster_id)
    values: dict[str, Any] = {"failed": part.failed + failed, "resubmitted": part.resubmitted + again}
    values["most_memory"] = func.greatest(
        part.most_memory, bindparam("peak_here", type_=BigInteger)
    )  # passes over null
    if not has_done:
        return statement.values(values)
    return statement.values(values | changed_totals() | changed_profile()).add_cte(_completed().cte("completed"))


def _completed() -> Insert:
    campaign_id, cluster_id, more = (bindparam(name, type_=BigInteger) for name in ("campaign", "here", "done_more"))
    minute = func.date_trunc("minute", func.now())
    statement = insert(Completion).values(campaign_id=campaign_id, cluster_id=cluster_id, minute=minute, tasks=more)
    return statement.on_conflict_do_update(
        index_elements=[Completion.c.campaign_id, Completion.c.cluster_id, Completion.c.minute],
        set_={"tasks": Completion.c.tasks + statement.excluded.tasks},
    )


def _added(counts: ColumnElement[list[int]], more: ColumnElement[Any]) -> ScalarSelect[list[int]]:
    """Both arrays, place by place; the shorter one goes on with 0."""
    both = (
        func.unnest(counts, more)
        .table_valued(column("old", BigInteger), column("new", BigInteger), with_ordinality="place", name="both")
        .render_derived()
    )
    total = func.coalesce(both.c.old, 0) + func.coalesce(both.c.new, 0)
    return select(func.array_agg(aggregate_order_by(total, both.c.place), type_=ARRAY(BigInteger))).scalar_subquery()


def add_up_counts(conn: Connection, longest: int = 200) -> None:
    """Replace the counts of campaigns that have gathered many rows by their sum; it changes no total."""
    many = select(TaskCount.c.campaign_id).group_by(TaskCount.c.campaign_id).having(func.count() > longest)
    gone = delete(TaskCount).where(TaskCount.c.campaign_id.in_(many))
    count = TaskCount.c
    added = gone.returning(count.campaign_id, count.state, count.n, count.known, count.expected).cte("added")
    totals = (func.sum(added.c[name]) for name in COUNTED)
    sums = select(added.c.campaign_id, added.c.state, *totals).group_by(added.c.campaign_id, added.c.state)
    conn.execute(insert(TaskCount).from_select(["campaign_id", "state", *COUNTED], sums))
