"""Every setting, its default, and what it means."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from cigri.settings.algorithms import Algorithm
from cigri.settings.listen_address import known_address, known_networks, known_server
from cigri.settings.operating_hours import known_zone, readable_windows
from cigri.settings.sources import USUAL_PURGE, default_data_directory

ExpandedPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
OptionalPath = Annotated[ExpandedPath | None, BeforeValidator(lambda value: value or None)]
RateOrNone = Annotated[float | None, BeforeValidator(lambda value: None if value == "" else value)]
Windows = Annotated[tuple[str, ...], AfterValidator(readable_windows)]
AddressOrNone = Annotated[str, AfterValidator(known_address)]
ServerOrNone = Annotated[str, AfterValidator(known_server)]
Networks = Annotated[tuple[str, ...], AfterValidator(known_networks)]
TimeZone = Annotated[str, AfterValidator(known_zone)]


class SettingsSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSettings(SettingsSection):
    url: str = Field("", description="PostgreSQL to use, postgresql://user@host/name; empty: the embedded one")
    lock_timeout: float = Field(30.0, gt=0, description="seconds a statement waits for a lock before it gives up")


class AlmightySettings(SettingsSection):
    period: float = Field(2.0, gt=0, description="seconds between two cycles; a submission wakes the cycle at once")
    deadline: float = Field(120.0, gt=0, description="seconds after which a module's pass is killed and tried again")
    patience: float = Field(10.0, gt=0, description="seconds a pass waits for slow clusters before it leaves them")
    silence: float = Field(
        30.0, gt=0, description="seconds without a sign of life after which a process is told as stalled"
    )
    janitor: str = Field("17 3 * * *", description="when the janitor runs, as in a crontab; empty: never")


class LogSettings(SettingsSection):
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="what the modules write: debug, info, warning or error, and what is worse"
    )
    repeat: float = Field(
        60.0, ge=0, description="seconds in which what goes wrong in the same way is written once; 0: each time"
    )


class JobSettings(SettingsSection):
    walltime: int = Field(3600, gt=0, description="seconds, of campaigns that say none")
    cpu: int = Field(1, gt=0, description="cores of a job, of campaigns that say none")
    mem: int = Field(0, ge=0, description="MB of memory of a job, of campaigns that say none; 0: none is asked for")
    deaths: int = Field(20, ge=0, description="times a task is resubmitted free of charge (preemption, lost node, ...)")
    resubmissions: int = Field(100, ge=0, description="times a task may ask to be resubmitted (exit 66 or 67)")
    checkpoints: int = Field(200, ge=0, description="times a task may stop at a checkpoint (exit 99) and be continued")
    same_cluster: float = Field(
        3600.0, ge=0, description="seconds a task waits for the cluster that has its checkpoint"
    )
    waiting_too_long: float = Field(900.0, gt=0, description="seconds in a queue before a job is tried elsewhere")
    moves: int = Field(5, ge=0, description="times a task may be taken out of a queue to be tried elsewhere")
    walltime_slack: float = Field(1800.0, ge=0, description="seconds past its walltime after which a job is killed")
    verify_kill: float = Field(60.0, gt=0, description="seconds after which a kill that had no effect is sent again")
    stderr_tail: int = Field(2000, ge=0, description="bytes of standard error kept in the event of a failed task")


class BudgetSettings(SettingsSection):
    errors: int = Field(10, gt=0, description="failures in a row that set a cluster aside for a campaign")
    backoff: float = Field(60.0, gt=0, description="seconds a cluster is set aside the first time; doubles each time")
    longest: float = Field(3600.0, gt=0, description="seconds a cluster is set aside at most")


class NodeSettings(SettingsSection):
    share: float = Field(
        0.25, ge=0, le=1, description="part of a cluster's nodes, found or seen lately, that may be left out as sick"
    )
    backoff: float = Field(
        1800.0, gt=0, description="seconds a sick node is left out the first time; doubles each time"
    )
    longest: float = Field(86_400.0, gt=0, description="seconds a sick node is left out at most")


class GroupingSettings(SettingsSection):
    target: float = Field(
        60.0, ge=0, description="seconds that a job of several short tasks shall last; 0: one task a job, always"
    )


class ForecastSettings(SettingsSection):
    algorithm: Algorithm = Field("lean", description="how much is sent to clusters: docs/explanation/prediction.md")
    window: float = Field(3600.0, gt=0, description="seconds of the past from which throughput and kills are taken")
    recent: float = Field(900.0, gt=0, description="seconds of the past from which starts and local load are taken")
    history: float = Field(60.0, gt=0, description="seconds between two rows of a forecast's history")


class PolicySettings(SettingsSection):
    order: str = Field(
        "fifo", description="who goes first: fifo, affinity, fairshare or eta; see docs/explanation/scheduling.md"
    )
    scheduler: str = Field("workqueue", description="of campaigns that name none: workqueue, prediction or finalize")
    replicas: bool = Field(True, description="begin the last tasks of campaigns that want it a second time elsewhere")
    half_life: float = Field(7.0, gt=0, description="fairshare: days after which what was used counts half as much")
    recall: int = Field(
        100,
        ge=0,
        description="waiting jobs taken back in a cycle for campaigns of higher priority, and with fairshare for those "
        "below their share, at most; 0: none",
    )
    patience: float = Field(
        3600.0, gt=0, description="seconds without a job after which a campaign is given some before all others"
    )
    tests: int = Field(
        3, gt=0, description="jobs of test campaigns, which go before all others, that a user has on a cluster at most"
    )
    handful: int = Field(10, gt=0, description="jobs that a campaign is given then, at most")
    first_jobs: int = Field(
        0, ge=0, description="jobs of each new campaign that go before others, so many of a user at a time; 0: none do"
    )
    scouts: int = Field(
        10,
        ge=0,
        description="jobs that a new campaign has on a cluster at most; each success doubles them; 0: any number",
    )
    scouting: float = Field(30.0, gt=0, description="seconds after which a job that still runs counts as a success")
    stake: float = Field(
        1800.0, ge=0, description="core-seconds that a new campaign may risk on a cluster before, in more jobs at once"
    )
    reserve_after: float = Field(
        120.0, ge=0, description="seconds after which cores are kept free for a job of several cores, on one cluster"
    )


class ResourceSettings(SettingsSection):
    discovery: float = Field(900.0, gt=0, description="seconds after which a cluster is asked again what nodes it has")
    refresh: float = Field(900.0, gt=0, description="seconds after which the queues of submit pools are computed anew")
    keep_pools: float = Field(1.0, ge=0, description="days that a submit pool is kept once no open campaign uses it")


class HistorySettings(SettingsSection):
    keep_hot: float = Field(30.0, ge=0, description="days after its end that a campaign stays in the hot tables")
    keep_usage: float = Field(365.0, gt=0, description="days that the usage of clusters is kept")
    keep_events: float = Field(
        90.0,
        gt=0,
        description="days that closed events, messages, the audit trail (a day at least), and tokens that are over "
        "are kept",
    )
    keep_durations: int = Field(5_000_000, ge=0, description="tasks of which it is kept how long they took, the latest")
    purge_after: float = Field(
        USUAL_PURGE, ge=0, description="days after its end that a campaign's files stay on the clusters"
    )


class HoursSettings(SettingsSection):
    windows: Windows = Field(
        (), description='when clusters are the grid\'s, for jobs of type nightly: ["mon-fri 19:00-07:00", "sat-sun"]'
    )
    timezone: TimeZone = Field(
        "UTC", min_length=1, description="of the windows, as Europe/Paris; clusters may have others of their own"
    )


class InputSettings(SettingsSection):
    directory: OptionalPath = Field(
        None,
        description="where the inputs of campaigns are kept on the grid's host; empty: inputs in the data directory",
    )
    largest: int = Field(10_000, gt=0, description="MB that one input may have")
    of_user: int = Field(100_000, gt=0, description="MB that all inputs of a user may have that are kept")
    bandwidth: RateOrNone = Field(
        None, gt=0, description="MB that inputs may take of the grid's line in a second, to all clusters; empty: all"
    )
    leave_free: int = Field(
        500, ge=0, description="MB of a cluster's disk that inputs leave free: what would take them waits"
    )
    ahead: float = Field(
        3.0, gt=0, description="tasks for each core of a cluster whose own inputs are sent there ahead of need"
    )
    keep: float = Field(
        7.0, ge=0, description="days that an input is kept which no campaign needs any more, there and on the clusters"
    )


class NotifySettings(SettingsSection):
    digest: float = Field(
        900.0, ge=0, description="seconds between two messages to a subscription about a campaign; 0: news go at once"
    )
    timeout: float = Field(30.0, gt=0, description="seconds that a mail, a command or a request to a webhook may take")
    tries: int = Field(6, gt=0, description="times that a message is tried before it is given up")
    smtp: ServerOrNone = Field("", description="server that takes mail, as mail.example.org:25; empty: no mail is sent")
    sender: str = Field(
        "cigri@localhost", pattern=r"^[^\s@<>,]+@[^\s@<>,]+$", description="address that mail is sent from"
    )
    smtp_user: str = Field(
        "", description="account on the server of mail, used over TLS only (by STARTTLS, at port 465 from the start)"
    )
    smtp_password_file: OptionalPath = Field(None, description="file with the password of that account, and no more")
    commands: Literal["own", "sudo", "none"] = Field(
        "own",
        description="whose exec: commands run: own: those of the grid's account, as root all; sudo: all by sudo -n -u; "
        "or none",
    )
    private: Networks = Field(
        (),
        description='networks of this site in which webhooks may be, beside public addresses: ["10.3.0.0/16"]',
    )


class OutputSettings(SettingsSection):
    directory: OptionalPath = Field(
        None,
        description="where outputs are kept that are collected for users who are not the grid's own account; "
        "empty: outputs in the data directory",
    )
    largest: int = Field(10_000, gt=0, description="MB that the outputs of a task may have to be collected")
    most: int = Field(
        10_000,
        gt=0,
        description="MB of outputs that wait on a cluster; above them campaigns that collect get no new jobs there",
    )
    of_user: int = Field(100_000, gt=0, description="MB that all collected outputs of a user may have in the store")
    archive: int = Field(2_000, gt=0, description="MB that outputs in the store may have to be got as one tar file")


class PortalSettings(SettingsSection):
    socket: OptionalPath = Field(
        None, description="unix socket of the portal; empty: portal.sock in the data directory, for its owner alone"
    )
    address: AddressOrNone = Field(
        "",
        description="where the portal listens by TCP, for tokens and browsers, as 127.0.0.1:8080; empty: nowhere, "
        "or, of an own grid, at a port of 127.0.0.1 that it keeps",
    )
    names: tuple[str, ...] = Field(
        (),
        description="names of the portal beside localhost: by which it is called, and whose pages may change things; "
        "grid.example.org is served by https, others are written out: grid:8443, http://grid",
    )
    proxy: str = Field(
        "",
        description="account of a reverse proxy, whose word on the socket is taken for who its caller is; empty: none",
    )
    proxy_header: str = Field(
        "X-Remote-User", pattern="^[A-Za-z0-9-]+$", description="the header in which it says the name of an account"
    )
    leave_free: int = Field(
        500,
        ge=0,
        description="MB that submissions, inputs and outputs leave free for the grid itself on the disks of the data "
        "directory, the stores and $TMPDIR",
    )
    operators: tuple[str, ...] = Field(
        (), description='who may operate the grid beside root and its own account: users, or "@group" for groups'
    )
    group_may: Literal["nothing", "see", "change"] = Field(
        "nothing",
        description="what members of the owner's group (that of the account) may do with a campaign as its owner may",
    )
    min_mapped_uid: int = Field(
        1000,
        ge=0,
        description="lowest number of an account of this host as which an operator may let jobs run; for those below, "
        "for the grid's own account and for gateway accounts it takes root",
    )
    largest_submission: int = Field(
        1024, gt=0, description="MB that a submission may have, kept in $TMPDIR while it arrives"
    )


class Settings(SettingsSection):
    data_directory: ExpandedPath = Field(
        default_factory=default_data_directory,
        description="where the embedded database, the local cluster and the logs live",
    )
    admission_directory: OptionalPath = Field(
        None, description="admission rules of the site, asked before those that come with CiGri; empty: none"
    )
    admission_without: tuple[str, ...] = Field(
        (), description='rules that come with CiGri and are not asked, by name: ["10-normal-jobs.py"]'
    )
    database: DatabaseSettings = DatabaseSettings()
    almighty: AlmightySettings = AlmightySettings()
    log: LogSettings = LogSettings()
    jobs: JobSettings = JobSettings()
    budget: BudgetSettings = BudgetSettings()
    nodes: NodeSettings = NodeSettings()
    grouping: GroupingSettings = GroupingSettings()
    forecast: ForecastSettings = ForecastSettings()
    policy: PolicySettings = PolicySettings()
    resources: ResourceSettings = ResourceSettings()
    history: HistorySettings = HistorySettings()
    hours: HoursSettings = HoursSettings()
    inputs: InputSettings = InputSettings()
    notify: NotifySettings = NotifySettings()
    outputs: OutputSettings = OutputSettings()
    portal: PortalSettings = PortalSettings()
