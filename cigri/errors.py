"""Every error of ours, named by what the caller can do about it.

CigriError
├── ConfigError                the operator must change a setting (exit 2)
│   └── DatabaseCopied         the operator must say which grid this is
├── UsageError                 the user must change the command (exit 2)
├── DescriptionError           the user must change the campaign description; carries every problem at once
│   └── RequirementError       what is wanted of nodes, or of jobs, is not understood; a ValueError too
├── AdmissionRefused           an admission rule says no
│   └── AdmissionRuleFailed    the operator must mend the rule
├── IdempotencyKeyReused       the user must send another key: this one was sent with something else
├── NotFound                   no such campaign, job, cluster or event, or it belongs to somebody else
├── Forbidden                  the caller may not do this, whatever it is done to
├── TooManyRequests            try later: too much is being asked
├── StorageFull            try later: the grid's disk, or your share of it, has no room left
├── SimulationFailed           ask again, or read why
├── QueryTimedOut              ask for less at a time
├── PortalUnavailable          try later: the portal does not answer
├── DatabaseUnavailable        try later: the database does not answer
│   └── DatabaseFull           the operator must make room on the database's disk, and then it is tried again
├── TransportError
│   ├── ClusterUnreachable     try later: nothing was run on the cluster
│   └── RemoteOutcomeUnknown   the command may have run; ask the cluster before doing it again
└── BatchSystemError
    ├── SubmissionRefused      the batch system said no; nothing was submitted
    │   ├── ArrayTooLarge      submit smaller arrays
    │   └── QueueFull          submit later, when less of the account is there
    └── UnreadableOutput       the answer is no answer; nothing may be concluded from it
        └── SubmissionFailed   the command says something of its own and no job; the queue tells whether it submitted
"""

import re
from typing import NamedTuple

LONGEST_MESSAGE = 1000
"""Characters; what is wrong may be as long as it likes."""


class CigriError(Exception):
    """Root of the tree; the text is complete and may be shown to a person as it is."""


class ConfigError(CigriError):
    """A setting is wrong; raised before anything runs."""


class DatabaseCopied(ConfigError):
    """The grid lived elsewhere when it last ran."""

    def __init__(self, there: str, here: str) -> None:
        super().__init__(
            f"this database was copied, restored or moved: its grid last ran in {there}, and this is {here}.\n"
            "Nothing was done. Say which it is:\n"
            "  cigri db moved    the grid itself, restored or moved here: nobody runs the other any more\n"
            "  cigri db copied   a copy, to try things with: it leaves all clusters alone until they are enabled"
        )


class UsageError(CigriError):
    """A command was called in a way that cannot be obeyed; `parameter` is what was wrong, "" if it is no one alone."""

    def __init__(self, message: str, parameter: str = "") -> None:
        self.parameter = parameter
        is_named = not parameter or re.match(rf"-*{parameter}\b", message)
        super().__init__(message if is_named else f"{parameter}: {message}")


class DescriptionProblem(NamedTuple):
    """One thing wrong in a description: where it is (empty: nowhere in it), what it is, and what to write instead."""

    place: str
    """Where in the description it is; "": nowhere in it."""
    message: str
    """What is wrong."""
    hint: str = ""
    """What to write instead, or ""."""

    def __str__(self) -> str:
        place, message, hint = (one if len(one) <= LONGEST_MESSAGE else f"{one[:LONGEST_MESSAGE]}..." for one in self)
        return (f"{place}: " if place else "") + message + (f" ({hint})" if hint else "")


class DescriptionError(CigriError):
    """All that is wrong in a campaign description."""

    def __init__(self, problems: list[DescriptionProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class RequirementError(DescriptionError, ValueError):
    """All that is wrong in what is wanted; the places are names of properties, or columns of an expression."""


class AdmissionRefused(CigriError):
    """An admission rule refuses the campaign; told together with what else is wrong, it is a problem of these words."""

    begins = "admission rule "

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{self.begins}{rule} refuses this campaign: {message}")
        self.rule = rule


class AdmissionRuleFailed(AdmissionRefused):
    """It was not the rule's judgement: the rule itself raised."""


class IdempotencyKeyReused(CigriError):
    """Another submission was sent with the same key."""


class NotFound(CigriError):
    """The thing does not exist, or is not the caller's to touch."""


class Forbidden(CigriError):
    """Who may, is told."""


class TooManyRequests(CigriError):
    """Too much is being asked at once."""


class StorageFull(CigriError):
    """There is no room for what was sent; nothing of it is kept."""


class SimulationFailed(CigriError):
    """The laboratory has no answer."""


class QueryTimedOut(CigriError):
    """The database was working on a question for longer than anybody waits."""


class PortalUnavailable(CigriError):
    """The portal does not answer; what was asked of it may have been done."""


class DatabaseUnavailable(CigriError):
    """The database does not answer."""


class DatabaseFull(DatabaseUnavailable):
    """The database answers, and has no room for what is written."""


class TransportError(CigriError):
    """A cluster could not be spoken to; `is_front_end`: its front-end is away, or was, whoever speaks to it.

    `is_login_refused`: it answers, and does not let the account in; hosts ban those who are refused too often.
    """

    def __init__(
        self, cluster: str, message: str, *, is_front_end: bool = False, is_login_refused: bool = False
    ) -> None:
        super().__init__(f"{cluster}: {message}")
        self.cluster = cluster
        self.is_front_end = is_front_end
        self.is_login_refused = is_login_refused


class ClusterUnreachable(TransportError):
    """Nothing was run."""


class RemoteOutcomeUnknown(TransportError):
    """The script was sent; whether it ran, and how far, is not known."""


def is_login_refused(error: Exception) -> bool:
    """Whether it is that a cluster did not let an account in."""
    return isinstance(error, TransportError) and error.is_login_refused


class BatchSystemError(CigriError):
    """A batch system answered something that is not the wished-for answer."""


class SubmissionRefused(BatchSystemError):
    """The batch system refused; the text is its own."""


class ArrayTooLarge(SubmissionRefused):
    """The batch system takes arrays of at most `largest` jobs."""

    def __init__(self, message: str, largest: int) -> None:
        super().__init__(message)
        self.largest = largest


class QueueFull(SubmissionRefused):
    """The batch system takes no more of this account for now: no more jobs, or no more arrays (`counts_arrays`)."""

    def __init__(self, message: str, *, counts_arrays: bool = False) -> None:
        super().__init__(message)
        self.counts_arrays = counts_arrays


class UnreadableOutput(BatchSystemError):
    """The answer is empty, truncated or in an unknown dialect, or the command failed."""


class SubmissionFailed(UnreadableOutput):
    """A whole answer that names no job, and is no refusal that the driver knows; `said`: all of it.

    With `is_held_up` the queue was full, and the command was ended while it waited for room: `full` is what to raise
    once the queue has told that nothing was submitted.
    """

    def __init__(self, command: str, status: int, said: str, *, is_held_up: bool = False) -> None:
        self.said = said or "no word"
        self.full = QueueFull(self.said) if is_held_up else None
        super().__init__(f"{command} (exit status {status}): {self.said}")


AnswerUnreadable = UnreadableOutput  # the name that drivers of other packages import, until 1.0
