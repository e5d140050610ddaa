"""gridtoken: the same over the portal and on the database; a token is printed once, and no more than that."""

import pytest

from cigri.cli import gridtoken
from cigri.cli.command import grid_user
from cigri.identity.token_text import read_token
from tests.cli.running import Run
from tests.portal.conftest import EnvironmentSettings, serve  # noqa: F401  (pytest finds it here)

COMMAND = gridtoken
AS_ROOT = ["--root"] if grid_user() == "root" else []


@pytest.fixture(params=["here", "portal"], autouse=True)
def way(request: pytest.FixtureRequest, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the command reaches the grid."""
    if request.param == "portal":
        portal = request.getfixturevalue("serve")(EnvironmentSettings())
        monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))


def test_standard_output_holds_the_token_alone(run: Run) -> None:
    made = run("create", "--expires", "7d", "--comment", "laptop", *AS_ROOT)
    assert made.status == 0, made.err
    assert read_token(made.out.strip())
    assert f"token 1 of {grid_user()} allows to read until " in made.err


def test_the_list_says_what_may_be_known(run: Run) -> None:
    first = run("create", "--comment", "laptop", *AS_ROOT).out
    run("create", "--scope", "submit", *AS_ROOT)
    assert run("revoke", 2).out == f"token 2 of {grid_user()} is revoked\n"
    told = run("list").out
    assert [line.split()[:4] for line in told.splitlines()[1:]] == [
        ["1", grid_user(), "read", "valid"],
        ["2", grid_user(), "submit", "revoked"],
    ]
    assert "laptop" in told
    assert first.strip().rpartition("_")[2] not in told


def test_json_is_the_answer_itself(run: Run) -> None:
    made = run("create", "--json", *AS_ROOT).json
    (listed,) = run("list", "--json").json
    assert {name: made[name] for name in made if name != "token"}.items() <= listed.items()
    assert run("revoke", 1, "--json").json["is_valid"] is False


@pytest.mark.parametrize(
    ("argv", "status", "says"),
    [
        (["revoke", "7"], 1, "you have no token 7; `gridtoken list` lists yours"),
        (["create", "--expires", "91d", *AS_ROOT], 2, "a token lives for 90 days at most"),
        (["create", "--expires", "30m"], 2, "write 'min'"),
        (["create", "--expires", "soon"], 2, "'soon' is no time"),
        (["create", "--scope", "all"], 2, "invalid choice: 'all'"),
        (["mint"], 2, "invalid choice: 'mint'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told(argv: list[str], status: int, says: str, run: Run) -> None:
    told = run(*argv)
    assert (told.status, says in told.err) == (status, True), told.err
