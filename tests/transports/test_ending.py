"""A module that ends leaves no process behind, here or on a cluster, and blames nobody for what it cut off."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.errors import RemoteOutcomeUnknown
from cigri.flow.clusters import ClusterRow, find_cluster
from cigri.gateway import transport_gateway as gateways
from cigri.gateway.transport_gateway import GatewayClosed, TransportGateway
from cigri.runtime.failure_isolation import isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import Settings
from cigri.transports import Transport
from cigri.transports.local import LocalTransport
from cigri.transports.ssh import SshConnections
from modules.operator.detached_process import start_of
from tests.factories import a_cluster

from .conftest import Sshd, _children, wait_until

pytestmark = pytest.mark.process

TIMEOUT = 600.0


def endless(place: Path) -> str:
    """A script that says which process it is, and goes on until a file is there."""
    said = f"sh -c 'echo $PPID' >{place}.new && mv {place}.new {place}"
    return f"{said}; until [ -e {place}.stop ]; do sleep 0.1; done"


def pid_of(place: Path) -> int:
    wait_until(place.exists, "the script runs")
    return int(place.read_text())


def shells() -> set[int]:
    return {child.pid for child in _children(os.getpid()) if child.name in ("sh", "sudo")}


def cut_off(transport: Transport, place: Path) -> type[BaseException]:
    """What a thread gets that is at work when the transport is terminated."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            transport.run(endless(place), TIMEOUT)
        except RemoteOutcomeUnknown as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    pid = pid_of(place)
    transport.terminate()
    thread.join(30)
    wait_until(lambda: not start_of(pid), "the script has ended")
    (failure,) = failures
    return type(failure)


def test_a_script_that_is_cut_off_here_is_gone_with_its_shell(tmp_path: Path, me: str) -> None:
    before = shells()
    assert cut_off(LocalTransport("here", me), tmp_path / "pid") is RemoteOutcomeUnknown
    assert shells() == before


def test_a_script_that_is_cut_off_elsewhere_is_gone_with_its_connection(
    tmp_path: Path, sshd: Sshd, connections: SshConnections, me: str
) -> None:
    assert cut_off(connections.transport("alpha", sshd.address(), me), tmp_path / "pid") is RemoteOutcomeUnknown
    wait_until(lambda: not sshd.sessions(), "the connection is given back")


@pytest.fixture
def late(database: Database, tmp_path: Path, me: str) -> Callable[[TransportGateway], int]:
    """Begin a visit that does not end; give the process that it waits for."""

    def begin(gateway: TransportGateway) -> int:
        with database.begin() as conn:
            a_cluster(conn, "here")
            cluster = find_cluster(conn, "here")
        assert cluster is not None
        tools = PassContext(database, Settings(), gateway)

        def visit(cluster: ClusterRow) -> PassReport:
            gateway.run(cluster, me, endless(tmp_path / "pid"))
            return PassReport()

        seen = gateway.visit([cluster], isolated_visit(tools, "updator", visit), 0.0)
        assert seen.late == ["here"]
        return pid_of(tmp_path / "pid")

    return begin


def test_a_module_that_ends_leaves_no_process_and_blames_no_cluster_that_is_late(
    database: Database, late: Callable[[TransportGateway], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways, "CLOSING_PATIENCE", 0.5)
    before, gateway = shells(), TransportGateway()
    pid = late(gateway)
    (visit,) = gateway._under_way.values()
    gateway.close()
    assert isinstance(visit.exception(30), GatewayClosed)
    wait_until(lambda: not start_of(pid), "the script has ended")
    assert shells() == before
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM quarantines")) == 0
        assert conn.scalar(text("SELECT count(*) FROM events")) == 0


def test_a_visit_that_soon_ends_is_waited_for(
    late: Callable[[TransportGateway], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways, "CLOSING_PATIENCE", 60.0)
    gateway = TransportGateway()
    late(gateway)
    (visit,) = gateway._under_way.values()
    closing = threading.Thread(target=gateway.close)
    closing.start()
    assert closing.is_alive()
    (tmp_path / "pid.stop").touch()
    closing.join(30)
    assert visit.exception(0) is None
