"""Where the portal may listen by TCP: on this host's loopback, and nowhere else."""

from ipaddress import ip_address
from typing import NamedTuple

MOST_PORTS = 65535


class Address(NamedTuple):
    host: str
    port: int


def read_address(text: str) -> Address:
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
    return Address(host.strip("[]"), int(port))


def known_address(text: str) -> str:
    """As it is, if it is one or nothing."""
    if text:
        read_address(text)
    return text
