"""docs/reference/json.md names every field of every answer in JSON, and no other; one is told as several are."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select, update

from cigri.cli import gridclusters, griddel, gridevents, gridnotify, gridstat, gridsub, gridtoken, gridusage
from cigri.database import Database, server_time
from cigri.flow.audit import put_audit
from cigri.flow.clusters import find_cluster, map_user
from cigri.flow.dependencies import NewDependency
from cigri.flow.discovered_nodes import put_nodes
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.forecasts import NewForecast, put_forecasts
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.flow.pending_reasons import NewPendingReason, put_cuts
from cigri.flow.processes import ProcessSign, put_sign
from cigri.flow.resource_documents import put_description
from cigri.flow.waiting_reasons import WaitingGroup, put_waiting_groups
from cigri.resources.document import read_document
from cigri.resources.nodes import AlikeNodes
from cigri.runtime.pass_context import process_identity
from cigri.settings.sections import NodeSettings
from cigri.states import Outcome, PendingReasonCode
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.inputs import CampaignInput, StoredInput
from modules import operator
from tests.callers import ALICE
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
ALL_OF = re.compile(r"^All of `(.+?)`", re.MULTILINE)
AS_OF = re.compile(r"as `(\S+)` of `(.+?)`")
MAINS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "gridstat": gridstat.main,
    "gridclusters": gridclusters.main,
    "gridevents": gridevents.main,
    "griddel": griddel.main,
    "gridsub": gridsub.main,
    "gridtoken": gridtoken.main,
    "gridnotify": gridnotify.main,
    "gridusage": gridusage.main,
    "cigri": operator.main,
}
OWN_KEY = Path(__file__).with_name("own_key.pub")
PLAIN = json.dumps({"name": "n", "exec_file": "run", "nb_jobs": 2, "clusters": {"dahu": {}}})
ASKED = {
    "gridstat --json": ["gridstat --json -a"],
    "gridstat ID... --json": ["gridstat --json 1 2 3", "gridstat --json 1"],
    "gridstat -f ID --json": ["gridstat --json -f 1", "gridstat --json -f 2", "gridstat --json -f 3"],
    "gridstat -j JOB --json": ["gridstat --json -j 1", "gridstat --json -j 4"],
    "gridstat -T TASK --json": ["gridstat --json -T 1:0"],
    "gridstat --why ID --json": ["gridstat --json --why 1"],
    "gridstat -e --json": ["gridstat --json -e"],
    "gridstat --failed ID --json": ["gridstat --json --failed 1"],
    "gridclusters --json": ["gridclusters --json"],
    "gridclusters -u --json": ["gridclusters --json -u --hours 90000"],
    "gridclusters -p --json": ["gridclusters --json -p"],
    "gridclusters --where EXPRESSION --json": ["gridclusters --json --where cores>=1"],
    "gridevents --json": ["gridevents --json"],
    "gridevents --audit --json": ["gridevents --json --audit"],
    "gridevents --fix --json": ["gridevents --json 1 --fix"],
    "griddel --json": ["griddel --json --pause 2"],
    "gridsub --resubmit ID --output json": [
        "gridsub --resubmit 1 --output json",
        "gridsub --resubmit 1 --refresh-inputs --output json",
    ],
    "gridsub --check --output json": ["gridsub --check --output json -f DESCRIPTION"],
    "gridsub --output json": ["gridsub --output json -f DESCRIPTION"],
    "gridsub -c ID --output json": [
        "gridsub -c 2 --output json -J [1]",
        "gridsub -c 2 --output json --priority 3",
    ],
    "gridtoken create --json": ["gridtoken create --json --root"],
    "gridtoken list --json": ["gridtoken list --json", "gridtoken revoke 1 --json"],
    "gridtoken keys list --json": [
        f"gridtoken keys add {OWN_KEY} --json",
        "gridtoken keys list --json",
        "gridtoken keys remove 1 --json",
    ],
    "gridnotify ADDRESS --json": ["gridnotify --json -w https://example.org/x"],
    "gridnotify --secret ID --json": ["gridnotify --json --secret 1"],
    "gridnotify --json": ["gridnotify --json", "gridnotify --json -u 1"],
    "gridusage --json": ["gridusage --json"],
    "cigri status --json": ["cigri status --json"],
    "cigri doctor --json": ["cigri doctor --json"],
    "cigri cluster list --json": ["cigri cluster list --json", "cigri cluster show dahu --json"],
    "cigri cluster jobs NAME --json": ["cigri cluster jobs dahu --json"],
    "cigri cluster nodes --json": ["cigri cluster nodes --json"],
}
OF_OPERATOR = "Lists of the operator"
pytestmark = pytest.mark.usefixtures("both_ways")

Tell = Callable[[str], Any]


def test_every_field_is_documented_and_there(tell: Tell) -> None:
    sections = dict(_sections(PAGE.read_text()))
    assert sections.keys() == {*ASKED, OF_OPERATOR}
    for title, calls in ASKED.items():
        documented = _documented(sections, title)
        told = {path for call in calls for path in _paths(tell(call), documented)}
        assert (told - documented, documented - told) == (set(), set()), title
    for fields, command in re.findall(r"^\| (.+?) \| `(cigri .+?)`", sections[OF_OPERATOR], re.MULTILINE):
        (first, *_) = tell(f"{command} --json")
        assert first.keys() == set(re.findall(r"`(.+?)`", fields)), command


def test_one_campaign_is_told_as_several_are(tell: Tell) -> None:
    (alone,), (first, second, _) = tell("gridstat --json 1"), tell("gridstat --json 1,2,3")
    assert (alone, alone.keys()) == (first, second.keys())
    listed = tell("gridstat --json")
    assert [campaign["id"] for campaign in listed] == [1, 2, 3]
    assert listed[0].items() <= alone.items()
    assert tell("cigri cluster list --json") == [tell("cigri cluster show dahu --json")]


def put_changed_input(conn: Connection, campaign: int, program: Path) -> None:
    """It has changed since the campaign was submitted."""
    program.write_text("mended")
    sent = {"path": str(program), "to": "solve.py", "sha256": "a" * 64, "size": 3, "packed": False}
    conn.execute(insert(StoredInput).values(sha256="a" * 64, size=3, stored_at=func.now()))
    conn.execute(insert(CampaignInput).values(campaign_id=campaign, sha256="a" * 64))
    here = CampaignCluster.c.campaign_id == campaign
    settings = conn.execute(select(CampaignCluster.c.settings).where(here)).scalar_one()
    conn.execute(update(CampaignCluster).where(here).values(settings={**settings, "inputs": [sent]}))


def _sections(page: str) -> Iterator[tuple[str, str]]:
    for part in page.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        yield title.strip("`"), body


def _documented(sections: Mapping[str, str], title: str) -> set[str]:
    """The paths of a section, those of others that it refers to among them."""
    found: set[str] = set()
    for paths, meaning in re.findall(r"^\| (`.+?) \| (.+) \|$", sections[title], re.MULTILINE):
        same = AS_OF.search(meaning)
        for path in re.findall(r"`(.+?)`", paths):
            if same and path.endswith("[]"):
                others = _documented(sections, same[2])
                found |= {path + other.removeprefix(same[1]) for other in others if other.startswith(f"{same[1]}.")}
            else:
                found.add(path)
    if other := ALL_OF.search(sections[title]):
        found |= _documented(sections, other[1])
    return found


def _paths(value: Any, documented: set[str], path: str = "") -> Iterator[str]:
    """As far down as the page goes; null stands for what has fields of its own, too."""
    heads = {path[:spot] for path in documented for end in re.finditer(r"\.|\[\]", path) for spot in end.span()}
    if isinstance(value, list) and path not in documented:
        for one in value:
            yield from _paths(one, documented, f"{path}[]" if path else "")
    elif isinstance(value, dict) and path not in documented:
        for key, inner in value.items():
            named, any_name = (f"{path}.{word}".lstrip(".") for word in (key, "*"))
            is_free = named not in documented | heads and any_name in documented | heads
            yield from _paths(inner, documented, any_name if is_free else named)
    elif value is not None or path not in heads:
        yield path


@pytest.fixture
def tell(
    grid: Database,
    as_user: AsUser,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Tell:
    """What a command answers, on a grid where each kind of thing is."""
    as_user("alice")
    monkeypatch.setenv("CIGRI_SET_INPUTS__DIRECTORY", str(tmp_path / "store"))
    with grid.begin() as conn:
        dahu = a_cluster(conn)
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        put_nodes(conn, cluster, [AlikeNodes({"cores": 32}, 20)])
        put_exclusion(conn, dahu, "dahu", "dahu-3", "of 9 tasks 9 failed", NodeSettings())
        map_user(conn, "dahu", "alice", "al")
        campaign = a_campaign(conn, 6, max_replicas=1)
        jobs = submitted_jobs(conn, campaign, dahu, 5)
        put_changed_input(conn, campaign, tmp_path / "solve.py")
        run_jobs(conn, jobs)
        end_jobs(conn, dahu, jobs[:2])
        end_jobs(conn, dahu, jobs[2:3], Outcome.FAILURE, exit_code=3)
        put_forecasts(conn, [NewForecast(campaign, None, 1.0, 360.0, 10.0, 0.5, 3, None)], 60.0)
        put_cuts(conn, [NewPendingReason(campaign, dahu, PendingReasonCode.LIMIT, "matlab", 9, 9)])
        waits = WaitingGroup(campaign, "Priority", "others go first", False, 1, server_time(conn))
        here = find_cluster(conn, "dahu")
        assert here is not None
        put_waiting_groups(conn, here, "alice", [waits], [])
        a_campaign(conn, 2, name="second", after=[NewDependency(campaign)])
        put_pass(conn, ModulePass("updator", "here", 1, 0.1, {"visits": 1}, ""))
        put_sign(conn, ProcessSign(*process_identity(), "almighty", "", 0.0, 60.0, -1.0))  # it has stalled
        put_description(conn, read_document(""), "", "root")
        put_audit(conn, ALICE, "kill_job", {"job_id": 1})
    as_user("root")
    for words in (
        ("limit", "set", "matlab", "4"),
        ("quota", "set", "user", "alice", "4"),
        ("target", "set", "user", "alice", "2"),
        ("affinity", "add", "alice", "dahu"),
    ):
        assert operator.main(words) == 0
    as_user("alice")

    path = tmp_path / "description"
    path.write_text(PLAIN)
    test = tmp_path / "test"
    test.write_text(PLAIN)
    assert gridsub.main(["-t", "test", str(test)]) == 0

    def tell(call: str) -> Any:
        capsys.readouterr()
        name, *argv = call.replace("DESCRIPTION", str(path)).split()
        as_user("root" if name == "cigri" or "--audit" in argv else "alice")
        MAINS[name](argv)
        return json.loads(capsys.readouterr().out)

    return tell
