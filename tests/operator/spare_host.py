"""A host of its own, as far as files, accounts and processes go, where a page's commands are root's; nothing stays."""

import atexit
import os
import re
import shlex
import shutil
import signal
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FRESH = ("opt", "run", "home", "var/lib", "var/log", "usr/local/bin")
ACCOUNTS = ("passwd", "group", "shadow", "gshadow")
KNOWN_HERE = ("alice", "bob", "cigri")  # the testbed makes them, too
WITHOUT_PRIVILEGES = (
    "NoNewPrivileges",
    "ProtectClock",
    "ProtectKernelTunables",
    "ProtectKernelModules",
    "RestrictRealtime",
    "LockPersonality",
)  # of a service with User=, each means the first one: systemd.exec(5)
SCRIPT = """\
#!/opt/cigri/bin/python3 -P
import sys
from {module} import {function}
if __name__ == "__main__":
    sys.exit({function}())
"""
PREPARE = """\
set -eu
cd "$1"; shift
read -r holder _ </proc/self/stat
for directory; do mount --bind "$directory" "/$directory"; done
mount -t proc proc /proc
echo "$holder"
exec sleep infinity
"""


class SpareHost:
    """What is done on it is done in namespaces of mounts and of processes; they end together."""

    def __init__(self, place: Path, holder: int) -> None:
        self.place = place
        self.inside = ("nsenter", "-t", str(holder), "-m", "-p", "--")
        self.services: dict[str, subprocess.Popen[bytes]] = {}

    def do(self, command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """As root types it."""
        argv = [*self.inside, "sh", "-c", f"cd {cwd} && {command}"]
        environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        return subprocess.run(
            argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )

    def must(self, command: str) -> str:
        done = self.do(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def install(self) -> None:
        """This code in /opt/cigri, for whom pip would fetch all that it needs."""
        [place] = (self.place / "opt/cigri/lib").glob("python*/site-packages")
        (place / "ours.pth").write_text("\n".join(readable_places()))
        for script in metadata.distribution("cigri").entry_points.select(group="console_scripts"):
            path = self.place / "opt/cigri/bin" / script.name
            path.write_text(SCRIPT.format(module=script.module, function=script.attr))
            path.chmod(0o755)

    def start(self, name: str) -> bool:
        """As systemd would, with what the unit names; False: what is to be run before has failed."""
        unit = self.unit(name)
        user = unit.service.get("User", "root")
        for kind, above in (("RuntimeDirectory", "/run"), ("StateDirectory", "/var/lib")):
            if directory := unit.service.get(kind):
                mode = unit.service.get(f"{kind}Mode", "755")
                self.must(f"install -d -o {user} -g {user} -m {mode} {above}/{directory}")
        if not self.run_command_of(unit, "ExecStartPre"):
            return False
        argv = [*self.inside, *self.account_of(unit), *shlex.split(unit.service["ExecStart"])]
        with (self.place / f"{name}.log").open("a") as log:
            umask = int(unit.service["UMask"], 8)
            self.services[name] = subprocess.Popen(argv, cwd="/", stdout=log, stderr=log, umask=umask)
        return True

    def main_pid(self, name: str) -> int:
        """Of a unit, as this host's own processes see it; 0: it has ended."""
        outer = self.services[name].pid
        children = Path(f"/proc/{outer}/task/{outer}/children")
        return int((children.read_text().split() or ["0"])[0]) if children.exists() else 0

    def fail(self, name: str) -> None:
        """As systemd does when the main process of a unit has died; `start` is what it does some seconds later."""
        assert self.services[name].wait(60) != 0
        unit = self.unit(name)
        assert unit.service["Restart"] in ("on-failure", "always")
        self.run_command_of(unit, "ExecStopPost")
        if unit.service.get("RuntimeDirectoryPreserve") != "restart":
            self._remove_runtime_directory(unit)

    def stop(self, name: str) -> None:
        """`systemctl stop`."""
        os.kill(self.main_pid(name), signal.SIGTERM)
        assert self.services[name].wait(60) == 0
        unit = self.unit(name)
        self.run_command_of(unit, "ExecStopPost")
        self._remove_runtime_directory(unit)

    def _remove_runtime_directory(self, unit: "ServiceUnit") -> None:
        if directory := unit.service.get("RuntimeDirectory"):
            self.must(f"rm -r /run/{directory}")

    def unit(self, name: str) -> "ServiceUnit":
        """The file, and those that change it."""
        above = self.place / "etc/systemd/system"
        texts = [path.read_text() for path in (above / name, *sorted(above.glob(f"{name}.d/*.conf")))]
        told = [line.partition("=")[::2] for line in "\n".join(texts).splitlines() if not line.startswith("#")]
        return ServiceUnit(dict(told), [value for key, value in told if key == "Environment"])

    def account_of(self, unit: "ServiceUnit") -> list[str]:
        """What a command of it begins with: its account, its rights and its environment."""
        rights = ["--no-new-privs"] * any(unit.service.get(key) == "yes" for key in WITHOUT_PRIVILEGES)
        rights += ["--bounding-set=-all"] * (unit.service.get("CapabilityBoundingSet") == "")
        user = unit.service.get("User", "root")
        home = self.must(f"getent passwd {user}").split(":")[5]
        world = ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={home}", *unit.environment]
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *rights, "env", "-i", *world]

    def run_command_of(self, unit: "ServiceUnit", key: str) -> bool:
        """Whether it ends well, be it there at all."""
        argv = [*self.account_of(unit), *shlex.split(unit.service.get(key, "true"))]
        return self.do(f"umask {unit.service['UMask']}; {shlex.join(argv)}").returncode == 0


class ServiceUnit(NamedTuple):
    """What systemd does for a service, by the names of its settings; the environment has several lines."""

    service: dict[str, str]
    environment: list[str]


@contextmanager
def spare_host() -> Iterator[SpareHost]:
    """One without the accounts and the PostgreSQL of this one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        place = Path(directory)
        place.chmod(0o755)
        for name in FRESH:
            (place / name).mkdir(parents=True)
        subprocess.run(["cp", "-a", "/etc", place], check=True)
        for name in ("postgresql", "cigri"):
            shutil.rmtree(place / "etc" / name, ignore_errors=True)
        for name in ACCOUNTS:
            path = place / "etc" / name
            people = "|".join(KNOWN_HERE)
            path.write_text(re.sub(rf"(?m)^({people}):.*\n", "", path.read_text()))
        argv = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", PREPARE, "sh", directory, "etc", *FRESH]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as namespace:
            assert namespace.stdout is not None
            holder = int(namespace.stdout.readline())
            host = SpareHost(place, holder)
            try:
                yield host
            finally:
                os.kill(holder, signal.SIGKILL)  # and with it, all that it holds
                for process in host.services.values():
                    process.wait()


@cache
def readable_places() -> list[str]:
    """Where any account can import this code and what it needs: copies, if the checkout is closed to others."""
    places = [str(ROOT), *site.getsitepackages()]
    as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    look = 'for place; do [ -r "$place" ] && cd "$place" || exit; done'
    if subprocess.run([*as_nobody, "sh", "-c", look, "sh", *places], check=False).returncode == 0:
        return places
    copies = tempfile.mkdtemp(dir="/tmp")
    atexit.register(shutil.rmtree, copies)
    code, packages = Path(copies, "code"), Path(copies, "packages")
    code.mkdir()
    subprocess.run(["cp", "-r", *(ROOT / name for name in ("cigri", "modules", "migrations", "etc")), code], check=True)
    subprocess.run(["cp", "-rT", site.getsitepackages()[0], packages], check=True)
    subprocess.run(["chmod", "-R", "a+rX", copies], check=True)
    return [str(code), str(packages)]


def python_of_all() -> str:
    """An interpreter of this version that any account may run: ours may lie in root's home."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    assert Path(python).exists(), f"{python} is missing: install it"
    return python
