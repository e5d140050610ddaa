"""What would become of campaigns if they were submitted now, as the laboratory foretells it."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain

from cigri.api_models.simulations import CampaignSimulationView, SimulationView
from cigri.cli.command import DONE, escape_text, print_error, print_json
from cigri.cli.description_source import DescriptionSource, PreparedSubmission
from cigri.cli.grid_client import open_grid
from cigri.cli.submitting import ask, asked_of, read, refusal, told_problems
from cigri.cli.table_printing import print_table
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.submissions import simulate_campaigns
from cigri.errors import DescriptionError
from cigri.formats.json_values import to_json_value
from cigri.presentation.formatting import format_duration, format_time, how_simulated, no_end


def simulate(sources: Sequence[DescriptionSource], options: argparse.Namespace) -> int:
    """All of them together. Nothing is submitted."""
    faults: list[str] = []
    sets = [readable for source in sources if (readable := read(source, faults))]
    if not sets:
        raise refusal(faults)
    handed = [each for stages in sets for each in stages]
    with open_grid() as grid:
        if faults or len(handed) > 1:
            for name, checked in [each for stages in sets for each in ask(grid, stages, options)]:
                faults += told_problems(name, checked)
        if faults:
            raise refusal(faults)
        answer = _ask(grid, handed, options)
    for each, campaign in zip(handed, answer.campaigns, strict=True):
        for note in campaign.notes:
            print_error(f"{each.name}: {note}")
    _show(answer, options.output)
    return DONE


def _ask(grid: GridClient, handed: Sequence[PreparedSubmission], options: argparse.Namespace) -> SimulationView:
    values: Iterable[object] = handed[0]
    lines = None
    if len(handed) > 1:
        values, lines = [*chain.from_iterable(handed)], [sum(1 for _ in each) for each in handed]
    try:
        return grid.send(simulate_campaigns, values, **asked_of(options), lines=lines)
    except DescriptionError as error:
        raise refusal([f"{handed[0].name}: {problem}" for problem in error.problems]) from None


def _show(answer: SimulationView, output: str) -> None:
    if output == "json":
        print_json(to_json_value(answer))
        return
    for campaign in answer.campaigns:
        for line in _lines(campaign, answer):
            print(escape_text(line))
        if campaign.shares:
            print_table(("cluster", "tasks", "core-hours"), list(_rows(campaign)))


def _lines(campaign: CampaignSimulationView, answer: SimulationView) -> Iterator[str]:
    yield f"campaign {campaign.name}: {campaign.tasks} tasks; nothing was submitted"
    yield f"  if submitted  {format_time(answer.at)}"
    if campaign.expected is None:
        yield f"  expected end  {no_end(campaign)}"
    else:
        yield f"  expected end  {_when(campaign.expected_end, campaign.expected)}"
        yield f"  90 % between  {_when(campaign.low_end, campaign.low)}"
        yield f"           and  {_when(campaign.high_end, campaign.high)}"
    yield f"  one task      {format_duration(campaign.task)}, from {campaign.durations}"
    if campaign.durations == "the walltime alone":
        yield "                (say `duration` in the description, and the interval is narrower)"
    yield f"  simulated     {how_simulated(campaign)}; campaigns under way now: {answer.ahead}"
    for name, why in answer.closed.items():
        yield f"  without {name}: {why}"


def _when(date: datetime | None, seconds: float | None) -> str:
    assert date is not None  # as the expected one is known
    assert seconds is not None
    return f"{format_time(date)} (in {format_duration(seconds)})"


def _rows(campaign: CampaignSimulationView) -> Iterator[tuple[str, str, str]]:
    hours = campaign.core_hours
    for name, share in campaign.shares.items():
        yield name, f"{share:.0%}", f"{hours[name]:.2f}"
    if len(hours) > 1:
        yield "all", "100%", f"{sum(hours.values()):.2f}"
