"""The portal of a grid elsewhere: a URL, and the token that it alone is shown."""

import os
import stat
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cigri.errors import ConfigError
from cigri.identity.token_text import read_token
from cigri.settings.sources import user_directory

URL_VARIABLE, TOKEN_VARIABLE = "CIGRI_URL", "CIGRI_TOKEN"
HOW_URL = "write https://grid.example.org, with a port or a path where it has one"
READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class RemotePortal(NamedTuple):
    """`prefix` stands before each path, and has no slash at its end; `token` is empty where none is shown."""

    url: str
    is_encrypted: bool
    host: str
    port: int | None
    prefix: str
    token: str

    def __str__(self) -> str:
        return self.url

    def connection(self, timeout: float) -> HTTPConnection:
        """Certificates are verified, against those that this host trusts."""
        if not self.is_encrypted:
            return HTTPConnection(self.host, self.port, timeout=timeout)
        import ssl
        from http.client import HTTPSConnection

        return HTTPSConnection(self.host, self.port, timeout=timeout, context=ssl.create_default_context())


def find_elsewhere(environment: Mapping[str, str]) -> RemotePortal | None:
    """What CIGRI_URL names; raise ConfigError for a URL that nothing may be sent to, or without a token."""
    url = environment.get(URL_VARIABLE, "")
    return _at(url, find_token_text(environment)) if url else None


def find_address(environment: Mapping[str, str]) -> RemotePortal | None:
    """As find_elsewhere, for whom is to be given a token there."""
    url = environment.get(URL_VARIABLE, "")
    return _at(url, "") if url else None


def find_token_text(environment: Mapping[str, str]) -> str:
    """From CIGRI_TOKEN, or the file `token` beside the user's cigri.toml, which nobody else may read."""
    path = user_directory(environment) / "token"
    text, origin = environment.get(TOKEN_VARIABLE, ""), f"${TOKEN_VARIABLE}"
    if not text:
        text, origin = _private_text(path), str(path)
    if read_token(text.strip()) is None:
        raise ConfigError(f"{origin}: this is no token; `gridtoken create` on the grid's host makes one")
    return text.strip()


def _at(url: str, token: str) -> RemotePortal:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"${URL_VARIABLE}: {error}; {HOW_URL}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"${URL_VARIABLE}: {url!r} is no address of a portal; {HOW_URL}")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ConfigError(f"${URL_VARIABLE}: it has neither a user nor ? nor #; {HOW_URL}")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ConfigError(
            f"${URL_VARIABLE}: a token is sent over http to this host only, and {host} is another: use https"
        )
    return RemotePortal(url, parts.scheme == "https", host, port, parts.path.rstrip("/"), token)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _private_text(path: Path) -> str:
    try:
        with path.open() as file:
            found = os.fstat(file.fileno())
            if found.st_mode & READABLE_BY_OTHERS or found.st_uid != os.geteuid():
                raise ConfigError(
                    f"{path}: others can read it, or own it: revoke this token, make another, and `chmod 600`"
                )
            return file.read()
    except FileNotFoundError:
        raise ConfigError(
            f"${URL_VARIABLE} is set, and there is no token: put one, of `gridtoken create` on the grid's host, into "
            f"{path}, for you alone to read (chmod 600)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
