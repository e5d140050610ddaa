"""What clusters have shown of tasks that a user thinks of submitting: how long the same took when they succeeded."""

import json
from collections.abc import Collection, Iterable
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, Text, cast, column, func, literal, or_, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB

from cigri.flow.clusters_to_predictor import command_of, parameter_of
from cigri.tables.tasks import LastDuration

LOOKED_UP = 100_000  # tasks, the first ones; they stand for the others
AT_ONCE = 10_000


class Known(NamedTuple):
    """Of so many tasks that were looked up, those that ran before: their seconds in all, and the squares of these."""

    looked_up: int = 0
    done: int = 0
    seconds: float = 0.0
    squares: float = 0.0


def find_known(conn: Connection, user: str, commands: Collection[str], parameters: Iterable[object]) -> Known:
    """What these tasks took, if they have run before; it only reads."""
    settings = (cast(literal(json.dumps({"exec_file": command})), JSONB) for command in commands)
    is_same = or_(*(LastDuration.c.command == command_of(literal(user, Text), one) for one in settings))
    if conn.scalar(select(LastDuration.c.command).where(is_same).limit(1)) is None:
        return Known()
    known, left = Known(), islice(parameters, LOOKED_UP)
    while some := list(islice(left, AT_ONCE)):
        each = func.jsonb_array_elements(cast(literal(json.dumps(some)), JSONB))
        wanted = each.table_valued(column("parameter", JSONB), name="wanted").render_derived()
        seconds = LastDuration.c.seconds
        totals = (func.count(), func.coalesce(func.sum(seconds), 0.0), func.coalesce(func.sum(seconds * seconds), 0.0))
        done, total, squares = conn.execute(
            select(*(totals[0], *(cast(one, DOUBLE_PRECISION) for one in totals[1:])))
            .select_from(wanted)
            .join(LastDuration, LastDuration.c.parameter == parameter_of(wanted.c.parameter))
            .where(is_same)
        ).one()
        known = Known(known.looked_up + len(some), known.done + done, known.seconds + total, known.squares + squares)
    return known
