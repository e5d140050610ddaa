"""Where settings are read: files and the environment, as plain values; the later source wins.

In order: /etc/cigri/cigri.toml, the user's cigri.toml, $CIGRI_CONFIG, and variables CIGRI_SET_SECTION__NAME.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cigri.errors import ConfigError
from cigri.formats.machine_text import read_toml

SYSTEM_FILE = Path("/etc/cigri/cigri.toml")
ENVIRONMENT_PREFIX = "CIGRI_SET_"
USUAL_PURGE = 30.0  # days after its end that a campaign's files stay on the clusters; commands tell it, too


class RawSettings(NamedTuple):
    """Values by section and name, unchecked; and for each dotted name the file or variable it was read from."""

    values: dict[str, Any]
    origins: dict[str, str]


def gather(environment: Mapping[str, str], *, is_client: bool = False) -> RawSettings:
    """What the sources say; raise ConfigError for one that cannot be read.

    `is_client`: for a command of somebody who may not read the site's file, and asks the portal, which may.
    """
    gathered = RawSettings({}, {})
    for path in _files(environment):
        if is_client and path == SYSTEM_FILE and not os.access(path, os.R_OK):
            continue
        _merge(gathered.values, _read(path), str(path), gathered.origins)
    for name, text in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            nested: Any = text
            for part in reversed(name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")):
                nested = {part: nested}
            _merge(gathered.values, nested, f"${name}", gathered.origins)
    return gathered


def default_data_directory() -> Path:
    """The directory $XDG_DATA_HOME/cigri, or ~/.local/share/cigri, which need not be there."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "cigri"


def user_directory(environment: Mapping[str, str]) -> Path:
    """Of the user's own settings: ~/.config/cigri."""
    return Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "/")) / ".config") / "cigri"


def _files(environment: Mapping[str, str]) -> list[Path]:
    files = [path for path in (SYSTEM_FILE, user_directory(environment) / "cigri.toml") if path.exists()]
    if named := environment.get("CIGRI_CONFIG"):
        files.append(Path(named))
    return files


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path.read_text("utf-8-sig"))
    except PermissionError:
        raise ConfigError(f"{path}: may be read by the account that runs the grid only, and you are another") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; correct $CIGRI_CONFIG or create the file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def _merge(values: dict[str, Any], more: dict[str, Any], origin: str, origins: dict[str, str], above: str = "") -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(values.setdefault(key, {}), dict):
            _merge(values[key], value, origin, origins, f"{above}{key}.")
        else:
            values[key] = value
            origins[f"{above}{key}"] = origin
