"""What would become of campaigns if they were submitted now: asked of the laboratory, a program of its own."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cigri.cli.command import DONE, complain, grid_user, open_database, print_json, safe
from cigri.cli.grid import holds_database
from cigri.cli.source import Source
from cigri.cli.submitting import asked_of, read, refusal
from cigri.cli.tables import print_table
from cigri.cli.wording import duration, moment
from cigri.errors import CigriError
from cigri.submission.placing import to_simulate

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.flow.submissions import NewCampaign
    from cigri.jdl import Description

NEVER_ENDS = "never, as the grid stands: no simulation came to its end"
NOT_KNOWN = "not known: time was over when hardly a task was done (is this host busy?)"
ONLY_AT_HOME = "a simulation needs all that the grid knows, which a portal hands to nobody: ask whoever runs this grid"
LABORATORY = (sys.executable, "-P", "-m", "modules.laboratory")


def simulate(sources: Sequence[Source], options: argparse.Namespace) -> int:
    """Where the database may be opened: the laboratory plays on what stands in all of it. Nothing is submitted."""
    if not holds_database():
        raise CigriError(ONLY_AT_HOME)
    from cigri.submission.examining import examine, wishes_of
    from cigri.submission.remarks import Remarks

    user, faults, descriptions = grid_user(), list[str](), []
    with Laboratory() as laboratory:
        handed = [readable for source in sources if (readable := read(source, faults))]
        if not handed:
            raise refusal(faults)
        with open_database() as database:
            for each in handed:
                remarks, beside = Remarks(), [*each.beside]
                wishes = wishes_of(**asked_of(options))
                description = examine(database, user, each.described, beside, wishes, remarks).description
                faults += (f"{each.name}: {problem}" for problem in remarks.problems)
                for note in remarks.notes:
                    complain(f"{each.name}: {note}")
                descriptions += [description] if description else []
            if faults:
                raise refusal(faults)
            return laboratory.simulate(database, descriptions, user, options.output)


class Laboratory:
    """It is started at once, and makes ready while the campaigns are looked at that it will be asked of.

    It shows its progress on our standard error, and ends with us when we are interrupted, or have no question.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(LABORATORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Laboratory":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()

    def simulate(self, database: "Database", descriptions: "Iterable[Description]", user: str, output: str) -> int:
        """Show what it answers; raise CigriError when a campaign could run nowhere."""
        from cigri.flow.known_tasks import find_known_past
        from cigri.submission import new_campaign

        orders = []
        for description in descriptions:
            campaign = to_simulate(database, new_campaign(description, user))
            commands = {part.settings["exec_file"] for part in campaign.clusters.values()}
            with database.begin() as conn:
                past = find_known_past(conn, user, commands, description.parameters())
            orders.append({"campaign": _plain(campaign), "tasks": description.count, "known": past._asdict()})
        _show(self._ask(orders), output)
        return DONE

    def _ask(self, orders: Sequence[Mapping[str, Any]]) -> Any:
        out, _ = self._process.communicate(json.dumps(orders))
        if self._process.returncode != 0:
            raise CigriError(f"the simulation failed (exit status {self._process.returncode}); nothing was submitted")
        answer = json.loads(out)
        if "error" in answer:
            raise CigriError(f"{answer['error']}; nothing was submitted")
        return answer


def _show(answer: Mapping[str, Any], output: str) -> None:
    if output == "json":
        print_json(answer)
        return
    for campaign in answer["campaigns"]:
        for line in _lines(campaign, answer):
            print(safe(line))
        if campaign["shares"]:
            print_table(("cluster", "tasks", "core-hours"), list(_rows(campaign)))


def _plain(campaign: "NewCampaign") -> dict[str, Any]:
    return campaign._asdict() | {"clusters": {name: part._asdict() for name, part in campaign.clusters.items()}}


def _lines(campaign: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"campaign {campaign['name']}: {campaign['tasks']} tasks; nothing was submitted"
    yield f"  if submitted  {moment(datetime.fromisoformat(answer['at']))}"
    if campaign["expected"] is None:
        yield f"  expected end  {NOT_KNOWN if campaign['cut'] else NEVER_ENDS}"
    else:
        low, expected, high = (_when(campaign, name) for name in ("low", "expected", "high"))
        yield f"  expected end  {expected}"
        yield f"  90 % between  {low}"
        yield f"           and  {high}"
    yield f"  one task      {duration(campaign['task'])}, from {campaign['durations']}"
    if campaign["durations"] == "the walltime alone":
        yield "                (say `duration` in the description, and the interval is narrower)"
    yield f"  simulated     {_how(campaign)}; campaigns under way now: {answer['ahead']}"
    for name, why in answer["closed"].items():
        yield f"  without {name}: {why}"


def _when(campaign: Mapping[str, Any], name: str) -> str:
    return f"{moment(datetime.fromisoformat(campaign[f'{name}_end']))} (in {duration(campaign[name])})"


def _how(campaign: Mapping[str, Any]) -> str:
    cut = f", {campaign['cut']} of them cut short" if campaign["cut"] else ""
    cut += f", {campaign['unfinished']} without an end" if campaign["unfinished"] else ""
    small = f", a grid {campaign['cores']:.1f} times smaller" if campaign["cores"] > 1 else ""
    together = f", {campaign['together']} tasks as one" if campaign["together"] > 1 else ""
    return f"{campaign['runs']} times{cut}{small}{together}"


def _rows(campaign: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    hours = campaign["core_hours"]
    for name, share in campaign["shares"].items():
        yield name, f"{share:.0%}", f"{hours[name]:.2f}"
    if len(hours) > 1:
        yield "all", "100%", f"{sum(hours.values()):.2f}"
