"""How a script reaches a cluster: one verb, run. `local` for this host, `ssh` for all others."""

from typing import Protocol

from cigri.shell.results import RawShellResult, ShellResult


class Transport(Protocol):
    """A way to run sh text as one local user of one cluster.

    A transport may be used by several threads. It opens its connection at the first use, keeps it, and opens it
    again after a failure.
    """

    def run(self, script: str, timeout: float) -> ShellResult:
        """Run sh text (any length, no NUL) in the user's home directory and wait at most `timeout` seconds.

        Raise ClusterUnreachable when nothing was run, RemoteOutcomeUnknown when it was sent and its end was not seen.
        """

    def fetch(self, script: str, timeout: float, sent: bytes = b"") -> RawShellResult:
        """As run, of text that brings files, whatever bytes they are made of, or takes one, `sent`, as its stdin.

        With RemoteOutcomeUnknown it may have run with a part of it.
        """

    def close(self) -> None:
        """Give back the connection once nobody is at work on it; a later run opens it again."""

    def terminate(self) -> None:
        """Give it back at once: who is at work on it, for whichever user, finds it gone."""
