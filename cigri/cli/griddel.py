"""griddel: cancel, hold, resume, purge or forget campaigns, kill single jobs, or ask running ones for a checkpoint."""

from argparse import Namespace

from cigri.api_models.changes import ActionResult
from cigri.cli.actions import Action, add_targets, carry_out, targets
from cigri.cli.command import CommandParser, command
from cigri.endpoints import Endpoint
from cigri.endpoints.campaign_changes import (
    cancel_campaign,
    checkpoint_campaign,
    forget_campaign,
    hold_campaign,
    purge_campaign,
    release_campaign,
)
from cigri.endpoints.job_changes import checkpoint_job, kill_job

EXAMPLES = """\
  griddel 12                cancel campaign 12: what runs is killed, what waits is given up
  griddel 12 14-16          several at once; -c 12,14 is CiGri 3's way
  griddel --pause 12        the same as gridhold 12, in CiGri 3's words
  griddel --resume 12       the same as gridresume 12
  griddel --purge 12        remove the files of an ended campaign from the clusters
  griddel --forget 12       remove an ended campaign from the lists of gridstat and the home page
  griddel -j 345            kill job 345, and its task with it
  griddel --checkpoint 12   ask what runs to save its state; --checkpoint -j 345 asks one job"""

ON_CAMPAIGNS: dict[str | None, Endpoint[..., ActionResult]] = {
    None: cancel_campaign,
    "pause": hold_campaign,
    "resume": release_campaign,
    "purge": purge_campaign,
    "forget": forget_campaign,
    "checkpoint": checkpoint_campaign,
}
ON_JOBS: dict[str | None, Endpoint[..., ActionResult]] = {None: kill_job, "checkpoint": checkpoint_job}


@command
def main(argv: list[str]) -> int:
    """Exit status 1 when it could not be done to one of them; it is done to the others all the same."""
    parser = _parser()
    options = parser.parse_args(argv)
    act, wanted = _asked(parser, options)
    return carry_out(act, wanted, options)


def _parser() -> CommandParser:
    parser = CommandParser(
        "griddel", "Cancel, hold, resume, purge or forget campaigns, or kill jobs; or ask for checkpoints.", EXAMPLES
    )
    add_targets(parser, "kill")
    verbs = parser.add_mutually_exclusive_group()
    verbs.add_argument("-p", "--pause", action="store_const", dest="verb", const="pause", help="the same as gridhold")
    verbs.add_argument(
        "-r", "--resume", action="store_const", dest="verb", const="resume", help="the same as gridresume"
    )
    verbs.add_argument(
        "--purge", action="store_const", dest="verb", const="purge", help="remove the files of ended campaigns"
    )
    verbs.add_argument(
        "--forget", action="store_const", dest="verb", const="forget", help="remove ended campaigns from lists"
    )
    verbs.add_argument(
        "--checkpoint",
        action="store_const",
        dest="verb",
        const="checkpoint",
        help="ask running jobs to save their state",
    )
    return parser


def _asked(parser: CommandParser, options: Namespace) -> tuple[Action, list[int]]:
    campaigns, jobs = targets(parser, options)
    if not jobs:
        return lambda grid, id: grid.call(ON_CAMPAIGNS[options.verb], campaign_id=id), campaigns
    if options.verb not in ON_JOBS:
        parser.error(f"--{options.verb} is for campaigns; a job can only be killed, or asked for a checkpoint")
    return lambda grid, id: grid.call(ON_JOBS[options.verb], job_id=id), jobs
