"""The predictor's forecasts: the present ones, which the metascheduler joins with what campaigns want, and history."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, TIMESTAMP, insert

from cigri.database import clock, rows
from cigri.tables import Forecast, ForecastHistory


class NewForecast(NamedTuple):
    """As the table `forecasts`; cluster_id None is the campaign as a whole."""

    campaign_id: int
    cluster_id: int | None
    ratio: float
    throughput: float | None
    mean: float | None
    deviation: float | None
    remaining: int
    eta: datetime | None


FIELDS = NewForecast._fields


def put_forecasts(
    conn: Connection, forecasts: Sequence[NewForecast], history_period: float, now: datetime | None = None
) -> None:
    """Replace the present forecasts that have changed, and keep those whose history is older than the period (seconds).

    Most campaigns stand still in most cycles: to write their rows again costs more than all the rest.
    """
    floats: dict[str, Any] = {name: DOUBLE_PRECISION() for name in ("ratio", "throughput", "mean", "deviation")}
    columns: dict[str, Any] = {"campaign_id": BigInteger(), "cluster_id": BigInteger(), **floats}
    columns |= {"remaining": BigInteger(), "eta": TIMESTAMP(timezone=True)}
    values = [(*forecast[:-1], forecast.eta.isoformat() if forecast.eta else None) for forecast in forecasts]
    new = rows("new", columns, values)
    fields = [new.c[name] for name in FIELDS]
    for with_cluster in (True, False):
        wanted = new.c.cluster_id.is_not(None) if with_cluster else new.c.cluster_id.is_(None)
        of_cluster = Forecast.c.cluster_id == new.c.cluster_id if with_cluster else Forecast.c.cluster_id.is_(None)
        same = (Forecast.c[name].is_not_distinct_from(new.c[name]) for name in FIELDS[2:])
        known = select(Forecast.c.id).where(Forecast.c.campaign_id == new.c.campaign_id, of_cluster, *same)
        changed = select(*fields, clock(now)).where(wanted, ~known.exists())
        statement = insert(Forecast).from_select([*FIELDS, "at"], changed)
        conn.execute(
            statement.on_conflict_do_update(
                index_elements=["campaign_id", "cluster_id"] if with_cluster else ["campaign_id"],
                index_where=None if with_cluster else Forecast.c.cluster_id.is_(None),
                set_={name: statement.excluded[name] for name in (*FIELDS[2:], "at")},
            )
        )
    recent = (
        select(ForecastHistory.c.id)
        .where(ForecastHistory.c.campaign_id == new.c.campaign_id)
        .where(ForecastHistory.c.at > clock(now) - timedelta(seconds=history_period))
        .where(ForecastHistory.c.cluster_id.is_not_distinct_from(new.c.cluster_id))
    )
    old = select(*fields, clock(now)).where(~recent.exists())
    conn.execute(insert(ForecastHistory).from_select([*FIELDS, "at"], old))
