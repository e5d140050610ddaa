"""Campaigns as people type them: by ids, by the name of one of theirs, or `last`."""

import argparse
import re

from cigri.cli.command import ids, print_error

LAST = "last"
OF_CAMPAIGNS = "campaigns: 3, or 3,5, or 3-7; or the name of one of yours, or last"
MAX_NAMESAKES = 1000
"""Campaigns that are looked at, newest first, for one whose name is the whole text."""
_IS_NAME = re.compile(r"\s*[^\W\d]")


def campaign_ids(text: str) -> list[int]:
    """Ids, or that of the caller's newest campaign of this name, which is told; for argparse.

    A name begins with a letter: all else is read as ids.
    """
    if not _IS_NAME.match(text):
        return ids(text)
    found = _newest(text.strip())
    if found is None:
        called = "you have no campaign" if text == LAST else "no campaign of yours is called so"
        raise argparse.ArgumentTypeError(f"{text!r} is no id, and {called}; write 3, or 3,5, or 3-7")
    print_error(f"{text} is campaign {found}{'' if text == LAST else ', your newest of that name'}")
    return [found]


def _newest(name: str) -> int | None:
    from cigri.cli.grid_client import open_grid  # ids need neither the grid nor what asks it
    from cigri.endpoints.campaigns import campaigns
    from cigri.endpoints.identity import whoami

    is_last = name == LAST
    with open_grid() as grid:
        listed = grid.call(
            campaigns,
            user=grid.call(whoami).user,
            name="" if is_last else name,
            with_ended=True,
            order="-id",
            limit=1 if is_last else MAX_NAMESAKES,
        )
    return next((campaign.id for campaign in listed if is_last or campaign.name == name), None)
