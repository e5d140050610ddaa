"""Two metaschedulers at once, as with two almighties: each offer is made once, and neither fails."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from sqlalchemy import text

from cigri.database import Database
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import Settings
from modules import metascheduler
from tests.factories import a_campaign, a_cluster

ROUNDS = 40


def test_two_that_begin_at_the_same_time_make_each_offer_once(database: Database) -> None:
    with database.begin() as conn:
        names = [f"c{number}" for number in range(4)]
        for name in names:
            a_cluster(conn, name, free=100)
        for _ in range(3):
            a_campaign(conn, 50, clusters=names)
    start, tools = Barrier(2), PassContext(database, Settings(), TransportGateway())

    def share_out(_who: int) -> list[PassReport]:
        reports = []
        for _ in range(ROUNDS):
            start.wait(60)
            reports.append(metascheduler.run_once(tools))
        return reports

    with ThreadPoolExecutor(2) as pool:
        mine, others = pool.map(share_out, range(2))
    for pair in zip(mine, others, strict=True):
        assert any(report["offers"] for report in pair), pair
    with database.read() as conn:
        assert conn.scalar(text("SELECT count(*) FROM offers")) == max(mine[-1]["offers"], others[-1]["offers"])


def test_a_pass_while_another_is_at_it_offers_nothing_and_says_so(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=100)
        a_campaign(conn, 50)
    tools = PassContext(database, Settings(), TransportGateway())
    with database.lock("cigri.metascheduler") as taken:
        assert taken
        assert metascheduler.run_once(tools) == {"locked passes": 1}
    assert metascheduler.run_once(tools)["offers"] == 1
