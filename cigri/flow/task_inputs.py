"""Inputs of tasks: files that single tasks need, beside those of their campaign.
Given by: operator, users; taken by: runner.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection, select

from cigri.database import id_list
from cigri.errors import CigriError
from cigri.tables.inputs import InputSender, TaskInput

COPIED_AT_ONCE = 10_000  # lines


def copy_task_inputs(
    conn: Connection, campaign_id: int, user: str, first: int, tasks: int, sums: Iterable[Sequence[str]]
) -> None:
    """The sums of the files of so many tasks, numbered from `first`; raise CigriError for one that was not sent."""
    raw = conn.connection.driver_connection
    assert raw is not None
    told, lines = 0, list[str]()
    with (
        raw.cursor() as cursor,
        cursor.copy("COPY task_inputs (campaign_id, number, place, sha256) FROM STDIN") as out,
    ):
        for number, own in enumerate(sums, start=first):
            told += 1
            lines += [f"{campaign_id}\t{number}\t{place}\t{sum}\n" for place, sum in enumerate(own)]
            if len(lines) > COPIED_AT_ONCE:
                out.write("".join(lines))
                lines.clear()
        out.write("".join(lines))
    if told != tasks:
        raise CigriError(f"task_inputs: files of {told} tasks were read, and there are {tasks}; `gridsub` reads them")
    row, sent = TaskInput.c, InputSender.c
    is_sent = select(sent.sha256).where(sent.sha256 == row.sha256, sent.grid_user == user).correlate(TaskInput)
    unsent = select(row.number).where(row.campaign_id == campaign_id, row.number >= first, ~is_sent.exists())
    if (lacking := conn.scalar(unsent.order_by(row.number).limit(1))) is not None:
        raise CigriError(
            f"task_inputs: a file of task {lacking} was not sent, or is not kept any more; `gridsub` sends it"
        )


def list_task_inputs(conn: Connection, campaign_id: int, numbers: Collection[int]) -> dict[int, list[str]]:
    """The sums of the files of these tasks, in the order of their names in task_inputs."""
    own = TaskInput.c
    wanted = select(own.number, own.sha256).where(own.campaign_id == campaign_id, own.number.in_(id_list(numbers)))
    sums: dict[int, list[str]] = defaultdict(list)
    for number, sha256 in conn.execute(wanted.order_by(own.number, own.place)):
        sums[number].append(sha256)
    return sums
