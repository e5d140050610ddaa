"""`gridsub -c ID`: more tasks for a campaign that is there."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from cigri.cli.command import DONE, grid_user, open_database, print_json, told_otherwise
from cigri.cli.source import Source
from cigri.errors import CigriError, DescriptionError

if TYPE_CHECKING:
    from cigri.flow.submissions import Company
    from cigri.jdl import Parameter


def add_tasks(sources: Sequence[Source], options: argparse.Namespace) -> int:
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
