"""What the portal is called by, and how browsers say whose page asks."""

import re
from collections.abc import Collection
from typing import NamedTuple

from starlette.datastructures import Headers

from cigri.errors import ConfigError

OWN_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
HARMLESS = ("GET", "HEAD", "OPTIONS")
SAME_ORIGIN = "same-origin"
"""What browsers send as Sec-Fetch-Site with the requests of a page of the same portal."""
OF_A_PERSON = "none"
"""What they send of an address that somebody has typed."""

_RANDOM_NAME = re.compile(r"[0-9a-f]{32}\.localhost")
_NAME = re.compile(r"(?:(https?)://)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"https": "443", "http": "80"}


class PublicNames(NamedTuple):
    """The hosts of `portal.names`, without ports, and the origins of the pages that are served there."""

    hosts: frozenset[str]
    origins: frozenset[str]


def read_names(names: Collection[str]) -> PublicNames:
    """Return what `portal.names` says; raise ConfigError for what is no name.

    A name is served by https at its usual port, unless it says otherwise: `grid:8443`, `http://grid`.
    """
    hosts, origins = set(), set()
    for name in names:
        found = _NAME.fullmatch(name.lower())
        if found is None:
            raise ConfigError(f"portal.names: {name!r} is no name of a host, as grid.example.org or grid:8443")
        scheme, host, port = found[1] or "https", found[2], found[3]
        hosts.add(host)
        origins.add(f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}")
    return PublicNames(frozenset(hosts), frozenset(origins))


def is_browser_request(headers: Headers) -> bool:
    """Return whether a browser sends it: programs say neither whose page asks nor from where."""
    return "origin" in headers or "sec-fetch-site" in headers


def is_own_page(headers: Headers, origins: Collection[str]) -> bool:
    """Return whether a browser says that a page of one of these origins asks, or no browser says anything.

    An origin is compared as a whole: another port of the same host is somebody else's page.
    """
    if headers.get("sec-fetch-site", OF_A_PERSON) not in (SAME_ORIGIN, OF_A_PERSON):
        return False
    return all(origin.lower() in origins for origin in headers.getlist("origin"))


def is_own_name(host: str) -> bool:
    """Is this host called so by itself? Browsers never ask anybody what a name below localhost means (RFC 6761)."""
    name = without_port(host)
    return name in OWN_NAMES or _RANDOM_NAME.fullmatch(name) is not None


def without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
