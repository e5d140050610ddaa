"""What the report of a test that failed tells beside its traceback, and what scripts/test needs to know of it."""

import os
import subprocess
from collections.abc import Generator

import pytest
from sqlalchemy.exc import SQLAlchemyError

from tests.grid import Grid
from tests.waiting import MissedDeadline


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing may be left out: what is skipped has failed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure where CI is set: {report.longrepr}"
    if report.failed:
        item.user_properties += [  # of the item: junit takes them from the report of the last phase
            ("test", item.nodeid),
            ("load", f"{os.getloadavg()[0]:.0f}"),
            ("missed_deadline", str(is_missed_deadline(call.excinfo))),
        ]
        report.user_properties = list(item.user_properties)
        if call.when == "call":
            report.sections += [("grid", situation_of(grid)) for grid in grids_of(item)]
    return report


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str] | None:
    """A failure is named at once, and not after the half hour that the others take."""
    if not report.failed or not isinstance(report, pytest.TestReport):
        return None
    kind = "failed" if report.when == "call" else "error"
    return kind, f"\n{kind}: {report.nodeid}\n", kind.upper()


def is_missed_deadline(failure: pytest.ExceptionInfo[BaseException] | None) -> bool:
    """May it have failed because the machine was busy?"""
    if failure is None:
        return False
    if isinstance(failure.value, MissedDeadline | subprocess.TimeoutExpired):
        return True
    return isinstance(failure.value, pytest.fail.Exception) and str(failure.value).startswith("Timeout (>")


def situation_of(grid: Grid) -> str:
    """What happened to the database of a test may be what it is about: a report is written all the same."""
    try:
        return grid.describe()
    except SQLAlchemyError as error:
        return f"its database does not tell: {error}"


def grids_of(item: pytest.Item) -> list[Grid]:
    return [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, Grid)]
