"""`cigri config`: the settings in force and where each comes from; also writes a sample file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cigri.cli.command import CommandParser, print_json
from cigri.cli.table_printing import print_table
from cigri.settings.loading import load_effective
from cigri.settings.sections import Settings, SettingsSection
from modules.operator.installation_health import hidden

SAMPLE_HEAD = """\
# The settings of CiGri, each with its default. Uncomment what you change.
# Later ones win: /etc/cigri/cigri.toml, ~/.config/cigri/cigri.toml, the file that $CIGRI_CONFIG names, and variables
# such as CIGRI_SET_ALMIGHTY__PERIOD=5. `cigri config` shows what is in force and where it comes from.
"""


class SettingItem(NamedTuple):
    """A setting: its section ("" at the top), name, description and a value."""

    section: str
    name: str
    description: str
    value: Any

    @property
    def dotted(self) -> str:
        """SECTION.NAME, or NAME at the top: what origins are known by, and what --set takes."""
        return f"{self.section}.{self.name}" if self.section else self.name


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri config",
        "Show every setting, its value, and the file or variable it comes from.",
        "  cigri config\n  cigri config --sample > ~/.config/cigri/cigri.toml",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--sample", action="store_true", help="print a file with every setting commented out")
    options = parser.parse_args(argv)
    if options.sample:
        print(sample(), end="")
        return 0
    effective = load_effective()
    in_force = [(item, effective.origins[item.dotted]) for item in items(effective.settings)]
    if options.json:
        print_json([{**item._asdict(), "name": item.dotted, "origin": origin} for item, origin in in_force])
        return 0
    print_table(
        ("setting", "value", "from", "meaning"),
        [(item.dotted, _shown(item.value), origin, item.description) for item, origin in in_force],
        prose=("value", "from", "meaning"),
    )
    return 0


def items(settings: SettingsSection, section: str = "") -> Iterator[SettingItem]:
    """Every setting, those without a section first."""
    fields = type(settings).model_fields
    for name, field in fields.items():
        value = getattr(settings, name)
        if not isinstance(value, SettingsSection):
            shown = hidden(value) if name == "url" else value
            yield SettingItem(section, name, field.description or "", shown)
    for name in fields:
        value = getattr(settings, name)
        if isinstance(value, SettingsSection):
            yield from items(value, name)


def sample() -> str:
    """The text of etc/cigri.toml: every setting commented out, with its meaning and default."""
    lines, section = [SAMPLE_HEAD], ""
    for item in items(Settings()):
        if item.section != section:
            section = item.section
            lines.append(f"\n[{section}]\n")
        value = "~/.local/share/cigri" if item.dotted == "data_directory" else item.value
        lines.append(f"# {item.description}\n#{item.name} = {_toml(value)}\n")
    return "".join(lines)


def _toml(value: object) -> str:
    return json.dumps("" if value is None else str(value) if isinstance(value, Path) else value)


def _shown(value: object) -> str:
    return "" if value is None else str(value)
