"""Stress: how front-ends bear what is asked of them, and the pace that follows.
Given by: runner; taken by: runner, updator.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Double, bindparam, cast, func, select, update
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.sql.selectable import Select

from cigri.tables.clusters import FrontEndStress


class FrontEndRate(NamedTuple):
    """The part, up to 1, of what may be asked of a cluster in good times; `usual`: seconds that its answers take."""

    pace: float = 1.0
    usual: float | None = None
    why: str = ""


NEW = FrontEndRate(), 0, 0.0
HERE = bindparam("here", type_=BigInteger)


class FrontEndSample(NamedTuple):
    """What was seen of a front-end, `elapsed` seconds after the last look: seconds of its answer, load per core.

    `refused`: campaigns whose jobs it has refused since then.
    """

    answer: float
    load: float | None = None
    refused: int = 0
    elapsed: float = 0.0


def list_front_end_paces(conn: Connection) -> dict[int, float]:
    """By id of the clusters that have been visited, as a part of the usual."""
    return {
        cluster_id: pace
        for cluster_id, pace in conn.execute(select(FrontEndStress.c.cluster_id, FrontEndStress.c.pace))
    }


def take_front_end_pace(conn: Connection, cluster_id: int) -> tuple[FrontEndRate, int, float]:
    """The present pace, the campaigns refused since it was put (which are told once), and its age in seconds."""
    row = conn.execute(_pace(), {"here": cluster_id}).one_or_none()
    return NEW if row is None else (FrontEndRate(row.pace, row.usual, row.why), row.refused, row.age)


def put_front_end_pace(conn: Connection, cluster_id: int, pace: FrontEndRate) -> None:
    """From now on; the refusals that were counted since the last one begin again at 0."""
    conn.execute(_new_pace(), {"here": cluster_id, **{f"new_{k}": v for k, v in pace._asdict().items()}})


def add_refusal(conn: Connection, cluster_id: int) -> None:
    """Count one more campaign whose jobs the cluster refuses; nothing for one without a pace yet."""
    row = FrontEndStress
    conn.execute(update(row).where(row.c.cluster_id == cluster_id).values(refused=row.c.refused + 1))


@cache
def _pace() -> Select[*tuple[Any, ...]]:
    row = FrontEndStress.c
    age = cast(func.greatest(func.extract("epoch", func.now() - row.at), 0.0), Double).label("age")
    return select(row.pace, row.usual, row.why, row.refused, age).where(row.cluster_id == HERE).with_for_update()


@cache
def _new_pace() -> Insert:
    fields: dict[str, Any] = {
        name: bindparam(f"new_{name}", type_=FrontEndStress.c[name].type) for name in FrontEndRate._fields
    }
    fields |= {"at": func.now(), "refused": 0}
    new = insert(FrontEndStress).values(cluster_id=HERE, **fields)
    return new.on_conflict_do_update(
        index_elements=[FrontEndStress.c.cluster_id], set_={name: new.excluded[name] for name in fields}
    )
