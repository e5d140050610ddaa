"""gridhold and gridresume: let campaigns, their shares of a cluster, or jobs stand still, and go on again."""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cigri.cli.command import Parser, command
from cigri.cli.deeds import Deed, add_targets, carry_out, left, targets
from cigri.errors import ConfigError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.drivers import Control
    from cigri.flow.holds import HeldShare

HOLD_EXAMPLES = """\
  gridhold 12                    campaign 12 stands still: no new jobs, waiting ones are held, running ones suspended
  gridhold 12 --cluster dahu     its share of cluster dahu only
  gridhold 12 --waiting-only     what runs goes on to its end
  gridhold -j 345                one job
  gridresume 12                  go on"""
RESUME_EXAMPLES = """\
  gridresume 12                  campaign 12 goes on, with all its shares and jobs that were held one by one
  gridresume 12 --cluster dahu   its share of cluster dahu, if that was held
  gridresume -j 345              one job, if that was held"""


@command
def hold(argv: list[str]) -> int:
    parser = _parser(
        "gridhold", "Let campaigns, their shares of a cluster, or jobs stand still.", HOLD_EXAMPLES, "hold"
    )
    parser.add_argument("--waiting-only", action="store_true", help="hold what waits; what runs goes on")
    options = parser.parse_args(argv)
    campaigns, jobs = _targets(parser, options)

    def act(conn: "Connection", id: int, user: str) -> Deed:
        from cigri.flow.holds import hold_campaign, hold_job

        if jobs:
            shares = hold_job(conn, id, user, waiting_only=options.waiting_only)
            return Deed(id, True, f"job {id} is held{_also(_halted(shares, options.waiting_only))}")
        shares = hold_campaign(conn, id, user, cluster=options.cluster, waiting_only=options.waiting_only)
        where = f" on {options.cluster}" if options.cluster else ""
        message = f"campaign {id} is held{where}: no new jobs are made{_also(_halted(shares, options.waiting_only))}"
        return Deed(id, True, message, left(conn, id))

    return carry_out(act, campaigns or jobs, options)


@command
def resume(argv: list[str]) -> int:
    description = "Let campaigns, their shares of a cluster, or jobs that were held go on."
    parser = _parser("gridresume", description, RESUME_EXAMPLES, "resume")
    options = parser.parse_args(argv)
    campaigns, jobs = _targets(parser, options)

    def act(conn: "Connection", id: int, user: str) -> Deed:
        from cigri.flow.holds import resume_campaign, resume_job

        if jobs:
            resume_job(conn, id, user)
            return Deed(id, True, f"job {id} goes on")
        resume_campaign(conn, id, user, cluster=options.cluster)
        where = f" on {options.cluster}" if options.cluster else ""
        return Deed(id, True, f"campaign {id} goes on{where}", left(conn, id))

    return carry_out(act, campaigns or jobs, options)


def _parser(name: str, description: str, examples: str, verb: str) -> Parser:
    parser = Parser(name, description, examples)
    add_targets(parser, verb)
    parser.add_argument("--cluster", metavar="NAME", default="", help=f"{verb} only what is on this cluster")
    return parser


def _targets(parser: Parser, options: Namespace) -> tuple[list[int], list[int]]:
    campaigns, jobs = targets(parser, options)
    if jobs and options.cluster:
        parser.error("--cluster is for campaigns; a job is on one cluster anyway")
    return campaigns, jobs


def _halted(shares: "Iterable[HeldShare]", waiting_only: bool) -> list[str]:
    """What happens to the jobs there are, cluster by cluster where a batch system cannot do all."""
    from cigri.drivers import Control

    waiting = running = 0
    exceptions = []
    for share in shares:
        if not share.waiting + share.running:
            continue
        controls = _controls(share)
        if Control.HOLD in controls:
            waiting += share.waiting
        elif share.waiting:
            exceptions.append(
                f"{share.waiting} waiting on {share.cluster}, which cannot hold jobs, start in their turn"
            )
        if waiting_only or not share.running:
            continue
        if Control.SUSPEND in controls:
            running += share.running
        else:
            exceptions.append(f"{share.running} running on {share.cluster}, which cannot suspend jobs, run on")
    facts = [f"{waiting} waiting are being held"] if waiting else []
    facts += [f"{running} running are being suspended"] if running else []
    return facts + exceptions


def _controls(share: "HeldShare") -> "frozenset[Control]":
    """What the cluster's batch system can do; all, where its driver is not known on this host: the killer will tell."""
    from cigri import drivers
    from cigri.drivers import Control
    from cigri.settings.cluster import parse_config

    try:
        config = parse_config(share.cluster, share.config).in_use
        return drivers.load(config.driver, config.options).controls
    except ConfigError:
        return frozenset(Control)


def _also(facts: Sequence[str]) -> str:
    return f"; jobs: {', '.join(facts)}" if facts else ""
