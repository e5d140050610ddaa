"""What `cigri status` calls a problem."""

from datetime import UTC, datetime, timedelta

import pytest

from cigri.flow.module_passes import ModuleStatus
from cigri.formats.untrusted_text import TRACEBACK
from cigri.lifecycle import CYCLE
from modules.operator.installation_health import InstallationHealth, problems
from tests.operator.conftest import Cigri

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
LONGEST_PASS = 120.0


def standing(name: str, age: float = 5, error: str | None = None) -> ModuleStatus:
    return ModuleStatus(name, "host", 7, 3, 0, NOW - timedelta(seconds=age), 0.1, {}, error)


def health(*modules: ModuleStatus, almighty: int | None = 7) -> InstallationHealth:
    return InstallationHealth("here", "", "1", "1", NOW, almighty, False, None, False, modules, (), {})


def all_of_the_cycle(age: float = 5) -> list[ModuleStatus]:
    return [standing(name, age) for name in CYCLE]


def test_nothing_is_wrong_with_a_running_grid() -> None:
    assert problems(health(*all_of_the_cycle()), LONGEST_PASS) == []


def test_passes_from_cron_or_another_host_are_enough() -> None:
    assert problems(health(*all_of_the_cycle(), almighty=None), LONGEST_PASS) == []


def test_nobody_cycles_the_modules() -> None:
    [problem] = problems(health(*all_of_the_cycle(age=181), almighty=None), LONGEST_PASS)
    assert problem.startswith("nothing cycles the modules")


def test_a_module_that_is_late_or_missing_is_named() -> None:
    others = [standing(name) for name in CYCLE if name not in ("runner", "killer")]
    found = problems(health(*others, standing("runner", 181)), LONGEST_PASS)
    assert [problem.split()[1] for problem in found] == ["runner", "killer"]


@pytest.mark.parametrize(
    "error",
    [
        f"{TRACEBACK}\n  line 1\nValueError: x\n",
        f"{TRACEBACK}\n  line 1\nKeyError: y\n\nwas the cause:\n\n{TRACEBACK}\n  2\nValueError: x\n\n[SQL: z]\n",
        "ValueError: x",
    ],
)
def test_a_failed_pass_is_told_by_its_last_exception(error: str) -> None:
    others = [standing(name) for name in CYCLE if name != "runner"]
    failed = standing("runner", error=error)
    assert problems(health(*others, failed), LONGEST_PASS) == ["module runner failed: ValueError: x"]


def test_a_dead_almighty_is_a_problem_at_once() -> None:
    dead = health(*all_of_the_cycle(), almighty=None)._replace(has_died=True)
    assert problems(dead, LONGEST_PASS) == ["the almighty has died; run `cigri up`"]


def test_on_a_site_services_are_started_and_no_grid_of_one_user() -> None:
    site = health(*all_of_the_cycle(), almighty=None)._replace(has_services=True)
    dead = site._replace(has_died=True, has_portal_died=True)
    assert problems(dead, LONGEST_PASS) == [
        "the almighty has died; run `systemctl start cigri.service`",
        "the portal has died; run `systemctl start cigri-portal.service`",
    ]
    [idle] = problems(site._replace(modules=()), LONGEST_PASS)
    assert idle == "nothing cycles the modules: run `systemctl start cigri.service`, or `cigri almighty`, or cron"


def test_an_old_schema_or_an_absent_database_is_the_only_problem_told() -> None:
    assert "cigri db upgrade" in problems(health()._replace(revision="0"), LONGEST_PASS)[0]
    assert problems(health()._replace(trouble="it is away", now=None), LONGEST_PASS) == ["it is away"]


def test_without_the_database_nobody_claims_that_all_is_well(cigri: Cigri, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://nobody@/none?host=/nowhere")
    said = cigri("status")
    assert said.status == 1
    assert "Events    not known without the database\n" in said.out
    assert "none open" not in said.out
    assert "the database does not answer" in said.err
