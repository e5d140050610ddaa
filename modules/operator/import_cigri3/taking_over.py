"""What a CiGri 3 has becomes ours, once: what is here already stays as it is."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cigri import jdl
from cigri.database import Database
from cigri.endpoints.cluster_changes import disable_cluster
from cigri.endpoints.cluster_declarations import declare_cluster, map_account
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.policy import add_affinity
from cigri.errors import CigriError, DescriptionError
from cigri.flow.clusters import list_every_cluster
from cigri.flow.submissions import IdempotencyKey, find_sent
from cigri.flow.task_durations import LastSuccess, begin_averages, remember_durations
from cigri.identity.callers import Caller
from cigri.identity.special_accounts import require_may_map_to
from cigri.jdl.cigri3 import from_cigri3, read_cigri3
from cigri.settings.sections import Settings
from cigri.submission.dry_run import check_submission, wishes_of
from cigri.submission.feedback import SubmissionFeedback
from cigri.submission.storing import take_over
from modules.operator.import_cigri3 import cigri3_database
from modules.operator.import_cigri3.cigri3_database import Cigri3Campaign, Cigri3Cluster, Cigri3Success, Connection

HOW = "import-cigri3"  # in the audit trail


class Line(NamedTuple):
    """What is told of one thing; `is_left_out`: an operator has to look at it."""

    text: str
    is_left_out: bool = False


class Cigri3Import:
    """With `is_dry` nothing is written here; in a CiGri 3 nothing ever is."""

    def __init__(
        self,
        old: Connection,
        database: Database,
        settings: Settings,
        grid: InProcessClient,
        days: float,
        *,
        is_dry: bool,
    ) -> None:
        """`days`: of how many days its ended tasks tell how long tasks take."""
        self._old, self._database, self._settings, self._grid = old, database, settings, grid
        self._days, self._is_dry = days, is_dry
        self._campaigns = cigri3_database.list_campaigns(old)

    def clusters(self) -> Iterator[Line]:
        """Declared, and given no jobs until an operator has tried them."""
        here = self._ids()
        for cluster in cigri3_database.list_clusters(self._old):
            if cluster.name in here:
                yield Line(f"{cluster.name}: is declared here already, and stays as it is")
            elif cluster.host is None:
                yield Line(
                    f"{cluster.name}: CiGri 3 knows no host of it with an sshd (ssh_host): "
                    f"`cigri cluster add {cluster.name} --driver oar --ssh HOST`",
                    is_left_out=True,
                )
            elif self._is_dry:
                yield Line(f"{cluster.name}: to be declared as OAR behind {cluster.host}, disabled until you enable it")
            else:
                yield self._declare(cluster)

    def _declare(self, cluster: Cigri3Cluster) -> Line:
        options = {"properties": cluster.properties} if cluster.properties else {}
        config = {"driver": "oar", "transport": "ssh", "ssh": {"host": cluster.host}, "options": options}
        try:
            self._grid.call(declare_cluster, cluster=cluster.name, config=config)
            self._grid.call(disable_cluster, cluster=cluster.name)
        except CigriError as error:
            return Line(f"{cluster.name}: {error}", is_left_out=True)
        then = "" if cluster.is_enabled else "; CiGri 3 had it disabled, too"
        return Line(
            f"{cluster.name}: declared; `cigri cluster test {cluster.name}`, "
            f"then `cigri cluster enable {cluster.name}`{then}"
        )

    def accounts(self) -> Iterator[Line]:
        """Which account runs whose jobs, where the names differ."""
        for one in cigri3_database.list_accounts(self._old):
            text = f"{one.user} is {one.account} on {one.cluster}"
            try:
                min_uid = self._settings.portal.min_mapped_uid
                require_may_map_to(Caller(HOW), one.account, (), min_uid)  # not even if root imports unread
                if not self._is_dry:
                    self._grid.call(map_account, cluster=one.cluster, user=one.user, account=one.account)
            except CigriError as error:
                yield Line(f"{text}: {error}", is_left_out=True)
            else:
                yield Line(text)

    def priorities(self) -> Iterator[Line]:
        """Users who go first on a cluster. How far first is not known here."""
        for one in cigri3_database.list_priorities(self._old):
            text = f"{one.user} on {one.cluster} (priority {one.priority})"
            if one.priority <= 0:
                yield Line(f"{text}: nobody goes last here; see `cigri quota` and `cigri target`", is_left_out=True)
                continue
            try:
                if not self._is_dry:
                    self._grid.call(add_affinity, user=one.user, cluster=one.cluster)
            except CigriError as error:
                yield Line(f"{text}: {error}", is_left_out=True)
            else:
                yield Line(text)

    def campaigns(self) -> Iterator[Line]:
        """The open ones, with the tasks that are still to be done, under their users' names."""
        for campaign in self._campaigns:
            if campaign.is_open:
                label = f"{campaign.id} ({campaign.name or 'without a name'}) of {campaign.user}"
                try:
                    yield Line(f"{label}: {self._campaign(campaign)}")
                except DescriptionError as error:
                    more = f" (and {len(error.problems) - 1} more problems)" if len(error.problems) > 1 else ""
                    yield Line(f"{label}: {error.problems[0]}{more}", is_left_out=True)
                except CigriError as error:
                    yield Line(f"{label}: {error}", is_left_out=True)

    def _campaign(self, campaign: Cigri3Campaign) -> str:
        key = f"CiGri 3, {cigri3_database.read_name(self._old)}, campaign {campaign.id}"
        with self._database.read() as conn:
            if (taken := find_sent(conn, campaign.user, key)) is not None:
                return f"is campaign {taken} here since an earlier import"
        if campaign.live:
            raise CigriError(
                f"{_count(campaign.live, 'job')} of it on clusters would be done twice: stop CiGri 3's server, wait "
                "until none is left, and import again"
            )
        tasks = cigri3_database.list_tasks(self._old, campaign.id)
        if not tasks:
            return "nothing is left to be done"
        fields, failed = _fields(campaign), sum(task.has_failed for task in tasks)
        parameters = [task.parameter for task in tasks]
        told = f"{len(tasks):,} of {_count(campaign.tasks, 'task')}{f', {failed:,} of which failed,' if failed else ''}"
        if self._is_dry:
            jdl.parse_described(fields, parameters)
            return f"{told} to be done{' once it is resumed' if campaign.is_paused else ''}"
        caller, remarks = Caller(campaign.user, how=HOW), SubmissionFeedback()
        wishes = wishes_of(None, None, local=False, backend=None)
        examined = check_submission(self._database, self._settings, caller, fields, parameters, wishes, remarks)
        if remarks.problems or examined.description is None:
            raise DescriptionError(remarks.problems)
        sent = IdempotencyKey(key, "")
        campaign_id = take_over(self._database, self._settings, caller, examined, sent, is_held=campaign.is_paused)
        self._begin_averages(campaign, campaign_id)
        return f"{told} to be done by campaign {campaign_id} here{', which is held' if campaign.is_paused else ''}"

    def _begin_averages(self, campaign: Cigri3Campaign, campaign_id: int) -> None:
        here, lasted = self._ids(), defaultdict[str, list[float]](list)
        for success in cigri3_database.list_successes(self._old, campaign.id, self._days):
            lasted[success.cluster].append(success.seconds)
        with self._database.begin() as conn:
            for cluster in sorted(lasted.keys() & here.keys()):
                begin_averages(conn, campaign_id, here[cluster], lasted[cluster])

    def durations(self) -> Iterator[Line]:
        """How long tasks took, for forecasts of the same ones."""
        here, tasks, campaigns = self._ids(), 0, 0
        for campaign in self._campaigns:
            successes = cigri3_database.list_successes(self._old, campaign.id, self._days)
            known = [one for one in successes if one.cluster in here or self._is_dry]
            if not known:
                continue
            tasks, campaigns = tasks + len(known), campaigns + 1
            if not self._is_dry:
                try:
                    self._remember(campaign, known, here)
                except DescriptionError as error:
                    yield Line(f"campaign {campaign.id} of {campaign.user}: {error.problems[0]}", is_left_out=True)
        yield Line(f"{_count(tasks, 'task')} of {_count(campaigns, 'campaign')} that ended well in {self._days:g} days")

    def _remember(self, campaign: Cigri3Campaign, known: Sequence[Cigri3Success], here: Mapping[str, int]) -> None:
        description = jdl.parse_described(_fields(campaign), [one.parameter for one in known])
        by_cluster = defaultdict[str, list[LastSuccess]](list)
        for one in known:
            by_cluster[one.cluster].append(LastSuccess(one.parameter, one.seconds, one.at))
        with self._database.begin() as conn:
            for cluster, lasted in by_cluster.items():
                settings = description.clusters.get(cluster)
                if settings is not None:
                    remember_durations(conn, campaign.user, settings.exec_file, here[cluster], lasted)

    def _ids(self) -> dict[str, int]:
        """Of the clusters of this grid, by name."""
        with self._database.begin() as conn:
            return {cluster.name: cluster.id for cluster in list_every_cluster(conn)}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _fields(campaign: Cigri3Campaign) -> dict[str, Any]:
    """Its description, whose parameters stand beside it; raise DescriptionError when it is none."""
    described, _ = read_cigri3(campaign.written)
    if not isinstance(described, dict):
        raise CigriError("its description is no JSON object")
    fields = from_cigri3(described).fields
    for source in ("nb_jobs", "param_file"):
        fields.pop(source, None)
    return {**fields, "name": campaign.name or fields.get("name"), "params": []}
