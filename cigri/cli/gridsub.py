"""gridsub: hand over campaigns, add tasks to one, or see what a description would run."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cigri.cli import backend, resubmission
from cigri.cli.change import change_priority, read_priority
from cigri.cli.command import (
    DONE,
    Parser,
    command,
    complain,
    grid_user,
    ids,
    open_database,
    print_json,
    safe,
    told_otherwise,
)
from cigri.cli.foresight import Laboratory
from cigri.cli.local import on_local
from cigri.cli.looking import tell_missing
from cigri.cli.placing import declared, on_able, on_any, on_eligible, on_known, tell_unheard
from cigri.cli.source import Source
from cigri.errors import AdmissionRefused, CigriError, DatabaseUnavailable, DescriptionError, Problem, RuleBroken

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.flow.submissions import Company
    from cigri.jdl import Description, Parameter
    from cigri.jdl.needs import Peaks
    from cigri.settings.cluster import ClusterConfig

EXAMPLES = """\
  gridsub campaign.json                  submit a campaign
  gridsub -t test campaign.json          try it first: one task on each cluster
  gridsub --check campaign.json          see what would run, submit nothing
  gridsub --simulate campaign.json       see when it would end, submit nothing
  generate | gridsub                     read the description from a pipe
  gridsub -b '-p fast -c 4' campaign.json  options of the batch system, which override the description's
  gridsub -b -h                          what options each batch system takes
  gridsub -c 12 -F more.json             add tasks (a JSON list) to campaign 12
  gridsub --resubmit 12 --tasks 3,7-9    do these tasks of campaign 12 again; without --tasks all that failed
  gridsub -c 12 --priority 5             let campaign 12 go before your others"""

MOST_TOLD = 100
"""Problems; nobody reads more."""


class Parsed(NamedTuple):
    """A description that is right in itself; `name` is that of its source."""

    name: str
    description: "Description"


class Candidate(NamedTuple):
    """A description that may be submitted, what admission changed in it, and how many tasks a test leaves out.

    `peaks`: the most that any task asks for, of what is computed for each.
    """

    name: str
    description: "Description"
    changes: Sequence[str]
    dropped: int
    peaks: "Peaks"


@command
def main(argv: list[str]) -> int:
    """Submit, add, or check."""
    parser = _parser()
    options = parser.parse_args(backend.joined(argv))
    resubmission.check(parser, options)
    if options.resubmit:
        return resubmission.resubmit(options)
    options.backend = backend.read_choices(options.backend or ())
    if backend.wants_tables(options.backend):
        with open_database() as database:
            backend.show_tables(declared(database), options.backend, options.output)
        return DONE
    options.priority = None if options.priority is None else read_priority(options.priority)
    sources = _sources(parser, options)
    if options.campaign is None:
        return _submit(sources, options)
    if options.priority is not None:
        change_priority(options.campaign[0], options.priority, options.output)
    return _add(sources, options) if sources else DONE


def _parser() -> Parser:
    parser = Parser("gridsub", "Submit campaigns of tasks to the grid.", EXAMPLES)
    file, text = partial(Source, True), partial(Source, False)
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
    parser.add_argument("-c", "--campaign", type=ids, metavar="ID", help="add tasks to this campaign")
    parser.add_argument("-F", "--jobfile", dest="more", action="append", type=file, metavar="FILE", help="tasks for -c")
    parser.add_argument("-J", "--jsonjob", dest="more", action="append", type=text, metavar="JSON", help="tasks for -c")
    parser.add_argument(
        "--priority", metavar="N",
        help="among your own campaigns, higher ones go first; 0 for those that say nothing; with -c: from now on",
    )  # fmt: skip
    resubmission.add_options(parser)
    parser.add_argument("--local", action="store_true", help="run it on this host, whatever clusters it names")
    parser.add_argument("--check", action="store_true", help="validate and show what would run; submit nothing")
    parser.add_argument("--simulate", action="store_true", help="validate and show when it would end; submit nothing")
    parser.add_argument("-d", "--details", action="store_true", help="show what was stored")
    parser.add_argument("--output", choices=("text", "json"), default="text", help="how the answer is printed")
    return parser


def _sources(parser: Parser, options: argparse.Namespace) -> list[Source]:
    described = [*(options.sources or []), *options.files]
    more: list[Source] = options.more or []
    if options.campaign is None:
        if options.check and options.simulate:
            parser.error("--check and --simulate are two questions: ask one")
        if more:
            parser.error("-F and -J add tasks to a campaign: say which with -c ID")
        if not described and sys.stdin.isatty():
            parser.error("no campaign is described: give a FILE, -j JSON, or a description on standard input")
        sources = described or [Source(True, "-")]
    else:
        if len(options.campaign) != 1:
            parser.error("-c takes one campaign")
        if described or options.type or options.backend or options.local:
            parser.error("-c adds tasks to a campaign that exists: give them with -F FILE or -J JSON, and nothing else")
        if options.simulate:
            parser.error("--simulate is about a new campaign; `gridstat ID` tells the end of one that is there")
        if not more and options.priority is None:
            parser.error("-c needs the tasks to add: -F FILE or -J JSON; or a --priority")
        if options.check and options.priority is not None:
            parser.error("--check changes nothing, and --priority of a campaign that is there only does that")
        sources = more
    if sources.count(Source(True, "-")) > 1:
        parser.error("standard input can be read once only")
    return sources


def _submit(sources: Sequence[Source], options: argparse.Namespace) -> int:
    """Everything is checked before anything is stored; then each campaign is one transaction."""
    user = grid_user()
    faults: list[str] = []
    changes = {"campaign_type": options.type, "priority": options.priority}
    changes = {name: value for name, value in changes.items() if value is not None}
    database: Database | None = None  # with --check it may be away
    with ExitStack() as stack:
        laboratory = stack.enter_context(Laboratory()) if options.simulate else None  # it makes ready meanwhile
        parsed = [found for source in sources if (found := _parse(source, changes, faults))]
        if not parsed:
            raise _refusal(faults)
        try:
            database = stack.enter_context(open_database())
            clusters = declared(database)
            place = on_local if options.local else on_any
            parsed = [one._replace(description=place(*one, clusters, faults)) for one in parsed]
            missing = frozenset(cluster for one in parsed for cluster in one.description.clusters) - clusters.keys()
            parsed = [one._replace(description=on_known(*one, clusters, faults)) for one in parsed]
        except DatabaseUnavailable as error:
            if not options.check:
                raise (_refusal([*faults, str(error)]) if faults else error) from None
            complain(f"whether the clusters exist was not checked: {error}")
            database, clusters, missing = None, {}, frozenset()
        parsed = [one._replace(description=backend.obey(*one, options.backend, clusters, faults)) for one in parsed]
        candidates = [admitted for one in parsed if (admitted := _admit(database, one, user, clusters, faults))]
        candidates = [_possible(database, one, user, faults) for one in candidates] if database else candidates
        parsed.clear()  # a million parameters that a rule or a test leaves out need not be kept
        for candidate in candidates:
            _tell_changes(candidate)
            tell_unheard(database, candidate.name, candidate.description)
        if options.check:
            _show(candidates, user, missing, options.output)
            tell_missing(candidates, clusters)
        if faults:
            raise _refusal(faults)
        if laboratory:
            assert database  # that it is away is an error, unless all is only checked
            return laboratory.simulate(database, [one.description for one in candidates], user, options.output)
        return DONE if options.check or not database else _store(database, candidates, user, options)


def _refusal(faults: Sequence[str]) -> CigriError:
    more = len(faults) - MOST_TOLD
    told = [*faults[:MOST_TOLD], *([f"{more} more problems"] if more > 0 else [])]
    return CigriError("\n".join([*told, "nothing was submitted"]))


def _parse(source: Source, changes: Mapping[str, object], faults: list[str]) -> Parsed | None:
    """Read one description; what is wrong with it goes to `faults`. `changes` are options that go before it."""
    from cigri import jdl
    from cigri.settings import loading

    jobs = loading.load().jobs
    defaults = jdl.Defaults(jobs.walltime, jobs.cpu, jobs.mem)
    try:
        base = Path(source.given).parent if source.is_file else Path()
        description = jdl.parse(source.text(), format=source.format(), base=base, home=Path.home(), defaults=defaults)
    except DescriptionError as error:
        faults += [f"{source.name}: {problem}" for problem in error.problems]
        return None
    return Parsed(source.name, description.with_options(**changes) if changes else description)


def _admit(
    database: "Database | None",
    parsed: Parsed,
    user: str,
    clusters: "Mapping[str, ClusterConfig]",
    faults: list[str],
) -> Candidate | None:
    """Ask the site's rules, and keep as many tasks as the campaign's type runs."""
    from cigri import admission, shipped
    from cigri.cli.capabilities import task_peaks
    from cigri.flow.fixes import end_broken_rules, put_broken_rule
    from cigri.flow.submissions import tested_tasks
    from cigri.settings import loading

    rules = loading.load().admission_directory or shipped.directory("etc") / "admission.d"
    try:
        description, changes = admission.admit(parsed.description, user, rules, clusters)
        _check_scheduler(description.scheduler)
        if database:
            with database.begin() as conn:
                end_broken_rules(conn)
    except (AdmissionRefused, DescriptionError) as error:
        if database and isinstance(error, RuleBroken):
            with database.begin() as conn:
                put_broken_rule(conn, user, error.rule, str(error))
        faults.append(f"{parsed.name}: {error}")
        return None
    description = on_eligible(database, description) if database else description
    dropped = 0
    if description.campaign_type == "test":
        kept = cast("list[Parameter]", [*tested_tasks(description.parameters(), len(description.clusters))])
        dropped = max(0, description.count - len(kept))
        description = replace(description, tasks=kept)
    peaks, problems = task_peaks(description)
    if problems:
        faults += [f"{parsed.name}: {problem}" for problem in problems]
        return None
    return Candidate(parsed.name, description, changes, dropped, peaks)


def _check_scheduler(name: str) -> None:
    """A scheduler is a file; it is looked for without being run."""
    import pkgutil
    from importlib.util import find_spec

    from cigri.jdl.problems import did_you_mean

    spec = find_spec("modules.campaign_schedulers")
    files = pkgutil.iter_modules(spec.submodule_search_locations if spec else None)
    known = [module.name for module in files if not module.ispkg]
    if name and name not in known:
        hint = did_you_mean(name, known) or f"there are: {', '.join(sorted(known))}"
        raise DescriptionError([Problem("scheduler", f"there is no campaign scheduler {name!r}", hint)])


def _possible(database: "Database", candidate: Candidate, user: str, faults: list[str]) -> Candidate:
    """As the clusters can take it; what can never be goes to `faults`."""
    from cigri.flow.submissions import list_impossible
    from cigri.submission import new_campaign

    name, description, _, _, peaks = candidate
    description, problems = on_able(database, name, description, peaks)
    faults += problems
    with database.begin() as conn:
        faults += (f"{name}: {problem}" for problem in list_impossible(conn, new_campaign(description, user)))
    return candidate._replace(description=description)


def _tell_changes(candidate: Candidate) -> None:
    for change in candidate.changes:
        complain(f"{candidate.name}: changed by this site: {change}")
    if candidate.dropped:
        kept = candidate.description.count
        complain(f"{candidate.name}: a test takes one task for each cluster: {kept} kept, {candidate.dropped} left out")


def _show(candidates: Sequence[Candidate], user: str, missing: frozenset[str], output: str) -> None:
    from cigri.cli.preview import preview, preview_json

    if output == "json":
        print_json([preview_json(candidate.description, user, None) for candidate in candidates])
        return
    for candidate in candidates:
        for line in preview(candidate.description, user, missing, None):
            print(safe(line))


def _store(database: "Database", candidates: Sequence[Candidate], user: str, options: argparse.Namespace) -> int:
    from cigri.cli.preview import preview, preview_json
    from cigri.cli.standstill import tell
    from cigri.flow.submissions import put_campaign
    from cigri.submission import new_campaign

    stored: list[dict[str, Any]] = []
    with told_otherwise(lambda: f"submitted: {', '.join(str(one['id']) for one in stored) or 'none'}"):
        try:
            for candidate in candidates:
                description = candidate.description
                with database.begin() as conn:
                    campaign_id = put_campaign(conn, new_campaign(description, user), description.parameters())
                details = preview_json(description, user, campaign_id) if options.output == "json" else {}
                stored.append(
                    {"id": campaign_id, "changes": candidate.changes, "dropped": candidate.dropped, **details}
                )
                if options.output == "text":
                    print(f"Campaign successfully submitted\nCAMPAIGN_ID={campaign_id}", flush=True)
                    for line in preview(description, user, (), campaign_id) if options.details else ():
                        print(safe(line))
        finally:
            if options.output == "json":
                print_json(stored)
    with database.begin() as conn:
        tell(conn, [cast(int, one["id"]) for one in stored])
    complain(f"`gridstat {stored[-1]['id']}` shows how far it is, `gridevents {stored[-1]['id']}` what went wrong")
    return DONE


def _add(sources: Sequence[Source], options: argparse.Namespace) -> int:
    """All tasks are checked, then added in one transaction."""
    from cigri.flow.submissions import find_company, put_tasks

    user, campaign_id = grid_user(), options.campaign[0]
    with open_database() as database:
        with database.begin() as conn:
            company = find_company(conn, campaign_id, user)
        parameters = list(_additional(sources, company))
        if options.check:
            print(f"{len(parameters)} tasks would be added to campaign {campaign_id}")
            return DONE
        with database.begin() as conn:
            added = put_tasks(conn, campaign_id, user, parameters)
    with told_otherwise(lambda: f"added to campaign {campaign_id}: {added} tasks"):
        if options.output == "json":
            print_json({"id": campaign_id, "added": added})
        else:
            print(f"Jobs successfully added to campaign {campaign_id}: {added}")
    return DONE


def _additional(sources: Iterable[Source], company: "Company") -> "Iterator[Parameter]":
    """The tasks of all sources; raise with every problem of every source."""
    from cigri import jdl

    like = cast("Parameter | None", company.parameter)
    clusters = {name: jdl.ClusterSettings.model_validate(settings) for name, settings in company.settings.items()}
    faults: list[str] = []
    for source in sources:
        try:
            yield from jdl.additional(source.text(), clusters, like=like, format=source.format())
        except DescriptionError as error:
            faults += [f"{source.name}: {problem}" for problem in error.problems]
    if faults:
        raise CigriError("\n".join([*faults, "nothing was added"]))
