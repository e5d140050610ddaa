"""Who somebody is, as the grid sees it."""

from typing import NamedTuple

from cigri.identity.callers import Scope


class CallerView(NamedTuple):
    """Who you are."""

    user: str
    """Your name on the grid."""
    is_operator: bool
    """Whether you may do what operators may."""
    scope: Scope
    """The most that may be done this way."""
    how: str
    """How this is known: `kernel`, `proxy`, or by which token or session."""
