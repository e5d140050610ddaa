"""`gridsub DESCRIPTION`: from the text to a stored campaign, all that is wrong told first."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cigri.cli import backend
from cigri.cli.command import DONE, complain, grid_user, open_database, print_json, safe, told_otherwise
from cigri.cli.foresight import Laboratory
from cigri.cli.local import on_local
from cigri.cli.looking import tell_missing
from cigri.cli.placing import declared, on_able, on_any, on_eligible, on_known, tell_unheard
from cigri.cli.source import Source
from cigri.errors import AdmissionRefused, CigriError, DatabaseUnavailable, DescriptionError, Problem, RuleBroken

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.jdl import Description, Parameter
    from cigri.jdl.needs import Peaks
    from cigri.settings.cluster import ClusterConfig

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


def submit(sources: Sequence[Source], options: argparse.Namespace) -> int:
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
