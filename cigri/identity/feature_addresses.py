"""The address below which the jobs of one batch find their features: who knows it is told these, and nothing else.

It ends in the batch's number, by which it is looked up, and a secret, of which only the hash is kept.
"""

import re
import secrets
from typing import NamedTuple

from cigri.identity.token_text import hash_of

FEATURES_PATH = "/features"
_CAPABILITY = re.compile(r"([1-9][0-9]{0,17})_([A-Za-z0-9_-]{43})")


class FeatureAddress(NamedTuple):
    """`url` is for the jobs alone, `sha256` for the database."""

    url: str
    sha256: str


class FeatureCapability(NamedTuple):
    """What a URL shows: the number of a batch, and the hash of the secret."""

    batch_id: int
    sha256: str


def new_feature_address(portal: str, batch_id: int) -> FeatureAddress:
    """`portal`: as the nodes of the cluster reach it, without a slash at the end."""
    secret = secrets.token_urlsafe(32)
    return FeatureAddress(f"{portal}{FEATURES_PATH}/{batch_id}_{secret}", hash_of(secret))


def read_feature_capability(text: str) -> FeatureCapability | None:
    """None: nobody was ever given this."""
    found = _CAPABILITY.fullmatch(text)
    return FeatureCapability(int(found[1]), hash_of(found[2])) if found else None
