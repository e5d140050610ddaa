"""What people see of failed tasks: those that failed alike in one entry, and how to have them done again."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.failures import FailureGroup
from cigri.cli.command import DONE, escape_text, print_error, print_json
from cigri.formats.id_ranges import as_ranges
from cigri.formats.json_values import to_json_value
from cigri.formats.units import MEGABYTE, exact_duration
from cigri.presentation.failure_groups import headline
from cigri.presentation.gathered_failures import MOST_RANGES
from cigri.states import Outcome

if TYPE_CHECKING:
    from cigri.api_models.campaigns import CampaignClusterView
    from cigri.api_models.jobs import JobView

MOST_READ = 10_000  # events
MOST_KINDS = 5  # under a campaign
EXIT_SIGKILL = 137
FULL_SHARE = 0.9  # of the memory that was asked for: a peak may fall between two looks
UNKNOWN_MEM = 4096  # MB that are advised where no amount was asked for


def show_failed(
    campaign: CampaignView, kinds: Sequence[FailureGroup], advice: Mapping[int, str], *, as_json: bool
) -> int:
    """All kinds, and what may be done; `advice` by the last job of a kind."""
    if as_json:
        print_json(to_json_value(kinds))
    elif kinds:
        for line in _lines(campaign, kinds, advice):
            print(escape_text(line))
    else:
        print_error(f"no task of campaign {campaign.id} has failed")
    return DONE


def print_kinds(campaign: CampaignView, kinds: Sequence[FailureGroup]) -> None:
    """The most frequent kinds, under a campaign."""
    print()
    for kind in kinds[:MOST_KINDS]:
        print(escape_text(headline(kind)))
    left = f"{len(kinds) - MOST_KINDS} other kinds of failures; " if len(kinds) > MOST_KINDS else ""
    seen = sum(kind.number for kind in kinds)
    cut = f"the last {seen} of {campaign.failed} were looked at; " if campaign.failed > seen else ""
    print(
        f"{cut}{left}`gridstat --failed {campaign.id}` shows the tasks, `gridsub --resubmit {campaign.id}` redoes them"
    )


def lacked_more(kind: FailureGroup, parts: Sequence["CampaignClusterView"]) -> bool:
    """Whether tasks were ended for want of time or memory; SIGKILL may be that where one had all that it asked for."""
    if kind.outcome in (Outcome.WALLTIME, Outcome.OUT_OF_MEMORY):
        return True
    here = [part for part in parts if part.cluster == kind.cluster and part.asked_memory and part.most_memory]
    is_full = any((part.most_memory or 0) >= FULL_SHARE * (part.asked_memory or 0) for part in here)
    return kind.exit_code == EXIT_SIGKILL and is_full


def advise_more(
    campaign_id: int, kind: FailureGroup, job: "JobView", parts: Sequence["CampaignClusterView"] = ()
) -> str:
    """The command that does tasks again with twice what was too little for them, or more where more was seen."""
    if kind.outcome is Outcome.WALLTIME:
        more, what = f"--walltime {exact_duration(2 * job.walltime).replace(' ', '')}", "time"
    else:
        mem = (job.resources or {}).get("mem")
        most = max((part.most_memory or 0 for part in parts if part.cluster == kind.cluster), default=0)
        wanted = max(2 * mem if isinstance(mem, int) and mem else UNKNOWN_MEM, math.ceil(1.5 * most / MEGABYTE))
        more, what = f"--mem {wanted}MB", "memory"
    tasks = as_ranges(kind.tasks)
    return f"`gridsub --resubmit {campaign_id} --tasks {tasks} {more}` does them again with more {what}"


def _lines(campaign: CampaignView, kinds: Sequence[FailureGroup], advice: Mapping[int, str]) -> Iterator[str]:
    for kind in kinds:
        yield headline(kind)
        if kind.means:
            yield f"    exit code {kind.exit_code}: {kind.means}"
        job = f"; `gridstat -j {kind.last_job} -E` shows all that the last one wrote" if kind.last_job else ""
        yield f"    task{'s' if kind.number > 1 else ''} {as_ranges(kind.tasks, MOST_RANGES)}{job}"
        if more := advice.get(kind.last_job or 0):
            yield f"    {more}"
    seen, first = sum(kind.number for kind in kinds), min(kind.tasks[0] for kind in kinds)
    if campaign.failed > seen:
        yield f"the last {seen} of {campaign.failed} failed tasks were looked at"
    yield f"`gridsub --resubmit {campaign.id}` reruns them (only task {first}: `--tasks {first}`)"
