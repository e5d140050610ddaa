"""What may be asked with: a name means the same wherever it stands. OpenAPI and docs/reference/portal.md tell it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

from cigri.errors import UsageError
from cigri.formats.priority import MOST_PRIORITY


class NumberBounds(NamedTuple):
    """What a number may be, for OpenAPI to tell; who is asked with another one refuses it in a sentence."""

    least: float
    most: float | None = None
    """None: any."""
    is_above: bool = False
    """Whether `least` itself is too little."""


OwnPriority = Annotated[int, NumberBounds(-MOST_PRIORITY, MOST_PRIORITY)]
FromZero = Annotated[int, NumberBounds(0)]

MEANINGS = {
    "account": "The account of the cluster that runs the jobs; empty: the one of the same name.",
    "address": "Whom to tell, as mail:me@example.org, exec:/path words or webhook:URL, with [END,ERROR] before.",
    "after": "Where the page before ended, as its header Link tells: an id, a task's number, or a cursor.",
    "apart": "What is told apart: day, user, project or cluster, or several, as project,cluster.",
    "asked_itself": "Whether the job is asked on its cluster for the figures that it gives of its own, if it is yours.",
    "backend": "Options in the batch system's own spelling, over those of the description.",
    "before": "The id of the last page's first row, or the version of its last, to go on from there; null: begin.",
    "behind": "What it waits for, in place of `after` of the description: 12, a name, or 12:same; null: as it says.",
    "by": "When it is to be over: a moment with its time zone, or so long from now, as +2h.",
    "campaign_id": "The campaign's number.",
    "campaigns": "Numbers of campaigns, as 3,5-7; empty: all of yours.",
    "cancelled": "Tasks that were cancelled, in place of those that failed.",
    "capacity": "Tokens that there are of it, for all jobs together.",
    "check": "Whether nothing is to be added, only looked at.",
    "cluster": "The name of a cluster; empty, where it may be: all of them.",
    "clusters": "Names of clusters; none: all.",
    "comment": "What the token is for, in a line.",
    "config": "All of its configuration, as docs/reference/settings.md tells it.",
    "core_hours": "How many core-hours, used in the days of `within`, and that live jobs may use; null: any number.",
    "cores": "How many cores at a time; null: any number.",
    "ended_within": "Only what ended in the last so many days; 0: whenever.",
    "exit_code": "The exit code of the attempt that was a success, or of the last; null: any.",
    "expires_in": "Seconds until the token expires.",
    "first": "The number of the first task.",
    "file": "One of the files, as number/path, percent-encoded: what comes behind it; empty: from the first one on.",
    "for_root": "Root says by this that it wants a token or a session of its own.",
    "days": "How many days back, the last one with them; of no account where `since` is said.",
    "failed": "Only tasks that have failed.",
    "host": "By which name you reach the grid: that of its URL.",
    "hours": "How many hours back.",
    "ids": "Numbers, as 3,5-7, of events where events are asked for, else of campaigns; empty: all.",
    "inputs": "Of inputs that are replaced: the path, as it was written, and the SHA-256 of what was sent for it.",
    "is_global": "Events of clusters and the grid, in place of campaigns'.",
    "job_id": "The job's number.",
    "jobs": "How many jobs at a time; null: any number.",
    "key": "New with each submission: what is sent again with the same key within a day is stored once.",
    "key_id": "The number of the SSH key.",
    "keep": "Jobs with so many cores run on.",
    "kill": "Whether what still runs then is killed; else it is left to run.",
    "last": "The number of the last task; null: the last one of the campaign.",
    "kind": "Whether `name` is a user or a project.",
    "limit": "How many rows a page has at most; the header Link tells where the next one begins.",
    "lines": "Of several campaigns that are sent one behind the other: how many lines each has; null: it is one.",
    "local": "Whether tasks run on the grid's own host.",
    "mem": "Memory of each of these tasks from now on, as 2GB; empty: as it was.",
    "name": "Of a limit, a user or a project; of campaigns, what their names have in them.",
    "names": "Names or numbers of clusters; none: all.",
    "node": "The node of the attempt that was a success, or of the last; empty: any.",
    "nodes": "Names of nodes of the cluster.",
    "nonce": "Of the challenge that is answered.",
    "number": "The task's number in its campaign.",
    "numbers": "Numbers of tasks, as 3,7-9; empty, where it may be: all that have ended.",
    "offset": "The bytes at the beginning that are left out: of the output, or `file`, or, of an input, sent before.",
    "order": "By what rows are sorted, as id, or -id for the other way round.",
    "parameter": "What parameters have in them, as they are written in JSON, in any case; empty: whatever they are.",
    "priority": "Higher ones go first: among the campaigns of the same owner, or, where an operator says it, all.",
    "project": "As jobs of this project see it; empty: of none. Campaigns: those of this project; empty: all.",
    "public_key": "The line of a public SSH key, as its file ending in .pub has it.",
    "queue": "QUEUE@CLUSTER, or the cluster alone for its default one; empty: all.",
    "regardless": "Whether it is to wait for other campaigns no longer; what is held stays so.",
    "resubmit": "Whether failed tasks are done again.",
    "rule": "Whose jobs, as QUEUE,PROJECT,TYPE,USER: names, * (all together) or / (each); the type all is all.",
    "scope": "The most that may be done with the token, or in the session.",
    "sent_from": "Where relative paths of inputs begin, on the host of the user; empty: nobody shall know.",
    "session_id": "The session's number; null: all of yours.",
    "sha256": "The SHA-256 of an input's content, as 64 digits 0-9 and a-f.",
    "share": "What is due beside others, who have 1.",
    "signature": "Of the challenge's text, as `ssh-keygen -Y sign -n cigri-token` writes it.",
    "severity": "What matters less is not told; null: medium, or low where tags are named.",
    "since": "The first day, of UTC, as 2026-10-01; empty: so many days back.",
    "size": "All bytes of the input, with those of other requests.",
    "state": "Of tasks or campaigns; empty: any, where nothing else says more.",
    "streams": "Which outputs: out, err or both.",
    "subscription_id": "The subscription's number.",
    "task": "A task's number in its campaign; null: the campaign as a whole.",
    "task_id": "The task's id.",
    "task_inputs": 'The SHA-256 of the list of the files that these tasks take along; "": they take none.',
    "tasks": "Ranges of tasks by their numbers in the campaign, each from ... to; null: all.",
    "token_id": "The token's number.",
    "type": "Of a test, a task for each cluster is stored; null: as the description says.",
    "until": "The last day, of UTC, which is one of them; empty: today.",
    "user": "Whose: empty, where it may be, campaigns are everybody's, and an SSH key is yours.",
    "version": "Of a document; null: the one that holds.",
    "waiting_only": "Whether what runs goes on.",
    "walltime": "The walltime of each of these tasks from now on, as 2h; empty: as it was.",
    "where": "What is required of nodes, as in the description of a campaign.",
    "within": "Days in which core-hours count, today with them; null: 30.",
    "with_closed": "Closed events, too.",
    "with_ended": "Campaigns that have ended, too.",
}


@contextmanager
def about(parameter: str) -> Iterator[None]:
    """Have what is wrong in here, a UsageError or a ValueError, name the parameter."""
    try:
        yield
    except (UsageError, ValueError) as error:
        raise UsageError(str(error), parameter) from None
