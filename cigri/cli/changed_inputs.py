"""Inputs of a campaign that have changed on the host of its user since they were sent, and new ones in their place."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cigri.api_models.files import InputVersionView, RefreshedInputs
from cigri.cli.command import escape_text, print_error
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.inputs import campaign_inputs, replace_inputs
from cigri.errors import CigriError
from cigri.inputs.reading import InputReader, LocalInput

REFRESH = "--refresh-inputs"
Pairs = list[tuple[str, str]]
"""Of inputs: the path as it was written, and the SHA-256 of the new content."""


class ChangedInput(NamedTuple):
    """An input by its path as it was written, and as it is now."""

    path: str
    read: LocalInput


class InputsToCompare(NamedTuple):
    """Those that have changed, and why others could not be looked at."""

    changed: list[ChangedInput]
    unread: list[str]


def find_changed(grid: GridClient, campaign_id: int) -> InputsToCompare:
    """What lies where they were read; nothing is said of a campaign of which nobody knows where that was."""
    answer = grid.call(campaign_inputs, campaign_id=campaign_id)
    present = _present(answer.inputs)
    found = InputsToCompare([], [])
    for path, sent in present.items():
        if answer.sent_from is None and not path.startswith(("/", "~")):
            found.unread.append(f"{path}: where it was sent from is not known; name it with -c {campaign_id} --input")
            continue
        try:
            read = InputReader(Path(answer.sent_from or "/")).read_input(path)
            _require_kind(sent[0], read)
        except (OSError, ValueError) as error:
            found.unread.append(_reason(error))
            continue
        if any(each.sha256 != read.sha256 for each in sent):
            found.changed.append(ChangedInput(path, read))
    return found


def warn_of_changed(changed: Sequence[str]) -> None:
    """Before tasks are done again with what they had."""
    for path in changed:
        print_error(escape_text(f"{path} has changed since it was sent; {REFRESH} sends the new one"))


def refresh(grid: GridClient, campaign_id: int) -> RefreshedInputs | None:
    """Send what has changed, for all tasks that are still to be started; None: nothing has."""
    pairs = send_changed(grid, campaign_id)
    return grid.call(replace_inputs, campaign_id=campaign_id, inputs=pairs) if pairs else None


def send_changed(grid: GridClient, campaign_id: int) -> Pairs:
    """What has changed, which the grid has then.

    Raise CigriError where one cannot be read: it is not known then whether it has changed.
    """
    found = find_changed(grid, campaign_id)
    if found.unread:
        raise CigriError("\n".join([*found.unread, "nothing was changed"]))
    return _sent(grid, {each.path: each.read for each in found.changed})


def replace_named(grid: GridClient, campaign_id: int, named: Sequence[str]) -> RefreshedInputs | None:
    """Send these files, FILE or NAME=FILE, in place of the inputs that they were, or that NAME is for tasks."""
    answer = grid.call(campaign_inputs, campaign_id=campaign_id)
    present = _present(answer.inputs)
    new: dict[str, LocalInput] = {}
    for word in named:
        path, file = _meant(word, present, answer.sent_from, campaign_id)
        try:
            read = InputReader(Path()).read_input(file)
            _require_kind(present[path][0], read)
        except (OSError, ValueError) as error:
            raise CigriError(f"{_reason(error)}; nothing was changed") from None
        if any(each.sha256 != read.sha256 for each in present[path]):
            new[path] = read
    pairs = _sent(grid, new)
    return grid.call(replace_inputs, campaign_id=campaign_id, inputs=pairs) if pairs else None


def tell_refreshed(campaign_id: int, replaced: RefreshedInputs | None) -> None:
    """What that means for jobs."""
    if replaced is None:
        print_error("no input has changed since it was sent: none was replaced")
        return
    files = "1 new input is" if replaced.replaced == 1 else f"{replaced.replaced} new inputs are"
    print(f"{files} sent for all that is still to be done of campaign {campaign_id}")
    if replaced.recalled:
        jobs = "1 job is" if replaced.recalled == 1 else f"{replaced.recalled} jobs are"
        print_error(f"{jobs} taken back from queues for it")
    if replaced.running:
        jobs = "1 running job keeps" if replaced.running == 1 else f"{replaced.running} running jobs keep"
        print_error(f"{jobs} the earlier one; `gridstat -j JOB` tells which a job has")


def _present(inputs: Sequence[InputVersionView]) -> dict[str, list[InputVersionView]]:
    """By path, those that tasks find now."""
    present: dict[str, list[InputVersionView]] = {}
    for each in inputs:
        if each.replaced_at is None:
            present.setdefault(each.path, []).append(each)
    return present


def _meant(
    word: str, present: dict[str, list[InputVersionView]], sent_from: str | None, campaign_id: int
) -> tuple[str, str]:
    """The path of an input as it was written, and the file that takes its place."""
    name, equals, file = word.partition("=")
    if equals and file:
        named = [path for path, inputs in present.items() if name in (path, *(each.to for each in inputs))]
    else:
        file, here = word, Path(word).absolute()
        same = [path for path in present if Path(sent_from or "/", Path(path).expanduser()) == here]
        named = same or [path for path, sent in present.items() if here.name in {Path(each.to).name for each in sent}]
    if len(named) == 1:
        return named[0], file
    known = ", ".join(sorted({each.to for sent in present.values() for each in sent}))
    if not named:
        raise CigriError(f"--input {word}: campaign {campaign_id} has no such input; it has: {known or 'none'}")
    raise CigriError(
        f"--input {word}: campaign {campaign_id} has {len(named)} of this name: write PATH=FILE, with one of "
        f"{', '.join(named)}"
    )


def _require_kind(sent: InputVersionView, read: LocalInput) -> None:
    if sent.packed is not read.is_packed:
        kinds = ("a file", "a directory")
        was, now = kinds[sent.packed], kinds[read.is_packed]
        raise ValueError(f"{read.path} was {was} when it was sent, and is {now} now")


def _sent(grid: GridClient, new: dict[str, LocalInput]) -> Pairs:
    if new:
        from cigri.cli.sending_inputs import send_inputs

        send_inputs(grid, list({read.sha256: read for read in new.values()}.values()))
    return [(path, read.sha256) for path, read in new.items()]


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
