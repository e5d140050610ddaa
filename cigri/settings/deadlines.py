"""By when something is to be over, as an operator writes it; pure."""

from datetime import datetime, timedelta

from cigri.errors import UsageError
from cigri.formats.units import read_date, read_duration

TIMES = "YYYY-MM-DDTHH:MM, or +90s, +30min, +2h, +1d"


def read_deadline(text: str, now: datetime, cluster: str, notice: int) -> datetime:
    """One that leaves the jobs of the cluster the notice that they were promised, in seconds; else raise UsageError."""
    deadline = read_moment(text, now)
    if deadline < now + timedelta(seconds=notice):
        promise = f"jobs on {cluster} are promised a notice of {notice} s (features.grace_secs_job)"
        raise UsageError(f"--by {text} is too soon: {promise}")
    return deadline


def read_moment(text: str, now: datetime) -> datetime:
    """A moment, or so long from now; without a time zone it is this host's."""
    if not text.startswith("+"):
        return _read_date(text)
    try:
        if (ahead := read_duration(text[1:])) is not None:
            return now + timedelta(seconds=float(ahead))
    except OverflowError:
        pass
    except ValueError as error:
        raise UsageError(f"--by takes {TIMES}: {error}") from None
    raise UsageError(f"--by takes {TIMES}, not {text!r}")


def with_zone(text: str) -> str:
    """A moment that is written in the time of this host, as one that means the same on every other."""
    return text if text.startswith("+") else _read_date(text).isoformat()


def _read_date(text: str) -> datetime:
    try:
        return read_date(text, None)
    except OverflowError:
        raise UsageError(f"--by takes {TIMES}, not {text!r}") from None
    except ValueError as error:
        raise UsageError(f"--by takes {TIMES}: {error}") from None
