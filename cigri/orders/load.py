"""The load of a front-end, as Linux tells it."""

import re

from cigri.shell.results import Answer

LOAD = 'read -r cigri_load cigri_skip </proc/loadavg && echo "$cigri_load $(getconf _NPROCESSORS_ONLN)"\n'


def parse_load(answer: Answer) -> float | None:
    """The load per core that `LOAD` tells; None where there is no such thing."""
    load = re.fullmatch(r"(\d+(?:\.\d+)?) ([1-9]\d*)\n*", answer.out)
    return float(load[1]) / int(load[2]) if load else None
