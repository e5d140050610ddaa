"""Files of single tasks (task_inputs) that have changed on the host of their user since they were sent."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from cigri.cli.command import escape_text, print_error
from cigri.cli.stored_description import list_parameters
from cigri.endpoints.descriptions import description
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.inputs import campaign_inputs
from cigri.errors import DescriptionError
from cigri.inputs.task_files import read_files
from cigri.jdl.parameters import parse_source

LARGEST_COMPARED = 2 * 10**9  # bytes of all files together; reading more would hold up who only wants tasks done again


def find_changed_task_files(grid: GridClient, campaign_id: int) -> list[str]:
    """The names in task_inputs, as they were written, if a file of any task is another one, or cannot be read.

    Nothing is said of a campaign of which nobody knows where that was, nor of files that are too large to be compared.
    """
    written = grid.call(description, campaign_id=campaign_id)
    sent: dict[str, Any] | None = written.described.get("task_inputs")
    if not isinstance(sent, dict) or sent["size"] > LARGEST_COMPARED:
        return []
    base = grid.call(campaign_inputs, campaign_id=campaign_id).sent_from
    beside = list(list_parameters(grid, campaign_id)) if written.has_list else []
    tasks = parse_source(written.described, beside, [])
    if base is None or tasks is None:
        return []
    wanted = [{"from": file["path"], "to": file["to"]} for file in sent["files"]]
    try:
        now = read_files(wanted, tasks, 0, Path(base)).sums.text
    except DescriptionError:
        return [file["path"] for file in sent["files"]]
    return [] if _begins_with(now, sent["sums"]) else [file["path"] for file in sent["files"]]


def warn_of_changed_task_files(changed: list[str]) -> None:
    """Before tasks are done again with what they had."""
    if changed:
        names = ", ".join(changed)
        print_error(
            escape_text(
                f"files of task_inputs ({names}) have changed since they were sent, or are gone; tasks keep those "
                "that were sent: submit a new campaign for the new ones"
            )
        )


def _begins_with(text: bytes, wanted: str) -> bool:
    """Whether so many lines from the first on have this sum: tasks that were added later have a list of their own."""
    seen = sha256()
    for line in text.splitlines(keepends=True):
        seen.update(line)
        if seen.hexdigest() == wanted:
            return True
    return False
