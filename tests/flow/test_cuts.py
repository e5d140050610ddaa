"""What keeps campaigns from more jobs is kept from cycle to cycle, and written only where it has changed."""

from datetime import timedelta

import pytest

from cigri.database import Database
from cigri.flow.pending_reasons import NewPendingReason, PendingReasonView, list_cuts, put_cuts
from cigri.states import PendingReasonCode
from tests.factories import NOON, a_campaign, a_cluster, set_time

pytestmark = pytest.mark.noon

LATER = NOON + timedelta(hours=1)


def test_only_what_has_changed_is_written_and_what_is_over_is_gone(database: Database) -> None:
    with database.begin() as conn:
        for name in ("dahu", "luke", "zion"):
            a_cluster(conn, name)
        a_campaign(conn, 1, clusters=("dahu", "luke", "zion"))
        full, order, limit = (
            NewPendingReason(1, 1, PendingReasonCode.FULL, "", 3, 3),
            NewPendingReason(1, 2, PendingReasonCode.ORDER, "", 1, 9),
            NewPendingReason(1, 3, PendingReasonCode.LIMIT, "matlab", 1, 1),
        )
        assert put_cuts(conn, [full, order, limit]) == 3
        set_time(conn, LATER)
        assert put_cuts(conn, [full, order, limit]) == 0
        other = NewPendingReason(1, 2, PendingReasonCode.MAX_JOBS, "", 2, 2)
        assert put_cuts(conn, [full._replace(used=4), other]) == 2
        assert list_cuts(conn, 1) == [
            PendingReasonView("dahu", PendingReasonCode.FULL, "", 4, 3, NOON),
            PendingReasonView("luke", PendingReasonCode.MAX_JOBS, "", 2, 2, LATER),
        ]
        assert put_cuts(conn, []) == 0
        assert list_cuts(conn, 1) == []
