"""Who somebody is, as the grid sees it."""

from typing import NamedTuple

from cigri.rules.callers import Scope


class CallerView(NamedTuple):
    """`how` this is known: `kernel`, `proxy`, or by which token; `scope`: the most that may be done this way."""

    user: str
    is_operator: bool
    scope: Scope
    how: str
