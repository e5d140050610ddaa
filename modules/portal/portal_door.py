"""What endpoints for strangers may use: the names of this grid, and a few looks at signatures at a time."""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from cigri.errors import TooManyRequests
from cigri.identity.callers import AccessScope, Caller
from modules.portal.authentication import Authenticator
from modules.portal.origins import OWN_NAMES

MOST_LOOKED_AT = 4
"""Signatures at the same time, each a process for some milliseconds."""


class PortalDoor:
    """`names`: by which the grid is reached; where it has none, by those of this host alone."""

    def __init__(self, identities: Authenticator, names: Collection[str]) -> None:
        self._identities = identities
        self._names = frozenset(map(_bare, names or OWN_NAMES))
        self._places = threading.Semaphore(MOST_LOOKED_AT)

    def answers_to(self, host: str) -> bool:
        return _bare(host) in self._names

    def lent(self, user: str, scope: AccessScope, how: str) -> Caller:
        return self._identities.lent(user, scope, how)

    @contextmanager
    def looking(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise TooManyRequests(f"{MOST_LOOKED_AT} signatures are looked at already; ask again in a second")
        try:
            yield
        finally:
            self._places.release()


def _bare(host: str) -> str:
    """An address of IPv6 has brackets in a URL, and none in what is read of it."""
    return host.lower().strip("[]")
