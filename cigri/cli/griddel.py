"""griddel: cancel, pause, resume or purge campaigns, kill single jobs, or ask running ones for a checkpoint."""

from argparse import Namespace
from typing import TYPE_CHECKING

from cigri.cli.command import Parser, command
from cigri.cli.deeds import Act, Deed, add_targets, carry_out, left, targets

if TYPE_CHECKING:
    from sqlalchemy import Connection

EXAMPLES = """\
  griddel 12                cancel campaign 12: what runs is killed, what waits is given up
  griddel 12 14-16          several at once; -c 12,14 is CiGri 3's way
  griddel --pause 12        start no more tasks; what runs goes on
  griddel --resume 12       go on after a pause
  griddel --purge 12        remove the files of an ended campaign from the clusters
  griddel -j 345            kill job 345, and its task with it
  griddel --checkpoint 12   ask what runs to save its state; --checkpoint -j 345 asks one job"""


@command
def main(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    act, wanted = _asked(parser, options)
    return carry_out(act, wanted, options)


def _parser() -> Parser:
    parser = Parser(
        "griddel", "Cancel, pause, resume or purge campaigns, or kill jobs; or ask for checkpoints.", EXAMPLES
    )
    add_targets(parser, "kill")
    verbs = parser.add_mutually_exclusive_group()
    verbs.add_argument("-p", "--pause", action="store_const", dest="verb", const="pause", help="start no more tasks")
    verbs.add_argument("-r", "--resume", action="store_const", dest="verb", const="resume", help="go on after a pause")
    verbs.add_argument(
        "--purge", action="store_const", dest="verb", const="purge", help="remove the files of ended campaigns"
    )
    verbs.add_argument(
        "--checkpoint",
        action="store_const",
        dest="verb",
        const="checkpoint",
        help="ask running jobs to save their state",
    )
    return parser


def _asked(parser: Parser, options: Namespace) -> tuple[Act, list[int]]:
    campaigns, jobs = targets(parser, options)
    if jobs and options.verb == "checkpoint":
        return _checkpoint_job, jobs
    if jobs and options.verb:
        parser.error(f"--{options.verb} is for campaigns; a job can only be killed, or asked for a checkpoint")
    acts: dict[str | None, Act] = {
        None: _cancel,
        "pause": _pause,
        "resume": _resume,
        "purge": _purge,
        "checkpoint": _checkpoint,
    }
    return _kill if jobs else acts[options.verb], campaigns or jobs


def _cancel(conn: "Connection", id: int, user: str) -> Deed:
    return _move(conn, id, user, "cancelled", "waiting tasks are given up, jobs on clusters are being killed")


def _pause(conn: "Connection", id: int, user: str) -> Deed:
    return _move(conn, id, user, "paused", f"running jobs go on; `griddel --resume {id}` takes it up again")


def _resume(conn: "Connection", id: int, user: str) -> Deed:
    return _move(conn, id, user, "in_treatment", "it goes on")


def _move(conn: "Connection", id: int, user: str, target: str, consequence: str) -> Deed:
    from cigri.flow.campaigns import move_campaign, own_campaign
    from cigri.states import CampaignState

    before = own_campaign(conn, id, user)
    if not move_campaign(conn, id, user, CampaignState(target)):
        is_there = before == target
        why = "already" if is_there else f"and cannot be {'resumed' if target == 'in_treatment' else target} any more"
        return Deed(id, False, f"campaign {id} is {_word(before)} {why}")
    return Deed(id, True, f"campaign {id} is {_word(CampaignState(target))}: {consequence}", left(conn, id))


def _purge(conn: "Connection", id: int, user: str) -> Deed:
    from cigri.flow.archive import purge_campaign

    if not purge_campaign(conn, id, user):
        return Deed(id, True, f"campaign {id} has no files on any cluster")
    return Deed(
        id, True, f"campaign {id} will be purged: the janitor removes its files from the clusters at its next run"
    )


def _checkpoint(conn: "Connection", id: int, user: str) -> Deed:
    from cigri.flow.checkpoint_requests import ask_checkpoints

    asked = ask_checkpoints(conn, user, campaign_id=id)
    if not asked:
        return Deed(id, False, f"campaign {id} has no running job to ask, or its description declares no checkpoint")
    jobs = "1 running job is" if asked == 1 else f"{asked} running jobs are"
    return Deed(id, True, f"campaign {id}: {jobs} asked for a checkpoint; `gridevents` tells when they have heard")


def _checkpoint_job(conn: "Connection", id: int, user: str) -> Deed:
    from cigri.flow.checkpoint_requests import ask_checkpoints

    if not ask_checkpoints(conn, user, job_id=id):
        return Deed(id, False, f"job {id} is not running, or its campaign declares no checkpoint")
    return Deed(id, True, f"job {id} is asked for a checkpoint; `gridstat -j {id}` tells when it has heard")


def _kill(conn: "Connection", id: int, user: str) -> Deed:
    from cigri.flow.stops import kill_job

    if not kill_job(conn, id, user):
        return Deed(id, False, f"job {id} has ended already")
    return Deed(id, True, f"job {id} is being killed; its tasks are cancelled")


def _word(state: str) -> str:
    return state.replace("_", " ")
