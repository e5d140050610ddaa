import json
import os
import pwd
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cigri.package_files import directory
from cigri.settings.loading import load_effective
from cigri.settings.sections import Settings
from modules.operator.config import items, sample
from modules.operator.installation_health import hidden
from tests.operator.conftest import Cigri

SAMPLE = directory("etc") / "cigri.toml"


def uncommented() -> str:
    return re.sub(r"^#(?=[a-z_]+ = )", "", SAMPLE.read_text(), flags=re.MULTILINE)


def test_the_shipped_file_is_the_one_that_the_command_prints(cigri: Cigri) -> None:
    assert SAMPLE.read_text() == sample(), "run: cigri config --sample > etc/cigri.toml"
    assert cigri("config", "--sample").out == sample()


def test_the_shipped_file_changes_nothing_as_it_is() -> None:
    assert {name: value for name, value in tomllib.loads(SAMPLE.read_text()).items() if value} == {}


def test_the_shipped_file_uncommented_holds_every_setting_with_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    named = tmp_path / "cigri.toml"
    named.write_text(uncommented())
    effective = load_effective({"HOME": str(tmp_path), "CIGRI_CONFIG": str(named)})
    assert effective.settings == Settings()
    assert set(effective.origins.values()) == {str(named)}


def test_every_setting_is_explained() -> None:
    assert [item.dotted for item in items(Settings()) if not item.description] == []


def test_each_value_is_shown_with_where_it_comes_from(
    cigri: Cigri, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "mine.toml"
    named.write_text("[almighty]\nperiod = 7\n")
    monkeypatch.setenv("CIGRI_CONFIG", str(named))
    monkeypatch.setenv("CIGRI_SET_JOBS__DEATHS", "3")
    told = {item["name"]: (item["value"], item["origin"]) for item in json.loads(cigri("config", "--json").out)}
    assert told["almighty.period"] == (7.0, str(named))
    assert told["jobs.deaths"] == (3, "$CIGRI_SET_JOBS__DEATHS")
    assert told["budget.errors"] == (10, "default")
    table = cigri("config").out
    assert re.search(rf"^almighty.period +7.0 +{named} +seconds between", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/name", "postgresql://me:***@host/name"),
        ("postgresql://me:se:c@ret@host/name", "postgresql://me:***@host/name"),
        ("postgresql://me@host/name", "postgresql://me@host/name"),
        ("postgresql:///name", "postgresql:///name"),
        ("", ""),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    assert hidden(url) == shown


def test_the_table_of_settings_hides_the_password(cigri: Cigri, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", "postgresql://me:hunter2@nowhere.invalid/x")
    assert "hunter2" not in cigri("config").out + cigri("config", "--json").out


READ = """\
import os, sys
from pathlib import Path
from cigri.errors import ConfigError
from cigri.settings import sources
sources.SYSTEM_FILE = Path(sys.argv[1])
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
print(sources.gather({}, is_client=True).values)
try:
    sources.gather({})
except ConfigError as error:
    print(error)
"""


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_the_file_of_a_site_may_be_closed_to_its_users(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = tmp_path / "cigri.toml"
    file.write_text('[database]\nurl = "postgresql://cigri:secret@host/cigri"\n')
    file.chmod(0o640)
    nobody = str(pwd.getpwnam("nobody").pw_uid)
    argv = [sys.executable, "-P", "-c", READ, file.name, nobody]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "{}",
        "cigri.toml: may be read by the account that runs the grid only, and you are another",
    ], done.stderr
