"""What `gridget` makes is shared as the campaign says, as far as this host knows the group."""

from collections.abc import Sequence

from cigri.api_models.files import TaskOutputSummary
from cigri.cli.command import print_error
from cigri.identity.file_sharing import GroupSharing, NoSuchGroup, sharing_of
from cigri.outputs.brought import Brought


class OutputSharing:
    """Tells once of each group that is unknown here; what would be shared with it is its owner's alone."""

    def __init__(self, brought: Brought) -> None:
        self._brought = brought
        self._known: dict[tuple[str | None, str | None], GroupSharing | None] = {}

    def follow(self, listed: Sequence[TaskOutputSummary]) -> None:
        """What comes next is that of these tasks."""
        found = {task.number: self._find(task.mode, task.group) for task in listed}
        self._brought.share({number: sharing for number, sharing in found.items() if sharing is not None})

    def _find(self, mode: str | None, group: str | None) -> GroupSharing | None:
        if (mode, group) not in self._known:
            self._known[mode, group] = None
            try:
                if shared := sharing_of(mode, group):
                    self._known[mode, group] = shared.require_group()
            except NoSuchGroup as error:
                print_error(f"{error}: what comes is yours alone")
        return self._known[mode, group]
