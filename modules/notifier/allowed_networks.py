"""Where a request on behalf of a user may go: public addresses, and networks that the operator names."""

import socket
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from modules.notifier.delivery_errors import DeliveryRefused

NAT64 = ip_network("64:ff9b::/96")
WITHIN_NAT64 = 0xFFFFFFFF

Address = IPv4Address | IPv6Address


def public_or_allowed(host: str, port: int, private: Iterable[str]) -> tuple[str, int]:
    """The first address of the host, if all of them may be asked; raise DeliveryRefused."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DeliveryRefused(f"{host}: {error}") from None
    networks = [ip_network(text) for text in private]
    addresses = [str(place[0]) for *_, place in found]
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        if "%" in text or not (is_public(address) or any(address in network for network in networks)):
            raise DeliveryRefused(
                f"{host} is {text}, which is no public address: notify.private of the operator may allow it"
            )
    return addresses[0], port


def is_public(address: Address) -> bool:
    """So is the one that another kind of address carries."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    return all(each.is_global and not each.is_multicast for each in (address, *_carried(address)))


def _carried(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv4Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in NAT64:
        yield IPv4Address(int(address) & WITHIN_NAT64)
