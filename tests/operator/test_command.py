import subprocess
import sys
from importlib import import_module

import pytest

from modules.operator import COMMANDS, module_of
from modules.operator.cluster import ACTIONS
from modules.operator.resources import ACTIONS as DESCRIBING
from tests.operator.conftest import CIGRI, WORLD, Cigri


@pytest.mark.process
def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    script = (
        "import sys; from modules.operator import main; main(['--help']); "
        "print([name for name in ('sqlalchemy', 'pydantic', 'alembic', 'paramiko') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], env=WORLD, capture_output=True, text=True, check=True)
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert done.stdout.endswith("[]\n")


WORDS = [[name] for name in COMMANDS] + [["cluster", name] for name in ACTIONS]


@pytest.mark.parametrize("argv", WORDS + [["resources", name] for name in DESCRIBING])
def test_every_command_explains_itself(cigri: Cigri, argv: list[str]) -> None:
    import_module(".".join(["modules.operator", *map(module_of, argv)]))
    said = cigri(*argv, "--help")
    assert said.status == 0
    assert said.out.startswith(f"usage: cigri {' '.join(argv)}")


def test_a_misspelt_command_is_a_usage_error_with_a_hint(cigri: Cigri) -> None:
    said = cigri("stauts")
    assert said.status == 2
    assert "did you mean status?" in said.err


def test_a_misspelt_action_is_a_usage_error_with_a_hint(cigri: Cigri) -> None:
    said = cigri("cluster", "tets")
    assert said.status == 2
    assert "did you mean test?" in said.err


def test_an_unknown_setting_ends_every_command_before_it_does_anything(
    cigri: Cigri, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGRI_SET_ALMIGHTY__PERIDO", "3")
    for argv in (["up"], ["down"], ["status"], ["run", "updator"], ["almighty"], ["db", "check"], ["config"]):
        said = cigri(*argv)
        assert said.status == 2, argv
        assert "did you mean almighty.period?" in said.err


@pytest.mark.process
def test_the_module_runs_like_the_command() -> None:
    done = subprocess.run([*CIGRI, "--version"], env=WORLD, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cigri ")
