"""The old name of `cigri.shell.results.ShellResult`, which drivers of other packages import, until 1.0."""

from cigri.shell.results import ShellResult as Answer

__all__ = ["Answer"]
