"""By what used core-hours are told together: `user`, or several, as `project,cluster`; and of which jobs; pure."""

from cigri.eligibility.quotas import KINDS_OF_JOBS

GROUPS = ("day", "user", "project", "cluster", "type")


def read_groups(text: str) -> tuple[str, ...]:
    """In the order of GROUPS; raise ValueError for a word that is none of them."""
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in GROUPS]:
        raise ValueError(f"{unknown[0][:30]!r} groups nothing; there are {', '.join(GROUPS)}")
    return tuple(group for group in GROUPS if group in words)


def read_type(text: str) -> str:
    """A type of jobs; raise ValueError for a word that is none."""
    if text not in KINDS_OF_JOBS:
        raise ValueError(f"{text[:30]!r} is no type of jobs; there are {', '.join(KINDS_OF_JOBS)}")
    return text
