"""What a campaign asks for, in the words of oarsub."""

import re
from collections.abc import Iterator, Sequence

from cigri.drivers import ResourceRequest
from cigri.drivers.oar.options import OarOptions
from cigri.formats.units import as_clock

JOB_TYPES = {
    "besteffort": "besteffort",
    "container": r"container(=\w+)?",
    "cosystem": "cosystem(=standby)?",
    "deploy": "deploy(=standby)?",
    "inner": r"inner=\w+",
    "noop": "noop(=standby)?",
    "timesharing": r"timesharing=((\*|user),(\*|name)|(\*|name),(\*|user))",
}
SPELLED = {"inner": "inner=ID", "timesharing": "timesharing=*,*"}


def resource_words(wish: ResourceRequest, walltime: int, core: str = "core") -> list[str]:
    """One shape after the other: OAR takes the first that ends soonest."""
    shapes = wish.native or (f"/nodes={wish.nodes}/{core}={wish.cpu}",)
    return [f"--resource={shape},walltime={as_clock(walltime)}" for shape in shapes]


def resource_problems(wish: ResourceRequest, options: OarOptions) -> Iterator[str]:
    """OAR gives cores and whatever else is a property, and counts nothing within them."""
    if wish.mem > 0 and options.memory is None:
        yield (
            "oar gives no memory by the MB; leave mem out and name nodes that have it in properties, "
            'as far as the site describes them, for example "memnode >= 2000"'
        )
    if wish.tmp > 0 and options.disk is None:
        yield (
            "oar sets no disk aside by the MB; leave tmp out: jobs have a TMPDIR without; or the operator names the "
            "property of nodes that has it, `cigri cluster change NAME --option disk=tmp`"
        )
    if wish.native:
        return
    for name, count in sorted(wish.others.items()):
        if count > 0:
            yield f"oar counts no {name} beside the cores; write the resources in its words: '/nodes=1/{name}={count}'"


def type_problems(types: Sequence[str], options: OarOptions) -> Iterator[str]:
    """A type of the site's own is known by what stands before its value."""
    allowed = [*(SPELLED.get(name, name) for name in JOB_TYPES), *options.types]
    for word in types:
        name = re.split("[=:]", word)[0]
        if word == "idempotent":
            yield "oar must not submit a job again by itself, as idempotent would: CiGri does; leave it out"
        elif (
            name not in options.types
            and word not in options.types
            and not re.fullmatch(JOB_TYPES.get(name, "(?!)"), word)
        ):
            yield f"no type of jobs {word!r} is allowed on this cluster; allowed are: {', '.join(allowed)}"
