"""Every driver that can be found, against recorded answers of its real batch system, and against what is left of them.

Nothing may be concluded from an answer that is empty, cut, or in the dialect of something else.
"""

from collections.abc import Iterator

import pytest

from cigri.drivers import names
from cigri.errors import BatchSystemError, SubmissionRefused, UnreadableOutput
from cigri.shell.results import ShellResult
from tests.drivers.recorded import STALE_PRELOAD, VOID, Recorded, find, find_all, load_driver, points, read

ALL = find_all()
PAGE = "<!DOCTYPE html>\n<html><head><title>503</title></head><body><h1>Service Unavailable</h1></body></html>\n"
BANNER = "Welcome to the cluster!\n\n  * 12 updates can be applied\nLast login: Fri Nov 20 13:00:01 2026\n"
NOISE = 3 * STALE_PRELOAD
FOREIGN = [
    ShellResult(0, "", ""),
    ShellResult(1, "", ""),
    ShellResult(0, "\n", ""),
    ShellResult(0, PAGE, ""),
    ShellResult(0, BANNER, ""),
    ShellResult(0, "[]\n", ""),
    ShellResult(0, "{}\n", ""),
    ShellResult(127, "", "sh: 1: qstat: not found\n"),
    ShellResult(126, "", "sh: 1: squeue: Permission denied\n"),
    ShellResult(255, "", "Connection to cluster closed by remote host.\n"),
]


def name(one: Recorded) -> str:
    return f"{one.driver}/{one.path.stem}"


@pytest.mark.parametrize("driver", names())
def test_every_point_of_every_version_is_recorded(driver: str) -> None:
    found = find(driver)
    for version in {one.version for one in found} or {"any version"}:
        there = {one.point for one in found if one.version == version}
        assert points(load_driver(driver)).keys() - there == set(), f"{driver} {version}: see tests/replies/README.md"


@pytest.mark.parametrize("one", ALL, ids=name)
def test_an_answer_is_read_as_what_it_is(one: Recorded) -> None:
    driver = load_driver(one.driver)
    if one.answer and one.point in points(driver):
        found = read(driver, one.method, one.answer)
        assert points(driver)[one.point](found), found


@pytest.mark.parametrize("one", ALL, ids=name)
def test_nothing_is_concluded_from_a_broken_answer(one: Recorded) -> None:
    """Nor is a silent controller taken for a refusal because its complaint was cut."""
    driver = load_driver(one.driver)
    if one.answer is None:
        return
    whole = read(driver, one.method, one.answer)
    for answer in broken(one.answer):
        found = read(driver, one.method, answer)
        is_same_refusal = isinstance(whole, SubmissionRefused) and isinstance(found, SubmissionRefused)
        is_same = found == whole and (one.method not in VOID or answer.out.strip())
        assert isinstance(found, UnreadableOutput) or is_same or is_same_refusal, (answer, found)


@pytest.mark.parametrize("one", ALL, ids=name)
def test_what_every_command_of_a_session_says_on_standard_error_changes_nothing(one: Recorded) -> None:
    driver = load_driver(one.driver)
    if one.answer is None:
        return
    whole, noisy = (read(driver, one.method, one.answer._replace(err=said + one.answer.err)) for said in ("", NOISE))
    is_same_refusal = isinstance(whole, BatchSystemError) and type(noisy) is type(whole)
    assert is_same_refusal or noisy == whole


@pytest.mark.parametrize("driver", names())
def test_a_foreign_dialect_is_no_answer(driver: str) -> None:
    for method in sorted({one.method for one in ALL if one.driver == driver}):
        mine = [one.answer.out for one in ALL if one.driver == driver and one.answer and one.method == method]
        theirs = [one.answer for one in ALL if one.driver != driver and one.answer and one.method == method]
        for answer in FOREIGN + [one for one in theirs if one.out not in mine]:
            found = read(load_driver(driver), method, answer)
            assert isinstance(found, UnreadableOutput), (method, answer, found)


def broken(answer: ShellResult) -> Iterator[ShellResult]:
    """Cut at each line and in the middle of each, on either stream; ended by a lost connection; after a banner."""
    for out in cuts(answer.out):
        yield answer._replace(out=out)
        yield ShellResult(0, out, "")
    for err in cuts(answer.err):
        yield answer._replace(err=err)
    yield ShellResult(255, answer.out, "Connection to cluster closed by remote host.\n")
    yield answer._replace(out=BANNER + answer.out)


def cuts(text: str) -> Iterator[str]:
    """All beginnings that end with a line or within one; the last one lacks but the line break."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield text[:start]
        yield text[: start + len(line) // 2]
        start += len(line)
    if text:
        yield text[:-1]
