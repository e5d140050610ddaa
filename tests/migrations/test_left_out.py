"""The migration that leaves out what fails, up and down with rows."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cigri.database import Database, schema
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.flow.quarantines import put_campaign_failures, put_visit_failure
from tests.factories import NOON, a_campaign, a_cluster

pytestmark = pytest.mark.noon

SINCE = text("SELECT name, failing_since, by_almighty FROM modules ORDER BY name")


def test_a_module_that_fails_has_done_so_since_its_last_pass(database: Database) -> None:
    with database.begin() as conn:
        put_pass(conn, ModulePass("runner", "host", 1, 0.1, {}, "KeyError: 'x'", by_almighty=True))
        put_pass(conn, ModulePass("updator", "host", 1, 0.1, {}, "", by_almighty=True))
        cluster, campaign = a_cluster(conn), a_campaign(conn, 1)
        put_visit_failure(conn, "runner", cluster, "dahu", "KeyError: 'x'")
        put_campaign_failures(conn, "predictor", {campaign: "ZeroDivisionError"})
    schema.downgrade(database, "0030")
    schema.upgrade(database)
    with database.begin() as conn:
        assert [tuple(row) for row in conn.execute(SINCE)] == [("runner", NOON, False), ("updator", None, False)]
        assert conn.scalar(text("SELECT count(*) FROM quarantines")) == 0


@pytest.mark.parametrize(("campaign", "cluster"), [(True, True), (False, False)])
def test_one_thing_is_left_out_at_a_time(database: Database, campaign: bool, cluster: bool) -> None:
    with database.begin() as conn:
        about = {"cluster": a_cluster(conn), "campaign": a_campaign(conn, 1), "at": NOON}
    about |= {"cluster": about["cluster"] if cluster else None, "campaign": about["campaign"] if campaign else None}
    new = "INSERT INTO quarantines (module, campaign_id, cluster_id, since, until, failures, error)"
    with pytest.raises(IntegrityError, match="one_thing"), database.begin() as conn:
        conn.execute(text(f"{new} VALUES ('runner', :campaign, :cluster, :at, :at, 1, '')"), about)
