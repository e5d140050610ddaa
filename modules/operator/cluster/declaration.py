"""What an operator writes of a cluster, in options or in a file, put together and checked."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cigri import drivers
from cigri.cli.command import CommandParser
from cigri.errors import ConfigError, NotFound, UsageError
from cigri.flow.clusters import ClusterRow, find_cluster
from cigri.formats.machine_text import read_toml
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.ssh_address import HOP
from modules.operator.cluster.ssh_config import SshConfigHost, copy_ssh_config

SSH_OPTIONS = ("host", "port", "account", "key_file", "known_hosts", "host_key_alias", "jump")


def add_options(parser: CommandParser) -> None:
    """NAME, and all that put_together() reads."""
    parser.add_argument("name", help="of the cluster, as users write it in campaigns")
    parser.add_argument("--driver", help=f"its batch system: {', '.join(drivers.names())}")
    parser.add_argument("--ssh", metavar="[ACCOUNT@]HOST[:PORT]", help="its front-end")
    ssh = parser.add_argument_group("the front-end in detail")
    ssh.add_argument(
        "--ssh-config",
        type=Path,
        metavar="FILE",
        help="copy what a file like ~/.ssh/config says of the host of --ssh; what is named here wins",
    )
    ssh.add_argument("--host")
    ssh.add_argument("--port", type=int)
    ssh.add_argument("--account", help="gateway account that uses sudo; none: each user logs in")
    ssh.add_argument("--key-file", help="private key; {user} is the account that logs in")
    ssh.add_argument("--known-hosts", help="file of host keys (default ~/.ssh/known_hosts)")
    ssh.add_argument("--host-key-alias", help="name under which the host key is known")
    ssh.add_argument("--jump", metavar="ACCOUNT@HOST:PORT", help="host on the way")
    others = parser.add_argument_group("everything else")
    others.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="setting of the driver; KEY.NAME: one of several",
    )
    others.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of the cluster")
    others.add_argument("--file", type=Path, help="TOML file with the settings; options win")


def put_together(options: argparse.Namespace, stored: dict[str, Any]) -> dict[str, Any]:
    """The configuration from `stored`, the file and the options, which the grid checks."""
    values: dict[str, Any] = {**stored, **(_read(options.file) if options.file else {})}
    if options.driver:
        values["driver"] = options.driver
    if options.option:
        values["options"] = _with_options(values.get("options", {}), map(pair, options.option))
    values |= dict(map(pair, options.set))
    if ssh := _ssh(options):
        given = values.get("ssh")
        values["ssh"] = {**(given if isinstance(given, dict) else {}), **ssh}
    if ssh or (values.get("ssh") and "transport" not in values):
        values["transport"] = "ssh"
    if "driver" not in values:
        raise UsageError(f"--driver is missing; there are: {', '.join(drivers.names())}")
    return values


def pair(text: str) -> tuple[str, Any]:
    """KEY=VALUE; the value as in TOML, or as it stands."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{text!r} is not KEY=VALUE")
    try:
        return key, read_toml(f"value = {value}")["value"]
    except ValueError:
        return key, value


def _with_options(stored: dict[str, Any], given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """What is named `pools.gpu` is the one of `pools`; the others stay."""
    values = dict(stored)
    for key, value in given:
        outer, _, inner = key.partition(".")
        if inner and not isinstance(values.get(outer, {}), dict):
            raise UsageError(f"{outer} holds no settings of its own, so there is no {key}")
        values[outer] = {**values.get(outer, {}), inner: value} if inner else value
    return values


def to_toml(config: ClusterConfig) -> str:
    """What differs from the defaults, as --file takes it."""

    def inline(value: object) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{_key(key)} = {inline(part)}" for key, part in value.items()) + " }"
        return json.dumps(value, ensure_ascii=False)

    values = {"driver": config.driver} | config.model_dump(mode="json", exclude_defaults=True)
    return "".join(f"{key} = {inline(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def _ssh(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in SSH_OPTIONS if getattr(options, name) is not None}
    if not options.ssh:
        if options.ssh_config:
            raise UsageError("--ssh-config copies what a file says of a host, which --ssh has to name")
        return given
    hop = HOP.fullmatch(options.ssh)
    if not hop:
        raise UsageError(f"--ssh takes [ACCOUNT@]HOST[:PORT], not {options.ssh!r}")
    if options.ssh_config:
        host = SshConfigHost(hop["host"].strip("[]"), hop["login"] or "", int(hop["port"] or 0))
        return copy_ssh_config(options.ssh_config, host) | given
    short = {"host": hop["host"].strip("[]"), "port": int(hop["port"] or 22), "account": hop["login"] or ""}
    return short | given


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None


# A declared cluster by its name.


def find(conn: Connection, name: str) -> ClusterRow:
    """Raise NotFound when there is none."""
    cluster = find_cluster(conn, name)
    if cluster is None:
        raise NotFound(f"no cluster {name}; `cigri cluster list` shows them")
    return cluster
