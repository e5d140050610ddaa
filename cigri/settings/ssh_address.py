"""Where the front-end of a cluster is and how one logs in there, as the operator writes it."""

import re
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cigri.errors import ConfigError

ACCOUNT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*\$?")
HOP = re.compile(r"(?:(?P<login>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:]+\]|[^@:\[\]\s]+)(?::(?P<port>\d{1,5}))?")


class SshHop(NamedTuple):
    """One sshd on the way, and the account there."""

    host: str
    port: int
    login: str

    def __str__(self) -> str:
        return f"{self.login}@{self.host}:{self.port}"


class SshAddress(BaseModel):
    """A front-end. `account` empty: every user logs in as oneself; else one gateway account does, and uses sudo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field(
        min_length=1,
        pattern=r"^[^\s@/-][^\s@/]*$",
        description="the front-end, as seen from the jump host if there is one",
    )
    port: int = Field(22, ge=1, le=65535, description="number of its sshd's port")
    account: str = Field("", description="who logs in, and uses sudo; empty: every user as oneself")
    key_file: str = Field(
        "", description="{user} is the account that logs in; empty: the agent and the keys of ~/.ssh are tried"
    )
    known_hosts: str = Field("~/.ssh/known_hosts", description="file of the host keys that are believed")
    host_key_alias: str = Field("", description="name under which several front-ends share a host key")
    jump: str = Field("", description="user@host:port on the way to it; empty: none")
    connect_timeout: float = Field(10, gt=0, description="seconds that a login may take")
    keepalive: int = Field(30, ge=1, description="seconds between two signs of life on a connection at rest")

    @field_validator("account")
    @classmethod
    def _check_account(cls, account: str) -> str:
        if account and not ACCOUNT.fullmatch(account):
            raise ValueError(f"{account!r} cannot be the name of an account")
        return account

    @field_validator("jump")
    @classmethod
    def _check_jump(cls, jump: str) -> str:
        hop = HOP.fullmatch(jump)
        if jump and not (hop and 0 < int(hop["port"] or 22) < 65536):
            raise ValueError(f"{jump!r} is not user@host:port")
        return jump

    def login(self, user: str) -> str:
        """The account that logs in for a user; raise ConfigError for what cannot be the name of one."""
        if not ACCOUNT.fullmatch(user):
            raise ConfigError(f"{user!r} cannot be the name of an account")
        return self.account or user

    def target(self, login: str) -> SshHop:
        """The front-end's sshd, as `login` reaches it."""
        return SshHop(self.host, self.port, login)

    def jump_hop(self, login: str) -> SshHop | None:
        """The host on the way, under the account that `jump` names, or else `login`; None: there is none."""
        hop = HOP.fullmatch(self.jump)
        if not hop:
            return None
        return SshHop(hop["host"].strip("[]"), int(hop["port"] or 22), hop["login"] or login)

    def known_hosts_path(self) -> Path:
        """`~` is the home of who runs CiGri; the file may be missing."""
        return Path(self.known_hosts).expanduser()

    def key_path(self, login: str) -> Path | None:
        """The private key of that account; None: the agent and the keys of ~/.ssh are tried."""
        return Path(self.key_file.replace("{user}", login)).expanduser() if self.key_file else None
