"""Recorded answers: how they are named, who reads them, what each must mean; see tests/replies/README.md."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cigri.drivers import BatchRequest, Capacity, Driver, JobControl, RemoteJob, RemoteJobState, load, names
from cigri.errors import BatchSystemError, SubmissionRefused, UnreadableOutput
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult

REPLIES = Path(__file__).parents[1] / "replies"
PREFIX = "cigri-recorded"
FORM = re.compile(r"exit status (\d+)\n== out ==\n(.*)== err ==\n(.*)", re.DOTALL)

READERS: dict[str, Callable[[Driver, ShellResult], object]] = {
    "probe": lambda driver, answer: driver.parse_probe(answer),
    "capacity": lambda driver, answer: driver.parse_capacity(answer),
    "nodes": lambda driver, answer: driver.parse_nodes(answer),
    "submit": lambda driver, answer: driver.parse_submit(answer, BatchRequest(f"{PREFIX}-codes", 5, 600)),
    "status": lambda driver, answer: sorted(driver.parse_status(answer, PREFIX), key=repr),
    "history": lambda driver, answer: sorted(driver.parse_history(answer), key=repr),
    "cancel": lambda driver, answer: driver.parse_cancel(answer),
    "control": lambda driver, answer: driver.parse_control(answer),
}
VOID = {"cancel", "control"}


class Recorded(NamedTuple):
    """One recorded answer; None where there can be none."""

    driver: str
    version: str
    point: str
    answer: ShellResult | None
    path: Path

    @property
    def method(self) -> str:
        return self.point.removeprefix("down-").partition("-")[0]


def points(driver: Driver) -> dict[str, Callable[[object], bool]]:
    """What this driver must have, and what each answer must be read as: a value or an error."""
    wanted = POINTS | {point: is_unreadable for point in DOWN}
    if driver.controls:
        wanted |= {f"control-{verb}": is_taken for verb in driver.controls}
        wanted |= {"control-denied": is_unreadable, "down-control": is_unreadable}
    if JobControl.SUSPEND in driver.controls:
        wanted["status-suspended"] = lambda read: has_states(read, "-many", {RemoteJobState.SUSPENDED})
    return wanted


def read(driver: Driver, method: str, answer: ShellResult) -> object:
    """What the driver makes of an answer: a value, or its error."""
    try:
        return READERS[method](driver, answer)
    except BatchSystemError as error:
        return error


@cache
def load_driver(name: str) -> Driver:
    options = REPLIES / name / "options.json"
    return load(name, json.loads(options.read_text()) if options.exists() else {})


def find(driver: str) -> list[Recorded]:
    """All recorded answers of the points, of each version."""
    known = sorted([*POINTS, *DOWN, *MORE], key=len, reverse=True)
    found = []
    for path in sorted((REPLIES / driver).glob("*-*.txt")):
        version, _, rest = path.stem.partition("-")
        point = next((point for point in known if f"{rest}-".startswith(f"{point}-")), None)
        if point and is_of(point, rest):
            found.append(Recorded(driver, version, point, read_answer(path), path))
    return found


def read_answer(path: Path) -> ShellResult | None:
    """None where there can be none."""
    text = path.read_text()
    form = FORM.fullmatch(text)
    assert form or text.startswith("impossible: "), path
    return ShellResult(int(form[1]), form[2], form[3]) if form else None


def find_all() -> list[Recorded]:
    return [one for driver in names() for one in find(driver)]


def is_of(point: str, rest: str) -> bool:
    """A variant is one word: `history-codes-beta` is of the point, `history-of-a-refused-array` is of none."""
    return "-" not in rest.removeprefix(point).removeprefix("-")


def is_unreadable(read: object) -> bool:
    return isinstance(read, UnreadableOutput)


def is_taken(read: object) -> bool:
    return read is None


def jobs(read: object, tag: str) -> dict[int, RemoteJob]:
    if not isinstance(read, list):
        return {}
    return {job.index: job for job in read if job.tag == PREFIX + tag}


def has_states(read: object, tag: str, wanted: set[RemoteJobState]) -> bool:
    return wanted <= {job.state for job in jobs(read, tag).values()}


def is_status(read: object) -> bool:
    last = jobs(read, "-many").get(40)
    is_held = last is not None and last.state is RemoteJobState.HELD
    return is_held and has_states(read, "-many", {RemoteJobState.WAITING, RemoteJobState.RUNNING})


def are_codes(read: object) -> bool:
    found = jobs(read, "-codes")
    codes = {index: job.exit_code for index, job in found.items()}
    if codes != {1: 0, 2: 3, 3: 66, 4: 137, 5: 0}:
        return False
    return [found[index].state for index in (1, 2)] == [RemoteJobState.SUCCEEDED, RemoteJobState.FAILED]


def are_ids(read: object) -> bool:
    return isinstance(read, dict) and sorted(read) == [1, 2, 3, 4, 5] and len(set(read.values())) == 5


def adds_up(read: object) -> bool:
    return isinstance(read, Capacity) and 0 < read.total == read.free + read.used + read.unavailable


def are_nodes(read: object) -> bool:
    return isinstance(read, list) and cores_by_queue(read) == {16}


def cores_by_queue(classes: Iterable[AlikeNodes]) -> set[int]:
    """How many cores each queue has on its nodes; the default one is one of them, or several."""
    sums: Counter[str | None] = Counter()
    for one in classes:
        cores = one.properties["cores"]
        assert isinstance(cores, int)
        sums[one.queue] += one.nodes * cores
    return {cores for queue, cores in sums.items() if queue != ""}


def are_killed(read: object) -> bool:
    return {job.state for job in jobs(read, "-many").values()} == {RemoteJobState.KILLED}


STALE_PRELOAD = "ERROR: ld.so: object '/opt/gone.so' from LD_PRELOAD cannot be preloaded: ignored.\n"
"""What each command of a session says on stderr whose profile names a library that is gone."""
POINTS: dict[str, Callable[[object], bool]] = {
    "probe": lambda read: isinstance(read, str) and bool(read),
    "capacity": adds_up,
    "capacity-unknown-queue": is_unreadable,
    "nodes": are_nodes,
    "submit": are_ids,
    "submit-refused": lambda read: isinstance(read, SubmissionRefused) and bool(str(read)),
    "status": is_status,
    "status-none": lambda read: read == [],
    "history-codes": are_codes,
    "history-killed": are_killed,
    "history-preempted": lambda read: has_states(read, "-victims", {RemoteJobState.PREEMPTED}),
    "history-timeout": lambda read: has_states(read, "-overtime", {RemoteJobState.TIMEOUT}),
    "history-never": lambda read: read == [],
    "cancel": is_taken,
    "cancel-gone": is_taken,
    "cancel-denied": is_unreadable,
}
DOWN = [f"down-{method}" for method in READERS if method not in ("control", "nodes")]
MORE = [*(f"control-{verb}" for verb in JobControl), "control-denied", "down-control", "status-suspended"]
