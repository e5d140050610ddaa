"""Stored inputs: files that users have sent to the grid for their campaigns.
Given by: janitor, operator, users; taken by: janitor, operator, users.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Text, and_, delete, func, literal, or_, select
from sqlalchemy.dialects.postgresql import insert

from cigri.database import interval, values_table
from cigri.errors import CigriError
from cigri.states import OPEN_CAMPAIGNS
from cigri.tables.campaigns import Campaign
from cigri.tables.inputs import CampaignInput, InputSender, StoredInput, TaskInput


class NewInput(NamedTuple):
    """A file that a campaign needs: how its user named it, and the sum of its content."""

    path: str
    sha256: str


def is_sent(conn: Connection, user: str, sha256: str) -> bool:
    """Has the user sent all of it before?"""
    row = InputSender.c
    found = conn.execute(select(row.sha256).where(row.sha256 == sha256, row.grid_user == user)).one_or_none()
    return found is not None


def count_sent(conn: Connection, user: str) -> int:
    """Bytes of all files that the user has in the store."""
    sizes = select(func.coalesce(func.sum(StoredInput.c.size), 0)).join(
        InputSender, InputSender.c.sha256 == StoredInput.c.sha256
    )
    return int(conn.execute(sizes.where(InputSender.c.grid_user == user)).scalar_one())


def put_sent(conn: Connection, user: str, sha256: str, size: int) -> None:
    """The user has sent all of this file, which is in the store."""
    conn.execute(insert(StoredInput).values(sha256=sha256, size=size, stored_at=func.now()).on_conflict_do_nothing())
    sent = insert(InputSender).values(sha256=sha256, grid_user=user, sent_at=func.now())
    keys = [InputSender.c.sha256, InputSender.c.grid_user]
    conn.execute(sent.on_conflict_do_update(index_elements=keys, set_={"sent_at": func.now()}))


def put_many_sent(conn: Connection, user: str, sizes: Mapping[str, int]) -> None:
    """The same of many files, by their sums."""
    if not sizes:
        return
    new = values_table("new", {"sha256": Text(), "size": BigInteger()}, sorted(sizes.items()))
    stored = select(new.c.sha256, new.c.size, func.now())
    conn.execute(insert(StoredInput).from_select(["sha256", "size", "stored_at"], stored).on_conflict_do_nothing())
    sent = select(new.c.sha256, literal(user), func.now())
    keys = ["sha256", "grid_user"]
    statement = insert(InputSender).from_select([*keys, "sent_at"], sent)
    conn.execute(statement.on_conflict_do_update(index_elements=keys, set_={"sent_at": func.now()}))


def list_sent(conn: Connection, user: str, sums: Collection[str]) -> set[str]:
    """Those of these files that the user has sent."""
    wanted = values_table("wanted", {"sha256": Text()}, [(sum,) for sum in sums])
    sent = select(InputSender.c.sha256).join(wanted, wanted.c.sha256 == InputSender.c.sha256)
    return set(conn.scalars(sent.where(InputSender.c.grid_user == user)))


def put_needed(conn: Connection, campaign_id: int, user: str, inputs: Iterable[NewInput]) -> None:
    """The campaign needs these; raise CigriError for one that its user has not sent."""
    by_sum = {needed.sha256: needed.path for needed in inputs}
    if not by_sum:
        return
    row = InputSender.c
    known = set(conn.scalars(select(row.sha256).where(row.grid_user == user, row.sha256.in_(by_sum))))
    if missing := [path for sha256, path in by_sum.items() if sha256 not in known]:
        raise CigriError(f"inputs: {missing[0]} was not sent, or is not kept any more; `gridsub` sends it")
    conn.execute(insert(CampaignInput), [{"campaign_id": campaign_id, "sha256": sha256} for sha256 in by_sum])


def list_unneeded(conn: Connection, days: float) -> list[str]:
    """Files that no open campaign needs, nor one that has ended since, and that nobody has sent again since."""
    late = func.now() - interval(days * 86_400.0)
    is_open = or_(Campaign.c.state.in_(OPEN_CAMPAIGNS), Campaign.c.ended_at > late)
    needed = select(CampaignInput.c.sha256).join(Campaign, and_(Campaign.c.id == CampaignInput.c.campaign_id, is_open))
    of_tasks = select(TaskInput.c.sha256).join(Campaign, and_(Campaign.c.id == TaskInput.c.campaign_id, is_open))
    of_tasks = of_tasks.where(TaskInput.c.sha256 == StoredInput.c.sha256)
    sent = select(InputSender.c.sha256).where(
        InputSender.c.sha256 == StoredInput.c.sha256, InputSender.c.sent_at > late
    )
    statement = select(StoredInput.c.sha256).where(
        StoredInput.c.stored_at <= late, StoredInput.c.sha256.not_in(needed), ~of_tasks.exists(), ~sent.exists()
    )
    return list(conn.scalars(statement.with_for_update(skip_locked=True)))


def forget_stored(conn: Connection, sums: Collection[str]) -> None:
    """These are no longer in the store."""
    conn.execute(delete(CampaignInput).where(CampaignInput.c.sha256.in_(sums)))
    conn.execute(delete(StoredInput).where(StoredInput.c.sha256.in_(sums)))
