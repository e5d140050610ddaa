"""A campaign that runs to its end on a real local cluster, as the modules do it."""

import getpass
import json
from pathlib import Path
from typing import Any

from cigri import jdl
from cigri.database import Database
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.views.campaigns import list_campaigns
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from modules import campaign_schedulers, metascheduler, predictor, runner, updator
from tests.waiting import looks

CYCLE = (updator, predictor, metascheduler, campaign_schedulers, runner)


def run_campaign(database: Database, program: str, tasks: int = 2, **described: Any) -> int:
    """Of this account, on the cluster `here`, until each task is done or has failed; its number."""
    text = json.dumps({"name": "wordy", "nb_jobs": tasks, "clusters": {"here": {}}, "exec_file": program, **described})
    description = jdl.parse(text, base=Path("/"), home=Path("/"))
    settings = description.clusters["here"]
    has_prologue = "prologue" in described
    parts = {"here": NewCampaignCluster(settings.model_dump(mode="json"), 1, None, has_prologue, False)}
    new = NewCampaign("wordy", getpass.getuser(), CampaignType.DEFAULT, "", "", {}, parts)
    tools = PassContext(database, Settings(), TransportGateway())
    with database.begin() as conn:
        campaign = put_campaign(conn, new, description.parameters())
    for _ in looks():
        for module in CYCLE:
            module.run_once(tools)
        with database.begin() as conn:
            (view,) = list_campaigns(conn, [campaign])
        if view.done + view.failed == view.total:
            tools.gateway.close()
            return campaign
    raise AssertionError
