"""The unit of a user's systemd with which a grid comes back after a reboot: `cigri up --at-login`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cigri.errors import CigriError, ConfigError
from cigri.installation import has_services
from cigri.private_files import make_private_directory, open_privately
from cigri.settings.sections import Settings
from modules.operator import data_directory

UNIT_NAME = "cigri.service"
BOOTED = Path("/run/systemd/system")
"""Where systemd runs this host this is a directory (sd_booted(3))."""
HANDED_TO_UNIT = ("PATH", "LD_LIBRARY_PATH", "CIGRI_CONFIG")
SETTING = "CIGRI_SET_"
UNIT = """\
# Written by `cigri up --at-login`; `cigri uninstall` removes it.
[Unit]
Description=CiGri, the grid of {user}

[Service]
Type=oneshot
RemainAfterExit=yes
{environment}
ExecStart={python} -P -m modules.operator up
ExecStop={python} -P -m modules.operator down
# jobs of this host go on when the grid is stopped
KillMode=process
TimeoutStartSec=15min
TimeoutStopSec=150

[Install]
WantedBy=default.target
"""


def require_possible(settings: Settings) -> None:
    """Raise what a person can act on where no systemd of users can start this grid."""
    if has_services(settings):
        raise ConfigError("this grid is a site's, which root starts: `systemctl enable --now cigri.service`")
    if not BOOTED.is_dir():
        raise CigriError(
            f"systemd does not run this host, so --at-login cannot be had. With cron: add `@reboot {sys.executable} "
            "-P -m modules.operator up` by `crontab -e`"
        )
    path = unit_path(os.environ)
    if path.exists() and _directory_line(settings) not in path.read_text():
        raise CigriError(f"{path} starts another grid; remove the file first, or `cigri uninstall` that grid")


def unit_path(environment: Mapping[str, str]) -> Path:
    """Return where the user's systemd looks for the unit: below ~/.config/systemd/user."""
    config = environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "/")) / ".config"
    return Path(config) / "systemd" / "user" / UNIT_NAME


def unit_text(settings: Settings, environment: Mapping[str, str]) -> str:
    """Return the unit, in which the grid finds the settings and programs of now."""
    found = {**environment, **data_directory.environment(settings)}
    names = sorted(name for name in found if name in HANDED_TO_UNIT or name.startswith(SETTING))
    lines = [f"Environment={_quoted(f'{name}={found[name]}')}" for name in names]
    user = found.get("USER") or found.get("LOGNAME") or str(os.geteuid())
    return UNIT.format(user=user, environment="\n".join(lines), python=_quoted(sys.executable))


def install(settings: Settings) -> list[str]:
    """Write the unit and enable it; return sentences about what happens when."""
    path = unit_path(os.environ)
    make_private_directory(path.parent)
    with open(path, "w", opener=open_privately) as file:
        file.write(unit_text(settings, os.environ))
    wanted = _wanted(path)
    make_private_directory(wanted.parent)
    wanted.unlink(missing_ok=True)
    wanted.symlink_to(path)
    _ask("systemctl", "--user", "daemon-reload")
    _ask("systemctl", "--user", "start", UNIT_NAME)  # it finds the grid running, and stops it well when the host stops
    told = [f"The unit {path} starts this grid when you log in"]
    if _ask("loginctl", "enable-linger"):
        return [*told, "It also starts when the host boots, before you log in"]
    return [
        *told,
        "To start it when the host boots, before you log in, ask an administrator for `loginctl enable-linger`",
    ]


def is_installed(settings: Settings) -> bool:
    """Whether the unit is there, and starts the grid of these settings."""
    path = unit_path(os.environ)
    return path.is_file() and _directory_line(settings) in path.read_text()


def remove() -> None:
    """Disable the unit and remove it."""
    path = unit_path(os.environ)
    _wanted(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    _ask("systemctl", "--user", "daemon-reload")


def _wanted(path: Path) -> Path:
    """Return the link that enables the unit, as `systemctl --user enable` makes it."""
    return path.parent / "default.target.wants" / path.name


def _directory_line(settings: Settings) -> str:
    return f"Environment={_quoted(f'{SETTING}DATA_DIRECTORY={settings.data_directory}')}\n"


def _quoted(word: str) -> str:
    """Return a word as systemd.syntax(7) reads it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def _ask(*argv: str) -> bool:
    """Run a command of systemd; return False where it is not there or says no."""
    try:
        return subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
