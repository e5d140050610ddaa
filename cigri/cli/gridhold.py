"""gridhold and gridresume: let campaigns, their shares of a cluster, or jobs stand still, and go on again."""

from argparse import Namespace

from cigri.api_models.changes import ActionResult
from cigri.cli.actions import add_targets, carry_out, targets
from cigri.cli.command import CommandParser, command
from cigri.endpoints.campaign_changes import hold_campaign, release_campaign
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.job_changes import hold_job, release_job

HOLD_EXAMPLES = """\
  gridhold 12                    campaign 12 stands still: no new jobs, waiting ones are held, running ones suspended
  gridhold 12 --cluster dahu     its share of cluster dahu only
  gridhold 12 --waiting-only     what runs goes on to its end
  gridhold -j 345                one job
  gridresume 12                  go on"""
RESUME_EXAMPLES = """\
  gridresume 12                  campaign 12 goes on, with all its shares and jobs that were held
  gridresume 12 --cluster dahu   its share of cluster dahu, if that was held
  gridresume 12 --regardless     campaign 12 waits for no other campaign any more
  gridresume -j 345              one job, if that was held"""


@command
def hold(argv: list[str]) -> int:
    """Exit status 1 when one of them could not be held; the others are held all the same."""
    parser = _parser(
        "gridhold", "Let campaigns, their shares of a cluster, or jobs stand still.", HOLD_EXAMPLES, "hold"
    )
    parser.add_argument("--waiting-only", action="store_true", help="hold what waits; what runs goes on")
    options = parser.parse_args(argv)
    campaigns, jobs = _targets(parser, options)

    def act(grid: GridClient, id: int) -> ActionResult:
        if jobs:
            return grid.call(hold_job, job_id=id, waiting_only=options.waiting_only)
        return grid.call(hold_campaign, campaign_id=id, cluster=options.cluster, waiting_only=options.waiting_only)

    return carry_out(act, campaigns or jobs, options)


@command
def resume(argv: list[str]) -> int:
    """Exit status 1 when one of them could not go on; the others go on all the same."""
    description = "Let campaigns, their shares of a cluster, or jobs that were held go on."
    parser = _parser("gridresume", description, RESUME_EXAMPLES, "resume")
    parser.add_argument("--regardless", action="store_true", help="wait no longer for other campaigns (`after`)")
    options = parser.parse_args(argv)
    campaigns, jobs = _targets(parser, options)
    if options.regardless and (jobs or options.cluster):
        parser.error("--regardless is for whole campaigns: what waits for others does so on every cluster")

    def act(grid: GridClient, id: int) -> ActionResult:
        if jobs:
            return grid.call(release_job, job_id=id)
        return grid.call(release_campaign, campaign_id=id, cluster=options.cluster, regardless=options.regardless)

    return carry_out(act, campaigns or jobs, options)


def _parser(name: str, description: str, examples: str, verb: str) -> CommandParser:
    parser = CommandParser(name, description, examples)
    add_targets(parser, verb)
    parser.add_argument("--cluster", metavar="NAME", default="", help=f"{verb} only what is on this cluster")
    return parser


def _targets(parser: CommandParser, options: Namespace) -> tuple[list[int], list[int]]:
    campaigns, jobs = targets(parser, options)
    if jobs and options.cluster:
        parser.error("--cluster is for campaigns; a job is on one cluster anyway")
    return campaigns, jobs
