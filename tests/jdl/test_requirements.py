"""`requirements` in a description: kept as they are written, checked as far as this can be done without the grid."""

import json
from pathlib import Path
from typing import Any

import pytest

from cigri.admission import admit, find_rules
from cigri.cli.preview import preview
from cigri.errors import DescriptionError
from cigri.jdl import CampaignDescription, Format, parse
from cigri.submission.new_campaign import new_campaign
from cigri.submission.preview import outline

RFC = {"SoftwareTag": ["AppVersion1", "AppVersion2"], "CPUModel": "Intel Xeon", "Memory": 4000}


def read(requirements: object, **fields: Any) -> CampaignDescription:
    content: dict[str, Any] = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"c": {}}, **fields}
    return parse(json.dumps(content | {"requirements": requirements}), base=Path(), home=Path())


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (None, None),
        ("", None),
        ({}, None),
        ({"Site": "ANY", "Memory": None}, None),
        (RFC, RFC),
        (" memory >= 16 GB ", "memory >= 16 GB"),
        ({"where": "x >= '1.10'", "CPUTime": "2 h"}, {"where": "x >= '1.10'", "CPUTime": "2 h"}),
    ],
)
def test_requirements_are_kept_as_they_are_written(written: object, kept: object) -> None:
    assert read(written).requirements == kept


@pytest.mark.parametrize(
    ("format", "text", "kept"),
    [
        ("yaml", "requirements: memory >= 16 GB", "memory >= 16 GB"),
        ("yaml", "requirements: {Memory: 16 GB, CPUTime: 1:00:00}", {"Memory": "16 GB", "CPUTime": "1:00:00"}),
        ("toml", "requirements = {CPUTime = 01:00:00}\n[clusters.c]", {"CPUTime": "01:00:00"}),
    ],
)
def test_every_format_can_say_them(format: Format, text: str, kept: object) -> None:
    is_yaml = format == "yaml"
    rest = "name: n\nexec_file: e\nnb_jobs: 1\nclusters: {c: }\n" if is_yaml else "name='n'\nexec_file='e'\nnb_jobs=1\n"
    assert parse(f"{rest}{text}\n", format=format, base=Path(), home=Path()).requirements == kept


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            5,
            "expected an expression or an object of properties, not 5 (write for example 'memory >= 16 GB and not el7'",
        ),
        (["a"], "expected an expression or an object of properties"),
        ("memory >= 16 GB &", "column 17: '&' is not known here (write 'and')"),
        (
            {"Memory": "x", "cores": "y"},
            "Memory: expected a size, not 'x' (write '16 GB', or a number of MB); cores: expect",
        ),
        ({"Memory": {"min": 1}}, "Memory: expected a size"),
        ({"Site": "a", "BannedSite": "a"}, "Site: every site that is wanted is banned too"),
    ],
)
def test_what_cannot_be_meant_is_refused(written: object, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read(written)
    (problem,) = caught.value.problems
    assert problem.place == "requirements"
    assert message in str(problem)


def test_they_are_those_of_the_campaign_as_a_whole() -> None:
    with pytest.raises(DescriptionError, match=r"clusters\.c\.requirements: belongs at the top, not in a cluster"):
        read(None, clusters={"c": {"requirements": "a"}})


def test_an_admission_rule_may_change_them_and_the_user_is_told(tmp_path: Path) -> None:
    changes = "requirements={'where': 'not old', 'Memory': '8 GB'}"
    (tmp_path / "a.py").write_text(f"def rule(campaign, user):\n    return campaign.with_changes({changes})\n")
    changed, told = admit(read({"Memory": 4000}), "alice", find_rules(tmp_path, ["10-normal-jobs.py"]), {})
    assert changed.requirements == {"where": "not old", "Memory": "8 GB"}
    assert told == [
        "requirements.Memory: 4000 -> 8 GB (by a.py)",
        "requirements.where: nothing -> not old (by a.py)",
    ]


def test_they_are_shown_with_the_campaign() -> None:
    campaign = outline(read(RFC), "alice", None)
    shown = (
        "requirements cpumodel == 'Intel Xeon' and memory >= 4000 MB and softwaretag in ['AppVersion1', 'AppVersion2']"
    )
    assert f"  {shown}" in [*preview(campaign, ())]
    assert campaign.requirements == RFC


def test_they_are_handed_over() -> None:
    new = new_campaign(read(RFC), "alice")
    assert (new.wanted, new.anywhere) == (RFC, None)
    spread = read(None, clusters="any").on_any(["dahu", "luke"])
    everywhere, chosen = new_campaign(spread, "alice"), new_campaign(spread.chosen(["luke"]), "alice")
    assert (list(everywhere.clusters), everywhere.anywhere) == (["dahu", "luke"], {})
    assert chosen.clusters == {"luke": everywhere.clusters["luke"]}
    assert chosen.anywhere == {"dahu": everywhere.clusters["dahu"]}


def test_clusters_that_the_grid_may_choose_are_shown_as_one() -> None:
    described = read(None, clusters="any").on_any(["dahu", "luke"]).with_cluster("luke", walltime=60)
    campaign = outline(described, "alice", None)
    headings = [line for line in preview(campaign, ()) if line.startswith("  on ")]
    assert headings == ["  on any eligible cluster:", "  on luke:"]
    assert campaign.anywhere
    assert campaign.anywhere["walltime"] == 3600


def test_rules_are_asked_about_each_cluster_that_the_grid_may_choose(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def rule(campaign, user):\n    return campaign.without_cluster('dahu')\n")
    description = read(None, clusters="any").on_any(["dahu", "luke"])
    assert list(admit(description, "alice", find_rules(tmp_path, ["10-normal-jobs.py"]), {})[0].clusters) == ["luke"]
    (tmp_path / "b.py").write_text("def rule(campaign, user):\n    return campaign.with_changes(name='m')\n")
    (tmp_path / "a.py").unlink()
    named = read(None, clusters="any", params=[{"x": 1}], nb_jobs=None, exec_file="run {x}")
    assert admit(named, "alice", find_rules(tmp_path, ["10-normal-jobs.py"]), {})[0].name == "m"
