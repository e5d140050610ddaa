"""What is signed: all that the token would be, and where, so that the signature is good for nothing else."""

from typing import NamedTuple

from cigri.identity.callers import AccessScope

NAMESPACE = "cigri-token"
"""Of `ssh-keygen -Y`: what is signed for anything else (a commit, a file) is not taken here, nor this one there."""


class RequestedToken(NamedTuple):
    """`host`: by which name its user reaches the grid, so that no other portal can hand the signature on."""

    user: str
    host: str
    scope: AccessScope
    expires_in: int
    """Seconds."""
    comment: str


def text_to_sign(grid: str, wanted: RequestedToken, nonce: str) -> str:
    """Line by line; no value has a line's end in it. `grid` is the grid's key."""
    lines = {"namespace": NAMESPACE, "grid": grid, "nonce": nonce, **wanted._asdict()}
    return "".join(f"{name}: {value}\n" for name, value in lines.items())
