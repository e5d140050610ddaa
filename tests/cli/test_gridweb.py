"""gridweb: a link on standard output, and who it lets in; it needs a portal to be opened at."""

from urllib.parse import urlsplit

import pytest

from cigri.cli import gridweb
from cigri.cli.command import grid_user
from tests.cli.running import Run
from tests.portal.conftest import EnvironmentSettings, Serve, serve  # noqa: F401  (pytest finds it here)

COMMAND = gridweb
AS_ROOT = ["--root"] if grid_user() == "root" else []


@pytest.fixture
def portal(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811  (the fixture of that name)
    served = serve(EnvironmentSettings())
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(served.place))
    monkeypatch.setenv("CIGRI_SET_PORTAL__ADDRESS", "127.0.0.1:8080")


@pytest.mark.usefixtures("portal")
def test_standard_output_holds_the_link_alone(run: Run) -> None:
    told = run(*AS_ROOT)
    url = urlsplit(told.out.strip())
    assert (told.status, url.netloc, url.path) == (0, "127.0.0.1:8080", "/sign-in"), told.err
    assert f"one-time sign-in link for {grid_user()}, valid until " in told.err
    assert "; the session ends at " in told.err


@pytest.mark.usefixtures("portal")
def test_all_sessions_end_at_once(run: Run) -> None:
    run(*AS_ROOT)
    run(*AS_ROOT, "--scope", "read")
    assert run("--sign-out").out == "2 sessions have ended\n"
    assert run("--sign-out").out == "0 sessions have ended\n"


def test_without_a_portal_it_says_what_to_do(run: Run) -> None:
    told = run(*AS_ROOT)
    assert (told.status, told.out) == (2, "")
    assert "`cigri up` starts one" in told.err
