"""An endpoint is called: its caller is looked at, and all happens in one transaction."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from cigri.endpoints import BackgroundCalculation, DeferredResponse, Endpoint, P, R, SettingsSource, UploadEndpoint
from cigri.endpoints.read_cache import instant_of, remembering
from cigri.endpoints.request_bodies import SpooledBody, as_body
from cigri.endpoints.storable_values import require_storable
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database


class EndpointReader(Protocol):
    """What answers questions."""

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        """The endpoint's answer; parameters are given by name. Its errors are raised here, by their classes."""
        ...


class GridClient(EndpointReader, Protocol):
    """The grid as a command meets it."""

    def send(self, endpoint: UploadEndpoint[P, R], values: Iterable[object], *args: P.args, **asked: P.kwargs) -> R:
        """The same, with these values as its body: one may be sent after the other."""
        ...

    def send_bytes(
        self, endpoint: UploadEndpoint[P, R], blocks: Iterable[bytes], *args: P.args, **asked: P.kwargs
    ) -> R:
        """The same, with a body of bytes."""
        ...


class InProcessClient:
    """For whoever may open the database: endpoints are called in this process."""

    def __init__(self, database: "Database", settings: SettingsSource, caller: Caller) -> None:
        self._database, self._settings, self._caller = database, settings, caller

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        assert not args, "parameters are given by name"
        answer = run_endpoint(endpoint, self._database, self._settings, self._caller, asked)
        if not isinstance(answer, DeferredResponse):
            return answer
        from cigri.gateway.transport_gateway import TransportGateway

        with closing(TransportGateway()) as gateway:
            return answer.run(gateway)

    @contextmanager
    def snapshot(self) -> Iterator["SnapshotClient"]:
        """All that is asked in it sees the same instant, so that its figures agree."""
        with self._database.answering() as conn:
            yield SnapshotClient(remembering(conn), self._settings, self._caller)

    def send(self, endpoint: UploadEndpoint[P, R], values: Iterable[object], *args: P.args, **asked: P.kwargs) -> R:
        return self.send_bytes(endpoint, as_body(values), *args, **asked)

    def send_bytes(
        self, endpoint: UploadEndpoint[P, R], blocks: Iterable[bytes], *args: P.args, **asked: P.kwargs
    ) -> R:
        assert not args, "parameters are given by name"
        with SpooledBody() as body:
            for block in blocks:
                body.write(block)
            answer = run_upload_endpoint(endpoint, self._database, self._settings, self._caller, body, asked)
        return answer.run() if isinstance(answer, BackgroundCalculation) else answer


class SnapshotClient:
    """Reads of one instant."""

    def __init__(self, conn: "Connection", settings: SettingsSource, caller: Caller) -> None:
        self._conn, self._settings, self._caller = conn, settings, caller

    def now(self) -> datetime:
        """Which instant that is, by the grid's clock."""
        return instant_of(self._conn)

    def call(self, endpoint: Endpoint[P, R], *args: P.args, **asked: P.kwargs) -> R:
        assert not args, "parameters are given by name"
        assert endpoint.method == "GET", f"{endpoint.name} changes something"
        endpoint.require(self._caller)
        require_storable(asked)
        answer = endpoint.function(self._conn, self._caller, *endpoint.beside(self._settings), **asked)
        assert not isinstance(answer, DeferredResponse | BackgroundCalculation), (
            "nothing is waited for within a transaction"
        )
        return answer


def run_endpoint(
    endpoint: Endpoint[..., R],
    database: "Database",
    settings: SettingsSource,
    caller: Caller,
    asked: Mapping[str, Any],
) -> "R | DeferredResponse[R]":
    """Raise Forbidden for whom it is not; what is changed stands in the audit trail with its change, or neither."""
    endpoint.require(caller)
    require_storable(asked)
    if endpoint.method == "GET":
        with database.answering() as conn:
            answer = endpoint.function(conn, caller, *endpoint.beside(settings), **asked)
        assert not isinstance(answer, BackgroundCalculation), "it is asked with what is sent"
        return answer
    from cigri.flow.audit import put_audit

    with database.begin() as conn:
        answer = endpoint.function(conn, caller, *endpoint.beside(settings), **asked)
        put_audit(conn, caller, endpoint.name, asked)
    assert not isinstance(answer, BackgroundCalculation), "it changes nothing"
    return answer


def run_upload_endpoint(
    endpoint: UploadEndpoint[..., R],
    database: "Database | None",
    settings: SettingsSource,
    caller: Caller,
    body: SpooledBody,
    asked: Mapping[str, Any],
) -> "R | BackgroundCalculation[R]":
    """As call, with what was streamed; `function` writes the audit trail itself. None: the database is away."""
    endpoint.require(caller)
    answer = endpoint.function(database, caller, *endpoint.beside(settings), body, **asked)
    assert not isinstance(answer, DeferredResponse), "no cluster is asked about what is streamed"
    return answer
