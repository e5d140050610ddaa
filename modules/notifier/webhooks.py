"""A message by a request to a web server: signed, to where it may go, and no further."""

import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from cigri.settings.sections import NotifySettings
from modules.notifier.allowed_networks import public_or_allowed
from modules.notifier.delivery_errors import DeliveryRefused

PORTS = {"https": 443, "http": 80}


def post(settings: NotifySettings, url: str, body: bytes, *, key: str, secret: str) -> None:
    """Raise DeliveryRefused unless it answers 2xx; redirects are not followed, nor is more of the answer read."""
    parts = urlsplit(url)
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": "CiGri",
        "X-CiGri-Message": key,
        "X-CiGri-Signature": f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}",
    }
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with _connected(settings, parts) as connection:
            connection.request("POST", target, body, headers)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DeliveryRefused(f"{parts.netloc}: {error or type(error).__name__}") from None
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        redirected = "; redirects are not followed" if status < HTTPStatus.BAD_REQUEST else ""
        raise DeliveryRefused(f"{parts.netloc} answers {status}{redirected}")


@contextmanager
def _connected(settings: NotifySettings, parts: SplitResult) -> Iterator[http.client.HTTPConnection]:
    """To the very address that was looked at, so that a name cannot mean another one; cut off when it takes long."""
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    address = public_or_allowed(host, port, settings.private)
    with (
        closing(socket.create_connection(address[:2], settings.timeout)) as plain,
        closing(plain.dup()) as cut,  # TLS takes the connection out of the socket that it is given
    ):
        end = threading.Timer(settings.timeout, _cut, [cut])
        end.start()
        try:
            connection = http.client.HTTPConnection(host, port, timeout=settings.timeout)
            connection.sock = plain
            if parts.scheme == "https":
                connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            with closing(connection):
                yield connection
        finally:
            end.cancel()


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
