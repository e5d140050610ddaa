"""docs/how-to/set-up-a-site.md, command by command as written: a site of two users on a PostgreSQL, from nothing."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.operator.conftest import until
from tests.operator.spare_host import ROOT, SpareHost, python_of_all, spare_host
from tests.portal import proxies
from tests.portal.certificates import write_certificate

PAGE = ROOT / "docs" / "how-to" / "set-up-a-site.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\S.*<<'(\w+)'\n(?:.*\n)*?\1\n|^\S.*\n", re.MULTILINE)
DATABASE_READ = "nobody else can read where the database is"
UNITS = ("cigri.service", "cigri-portal.service")
REFUSED = {
    "runuser -l bob -c 'griddel 1'": "no campaign 1",
    "runuser -l bob -c 'gridstat -J 1'": "no campaign 1",
    "runuser -l bob -c 'cigri quota set user bob 200'": "operators only, and you are bob",
    "runuser -l bob -c 'cat /etc/cigri/cigri.toml'": "Permission denied",
    "runuser -l bob -c 'psql -U cigri cigri'": "Peer authentication failed",
}


class Site(NamedTuple):
    """One that was set up as the page says; what was said by command."""

    host: SpareHost
    said: dict[str, str]


pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root sets up a site"),
    pytest.mark.skipif(
        proxies.NGINX.program is None or not shutil.which("pg_createcluster"), reason="needs nginx, PostgreSQL"
    ),
]


def make_environment(host: SpareHost) -> None:
    host.must(f"{python_of_all()} -m venv --without-pip /opt/cigri")


def make_database_server(host: SpareHost) -> None:
    [version] = os.listdir("/usr/lib/postgresql")
    host.must("install -d -o postgres -g postgres /var/lib/postgresql /var/log/postgresql")
    host.must(f"pg_createcluster {version} main --start -o listen_addresses= -o fsync=off")


def start_units(host: SpareHost) -> None:
    for unit in UNITS:
        assert host.start(unit)
    wait_for_cycle(host)


def restart_almighty(host: SpareHost) -> None:
    host.stop("cigri.service")
    assert host.start("cigri.service")
    wait_for_cycle(host)


def reload_portal(host: SpareHost) -> None:
    log = host.place / "cigri-portal.service.log"
    before = log.read_text().count("read again")
    os.kill(host.main_pid("cigri-portal.service"), signal.SIGHUP)
    until(lambda: log.read_text().count("read again") > before, what="settings that are read again")


def wait_for_cycle(host: SpareHost) -> None:
    """Of an almighty that has begun to serve, and hears what it is told."""

    def is_at_work() -> bool:
        done = host.do("runuser -l cigri -c 'cigri status'")
        return done.returncode == 0 and "runs as process" in done.stdout

    until(is_at_work, what="a cycle")


def run_for_a_while(host: SpareHost) -> None:
    host.must("runuser -l cigri -c 'timeout --preserve-status 10 cigri run updator runner --every 5'")


class Instead(NamedTuple):
    """What is done in place of a command, and why."""

    why: str
    do: Callable[[SpareHost], object]


OTHERWISE = {
    "python3 -m venv /opt/cigri": Instead("of the tests' version; no pip is used", make_environment),
    "/opt/cigri/bin/pip install .": Instead("nothing is fetched: the tests' packages", SpareHost.install),
    "apt-get install postgresql": Instead("it is there: what its package does then", make_database_server),
    "systemctl daemon-reload": Instead("no systemd runs where tests do", lambda _: None),
    "systemctl enable --now cigri.service cigri-portal.service": Instead("what the units say, without it", start_units),
    "systemctl enable --now cigri-local.service": Instead("the same", lambda host: host.start("cigri-local.service")),
    "systemctl reload cigri-portal.service": Instead("the same", reload_portal),
    "systemctl restart cigri.service": Instead("the same", restart_almighty),
    "runuser -l cigri -c 'cigri run updator runner --every 5'": Instead("it would run for ever", run_for_a_while),
}


def follow(host: SpareHost, commands: list[str]) -> dict[str, str]:
    """What each command says; those that are to be refused are."""
    said = {}
    for command in commands:
        if command in OTHERWISE:
            OTHERWISE[command].do(host)
        elif command in REFUSED:
            done = host.do(command)
            assert done.returncode, command
            said[command] = done.stderr
        else:
            said[command] = host.must(command)
    return said


def commands_of(page: Path) -> list[str]:
    """Without the words that stand behind them."""
    found = [one.group().rstrip("\n") for block in BLOCK.findall(page.read_text()) for one in COMMAND.finditer(block)]
    return [command if "\n" in command else re.sub(r" {2,}#.*", "", command) for command in found]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with spare_host() as host:
        for user in ("alice", "bob"):
            host.must(f"useradd --create-home --shell /bin/bash {user}")
        yield Site(host, follow(host, commands_of(PAGE)))


def test_each_command_that_is_told_otherwise_is_on_the_page() -> None:
    assert {*OTHERWISE, *REFUSED} - set(commands_of(PAGE)) == set()


def test_users_meet_their_own_campaigns_only(site: Site) -> None:
    assert "CAMPAIGN_ID=1\n" in site.said["runuser -l alice -c gridsub <etc/campaigns/hello.yaml"]
    seen = site.said["runuser -l bob -c gridstat"]
    assert ("alice" in seen, "bob" in seen) == (True, True)
    for command, why in REFUSED.items():
        assert why in site.said[command], command
    assert "set_quota" in site.said["runuser -l alice -c 'gridevents --audit'"]


def test_the_database_is_reached_by_its_account_alone(site: Site) -> None:
    ask = "psql -d cigri -qAtc 'SELECT count(*) FROM campaigns'"
    assert site.host.must(f'runuser -l cigri -c "{ask}"') == "2\n"
    for user in ("alice", "bob", "www-data"):
        done = site.host.do(f"runuser -u {user} -- {ask}")
        assert (done.returncode, "does not exist" in done.stderr) == (2, True), done.stderr
    assert 'role "root" does not exist' in site.host.do(ask).stderr


def test_the_doctor_has_nothing_to_say(site: Site) -> None:
    said = site.said["runuser -l cigri -c 'cigri doctor'"]
    assert DATABASE_READ in said
    assert [line for line in said.splitlines() if not line.startswith("\N{CHECK MARK}")] == []
    told = json.loads(site.host.must("chmod 644 /etc/cigri/cigri.toml && runuser -l cigri -c 'cigri doctor --json'"))
    assert DATABASE_READ in [check["rule"] for check in told["checks"] if check["details"]]
    site.host.must("chmod 640 /etc/cigri/cigri.toml")


def test_nginx_in_front_says_who_is_there(site: Site) -> None:
    directory = site.host.place / "nginx"
    directory.mkdir(mode=0o755)
    certificate = write_certificate(directory / "both.pem")
    upstream = proxies.Upstream(Path("/run/cigri/portal.sock"), port=9)
    with proxies.proxying(proxies.NGINX, upstream, certificate, directory, site.host.inside) as port:
        proxied = proxies.Proxied(port, certificate)
        status, text = proxied.get("/api/v1/whoami", "alice", {"X-Remote-User": "root"})
        told = json.loads(text)
        assert (status, told["user"], told["is_operator"], told["how"]) == (200, "alice", True, "proxy")
        assert proxied.get("/campaigns/1", "alice", {"Accept": "text/html"})[0] == 200
        assert proxied.get("/api/v1/whoami", "root")[0] == 401


def test_the_campaigns_of_both_users_end_well(site: Site) -> None:
    ask = "psql -d cigri -qAtc \"SELECT string_agg(state::text, ' ') FROM tasks\""
    until(lambda: site.host.must(f"runuser -u cigri -- {ask}").split() == ["done"] * 6, what="six tasks that are done")
    assert "a job of alice runs on localhost\n" in site.said["runuser -l cigri -c 'cigri doctor --as alice'"]


def seen_by_bob(host: SpareHost) -> tuple[bool, str]:
    """Whether the portal tells bob of campaigns, and what he is told if it does not."""
    done = host.do("runuser -l bob -c 'gridstat --json'")
    return done.returncode == 0, done.stderr


def test_one_service_that_dies_leaves_the_other_alone(site: Site) -> None:
    host = site.host
    almighty, portal = map(host.main_pid, UNITS)
    os.kill(almighty, signal.SIGKILL)
    host.fail("cigri.service")
    assert (host.main_pid("cigri-portal.service"), seen_by_bob(host)) == (portal, (True, ""))
    told = host.do("runuser -l cigri -c 'cigri status'").stderr
    assert "the almighty has died; run `systemctl start cigri.service`" in told
    assert host.start("cigri.service")
    wait_for_cycle(host)
    almighty = host.main_pid("cigri.service")
    os.kill(portal, signal.SIGKILL)
    host.fail("cigri-portal.service")
    assert (host.main_pid("cigri.service"), seen_by_bob(host)[0]) == (almighty, False)
    told = host.do("runuser -l cigri -c 'cigri status'").stderr
    assert "the portal has died; run `systemctl start cigri-portal.service`" in told
    assert host.start("cigri-portal.service")
    until(lambda: seen_by_bob(host)[0], what="the portal")


def test_users_hear_of_a_portal_that_is_away_and_not_of_commands_that_are_not_theirs(site: Site) -> None:
    host = site.host
    host.stop("cigri-portal.service")
    _, told = seen_by_bob(host)
    assert "the portal at /run/cigri/portal.sock does not answer" in told
    assert "cigri up" not in told
    assert host.start("cigri-portal.service")
    until(lambda: seen_by_bob(host)[0], what="the portal")


def test_services_are_there_in_any_order_once_the_database_is(site: Site) -> None:
    host = site.host
    [version] = os.listdir("/usr/lib/postgresql")
    for unit in UNITS:
        host.stop(unit)
    host.must(f"pg_ctlcluster {version} main stop")
    assert host.start("cigri-portal.service")
    host.fail("cigri-portal.service")
    assert not host.start("cigri.service")
    host.must(f"pg_ctlcluster {version} main start")
    assert host.start("cigri-portal.service")
    until(lambda: seen_by_bob(host)[0], what="the portal")
    assert host.start("cigri.service")
    wait_for_cycle(host)


def test_the_doctor_tells_of_a_service_that_may_not_use_sudo(site: Site) -> None:
    host = site.host
    conf = host.place / "etc/systemd/system/cigri.service.d/sudo.conf"
    allowed = conf.read_text()
    conf.write_text("")
    restart_almighty(host)
    told = host.must("runuser -l cigri -c 'cigri doctor'")
    assert "localhost: the almighty (process" in told
    assert "only jobs of cigri run there" in told
    conf.write_text(allowed)
    restart_almighty(host)
