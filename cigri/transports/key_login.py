"""Logging in with keys: those of files that are named, or of the agent and of ~/.ssh, one after the other."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import paramiko
from paramiko.auth_strategy import AuthSource, AuthStrategy, SourceResult

from cigri.transports.private_keys import LoginKey, PrivateKeyUnusable, load_login_key

USUAL_KEYS = ("id_rsa", "id_ecdsa", "id_ed25519")


class KeyLogin(AuthStrategy):
    """Offers keys until one is taken; `remarks` tell whoever is refused what was odd about them."""

    def __init__(self, login: str, files: Sequence[Path]) -> None:
        """Where no file is named, the agent's keys and the usual ones are offered.

        Raise PrivateKeyUnusable when there are files and none of them can be used.
        """
        super().__init__(paramiko.SSHConfig())
        self.remarks: list[str] = []
        self._login = login
        self._may_ask_agent = not files
        self._keys = list(self._load(files or _usual_files()))
        if files and not self._keys:
            raise PrivateKeyUnusable("; ".join(self.remarks))

    def _load(self, files: Sequence[Path]) -> Iterator[LoginKey]:
        for file in files:
            try:
                key = load_login_key(file, self._login)
            except PrivateKeyUnusable as error:
                self.remarks.append(str(error))
                continue
            if key.remark:
                self.remarks.append(key.remark)
            yield key

    def get_sources(self) -> Iterator[AuthSource]:
        """Nothing: `authenticate` goes through the keys itself."""
        yield from ()

    def authenticate(self, transport: paramiko.Transport) -> list[SourceResult]:
        """Called by paramiko; raise what the last key met, or SSHException where there is none."""
        agent = paramiko.Agent() if self._may_ask_agent else None
        try:
            offers = [*(agent.get_keys() if agent else ()), *(offer for key in self._keys for offer in key.offers)]
            self._offer(transport, offers)
        finally:
            if agent:
                agent.close()
        return []

    def _offer(self, transport: paramiko.Transport, offers: Sequence[paramiko.PKey]) -> None:
        refusal: Exception = paramiko.SSHException("No authentication methods available")
        for offer in offers:
            try:
                missing = transport.auth_publickey(self._login, offer)
            except paramiko.SSHException as error:
                refusal = error
                if isinstance(error, paramiko.BadAuthenticationType) or not transport.is_active():
                    break
                continue
            if not missing:
                return
            refusal = paramiko.AuthenticationException(f"it wants more than a key: {', '.join(missing)}.")
        raise refusal


def _usual_files() -> list[Path]:
    files: list[Path] = []
    for name in USUAL_KEYS:
        with suppress(OSError, RuntimeError):  # a home that cannot be told, or not be looked into
            path = Path("~/.ssh", name).expanduser()
            files += [path] if path.is_file() else []
    return files
