"""`gridsub DESCRIPTION`: from the text to a stored campaign, all that is wrong told first."""

import argparse
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from cigri.api_models.submissions import CheckedCampaign, SubmittedCampaign
from cigri.cli.command import DONE, escape_text, grid_user, print_error, print_json, told_even_if_lost
from cigri.cli.description_source import DescriptionSource, PreparedSubmission
from cigri.cli.first_and_last import first_and_last
from cigri.cli.grid_client import open_grid
from cigri.cli.missing_on_host import missing_here
from cigri.cli.outages import warn
from cigri.cli.own_settings import own_settings
from cigri.cli.paths_here import place_here
from cigri.endpoints.dispatch import GridClient, run_upload_endpoint
from cigri.endpoints.request_bodies import SpooledBody, as_body
from cigri.endpoints.submissions import check_campaign, check_stages, submit_campaign, submit_stages
from cigri.errors import CigriError, DatabaseUnavailable, DescriptionError, PortalUnavailable
from cigri.formats.json_values import to_json_value
from cigri.identity.callers import Caller

MOST_TOLD = 100
"""Problems; nobody reads more."""


def submit(sources: Sequence[DescriptionSource], options: argparse.Namespace) -> int:
    """Everything is checked before anything is stored; then each campaign is one transaction, as all its stages are."""
    faults: list[str] = []
    handed = [readable for source in sources if (readable := read(source, faults))]
    if not handed:
        raise refusal(faults)
    if options.check:
        return _show_checked(_check(handed, options), faults, options.output)
    try:
        with open_grid() as grid:
            place_here(grid, chain(*handed), is_local=options.local)
            if faults or len(handed) > 1 or handed[0][0].inputs:  # what would be refused is not sent
                for name, checked in [each for stages in handed for each in ask(grid, stages, options)]:
                    faults += told_problems(name, checked)
            if faults:
                raise refusal(faults)
            return _store(grid, handed, options)
    except (DatabaseUnavailable, PortalUnavailable) as error:
        raise (refusal([*faults, str(error)]) if faults else error) from None


def read(source: DescriptionSource, faults: list[str]) -> list[PreparedSubmission]:
    """A campaign, or its stages. What is wrong with the source goes to `faults`; how it was read is told."""
    try:
        handed = source.handed()
        for each in handed:
            for note in each.notes:
                print_error(f"{each.name}: {note}")
        return handed
    except DescriptionError as error:
        faults += [f"{source.name}: {problem}" for problem in error.problems]
        return []


def refusal(faults: Sequence[str]) -> CigriError:
    """With the first of them."""
    more = len(faults) - MOST_TOLD
    shown = [*faults[:MOST_TOLD], *([f"{more} more problems"] if more > 0 else [])]
    return CigriError("\n".join([*shown, "nothing was submitted"]))


def told_problems(name: str, checked: CheckedCampaign) -> list[str]:
    """As faults; what does not refuse the campaign is told at once where it will not be submitted."""
    if checked.problems:
        _tell(name, checked)
    return [f"{name}: {problem}" for problem in checked.problems]


def asked_of(options: argparse.Namespace) -> dict[str, Any]:
    """What the user says beside the description, as the endpoints take it."""
    return {
        "type": options.type,
        "priority": options.priority,
        "local": options.local,
        "backend": options.backend or [],
        "behind": options.after or [],
    }


def ask(
    grid: GridClient, stages: Sequence[PreparedSubmission], options: argparse.Namespace
) -> list[tuple[str, CheckedCampaign]]:
    """What would become of a campaign, or of its stages."""
    if len(stages) == 1:
        return [(stages[0].name, grid.send(check_campaign, stages[0], **asked_of(options)))]
    checked = grid.send(check_stages, chain(*stages), **asked_of(options), lines=_lines(stages))
    return list(zip([each.name for each in stages], checked, strict=True))


def _lines(stages: Sequence[PreparedSubmission]) -> list[int]:
    return [sum(1 for _ in each) for each in stages]


def _check(
    handed: Sequence[Sequence[PreparedSubmission]], options: argparse.Namespace
) -> list[tuple[str, CheckedCampaign]]:
    """With the database away all is looked at here, but for the clusters."""
    try:
        with open_grid() as grid:
            place_here(grid, chain(*handed), is_local=options.local)
            return [each for stages in handed for each in ask(grid, stages, options)]
    except DatabaseUnavailable as error:
        print_error(f"whether the clusters exist was not checked: {error}")
    checked = []
    for each in chain(*handed):
        with SpooledBody() as body:
            for block in as_body(each):
                body.write(block)
            answer = run_upload_endpoint(
                check_campaign, None, own_settings, Caller(grid_user()), body, asked_of(options)
            )
            assert isinstance(answer, CheckedCampaign)  # nothing is calculated
            checked.append((each.name, answer))
    return checked


def _show_checked(checked: Sequence[tuple[str, CheckedCampaign]], faults: list[str], output: str) -> int:
    for name, answer in checked:
        _tell(name, answer)
        faults += [f"{name}: {problem}" for problem in answer.problems]
    campaigns = [(answer.campaign, answer.missing) for _, answer in checked if answer.campaign]
    if output == "json":
        print_json([to_json_value(campaign) for campaign, _ in campaigns])
    else:
        from cigri.cli.preview import preview

        for line in chain.from_iterable(preview(campaign, missing) for campaign, missing in campaigns):
            print(escape_text(line))
    for name, answer in checked:
        faults += _missing(name, answer)
    if faults:
        raise refusal(faults)
    return DONE


def _missing(name: str, answer: CheckedCampaign) -> list[str]:
    """What tasks would miss on this host; it is only told where it may be there by the time that they run."""
    missing = [*missing_here(answer.starts)]
    is_later = bool(answer.campaign and answer.campaign.after)
    certain = [fault.sentence for fault in missing if fault.is_certain and not is_later]
    for fault in missing:
        if fault.sentence not in certain:
            print_error(f"{name}: {fault.sentence}")
    return [f"{name}: {sentence}" for sentence in certain]


def _tell(name: str, answer: CheckedCampaign | SubmittedCampaign) -> None:
    for note in answer.notes:
        print_error(f"{name}: {note}")
    for change in answer.changes:
        print_error(f"{name}: changed by this site: {change}")
    if answer.dropped and answer.campaign:
        kept = answer.campaign.tasks
        print_error(f"{name}: a test takes one task for each cluster: {kept} kept, {answer.dropped} left out")


def _store(grid: GridClient, handed: Sequence[Sequence[PreparedSubmission]], options: argparse.Namespace) -> int:
    stored: list[dict[str, Any]] = []
    with told_even_if_lost(lambda: f"submitted: {', '.join(str(campaign['id']) for campaign in stored) or 'none'}"):
        try:
            for stages in handed:
                for each, answer in zip(stages, _submit(grid, stages, options), strict=True):
                    _tell(each.name, answer)
                    details = to_json_value(answer.campaign) if answer.campaign else {}
                    stored.append({"id": answer.id, "changes": answer.changes, "dropped": answer.dropped, **details})
                    if options.output == "text":
                        _print_stored(answer, is_detailed=options.details)
        finally:
            if options.output == "json":
                print_json(stored)
    warn(grid, [campaign["id"] for campaign in stored])
    print_error(f"`gridstat {stored[-1]['id']}` shows how far it is, `gridevents {stored[-1]['id']}` what went wrong")
    return DONE


def _submit(
    grid: GridClient, stages: Sequence[PreparedSubmission], options: argparse.Namespace
) -> list[SubmittedCampaign]:
    """An answer that is lost is asked for again, with the same key: the campaign is stored once."""
    asked = {**asked_of(options), "key": uuid.uuid4().hex}
    for each in stages:
        if each.inputs:
            from cigri.cli.sending_inputs import send_inputs

            send_inputs(grid, each.inputs)
            asked["sent_from"] = str(each.base.absolute())
    try:
        with suppress(PortalUnavailable):
            return _send(grid, stages, asked)
        return _send(grid, stages, asked)
    except DescriptionError as error:
        raise refusal([f"{stages[0].name}: {problem}" for problem in error.problems]) from None


def _send(grid: GridClient, stages: Sequence[PreparedSubmission], asked: Mapping[str, Any]) -> list[SubmittedCampaign]:
    if len(stages) == 1:
        return [grid.send(submit_campaign, stages[0], **asked)]
    return grid.send(submit_stages, chain(*stages), **asked, lines=_lines(stages))


def _print_stored(answer: SubmittedCampaign, *, is_detailed: bool) -> None:
    print(f"Campaign successfully submitted\nCAMPAIGN_ID={answer.id}", flush=True)
    for line in first_and_last(answer.campaign) if answer.campaign else ():
        print_error(line)
    if is_detailed and answer.campaign:
        from cigri.cli.preview import preview

        for line in preview(answer.campaign, ()):
            print(escape_text(line))
