"""Options of one submission in the batch systems' own spelling, as `gridsub -b` and the API take them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cigri.errors import UsageError

IGNORED = "takes no such options: what is given there is ignored"
ONE_CLUSTER = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(.*)", re.DOTALL)


class BackendChoice(NamedTuple):
    """Options for one cluster, or for all of the campaign (cluster "")."""

    cluster: str
    words: list[str]


def read_choices(texts: Sequence[str]) -> list[BackendChoice]:
    """`OPTIONS`, or `CLUSTER:OPTIONS`; raise UsageError where a quote is open or nothing is chosen."""
    from cigri.jdl.quoting import is_balanced, split

    choices = []
    for text in texts:
        of_cluster = ONE_CLUSTER.fullmatch(text)
        options = of_cluster[2] if of_cluster else text
        if not is_balanced(options):
            raise UsageError(f"-b {text}: a quote is not closed, or a backslash ends the line")
        if not split(options):
            raise UsageError(f"-b {text!r}: no option is given; `gridsub -b -h` shows what there is")
        choices.append(BackendChoice(of_cluster[1] if of_cluster else "", split(options)))
    return choices
