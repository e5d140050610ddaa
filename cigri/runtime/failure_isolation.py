"""What raises takes down its own campaign's or cluster's part of a pass, nothing else."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InterfaceError, SQLAlchemyError

from cigri.database import is_disk_full
from cigri.errors import DatabaseUnavailable
from cigri.flow.clusters import ClusterRow
from cigri.flow.quarantines import (
    end_quarantines,
    end_visit_quarantine,
    list_quarantined,
    put_campaign_failures,
    put_visit_failure,
)
from cigri.runtime.pass_context import PassContext, PassReport

logger = logging.getLogger(__name__)

T = TypeVar("T")
FAULTS = (Exception, SystemExit)  # a site's own file may call sys.exit


class FailureIsolation:
    """The campaigns of one pass of a module: which are left out, which fail in it, and which do well again."""

    def __init__(self, conn: Connection, module: str) -> None:
        self._conn, self._module = conn, module
        self._known = list_quarantined(conn, module)
        self.failed: dict[int, str] = {}

    @property
    def knows_failures(self) -> bool:
        """Has any campaign failed in this module lately?"""
        return bool(self._known)

    def is_left_out(self, campaign_id: int) -> bool:
        """Has it failed in this pass, or does it rest after failing in earlier ones?"""
        return self._known.get(campaign_id, False) or campaign_id in self.failed

    @contextmanager
    def savepoint(self, campaign_id: int) -> Iterator[None]:
        """What raises within is rolled back alone, and noted; not so when the database itself is away."""
        try:
            with self._conn.begin_nested():
                yield
        except FAULTS as error:
            if _is_lost(error):
                raise
            self.fail(campaign_id, error)

    def fail(self, campaign_id: int, error: BaseException) -> None:
        """Note that the campaign has failed in this pass, with a line for people; the log gets the traceback."""
        logger.error("%s leaves out campaign %s, which raised", self._module, campaign_id, exc_info=error)
        self.failed[campaign_id] = described(error)

    def of_all(self, campaign_ids: Iterable[int], act: Callable[[Collection[int]], T]) -> T:
        """What a pure function gives of all campaigns; where it raises, of all but those of which alone it raises."""
        ids = dict.fromkeys(id for id in campaign_ids if not self.is_left_out(id))
        try:
            return act(ids)
        except SQLAlchemyError:
            raise
        except FAULTS:
            for id in ids:
                try:
                    act([id])
                except FAULTS as error:
                    self.fail(id, error)
            if not self.failed:
                raise
        return act(dict.fromkeys(id for id in ids if id not in self.failed))

    def settle(self, campaign_ids: Iterable[int]) -> None:
        """Campaigns that failed in this pass rest; those of these campaigns that had failed before, and did not now,
        are well."""
        well = {id for id in campaign_ids if self._known.get(id) is False and id not in self.failed}
        end_quarantines(self._conn, self._module, well)
        put_campaign_failures(self._conn, self._module, self.failed)


def once_more_isolated(act: Callable[[bool], T]) -> T:
    """All as one, which costs nothing; if anything raises, all once more with a savepoint for each campaign (True)."""
    try:
        return act(False)
    except DatabaseUnavailable:
        raise
    except FAULTS as error:
        logger.warning("The pass raised %s and is done again, each campaign by itself", described(error))
        return act(True)


def isolated_visit(
    tools: PassContext, module: str, visit: Callable[[ClusterRow], PassReport]
) -> Callable[[ClusterRow], PassReport]:
    """A visit that raises has its cluster left out for a while, with an event, and hurts no other."""

    def guarded(cluster: ClusterRow) -> PassReport:
        try:
            report = visit(cluster)
        except DatabaseUnavailable:
            raise
        except FAULTS as error:
            logger.exception("%s leaves out cluster %s, whose visit raised", module, cluster.name)
            with tools.database.begin() as conn:
                put_visit_failure(conn, module, cluster.id, cluster.name, described(error))
            return Counter({"clusters left out": 1})
        if cluster.has_failed:
            with tools.database.begin() as conn:
                end_visit_quarantine(conn, module, cluster.id, cluster.name)
        return report

    return guarded


def described(error: BaseException) -> str:
    """The class and the first line of an error, with its notes; the log has the rest."""
    lines = str(error).strip().splitlines()
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {lines[0] if lines else 'no more is known'}{notes}"


def _is_lost(error: BaseException) -> bool:
    """Is it the database that has failed, by its connection or its disk, and not what was asked of it?"""
    if isinstance(error, DatabaseUnavailable | InterfaceError):
        return True
    return isinstance(error, DBAPIError) and (error.connection_invalidated or is_disk_full(error))
