"""What `gridstat ID` tells of what tasks use, and when it says that they ask for too much."""

import pytest

from cigri.api_models.campaigns import CampaignClusterView
from cigri.cli.resource_use import print_profiles
from cigri.formats.units import MEGABYTE
from cigri.presentation.memory_use import memory_use
from tests.cli.screens import NEVER, PART

Capture = pytest.CaptureFixture[str]


def test_nothing_is_said_where_no_task_has_told(capsys: Capture) -> None:
    print_profiles([NEVER], False)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("mean", [None, 4.9])
def test_of_tasks_that_are_too_short_nothing_is_said(capsys: Capture, mean: float | None) -> None:
    print_profiles([PART._replace(profiled=20, width=4, busy=0.1, mean=mean)], False)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("width", "busy", "profiled", "enough"),
    [
        (4, 0.3, 5, "1"),
        (4, 1.05, 5, "1"),
        (8, 2.9, 5, "3"),
        (4, 2.05, 5, "2"),
        (4, 2.2, 5, None),
        (1, 0.1, 5, None),
        (2, 1.2, 5, None),
        (4, 0.3, 4, None),
    ],
)
def test_half_of_the_cores_have_to_idle(
    capsys: Capture, width: int, busy: float, profiled: int, enough: str | None
) -> None:
    print_profiles([PART._replace(width=width, busy=busy, profiled=profiled)], False)
    said = capsys.readouterr().out
    assert f"{busy:.1f} of {width}" in said
    assert ("with fewer in `resources`" in said) == (enough is not None)
    if enough:
        assert f"dahu: a task asks for {width} cores and keeps {busy:.1f} busy" in said
        assert f"as {enough}, more of them run at a time" in said


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([PART], None),
        ([PART._replace(asked_memory=200 * MEGABYTE)], None),
        ([PART._replace(most_memory=712 * MEGABYTE)], "used up to 712 MB"),
        (
            [PART._replace(most_memory=712 * MEGABYTE, asked_memory=200 * MEGABYTE)],
            "asked 200 MB, used up to 712 MB",
        ),
        ([PART._replace(most_memory=MEGABYTE), NEVER], "used up to 1 MB on dahu"),
    ],
)
def test_memory_is_told_beside_what_is_asked_where_it_is_known(
    parts: list[CampaignClusterView], told: str | None
) -> None:
    assert memory_use(parts) == told
