"""What the portal is called by, and how browsers say whose page asks."""

OWN_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
HARMLESS = ("GET", "HEAD", "OPTIONS")
SAME_ORIGIN = "same-origin"
"""What browsers send as Sec-Fetch-Site with the requests of a page of the same portal."""
OF_A_PERSON = "none"
"""What they send of an address that somebody has typed."""


def without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
