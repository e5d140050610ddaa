"""The directory of a campaign is made on the cluster where it does not exist."""

import json
from pathlib import Path

from sqlalchemy import text

from cigri import jdl
from cigri.flow.submissions import put_campaign
from cigri.submission.new_campaign import new_campaign
from tests.grid import Grid

ROOT = Path(__file__).parents[2]
DENOISE = "import os, sys\nprint(os.getcwd(), *sys.argv[1:], sep='|')\n"


def test_tasks_run_in_a_directory_that_nobody_has_made(local: Grid) -> None:
    place = Path(local.place) / "not yet" / "{CAMPAIGN_ID}"
    campaign = local.submit(["1", "2", "3"], command="pwd >>where", exec_directory=str(place))
    local.run_to_end()
    local.assert_each_ran_once(3)
    made = Path(str(place).format(CAMPAIGN_ID=campaign))
    assert (made / "where").read_text() == f"{made}\n" * 3


def test_the_example_in_toml_runs_as_it_is_written(local: Grid, tmp_path: Path) -> None:
    home = tmp_path / "home"  # the tests leave that of whoever runs them alone
    (home / "denoise").mkdir(parents=True)
    (home / "denoise" / "denoise.py").write_text(DENOISE)
    examples = (ROOT / "docs" / "reference" / "jdl.md").read_text().split("```toml\n")[1:]
    [example] = [found for found in (one.partition("```")[0] for one in examples) if "denoise" in found]
    config = {**local.site.config, "options": {"spool": local.site.config["options"]["spool"], "pools": POOLS}}
    with local.database.begin() as conn:
        conn.execute(text("UPDATE clusters SET name = 'bigfoot', config = :new"), {"new": json.dumps(config)})
        found = jdl.parse(example.replace("~", str(home)), format="toml", base=home, home=home)
        campaign = put_campaign(conn, new_campaign(found, local.site.user), found.parameters())
    local.run_to_end()
    assert local.counts() == {"done": 2}
    outputs = sorted(path.read_text() for path in Path(local.site.config["directory"]).rglob("1.*.out"))
    place = home / "denoise" / str(campaign)
    assert outputs[0] == f"{place}|{home}/images/first image.png|--strength|0.5\n"


POOLS = {"cpu": 16, "mem": 4000, "gpu": 2}
