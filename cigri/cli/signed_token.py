"""A token from elsewhere: the grid asks for a signature of an SSH key that is registered there."""

import os
from contextlib import closing
from pathlib import Path

from cigri.api_models.identity import CreatedToken
from cigri.endpoints.challenges import answer_challenge, create_challenge
from cigri.endpoints.portal_client import PortalClient
from cigri.endpoints.remote_portal import URL_VARIABLE, find_address
from cigri.errors import CigriError, UsageError
from cigri.ssh_keys.challenge_text import RequestedToken, text_to_sign
from cigri.ssh_keys.keygen import sign


def create_by_key(key: Path, wanted: RequestedToken, *, for_root: bool) -> CreatedToken:
    """At the grid that CIGRI_URL names, whose name takes the place of `wanted.host`.

    What is signed we write ourselves: a portal that asked for another text would use the signature elsewhere.
    """
    place = find_address(os.environ)
    if place is None:
        raise UsageError(
            f"--ssh-key is for a grid elsewhere: ${URL_VARIABLE} names it; here the kernel says who you are"
        )
    wanted = wanted._replace(host=place.host)
    with closing(PortalClient(place)) as remote:
        told = remote.call(create_challenge, **wanted._asdict(), for_root=for_root)
        text = text_to_sign(told.grid, wanted, told.nonce)
        if text != told.text:
            raise CigriError(f"{place} asks to sign something else than was asked of it: nothing was signed")
        return remote.call(answer_challenge, nonce=told.nonce, signature=sign(text, key))
