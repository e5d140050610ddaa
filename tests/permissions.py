"""Who may ask which endpoint, as it is declared: docs/reference shows it, tests/portal tries it."""

from enum import StrEnum
from http import HTTPStatus
from typing import Any, assert_never

from cigri.endpoints import Access, Endpoint
from cigri.identity.callers import AccessScope


class Who(StrEnum):
    """Whoever asks about what is somebody's; group mates by what `portal.group_may` says."""

    OWNER = "owner"
    IGNORED_MATE = "group mate, nothing"
    SEEING_MATE = "group mate, see"
    CHANGING_MATE = "group mate, change"
    OTHER = "other"
    OPERATOR = "operator"
    ANONYMOUS = "anonymous"


FOR_STRANGERS = ("/healthz", "/readyz", "/openapi.json", "/static", "/sign-in", "/proof")
"""Beside the API: what tells whether the grid lives, nothing else; how a browser is let in, or hears that it is not."""
MATES = (Who.IGNORED_MATE, Who.SEEING_MATE, Who.CHANGING_MATE)


class Permission(StrEnum):
    YES = "yes"
    IN_PART = "in part"
    HIDDEN = "404"
    FORBIDDEN = "403"
    UNKNOWN = "401"

    @property
    def refusal(self) -> HTTPStatus | None:
        """What they are answered who may not."""
        return None if self in (Permission.YES, Permission.IN_PART) else HTTPStatus(int(self))


def permission(endpoint: Endpoint[..., Any], who: Who) -> Permission:
    """What is declared, said of one who asks."""
    if endpoint.may is Access.ANYBODY:
        return Permission.YES
    if who is Who.ANONYMOUS:
        return Permission.UNKNOWN
    match endpoint.may:
        case Access.EVERYBODY:
            return Permission.YES
        case Access.EVERYBODY_IN_PART:
            return Permission.YES if _stands_for_owner(endpoint, who) else Permission.IN_PART
        case Access.OWNER:
            return Permission.YES if _stands_for_owner(endpoint, who) else Permission.HIDDEN
        case Access.HOLDER:
            return Permission.YES if who in (Who.OWNER, Who.OPERATOR) else Permission.HIDDEN
        case Access.OPERATOR:
            return Permission.YES if who is Who.OPERATOR else Permission.FORBIDDEN
    assert_never(endpoint.may)


def needed_scope(endpoint: Endpoint[..., Any]) -> AccessScope:
    """Of a token: with less than `operate` nobody is an operator."""
    return AccessScope.OPERATE if endpoint.may is Access.OPERATOR else endpoint.scope


def _stands_for_owner(endpoint: Endpoint[..., Any], who: Who) -> bool:
    is_seen = endpoint.method == "GET" and who is Who.SEEING_MATE
    return is_seen or who in (Who.OWNER, Who.OPERATOR, Who.CHANGING_MATE)
