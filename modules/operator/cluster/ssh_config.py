"""What a file like ~/.ssh/config says of a host, copied into a declaration: OpenSSH's own client reads it."""

import getpass
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cigri.errors import UsageError

NO_FILE = Path("/dev/null")
LONGEST_READING = 60  # seconds; `Match exec` runs commands


class SshConfigHost(NamedTuple):
    """A host as a user writes it; what is empty, or 0, the file may say."""

    name: str
    login: str = ""
    port: int = 0


def copy_ssh_config(file: Path, host: SshConfigHost) -> dict[str, Any]:
    """Settings of the front-end that the file brings; raise UsageError for what cannot be obeyed."""
    path = file.expanduser()
    if not path.is_file():
        raise UsageError(f"--ssh-config: there is no file {path}")
    said, unsaid = _ask_ssh(path, host), _ask_ssh(NO_FILE, host)
    if "proxycommand" in said:
        raise UsageError(
            f"{path}: ProxyCommand of {host.name} is not run; ProxyJump, or --jump, names a host on the way"
        )
    account = host.login or _changed(said, unsaid, "user")
    values: dict[str, Any] = {"host": said["hostname"][0], "port": int(said["port"][0]), "account": account}
    if said["identityfile"] != unsaid["identityfile"]:
        values["key_file"] = _expand(said["identityfile"][0], host, values)
    if alias := _changed(said, unsaid, "hostkeyalias"):
        values["host_key_alias"] = alias
    if known := _changed(said, unsaid, "userknownhostsfile"):
        values["known_hosts"] = _expand(known.split()[0], host, values)
    if jump := said.get("proxyjump", ["none"])[0].replace("none", ""):
        values["jump"] = _copy_jump(path, jump)
    return values


def _copy_jump(path: Path, jump: str) -> str:
    """The host on the way may be one of the file, too."""
    if "," in jump:
        raise UsageError(f"{path}: ProxyJump {jump} goes over several hosts; one is all that can be on the way")
    hop = re.fullmatch(r"(?:ssh://)?(?:(?P<login>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:]+)(?::(?P<port>\d+))?/?", jump)
    if hop is None:
        raise UsageError(f"{path}: ProxyJump {jump} is not user@host:port")
    host = SshConfigHost(hop["host"].strip("[]"), hop["login"] or "", int(hop["port"] or 0))
    said, unsaid = _ask_ssh(path, host), _ask_ssh(NO_FILE, host)
    if "proxyjump" in said or "proxycommand" in said:
        raise UsageError(f"{path}: {host.name} is itself behind another host; one is all that can be on the way")
    login, name, port = host.login or _changed(said, unsaid, "user"), said["hostname"][0], said["port"][0]
    return (f"{login}@" if login else "") + (f"[{name}]" if ":" in name else name) + f":{port}"


def _ask_ssh(file: Path, host: SshConfigHost) -> Mapping[str, list[str]]:
    """All that `ssh -G` tells, by the names of settings in lower case, in the file's order."""
    argv = ["ssh", "-T", "-G", "-F", str(file)]
    argv += ["-l", host.login] if host.login else []
    argv += ["-p", str(host.port)] if host.port else []
    try:
        argv += ["--", host.name]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONGEST_READING)
    except FileNotFoundError:
        raise UsageError("--ssh-config needs OpenSSH's client here, which reads the file: there is no ssh") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{file}: ssh has not read it within {LONGEST_READING} s") from None
    if done.returncode != 0:
        raise UsageError(f"{file} cannot be read by ssh: {done.stderr.strip()}")
    values: defaultdict[str, list[str]] = defaultdict(list)
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" ")
        values[name].append(value)
    return dict(values)


def _changed(said: Mapping[str, Sequence[str]], unsaid: Mapping[str, Sequence[str]], name: str) -> str:
    """A value that the file brings, or ""."""
    return said[name][0] if name in said and said[name] != unsaid.get(name) else ""


def _expand(path: str, host: SshConfigHost, values: Mapping[str, Any]) -> str:
    """A file's name with ssh's tokens; who logs in is known later only, where each user does so as oneself."""
    tokens = {
        "%": "%",
        "d": os.path.expanduser("~"),
        "h": values["host"],
        "n": host.name,
        "p": str(values["port"]),
        "r": values["account"] or "{user}",
        "u": getpass.getuser(),
    }
    expanded = re.sub(r"%(.)", lambda token: tokens.get(token[1], token[0]), path)
    return os.path.expanduser(expanded)
