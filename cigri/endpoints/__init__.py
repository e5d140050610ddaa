"""What people may ask of the grid, and what they may change in it, one file per noun.

An endpoint is a function of a connection, the caller and what was asked; how it is reached and who may call it are
declared where it stands. The portal serves each one; the commands call the same ones, through the portal or here.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from cigri.endpoints.cursors import KeyPagination
from cigri.endpoints.paging import Pagination
from cigri.errors import Forbidden
from cigri.identity.callers import AccessScope, Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.endpoints.request_bodies import SpooledBody
    from cigri.gateway.contract import ClusterGateway
    from cigri.settings.sections import Settings

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

SettingsSource = Callable[[], "Settings"]
"""Gives the settings in force; it is called only for endpoints that want them."""

API = "/api/v1"
HEADERS = {"key": "Idempotency-Key"}
"""Parameters that stand in a header, by their names."""


@dataclass(frozen=True)
class DeferredResponse(Generic[R]):
    """What only a cluster can say, asked when the transaction is over; `run` raises what the gateway does."""

    cluster: str
    run: "Callable[[ClusterGateway], R]"


@dataclass(frozen=True)
class BackgroundCalculation(Generic[R]):
    """What a program of its own works at for some seconds, when the transaction is over; ended, `run` raises."""

    user: str
    """For whom."""
    run: Callable[[], R]
    end: Callable[[], None]


class Access(StrEnum):
    """Who may call an endpoint."""

    ANYBODY = "anybody"
    """Strangers, too: by what they send they may become known."""
    EVERYBODY = "everybody"
    """Whoever is known."""
    EVERYBODY_IN_PART = "everybody, in part"
    """The same; but of others' campaigns the answer lacks what is in them."""
    OWNER = "owner"
    """Of what is named, as the function itself looks up together with it; who is not is told that it is not there."""
    HOLDER = "holder"
    """The same of what is a person's and no campaign's: group mates are anybody else."""
    OPERATOR = "operator"


@dataclass(frozen=True)
class Endpoint(Generic[P, R]):
    """`function` runs in one transaction of its own, which only reads where the method is GET."""

    method: str
    path: str
    may: Access
    scope: AccessScope
    function: "Callable[..., R | DeferredResponse[R] | BackgroundCalculation[R]]"
    """Of a connection, the caller, and the parameters by name."""
    answer: Any
    """The type of the answer."""
    paging: Pagination | KeyPagination | None = None
    """Of a list that is told in pages: how it goes on."""
    most_rows: int | None = None
    """Of a list that is told as a whole: how many rows it has at most, whatever there is."""
    may_defer: bool = False
    """Whether the answer may have to be found out first, on a cluster or by a calculation."""
    created: "Callable[[Any, Mapping[str, Any]], str] | None" = None
    """Where that is which was made, as seen from the path, by the answer and what was asked; None: nothing was."""

    sends_description: bool = False
    """Of an upload: whether what is sent begins with the description of a campaign."""

    @property
    def name(self) -> str:
        """As in the audit trail and in OpenAPI."""
        return self.function.__name__

    @property
    def in_path(self) -> list[str]:
        """The parameters that the path names."""
        return re.findall(r"\{(\w+)\}", self.path)

    def beside(self, settings: SettingsSource) -> "tuple[Settings, ...]":
        """What `function` takes behind the caller: the settings, where it is declared so."""
        return (settings(),) if self.function in _WITH_SETTINGS else ()

    def require(self, caller: Caller) -> None:
        """Raise Forbidden for whom this endpoint is not, whatever is named."""
        if self.may is Access.OPERATOR and not caller.is_operator:
            raise Forbidden(f"this is for operators only, and you are {caller.user}")
        if not caller.scope.allows(self.scope):
            raise Forbidden(f"this token allows to {caller.scope}; to do this, make one with --scope {self.scope}")


class Door(Protocol):
    """What the portal knows of whoever stands before it."""

    def answers_to(self, host: str) -> bool:
        """Is this one of the names by which it is reached?"""
        ...

    def lent(self, user: str, scope: AccessScope, how: str) -> Caller:
        """Who comes by what was given out to this user; raise where the account is gone."""
        ...

    def looking(self) -> AbstractContextManager[None]:
        """While it is looked at what a stranger has sent; raise TooManyRequests where others' is looked at already."""
        ...


class Admitting(Endpoint[P, R]):
    """One for strangers: `function` takes the database and the Door, and the parameters by name.

    It opens its transactions itself, and writes the audit trail when it knows of whom.
    """


class UploadEndpoint(Endpoint[P, R]):
    """One to which much is streamed: `function` takes the database, the caller, a SpooledBody, and the rest by name.

    It opens its transactions itself, when all is there.
    """


_WITH_SETTINGS = set[Callable[..., Any]]()


def with_settings(
    function: "Callable[Concatenate[S, Caller, Settings, P], R]",
) -> "Callable[Concatenate[S, Caller, P], R]":
    """Declare that an endpoint takes the settings in force behind the caller; stands below the other declaration."""
    _WITH_SETTINGS.add(function)
    return cast("Callable[Concatenate[S, Caller, P], R]", function)  # whoever runs it gives them, by Endpoint.beside


def read_endpoint(
    path: str, may: Access, paging: Pagination | KeyPagination | None = None, *, most_rows: int | None = None
) -> "Callable[[Callable[Concatenate[Connection, Caller, P], R]], Endpoint[P, R]]":
    """An endpoint that changes nothing; `{name}` in the path is the parameter of that name."""
    return lambda function: Endpoint(
        "GET", path, may, AccessScope.READ, function, function.__annotations__["return"], paging, most_rows
    )


def cluster_read_endpoint(
    path: str, may: Access, answer: type[R]
) -> "Callable[[Callable[Concatenate[Connection, Caller, P], R | DeferredResponse[R]]], Endpoint[P, R]]":
    """As `read_endpoint`, of what a cluster may have to say: the portal says 202 until it has."""
    return lambda function: Endpoint("GET", path, may, AccessScope.READ, function, answer, may_defer=True)


def cluster_question_endpoint(
    path: str, may: Access, answer: type[R]
) -> "Callable[[Callable[Concatenate[Connection, Caller, P], R | DeferredResponse[R]]], Endpoint[P, R]]":
    """As `cluster_read_endpoint`, where the caller says which host is asked: no GET, and in the audit trail."""
    return lambda function: Endpoint("POST", path, may, AccessScope.OPERATE, function, answer, may_defer=True)


def change_endpoint(
    path: str,
    may: Access,
    scope: AccessScope = AccessScope.SUBMIT,
    *,
    method: str = "POST",
    created: "Callable[[Any, Mapping[str, Any]], str] | None" = None,
) -> "Callable[[Callable[Concatenate[Connection, Caller, P], R]], Endpoint[P, R]]":
    """An endpoint that changes something: it stands in the audit trail."""
    return lambda function: Endpoint(
        method, path, may, scope, function, function.__annotations__["return"], created=created
    )


def upload_endpoint(
    path: str,
    may: Access,
    scope: AccessScope = AccessScope.SUBMIT,
    *,
    created: "Callable[[Any, Mapping[str, Any]], str] | None" = None,
    most_rows: int | None = None,
    sends_description: bool = False,
) -> "Callable[[Callable[Concatenate[Database, Caller, SpooledBody, P], R]], UploadEndpoint[P, R]]":
    """An endpoint to which a SpooledBody is sent; its parameters stand in the query."""
    return lambda function: UploadEndpoint(
        "POST",
        path,
        may,
        scope,
        function,
        function.__annotations__["return"],
        most_rows=most_rows,
        created=created,
        sends_description=sends_description,
    )


def admits(
    path: str,
) -> "Callable[[Callable[Concatenate[Database, Door, P], R]], Admitting[P, R]]":
    """An endpoint for whom nobody knows."""
    return lambda function: Admitting(
        "POST", path, Access.ANYBODY, AccessScope.READ, function, function.__annotations__["return"]
    )


def calculation_endpoint(
    path: str, may: Access, answer: type[R]
) -> Callable[
    ["Callable[Concatenate[Database, Caller, SpooledBody, P], BackgroundCalculation[R]]"], "UploadEndpoint[P, R]"
]:
    """As `upload_endpoint`, of descriptions and what takes some seconds: the portal says 202 until it is done."""
    return lambda function: UploadEndpoint(
        "POST", path, may, AccessScope.SUBMIT, function, answer, may_defer=True, sends_description=True
    )


def list_endpoints() -> Iterator[Endpoint[..., Any]]:
    """All endpoints of all files here."""
    for module in pkgutil.iter_modules(__path__):
        file = importlib.import_module(f"{__name__}.{module.name}")
        yield from (value for value in vars(file).values() if isinstance(value, Endpoint))
