"""The steps of `cigri cluster test`, one function each: it gives what works, or raises what does not."""

import argparse
import pwd
import re
import socket
import time
from typing import NamedTuple, TypeVar

from cigri import drivers
from cigri.cli.command import grid_user
from cigri.database import Database, server_time
from cigri.errors import AnswerUnreadable, CigriError, Unreachable
from cigri.flow.clusters import ClusterRow
from cigri.gateway import Gateway
from cigri.orders import ListNodes, Order, Probe, ReadCapacity
from cigri.orders.shell import base_of
from cigri.requirements import BUILT_IN, shown
from cigri.script.answers import Answer
from cigri.text.units import MEGABYTE, SIZES, as_size

T = TypeVar("T")

LARGEST_SKEW = 5.0  # seconds
FULL_DISK = 100 * MEGABYTE  # that are left, or less


class Patient(NamedTuple):
    """The cluster, the local user whose job is tried, and the tools."""

    cluster: ClusterRow
    grid_key: str
    user: str
    gateway: Gateway
    database: Database
    options: argparse.Namespace

    @property
    def login(self) -> str:
        """The account that logs in."""
        ssh = self.cluster.config.ssh
        return ssh.login(self.user) if ssh else grid_user()

    @property
    def base(self) -> str:
        return base_of(self.cluster.config, self.grid_key)

    def ask(self, order: Order[T]) -> T:
        return self.gateway.ask(self.cluster, self.user, order)

    def run(self, script: str, user: str = "") -> Answer:
        return self.gateway.run(self.cluster, user or self.user, script)


class Trouble(CigriError):
    """A step failed; `advice` says what to do."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class Weakness(Trouble):
    """It works, but not well."""


def configuration(patient: Patient) -> str:
    config, name = patient.cluster.config, patient.cluster.name
    drivers.load(config.driver, config.options)
    if config.stand_in:
        advice = f"once its own batch system is there: `cigri cluster change {name}`"
        raise Weakness(f"its fallback on this host is in use, since {config.fallback_because}", advice)
    return f"driver {config.driver}, {name} is {'en' if patient.cluster.is_enabled else 'dis'}abled"


def reach(patient: Patient) -> str:
    ssh = patient.cluster.config.ssh
    if ssh is None:
        try:
            pwd.getpwnam(patient.user)
        except KeyError:
            raise Trouble(f"this host has no account {patient.user}", "choose another with --as") from None
        return f"this host, account {patient.user}"
    hop = ssh.jump_hop(patient.login) or ssh.target(patient.login)
    try:
        socket.create_connection((hop.host, hop.port), ssh.connect_timeout).close()
    except OSError as error:
        advice = "check the name and the port, the firewall, and that sshd runs there"
        raise Trouble(f"{hop.host}:{hop.port} cannot be reached: {error}", advice) from None
    return f"{hop.host}:{hop.port} accepts connections" + (" (the jump host)" if ssh.jump else "")


def login(patient: Patient) -> str:
    """The first command opens the connection and checks the host key, the second shows what each costs later."""
    _check(patient.run("true", patient.login), "the command true failed")
    started = time.monotonic()
    _check(patient.run("true", patient.login), "the command true failed")
    known = "host key known, " if patient.cluster.config.ssh else ""
    return f"{known}{patient.login} may log in; a command takes {(time.monotonic() - started) * 1000:.1f} ms"


def account(patient: Patient) -> str:
    sudo = f"{patient.login} ALL=({patient.user}) NOPASSWD: ALL"
    advice = f"on the cluster, /etc/sudoers.d/cigri needs a line like: {sudo}" if patient.user != patient.login else ""
    try:
        name = _check(patient.run("id -un"), "the command id failed").out.strip()
    except Unreachable as error:
        raise Trouble(str(error), advice) from None
    if name != patient.user:
        raise Trouble(f"commands of {patient.user} run as {name}", advice)
    return f"commands run as {name}" + (f", by sudo of {patient.login}" if advice else "")


def directory(patient: Patient) -> str:
    script = (
        f"cigri_base={patient.base}\n"
        'mkdir -p -- "$cigri_base" && cd -- "$cigri_base" && : >.probe.$$ && rm .probe.$$ && pwd &&\n'
        "df -Pk . | tail -n 1"
    )
    answer = patient.run(script)
    advice = "check the rights and the quota there, or `cigri cluster change NAME --set directory=...`"
    found = re.fullmatch(r"(.+)\n\S+ +\d+ +\d+ +(\d+) +\S+ +.*\n", answer.out)
    if answer.status != 0 or not found:
        raise Trouble(f"{patient.user} cannot write below {patient.base}: {answer.err.strip()}", advice)
    space = int(found[2]) * SIZES["KB"]
    text = f"{found[1]} can be written, {as_size(space)} free"
    if space < FULL_DISK:
        raise Weakness(text, "jobs cannot write their records on a full disk")
    return text


def clock(patient: Patient) -> str:
    with patient.database.begin() as conn:
        before = server_time(conn).timestamp()
    there = _check(patient.run("date +%s"), "the command date failed").out.strip()
    with patient.database.begin() as conn:
        after = server_time(conn).timestamp()
    if not there.isdigit():
        raise Trouble(f"date +%s answers {there!r}")
    skew = max(before - int(there) - 1, 0) or min(after - int(there), 0)
    if abs(skew) > LARGEST_SKEW:
        late = "behind" if skew > 0 else "ahead of"
        advice = "durations are right all the same; start times are not: run an NTP client there"
        raise Weakness(f"its clock is {abs(skew):.0f} s {late} the database's", advice)
    return f"differs from the database's by {abs(skew):.1f} s"


def batch_system(patient: Patient) -> str:
    return patient.ask(Probe())


def capacity(patient: Patient) -> str:
    seen = patient.ask(ReadCapacity(patient.options.queue))
    text = f"{seen.total} cores: {seen.free} free, {seen.used} used, {seen.unavailable} out of order"
    if seen.total <= seen.unavailable:
        raise Weakness(text, "no core can be used")
    return text


def nodes(patient: Patient) -> str:
    """Those of the default queue."""
    try:
        found = patient.ask(ListNodes())
    except AnswerUnreadable as error:
        raise Weakness(str(error), "what is known of them can be declared: docs/reference/resources.md") from None
    if found is None:
        return f"driver {patient.cluster.config.driver} cannot tell of them"
    kinds = [
        f"{one.nodes} with {', '.join(f'{name} {shown(one.properties[name], BUILT_IN[name])}' for name in some)}"
        for one in found
        if not one.queue and (some := [name for name in ("cores", "memory", "gpus") if name in one.properties])
    ]
    queues = sorted({one.queue for one in found if one.queue})
    return "; ".join([*dict.fromkeys(kinds), *([f"queues {', '.join(queues)}"] if queues else [])])


def _check(answer: Answer, complaint: str) -> Answer:
    if answer.status != 0:
        raise Trouble(f"{complaint} (exit status {answer.status}): {answer.err.strip()[-300:]}")
    return answer
