"""What OAR's schedulers say of jobs that wait (`message` of oarstat): what is alike for many jobs, and in our words.

docs/reference/oar.md has the same table. Words that are not here are shown as they are, and are thought to pass.
"""

import re
from typing import NamedTuple

# R=16,W=0:10:0,J=B,N=name,T=besteffort (Karma=0.000,quota_ok): it has a place in the plan, without the end not yet.
PLANNED = re.compile(r"R=\d+,W=[^(]*(?:\((?:Karma ?= ?[-\d.]+(?:, ?)?)?(\w*)\))?")
OAR_NUMBERS = re.compile(r"\b(job|container) \d+")


class OarReason(NamedTuple):
    """`said`: alike for all jobs that wait for the same; `meaning`: in our words; `is_stuck`: it does not pass."""

    said: str
    meaning: str = ""
    is_stuck: bool = False


OAR_REASONS = (
    (
        re.compile(r"No enough matching resources|Cannot find enough resources which fit"),
        OarReason("", "no resources that are there have what it asks for", is_stuck=True),
    ),
    (re.compile(r"No enough Tokens"), OarReason("", "the tokens that it asks for are in use")),
    (
        re.compile(r"Cannot determine scheduling time due to dep"),
        OarReason("", "it waits for another job of the batch system"),
    ),
    (re.compile(r"Inner job: container .* yet to"), OarReason("", "its container is not scheduled yet")),
)


def interpret_message(message: str) -> OarReason:
    """What a message of a waiting job says."""
    if planned := PLANNED.fullmatch(message):
        if planned[1] is None:
            return OarReason("")
        return OarReason(planned[1] or "planned", "its turn has not come: cores are in use, or others go first")
    said = OAR_NUMBERS.sub(r"\1", message)
    known = next((reason for pattern, reason in OAR_REASONS if pattern.match(message)), OarReason(""))
    return known._replace(said=said)
