"""gridsub: hand over campaigns, add tasks to one, or see what a description would run."""

import argparse
import sys
from functools import partial

from cigri.backend_options import read_choices
from cigri.cli import backend_options, campaign_edits
from cigri.cli.campaign_edits import add_tasks, change_priority, read_priority
from cigri.cli.campaign_names import campaign_ids
from cigri.cli.command import DONE, CommandParser, command
from cigri.cli.description_source import DescriptionSource
from cigri.cli.inline_command import add_options, command_source, split_command
from cigri.cli.submitting import submit

EXAMPLES = """\
  gridsub campaign.json                  submit a campaign
  gridsub -t test campaign.json          try it first: one task on each cluster
  gridsub --check campaign.json          see what would run, submit nothing
  gridsub --simulate campaign.json       see when it would end, submit nothing
  generate | gridsub                     read the description from a pipe
  gridsub -- ./ising.sh {beta} --sweep beta=0.1:1:0.1   no description: a command, run in this directory
  gridsub --table runs.csv -- ./solve {mesh}          a task for each row; {mesh} is a column
  gridsub -b '-p fast -c 4' campaign.json  options of the batch system, which override the description's
  gridsub --after 12 --after 13:same solve.yaml  wait for campaign 12, and task by task for campaign 13
  gridsub -b -h                          what options each batch system takes
  gridsub -c 12 -F more.json             add tasks (a JSON list, or a table as more.csv) to campaign 12
  gridsub --resubmit 12 --tasks 3,7-9    do these tasks of campaign 12 again; without --tasks all that failed
  gridsub --resubmit 12 --mem 2GB --walltime 2h  the same, with more memory and time for these tasks
  gridsub --resubmit 12 --refresh-inputs  the same with inputs that have changed since they were sent
  gridsub -c 12 --input solve.py         send this input of campaign 12 anew, for all that is still to be done
  gridsub -c 12 --priority 5             let campaign 12 go before your others"""


@command
def main(argv: list[str]) -> int:
    """Submit, add tasks, give a priority, do tasks again, check or simulate; any problem is exit status 1."""
    parser = _parser()
    given, words = split_command(argv)
    options = parser.parse_args(backend_options.joined(given))
    options.command = command_source(parser, options, words)
    campaign_edits.check(parser, options)
    if options.resubmit:
        return campaign_edits.resubmit(options)
    choices = read_choices(options.backend or ())
    if backend_options.wants_tables(choices):
        backend_options.show_tables(choices, options.output)
        return DONE
    options.priority = None if options.priority is None else read_priority(options.priority)
    sources = _sources(parser, options)
    if options.campaign is None:
        if options.simulate:
            from cigri.cli.simulating import simulate  # takes a moment

            return simulate(sources, options)
        return submit(sources, options)
    if options.priority is not None:
        change_priority(options.campaign[0], options.priority, options.output)
    if options.new_inputs or options.refresh_inputs:
        campaign_edits.change_inputs(options.campaign[0], options)
    return add_tasks(sources, options) if sources else DONE


def _parser() -> CommandParser:
    parser = CommandParser("gridsub", "Submit campaigns of tasks to the grid.", EXAMPLES)
    file, text = partial(DescriptionSource, True), partial(DescriptionSource, False)
    parser.add_argument("files", nargs="*", type=file, metavar="FILE", help="campaign description; - is standard input")
    parser.add_argument(
        "-f", "--file", dest="sources", action="append", type=file, metavar="FILE", help="the same, as CiGri 3 has it"
    )
    parser.add_argument(
        "-j", "--json", dest="sources", action="append", type=text, metavar="JSON",
        help="campaign description, here on the command line",
    )  # fmt: skip
    parser.add_argument("-t", "--type", choices=("default", "test"), help="type of the campaign, whatever it says")
    parser.add_argument(
        "-b", "--backend", action="append", metavar="[CLUSTER:]OPTIONS",
        help="options in the batch system's own spelling, for all clusters of the campaign or one; -b -h lists them",
    )  # fmt: skip
    parser.add_argument("-c", "--campaign", type=campaign_ids, metavar="ID", help="add tasks to this campaign")
    parser.add_argument("-F", "--jobfile", dest="more", action="append", type=file, metavar="FILE", help="tasks for -c")
    parser.add_argument("-J", "--jsonjob", dest="more", action="append", type=text, metavar="JSON", help="tasks for -c")
    parser.add_argument(
        "--priority", metavar="N",
        help="among your own campaigns, higher ones go first; 0 for those that say nothing; with -c: from now on",
    )  # fmt: skip
    parser.add_argument(
        "--after", action="append", metavar="ID[:same]",
        help="wait for this campaign (a number or a name), whatever the description says; with :same task by task",
    )  # fmt: skip
    add_options(parser)
    campaign_edits.add_options(parser)
    campaign_edits.add_amount_options(parser)
    campaign_edits.add_input_options(parser)
    parser.add_argument("--local", action="store_true", help="run it on this host, whatever clusters it names")
    parser.add_argument("--check", action="store_true", help="validate and show what would run; submit nothing")
    parser.add_argument("--simulate", action="store_true", help="validate and show when it would end; submit nothing")
    parser.add_argument("-d", "--details", action="store_true", help="show what was stored")
    parser.add_argument("--output", choices=("text", "json"), default="text", help="how the answer is printed")
    return parser


def _sources(parser: CommandParser, options: argparse.Namespace) -> list[DescriptionSource]:
    described = [*(options.sources or []), *options.files]
    additional: list[DescriptionSource] = options.more or []
    if options.campaign is None:
        if options.check and options.simulate:
            parser.error("--check and --simulate are two questions: ask one")
        if additional:
            parser.error("-F and -J add tasks to a campaign: say which with -c ID")
        if not described and not options.command and sys.stdin.isatty():
            parser.error("no campaign is described: give a FILE, -j JSON, or a description on standard input")
        sources = options.command or described or [DescriptionSource(True, "-")]
    else:
        if len(options.campaign) != 1:
            parser.error("-c takes one campaign")
        if described or options.type or options.backend or options.local or options.after:
            parser.error("-c adds tasks to a campaign that exists: give them with -F FILE or -J JSON, and nothing else")
        if options.simulate:
            parser.error("--simulate is about a new campaign; `gridstat ID` tells the end of one that is there")
        is_resent = bool(options.new_inputs) or options.refresh_inputs
        if not additional and options.priority is None and not is_resent:
            parser.error("-c needs the tasks to add: -F FILE or -J JSON; or a --priority, or an --input")
        if options.check and (options.priority is not None or is_resent):
            what = (
                "--priority"
                if options.priority is not None
                else "--input"
                if options.new_inputs
                else "--refresh-inputs"
            )
            parser.error(f"--check changes nothing, and {what} of a campaign that is there only does that")
        sources = additional
    if sources.count(DescriptionSource(True, "-")) > 1:
        parser.error("standard input can be read once only")
    return sources
