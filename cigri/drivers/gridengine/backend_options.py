"""The options of qsub that users may choose, in its own spelling, those behind -hard and -soft among them."""

import re
import shlex
from collections.abc import Iterator, Sequence

from cigri.backend_options import BackendOption, BackendOptionTable, between, matching, put_option
from cigri.drivers.gridengine.submit_arguments import QUEUE, SGE_NAME, read_properties

PRIORITY = between(-1023, 0, " (only operators of Grid Engine raise a priority)")
WHOLE_NUMBER = re.compile(r"[+-]?\d+")
SECTIONS = ("-hard", "-soft")


def _requests(value: str) -> str:
    """Requests alone: a queue has an option of its own."""
    wishes = read_properties(value)
    if wishes.queues or wishes.soft or len(wishes.hard) != 1:
        raise ValueError(f"expected requests, as arch=lx-amd64,gpu=1, not {value!r}")
    return wishes.hard[0]


BACKEND = BackendOptionTable(
    (
        BackendOption("priority", PRIORITY, "priority; the number alone says the same", "-p"),
        BackendOption("queue", matching(rf"{QUEUE}(?:,{QUEUE})*", "names of queues"), "queue", "-q", field="queue"),
        BackendOption("project", matching(SGE_NAME, "a name"), "project", "-P", field="project"),
        BackendOption("hard", _requests, "requests (-l) that must be met; -l alone is one", "-l", joint=","),
        BackendOption("soft", _requests, "requests (-l) that are preferred", joint=","),
        BackendOption("reserve", matching("y|n|yes|no", "y or n"), "reserve resources for it", "-R"),
        BackendOption("job-share", between(0, 10**9 - 1), "share among the jobs of its user", "-js"),
        BackendOption("reservation", matching(r"\d{1,9}", "a number"), "advance reservation", "-ar"),
    ),
    elsewhere=dict.fromkeys(("-pe", "-slots"), "write cpu and nodes in 'resources'")
    | dict.fromkeys(("-N", "-t", "-o", "-e", "-j", "-r", "-b", "-w", "-i"), "CiGri says it itself"),
    note="What stands behind -hard must be met, what stands behind -soft is preferred: -hard -l a=b -soft -l c=d.",
)


def read_backend(words: Sequence[str]) -> dict[str, str]:
    """Values by the options' names; ValueError tells all that is wrong."""
    values: dict[str, str] = {}
    problems: list[str] = []
    section = "-hard"
    remaining = iter(list(_unfolded(words)))
    is_known = True
    for word in remaining:
        if not is_known and not word.startswith("-"):
            continue  # the value of an option that is not known
        is_known = True
        try:
            if word in SECTIONS:
                section = word
            else:
                put_option(values, *_taken(word, section, remaining))
        except ValueError as problem:
            problems.append(str(problem))
            is_known = False
    if problems:
        raise ValueError("; ".join(problems))
    return values


def _unfolded(words: Sequence[str]) -> Iterator[str]:
    """What stands in the attributes hard and soft, `--soft=-l mem_free=4G`, as on a command line."""
    for word in words:
        name, _, text = word.partition("=")
        if name in ("--hard", "--soft"):
            yield from (name[1:], *shlex.split(text), "-hard")
        else:
            yield word


def _taken(word: str, section: str, remaining: Iterator[str]) -> tuple[BackendOption, str]:
    """One option and its value: requests belong to the section, a number alone is the priority."""
    if WHOLE_NUMBER.fullmatch(word):
        return BACKEND.find("priority"), word
    if not word.startswith("-"):
        return BACKEND.find(section[1:]), word
    if word == "-l":
        return BACKEND.find(section[1:]), next(remaining, "")
    if word.startswith("--"):
        name, _, value = word.partition("=")
        return BACKEND.find(name), value
    if word == "-q" and section == "-soft":
        raise ValueError("a queue cannot be soft here: write -q before -soft")
    return BACKEND.find(word), next(remaining, "")
