"""Dependencies: campaigns that wait for others, and their tasks, blocked until these have ended.
Given by: metascheduler, operator, users; taken by: operator, users.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, case, cast, func, insert, literal, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import wake
from cigri.errors import CigriError
from cigri.flow.campaigns import own_campaign
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.views.unmet_dependencies import NOT_DONE, UnmetDependency, list_news
from cigri.identity.callers import Caller
from cigri.lifecycle.dependency_gates import GateVerdict, broken_promise
from cigri.states import AfterWhen, EventLevel, Outcome, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.dependencies import Dependency
from cigri.tables.jobs import Attempt
from cigri.tables.tasks import Task, TaskCount
from cigri.tables.transitions import transition_to

AFTER_FAILED, AFTER_MET = "AFTER_FAILED", "AFTER_MET"
_Other = Task.alias("other_task")


class RequiredCampaign(NamedTuple):
    """What a campaign is to wait for, as its description says it: by number, or by the name of one of its user's."""

    campaign: int | str
    is_same: bool = False
    condition: AfterWhen = AfterWhen.SUCCESS
    tolerated: int = 0
    tolerance: float = 0.0


class NewDependency(NamedTuple):
    """As the table `dependencies`."""

    required_id: int
    is_same: bool = False
    condition: AfterWhen = AfterWhen.SUCCESS
    tolerated: int = 0
    tolerance: float = 0.0


def find_required(
    conn: Connection, caller: Caller, wanted: Sequence[RequiredCampaign], tasks: int
) -> Iterator[NewDependency | str]:
    """Each as it is stored, or why it cannot be; the new campaign has so many tasks.

    A name means the latest campaign of that name of the caller's, and only the caller's.
    """
    row, found = Campaign.c, set[int]()
    for one in wanted:
        named = row.id == one.campaign if isinstance(one.campaign, int) else row.name == one.campaign
        mine = named if isinstance(one.campaign, int) else and_(named, row.grid_user == caller.user)
        about = select(row.id, row.grid_user, row.archived_at).where(mine).order_by(row.id.desc()).limit(1)
        required = conn.execute(about).one_or_none()
        if required is None or not caller.sees(required.grid_user):
            yield f"there is no such campaign as {one.campaign}; `gridstat -a` lists all"
        elif required.id in found:
            yield f"campaign {required.id} is named twice"
        elif one.is_same and required.archived_at is not None:
            yield f"campaign {required.id} is archived: its tasks are not there one by one; write tasks: all"
        elif one.is_same and (there := _total(conn, required.id)) < tasks:
            yield f"campaign {required.id} has {there:,} tasks, and this one {tasks:,}: some would wait for none"
        else:
            found.add(required.id)
            yield NewDependency(required.id, *one[1:])


def put_dependencies(conn: Connection, campaign_id: int, dependencies: Sequence[NewDependency]) -> None:
    """Of a campaign whose tasks are put next."""
    if dependencies:
        conn.execute(insert(Dependency), [{"campaign_id": campaign_id, **each._asdict()} for each in dependencies])


def is_shut(conn: Connection, campaign_id: int) -> bool:
    """Does the campaign wait for another?"""
    row = Dependency.c
    return conn.scalar(select(row.id).where(row.campaign_id == campaign_id, row.met_at.is_(None)).limit(1)) is not None


def shut_again(conn: Connection, campaign_id: int) -> None:
    """It gets more tasks, which wait for those of the same numbers where the others did, too."""
    row = Dependency.c
    same = update(Dependency).where(row.campaign_id == campaign_id, row.is_same, row.waived_by.is_(None))
    conn.execute(same.values(met_at=None, seen=-1))


def require_same(conn: Connection, campaign_id: int, tasks: int) -> None:
    """Raise CigriError unless each of its tasks, `tasks` in all, has one of the same number to wait for."""
    row = Dependency.c
    same = select(row.required_id).where(row.campaign_id == campaign_id, row.is_same, row.waived_by.is_(None))
    for required_id in conn.scalars(same).all():
        if (there := _total(conn, required_id)) < tasks:
            why = f"each of its tasks waits for that of the same number of campaign {required_id}, which has {there:,}"
            raise CigriError(f"campaign {campaign_id} cannot have {tasks:,} tasks: {why}; nothing was added")


def open_regardless(conn: Connection, campaign_id: int, caller: Caller) -> int:
    """The campaign waits for no other any more, by its user's word; give how many tasks that releases."""
    own_campaign(conn, campaign_id, caller)
    row = Dependency.c
    shut = update(Dependency).where(row.campaign_id == campaign_id, row.met_at.is_(None))
    waived = shut.values(met_at=func.now(), waived_by=caller.user, broken_at=None).returning(row.required_id)
    required = conn.scalars(waived).all()
    if not required:
        raise CigriError(f"campaign {campaign_id} waits for no other")
    conn.execute(update(Dependency).where(row.campaign_id == campaign_id, row.is_same).values(waived_by=caller.user))
    close_events(conn, [AFTER_FAILED], [_subject(campaign_id, id) for id in required], caller.user)
    message = f"campaign {campaign_id} waits for no other any more, by the wish of {caller.user}"
    put_events(conn, [NewEvent("RELEASED", EventLevel.INFO, f"campaign {campaign_id}", message, campaign_id)])
    released = _release(conn, [campaign_id])
    wake(conn)
    return released


def release_tasks(conn: Connection) -> int:
    """Judge what is waited for, and release the tasks that wait for nothing any more; give their number.

    A campaign that its user is just changing is left for the next cycle.
    """
    news = list_news(conn)
    if not news:
        return 0
    held = select(Campaign.c.id).where(Campaign.c.id.in_({gate.campaign_id for gate in news})).order_by(Campaign.c.id)
    campaigns = set(conn.scalars(held.with_for_update(skip_locked=True, key_share=True)))
    gates = [gate for gate in news if gate.campaign_id in campaigns]
    _put_verdicts(conn, {gate: gate.verdict for gate in gates if not gate.is_same})
    released = _release(conn, campaigns)
    _put_verdicts(conn, {gate: _judge_same(conn, gate) for gate in gates if gate.is_same})
    return released


def _release(conn: Connection, campaign_ids: Collection[int]) -> int:
    """Blocked tasks of these campaigns that wait for nothing any more wait for their turn: all by one statement."""
    row = Dependency.c
    there = and_(_Other.c.campaign_id == row.required_id, _Other.c.number == Task.c.number)
    other = select(_Other.c.id).where(there, _is_fulfilled(row.condition)).correlate(Task, Dependency)
    waits = select(row.id).where(
        row.campaign_id == Task.c.campaign_id, row.met_at.is_(None), ~and_(row.is_same, other.exists())
    )
    released = transition_to(Task.c.state, TaskState.WAITING, out_of=[TaskState.BLOCKED]).where(
        Task.c.campaign_id.in_(campaign_ids), ~waits.correlate(Task).exists()
    )
    return conn.execute(released).rowcount


def _judge_same(conn: Connection, gate: UnmetDependency) -> GateVerdict:
    """Once the required campaign is over: does any task still wait for that of the same number?"""
    conn.execute(update(Dependency).where(Dependency.c.id == gate.id).values(seen=gate.fulfilled))
    if not gate.is_over:
        return GateVerdict.WAITS
    there = and_(_Other.c.campaign_id == gate.required_id, _Other.c.number == Task.c.number)
    condition = literal(gate.condition, Dependency.c.condition.type)
    fulfilled = select(_Other.c.id).where(there, _is_fulfilled(condition)).correlate(Task)
    waits = select(Task.c.id).where(Task.c.campaign_id == gate.campaign_id, Task.c.state == TaskState.BLOCKED)
    still = conn.scalar(waits.where(~fulfilled.exists()).limit(1))
    return GateVerdict.MET if still is None else GateVerdict.BROKEN


def _is_fulfilled(condition: ColumnElement[AfterWhen]) -> ColumnElement[bool]:
    """Has the other task ended so? A result that is doubted is none yet."""
    doubted = select(Attempt.c.task_id).where(Attempt.c.task_id == _Other.c.id, Attempt.c.outcome == Outcome.DOUBTFUL)
    is_done = and_(_Other.c.state == TaskState.DONE, ~doubted.correlate(_Other).exists())
    is_not_done = _Other.c.state.in_(NOT_DONE)
    return case(
        (condition == AfterWhen.SUCCESS, is_done),
        (condition == AfterWhen.FAILURE, is_not_done),
        else_=or_(is_done, is_not_done),
    )


def _put_verdicts(conn: Connection, verdicts: dict[UnmetDependency, GateVerdict]) -> None:
    """Each that is another than before, with its event."""
    healed, told = [], []
    for gate, verdict in verdicts.items():
        subject = _subject(gate.campaign_id, gate.required_id)
        row = update(Dependency).where(Dependency.c.id == gate.id)
        if verdict is GateVerdict.BROKEN and not gate.is_broken:
            conn.execute(row.values(broken_at=func.now()))
            ids = gate.campaign_id, gate.required_id
            message = broken_promise(*ids, gate.ended, gate.condition, is_same=gate.is_same)
            told.append(NewEvent(AFTER_FAILED, EventLevel.ERROR, subject, message, gate.campaign_id))
        elif verdict is not GateVerdict.BROKEN and gate.is_broken:
            conn.execute(row.values(broken_at=None))
            healed.append(subject)
        if verdict is GateVerdict.MET:
            conn.execute(row.values(met_at=func.now()))
            message = f"campaign {gate.required_id} has ended: campaign {gate.campaign_id} waits for it no longer"
            told.append(NewEvent(AFTER_MET, EventLevel.INFO, subject, message, gate.campaign_id))
    close_events(conn, [AFTER_FAILED], healed, "cigri")
    put_events(conn, told)


def _subject(campaign_id: int, required_id: int) -> str:
    return f"campaign {campaign_id} after campaign {required_id}"


def _total(conn: Connection, campaign_id: int) -> int:
    number = select(cast(func.coalesce(func.sum(TaskCount.c.n), 0), BigInteger))
    return conn.execute(number.where(TaskCount.c.campaign_id == campaign_id)).scalar_one()
