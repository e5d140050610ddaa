"""The samples and the page of reference stay true."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from pydantic import BaseModel

from cigri.flow.submissions import put_campaign
from cigri.jdl import CampaignFields, ClusterSettings, CommandTemplate, Format, JobResources, format_of, parse
from cigri.jdl.parameters import SOURCES
from cigri.jdl.parsing import KNOWN_FIELDS
from cigri.submission.new_campaign import new_campaign
from tests.grid import Grid

ROOT = Path(__file__).parents[2]
FORMATS: dict[str, Format] = {"json": "json", "yaml": "yaml", "toml": "toml"}
SAMPLES = sorted(path for path in (ROOT / "etc" / "campaigns").iterdir() if format_of(path))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_sample_is_right(path: Path) -> None:
    description = parse(path.read_text(), format=format_of(path), base=path.parent, home=Path("/home/bob"))
    assert description.count > 1
    for settings in [*description.clusters.values(), *([description.anywhere] if description.anywhere else [])]:
        first = next(description.parameters())
        assert CommandTemplate(settings, description.names).words(first, campaign_id=1, number=0)


def test_there_is_a_sample_of_each_format() -> None:
    assert {format_of(path) for path in SAMPLES} == {"json", "yaml", "toml"}


def test_the_povray_demo_is_understood_as_by_cigri_3() -> None:
    path = ROOT / "etc" / "campaigns" / "povray.json"
    campaign = parse(path.read_text(), base=path.parent, home=Path("/home/bob"))
    assert campaign.campaign_type == "test"
    assert list(campaign.clusters) == ["gofree", "fontaine", "froggy", "fostino"]
    assert (campaign.clusters["gofree"].walltime, campaign.clusters["gofree"].max_jobs) == (600, 50)
    assert (campaign.clusters["froggy"].project, campaign.clusters["froggy"].walltime) == ("test", 300)
    assert len(campaign.clusters["fostino"].prologue) == 6


def fields_of(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def test_every_field_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "jdl.md").read_text()
    fields = {
        *fields_of(ClusterSettings),
        *fields_of(CampaignFields),
        *fields_of(JobResources),
        *SOURCES,
        *KNOWN_FIELDS,
    }
    assert not [name for name in sorted(fields) if f"`{name}`" not in page]


def test_every_example_in_the_reference_is_right(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("a\nb\n")
    examples = (ROOT / "docs" / "reference" / "jdl.md").read_text().split("```")[1::2]
    assert len(examples) >= 5
    for example in examples:
        language, _, text = example.partition("\n")
        assert language in (*FORMATS, "jdl")
        assert parse(text, format=FORMATS.get(language), base=tmp_path, home=tmp_path).count > 1


@pytest.mark.process
@pytest.mark.parametrize("name", ["hello.yaml", "primes.toml"])
def test_samples_for_this_host_run_as_they_are(local: Grid, name: str) -> None:
    path = ROOT / "etc" / "campaigns" / name
    found = parse(path.read_text(), format=format_of(path), base=path.parent, home=Path("/"))
    settings = found.clusters.get("localhost") or found.anywhere
    assert settings
    found = replace(found, clusters={local.site.name: settings}, anywhere=None, is_unplaced=False)
    with local.database.begin() as conn:
        put_campaign(conn, new_campaign(found, local.site.user), islice(found.parameters(), 3))
    local.run_to_end()
    assert local.counts() == {"done": 3}
