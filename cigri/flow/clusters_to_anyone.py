"""Clusters show how they bear what is asked of them; whoever asks heeds the pace that the updator makes of it."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, Double, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import clock
from cigri.tables.clusters import ClusterPace


class Pace(NamedTuple):
    """The part, up to 1, of what may be asked of a cluster in good times; `usual`: seconds that its answers take."""

    pace: float = 1.0
    usual: float | None = None
    why: str = ""


class Strain(NamedTuple):
    """What was seen of a front-end, `elapsed` seconds after the last look: seconds of its answer, load per core.

    `refused`: campaigns whose jobs it has refused since then.
    """

    answer: float
    load: float | None = None
    refused: int = 0
    elapsed: float = 0.0


NEW = Pace(), 0, 0.0


def find_pace(conn: Connection, cluster_id: int) -> float:
    pace = conn.scalar(select(ClusterPace.c.pace).where(ClusterPace.c.cluster_id == cluster_id))
    return 1.0 if pace is None else pace


def take_pace(conn: Connection, cluster_id: int, now: datetime | None = None) -> tuple[Pace, int, float]:
    """The present pace, the campaigns refused since it was put (which are told once), and its age in seconds."""
    row = ClusterPace
    age = cast(func.greatest(func.extract("epoch", clock(now) - row.c.at), 0.0), Double)
    about = select(row.c.pace, row.c.usual, row.c.why, row.c.refused, age).where(row.c.cluster_id == cluster_id)
    found = conn.execute(about.with_for_update()).one_or_none()
    return NEW if found is None else (Pace(found[0], found[1], found[2]), found[3], found[4])


def put_pace(conn: Connection, cluster_id: int, pace: Pace, now: datetime | None = None) -> None:
    values = {**pace._asdict(), "at": clock(now), "refused": 0}
    new = insert(ClusterPace).values(cluster_id=cluster_id, **values)
    conn.execute(new.on_conflict_do_update(index_elements=[ClusterPace.c.cluster_id], set_=values))


def add_refusal(conn: Connection, cluster_id: int) -> None:
    """One more campaign whose jobs it refuses."""
    row = ClusterPace
    conn.execute(update(row).where(row.c.cluster_id == cluster_id).values(refused=row.c.refused + 1))
