"""The settings of a command that opens the database itself; a command that asks a portal needs none."""

import os
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from cigri.lifecycle.active_scheduler import USUAL_SCHEDULER
from cigri.settings import sources

if TYPE_CHECKING:
    from cigri.settings.sections import Settings


def own_settings() -> "Settings":
    """Return the settings of this process, which are read when an endpoint uses one of them."""
    return cast("Settings", _OwnSettings())


class _OwnSettings:
    """Reads what most commands show as it stands there; to check all the others takes longer than the command."""

    @property
    def policy(self) -> SimpleNamespace:
        return SimpleNamespace(scheduler=self._read("policy", "scheduler") or USUAL_SCHEDULER)

    @property
    def history(self) -> SimpleNamespace:
        told = self._read("history", "purge_after")
        return SimpleNamespace(purge_after=sources.USUAL_PURGE if told is None else float(told))

    def __getattr__(self, name: str) -> Any:
        """Any other section."""
        return getattr(self._checked, name)

    @cached_property
    def _checked(self) -> "Settings":
        from cigri.settings.loading import load

        return load()

    @cached_property
    def _values(self) -> dict[str, Any]:
        return sources.gather(os.environ, is_client=True).values

    def _read(self, section: str, name: str) -> Any:
        table = self._values.get(section)
        return table.get(name) if isinstance(table, dict) else None
