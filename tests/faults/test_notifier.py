"""Kill -9 of the notifier at each of its lines: nobody misses anything, and what is sent twice says so by its key."""

import inspect
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.events import NewEvent, put_events
from cigri.flow.subscriptions import put_subscription
from cigri.formats.subscriptions import read_subscribing
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import NotifySettings, Settings
from cigri.states import EventLevel
from modules import notifier
from modules.notifier import sending
from tests.factories import a_campaign, a_cluster
from tests.forker import Forker
from tests.grid import until
from tests.receivers import mail_server

ROOT = Path(__file__).parents[2]
LEASE_OVER = text("UPDATE messages SET taken_until = now() - interval '1 s' WHERE taken_until IS NOT NULL")
UNTOLD = text("SELECT count(*) FROM messages WHERE state <> 'sent'")
NEWS = text("SELECT count(*) FROM events WHERE is_news")


def lines(module: ModuleType) -> Iterator[int]:
    """Of its functions, those on which something happens."""
    for _, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__:
            yield from sorted({line for _, _, line in function.__code__.co_lines() if line is not None})


@pytest.mark.process
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("module", "deaths"), [(notifier, 40), (sending, 10)], ids=["notifier", "sending"])
def test_a_notifier_killed_at_any_line_loses_nothing(
    module: ModuleType, deaths: int, forker: Forker, database: Database, database_url: str
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_subscription(conn, "alice", read_subscribing("[ERROR]mail:a@example.org"))
    died = 0
    with mail_server() as server:
        settings = Settings(notify=NotifySettings(smtp=f"127.0.0.1:{server.port}", digest=0))
        tools = PassContext(database, settings, TransportGateway())
        name = module.__name__.rpartition(".")[2]
        for line in lines(module):
            with database.begin() as conn:
                id = a_campaign(conn, 1, name=f"line {line}")
                put_events(conn, [NewEvent("TASK_FAILED", EventLevel.ERROR, f"task {id}", "boom", id)])
            arguments = [database_url, name, str(line), str(server.port)]
            said = forker.run("tests.faults.dying:at_line_of_notifier", arguments, os.environ, ROOT)
            assert said.status in (0, -signal.SIGKILL), said
            died += said.status != 0
            with database.begin() as conn:
                conn.execute(LEASE_OVER)

            def is_told() -> bool:
                notifier.run_once(tools)
                with database.begin() as conn:
                    return (conn.scalar(UNTOLD), conn.scalar(NEWS)) == (0, 0)

            until(is_told)
            keys = [mail["X-CiGri-Message"] for mail in server.mails if f"(line {line})" in mail["Subject"]]
            assert len(keys) in (1, 2)
            assert len(set(keys)) == 1
    assert died > deaths
