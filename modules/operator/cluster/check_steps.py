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
from cigri.errors import CigriError, ClusterUnreachable, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.formats.units import MEGABYTE, SIZES, as_size
from cigri.formats.untrusted_text import excerpt
from cigri.gateway.requests import ClusterRequest, ListNodes, ProbeBatchSystem, ReadCapacity
from cigri.gateway.shell_rendering import grid_directory
from cigri.gateway.transport_gateway import TransportGateway
from cigri.requirements import BUILT_IN, shown
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult

T = TypeVar("T")

LARGEST_SKEW = 5.0  # seconds
FULL_DISK = 100 * MEGABYTE  # that are left, or less
SHOWN_PROPERTIES = ("cores", "memory", "gpus")  # of nodes


class ClusterUnderTest(NamedTuple):
    """The cluster, the local user whose job is tried, and the tools."""

    cluster: ClusterRow
    grid_key: str
    user: str
    gateway: TransportGateway
    database: Database
    options: argparse.Namespace

    @property
    def login(self) -> str:
        """The account that logs in."""
        ssh = self.cluster.config.ssh
        return ssh.login(self.user) if ssh else grid_user()

    @property
    def base(self) -> str:
        """The directory of this grid on the cluster, as a word of sh."""
        return grid_directory(self.cluster.config, self.grid_key)

    def ask(self, order: ClusterRequest[T]) -> T:
        """Give an order as the user whose job is tried; errors as Gateway.ask."""
        return self.gateway.request(self.cluster, self.user, order)

    def run(self, script: str, user: str = "") -> ShellResult:
        """Run sh text as that user, or as another account; errors as Transport.run."""
        return self.gateway.run(self.cluster, user or self.user, script)


class StepFailed(CigriError):
    """A step failed; `advice` says what to do."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class StepWarning(StepFailed):
    """It works, but not well."""


def configuration(patient: ClusterUnderTest) -> str:
    """Its driver can be loaded with its options; StepWarning while its fallback is in use."""
    config, name = patient.cluster.config, patient.cluster.name
    drivers.load(config.driver, config.options)
    if config.stand_in:
        advice = f"once its own batch system is there: `cigri cluster change {name}`"
        raise StepWarning(f"its fallback on this host is in use, since {config.fallback_because}", advice)
    return f"driver {config.driver}, {name} is {'en' if patient.cluster.is_enabled else 'dis'}abled"


def reach(patient: ClusterUnderTest) -> str:
    """This host has the account; or the front-end's port, or the jump host's, takes a connection."""
    ssh = patient.cluster.config.ssh
    if ssh is None:
        try:
            pwd.getpwnam(patient.user)
        except KeyError:
            raise StepFailed(f"this host has no account {patient.user}", "choose another with --as") from None
        return f"this host, account {patient.user}"
    hop = ssh.jump_hop(patient.login) or ssh.target(patient.login)
    try:
        socket.create_connection((hop.host, hop.port), ssh.connect_timeout).close()
    except OSError as error:
        advice = "check the name and the port, the firewall, and that sshd runs there"
        raise StepFailed(f"{hop.host}:{hop.port} cannot be reached: {error}", advice) from None
    return f"{hop.host}:{hop.port} accepts connections" + (" (the jump host)" if ssh.jump else "")


def login(patient: ClusterUnderTest) -> str:
    """The first command opens the connection and checks the host key, the second shows what each costs later."""
    _check(patient.run("true", patient.login), "the command true failed")
    started = time.monotonic()
    _check(patient.run("true", patient.login), "the command true failed")
    host_key = "host key known, " if patient.cluster.config.ssh else ""
    return f"{host_key}{patient.login} may log in; a command takes {(time.monotonic() - started) * 1000:.1f} ms"


def account(patient: ClusterUnderTest) -> str:
    """Commands run as the user; where they do not, the advice is the line that sudoers needs."""
    sudo = f"{patient.login} ALL=({patient.user}) NOPASSWD: ALL"
    advice = f"on the cluster, /etc/sudoers.d/cigri needs a line like: {sudo}" if patient.user != patient.login else ""
    try:
        name = _check(patient.run("id -un"), "the command id failed").out.strip()
    except ClusterUnreachable as error:
        raise StepFailed(str(error), advice) from None
    if name != patient.user:
        raise StepFailed(f"commands of {patient.user} run as {name}", advice)
    return f"commands run as {name}" + (f", by sudo of {patient.login}" if advice else "")


def directory(patient: ClusterUnderTest) -> str:
    """The user can make and write the directory of this grid; StepWarning when its disk is nearly full."""
    script = (
        f"cigri_base={patient.base}\n"
        'umask 077; mkdir -p -- "$cigri_base" && cd -- "$cigri_base" && : >.probe.$$ && rm .probe.$$ && pwd &&\n'
        "df -Pk . | tail -n 1"
    )
    answer = patient.run(script)
    advice = "check the rights and the quota there, or `cigri cluster change NAME --set directory=...`"
    listing = re.fullmatch(r"(.+)\n\S+ +\d+ +\d+ +(\d+) +\S+ +.*\n", answer.out)
    if answer.status != 0 or not listing:
        raise StepFailed(f"{patient.user} cannot write below {patient.base}: {answer.err.strip()}", advice)
    space = int(listing[2]) * SIZES["KB"]
    text = f"{listing[1]} can be written, {as_size(space)} free"
    if space < FULL_DISK:
        raise StepWarning(text, "jobs cannot write their records on a full disk")
    return text


def clock(patient: ClusterUnderTest) -> str:
    """`date` there and the database's time; StepWarning when they are more than LARGEST_SKEW seconds apart."""
    with patient.database.begin() as conn:
        before = server_time(conn).timestamp()
    there = _check(patient.run("date +%s"), "the command date failed").out.strip()
    with patient.database.begin() as conn:
        after = server_time(conn).timestamp()
    if not there.isdigit():
        raise StepFailed(f"date +%s answers {there!r}")
    skew = max(before - int(there) - 1, 0) or min(after - int(there), 0)
    if abs(skew) > LARGEST_SKEW:
        late = "behind" if skew > 0 else "ahead of"
        advice = "durations are right all the same; start times are not: run an NTP client there"
        raise StepWarning(f"its clock is {abs(skew):.0f} s {late} the database's", advice)
    return f"differs from the database's by {abs(skew):.1f} s"


def batch_system(patient: ClusterUnderTest) -> str:
    """Its name and version, as the driver reads them."""
    return patient.ask(ProbeBatchSystem())


def capacity(patient: ClusterUnderTest) -> str:
    """Cores of the queue that --queue names, or of the cluster; StepWarning when all are out of order."""
    seen = patient.ask(ReadCapacity(patient.options.queue))
    text = f"{seen.total} cores: {seen.free} free, {seen.used} used, {seen.unavailable} out of order"
    if seen.total <= seen.unavailable:
        raise StepWarning(text, "no core can be used")
    return text


def nodes(patient: ClusterUnderTest) -> str:
    """Nodes of the default queue by their cores, memory and GPUs, then the names of the other queues."""
    try:
        classes = patient.ask(ListNodes())
    except UnreadableOutput as error:
        raise StepWarning(str(error), "what is known of them can be declared: docs/reference/resources.md") from None
    if classes is None:
        return f"driver {patient.cluster.config.driver} cannot tell of them"
    kinds = [_kind(alike) for alike in classes if not alike.queue and set(SHOWN_PROPERTIES) & alike.properties.keys()]
    queues = sorted({alike.queue for alike in classes if alike.queue})
    return "; ".join([*dict.fromkeys(kinds), *([f"queues {', '.join(queues)}"] if queues else [])])


def _kind(alike: AlikeNodes) -> str:
    amounts = ((name, alike.properties[name]) for name in SHOWN_PROPERTIES if name in alike.properties)
    return f"{alike.nodes} with {', '.join(f'{name} {shown(value, BUILT_IN[name])}' for name, value in amounts)}"


def _check(answer: ShellResult, complaint: str) -> ShellResult:
    if answer.status != 0:
        raise StepFailed(f"{complaint} (exit status {answer.status}): {excerpt(answer.err)}")
    return answer
