"""`shell: true`: the line is run by sh, as it is, and what parameters hold stays words."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cigri.errors import DescriptionError
from cigri.jdl import parse
from cigri.jdl.command import command
from cigri.jdl.description import CampaignDescription


def described(**fields: Any) -> CampaignDescription:
    text = json.dumps({"name": "n", "clusters": {"dahu": {}}, "params": ["1 '$HOME' 2"], **fields})
    return parse(text, format="json", base=Path(), home=Path("/home/alice"))


def run(campaign: CampaignDescription, directory: Path, cluster: str = "dahu") -> str:
    words = command(campaign.clusters[cluster], next(campaign.parameters()), campaign_id=7, number=0)
    line = " ".join(word.quoted() for word in words)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "CIGRI_CAMPAIGN_ID": "7", "Z": "z"}
    done = subprocess.run(
        ["sh", "-c", line], cwd=directory, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("echo", "1 $HOME 2\n"),
        ("cd / && pwd; echo", "/\n1 $HOME 2\n"),
        ("X=5 printenv X; echo", "5\n1 $HOME 2\n"),
        ("echo $CIGRI_CAMPAIGN_ID ${Z}y {CAMPAIGN_ID}", "7 zy 7 1 $HOME 2\n"),
        ("""echo "it's" | tr a-z A-Z; :""", "IT'S\n"),
        ("echo $Z > o && cat o; :", "z\n"),
    ],
)
def test_a_line_is_run_by_sh(line: str, written: str, tmp_path: Path) -> None:
    assert run(described(exec_file=line, shell=True), tmp_path) == written


@pytest.mark.process
def test_the_home_is_known_by_each_of_its_names(tmp_path: Path) -> None:
    line = "echo ~ $HOME {HOME} ${HOME} x{HOME}"
    told = run(described(exec_file=line, shell="true"), tmp_path).split()
    assert told[:5] == [str(tmp_path)] * 4 + [f"x{tmp_path}"]


@pytest.mark.process
def test_one_cluster_may_have_a_line_for_a_shell_and_another_none(tmp_path: Path) -> None:
    blocks = {"dahu": {"exec_file": "echo a; echo b", "shell": True}, "luke": {"exec_file": "echo c"}}
    campaign = described(clusters=blocks)
    assert run(campaign, tmp_path) == "a\nb 1 $HOME 2\n"
    assert run(campaign, tmp_path, "luke") == "c 1 $HOME 2\n"
    assert campaign.written["clusters"] == blocks


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"exec_file": "cd x && ./run"}, "shell: true"),
        ({"exec_file": "X=1 ./run"}, "shell: true"),
        ({"exec_file": "echo 'a", "shell": True}, "a quote is not closed"),
        ({"exec_file": "", "shell": True}, "expected a command"),
        ({"exec_file": "./run", "shell": "sometimes"}, "shell: expected true or false"),
    ],
)
def test_what_no_shell_can_or_is_to_run_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        described(**fields)
    assert told in str(refused.value)
