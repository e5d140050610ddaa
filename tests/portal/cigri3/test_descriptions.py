"""What clients of CiGri 3 submit is taken as that took it, and told again as it was written."""

import json
from typing import Any

from sqlalchemy import select

from cigri.tables.campaigns import CampaignCluster
from modules.portal.cigri3.dispatch import BASE
from tests.portal.cigri3.conftest import get
from tests.portal.conftest import Served

JDL = {"name": "n", "clusters": {"dahu": {"exec_file": "e"}}, "nb_jobs": 3}
STORED = select(CampaignCluster.c.campaign_id, CampaignCluster.c.settings)


def submit(portal: Served, text: str) -> Any:
    made = portal.request("POST", f"{BASE}/campaigns", text)
    assert made.status == 201, made.body
    return made.body


def test_unknown_fields_are_warned_of(portal: Served) -> None:
    text = json.dumps(JDL | {"heaviness": 1, "walltme": "1:00:00"})
    warnings = submit(portal, text)["warnings"]
    assert warnings[:2] == [
        "heaviness: unknown field, left out",
        "walltme: unknown field, left out; did you mean 'walltime'?",
    ]


def test_two_equal_keys_and_escaped_dollars_are_read_as_ruby_reads_them(portal: Served) -> None:
    text = r'{"name": "a", "name": "b", "clusters": {"dahu": {}}, "exec_file": "cd \$HOME && ./x", "nb_jobs": 1}'
    made = submit(portal, text)
    assert made["name"] == "b"
    told = get(portal, f"/campaigns/{made['id']}/jdl")
    assert (told["exec_file"], told["shell"]) == ("cd $HOME && ./x", True)


def test_parameters_that_are_only_counted_are_told_one_by_one(portal: Served) -> None:
    made = submit(portal, json.dumps(JDL))
    told = get(portal, f"/campaigns/{made['id']}/jdl")
    assert told == JDL | {"jobs_type": "normal", "params": ["0", "1", "2"]}


def test_tasks_share_jobs_only_where_that_is_asked_for(portal: Served) -> None:
    plain = submit(portal, json.dumps(JDL))["id"]
    asked = submit(portal, json.dumps(JDL | {"temporal_grouping": "true"}))["id"]
    with portal.database.begin() as conn:
        stored = {row.campaign_id: row.settings for row in conn.execute(STORED)}
    assert [stored[number]["temporal_grouping"] for number in (plain, asked)] == [False, True]
    assert [stored[number]["dimensional_grouping"] for number in (plain, asked)] == [False, False]
