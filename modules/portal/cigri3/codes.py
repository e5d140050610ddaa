"""What CiGri 3 called what happens: codes of events, as its users' scripts look for them, and dates."""

from collections.abc import Mapping
from datetime import UTC, datetime

CIGRI3_EVENT_CODES: Mapping[str, str] = {
    "TASK_FAILED": "EXIT_ERROR",
    "PROLOGUE_FAILED": "PROLOG_EXIT_ERROR",
    "EPILOGUE_FAILED": "EPILOG_EXIT_ERROR",
    "FINISHED": "FINISHED_CAMPAIGN",
    "CANCELLED": "USER_FRAG",
    "CLUSTER_SET_ASIDE": "BLACKLIST",
    "SUBMISSION_REFUSED": "RUNNER_SUBMIT_ERROR",
    "SUBMISSION_FAILED": "RUNNER_SUBMIT_ERROR",
    "JOB_UNACCOUNTED": "UNKNOWN_ERROR",
    "JOBS_TAKEN_BACK": "REMOTE_WAITING_FRAG",
    "CLUSTER_UNREACHABLE": "TIMEOUT",
    "CLUSTER_ANSWER": "GET_JOBS",
    "ACCOUNT_REFUSED": "PERMISSION_DENIED",
    "LOGIN_REFUSED": "PERMISSION_DENIED",
    "KILL_PROBLEM": "NIKITA_KILL_PROBLEM",
}
"""By ours; what is not in it had no code there, or the same one."""
WAIT_STATUS = 256  # times an exit code, as wait(2) tells of a process that has ended by itself


def as_code(code: str) -> str:
    """CiGri 3's code for one of ours, or ours where it had none."""
    return CIGRI3_EVENT_CODES.get(code, code)


def as_date(moment: datetime | None) -> str | None:
    """A date as PostgreSQL wrote it for CiGri 3: `2026-11-26 11:28:23+00`."""
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}+00"


def as_wait_status(exit_code: int | None) -> int | None:
    """The exit code as batch systems told it to CiGri 3: 1 is 256."""
    return None if exit_code is None else exit_code * WAIT_STATUS


def as_remote_id(remote_id: str | None) -> int | str | None:
    """A number where it is one, as OAR's and Slurm's are."""
    is_number = remote_id is not None and remote_id.isascii() and remote_id.isdecimal()
    return int(remote_id) if is_number and remote_id is not None else remote_id
