"""Where the portal may listen by TCP: on this host's loopback, and nowhere else; and other places in the network."""

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from typing import NamedTuple

MOST_PORTS = 65535


class ListenAddress(NamedTuple):
    host: str
    port: int


def read_address(text: str) -> ListenAddress:
    """`127.0.0.1:8080` or `[::1]:8080`; raise ValueError for any other."""
    host, _, port = text.rpartition(":")
    try:
        is_loopback = ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ValueError(
            f"{text!r}: the portal listens on loopback only, as 127.0.0.1:8080; TLS and the world are a reverse proxy's"
        )
    if not (port.isascii() and port.isdigit() and int(port) <= MOST_PORTS):
        raise ValueError(f"{text!r}: write an address and a port, as 127.0.0.1:8080")
    return ListenAddress(host.strip("[]"), int(port))


def known_address(text: str) -> str:
    """As it is, if it is one or nothing."""
    if text:
        read_address(text)
    return text


def read_server(text: str) -> ListenAddress:
    """`mail.example.org:25`; raise ValueError for any other."""
    host, _, port = text.rpartition(":")
    if not host.strip("[]") or not (port.isascii() and port.isdigit() and 0 < int(port) <= MOST_PORTS):
        raise ValueError(f"{text!r}: write a host and a port, as mail.example.org:25")
    return ListenAddress(host.strip("[]"), int(port))


def known_server(text: str) -> str:
    """As it is, if it is one or nothing."""
    if text:
        read_server(text)
    return text


def known_networks(texts: Iterable[str]) -> tuple[str, ...]:
    """As they are; raise ValueError for what is none."""
    return tuple(str(ip_network(text)) for text in texts)
