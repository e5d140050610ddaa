"""A simulated cluster behind its front-end: understands the sh text that the modules send, instead of running it.

Of the files on a real cluster it keeps what matters: which tasks the jobs of a batch carry, journals and outboxes.
What it does not understand is an error: the laboratory would else measure something that no cluster does.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cigri.errors import ArrayTooLarge, SubmissionRefused
from cigri.script.answers import Answer
from modules.laboratory.cluster.batch_system import BatchSystem
from modules.laboratory.cluster.driver import REFUSED, TOO_LARGE, Order, answered, order_of, shown
from modules.laboratory.cluster.jobs import GridJob, GridTask, TaskEnd
from modules.laboratory.cluster.ledger import node_name

BUNDLED = re.compile(
    r"\( :\n(.*?)\n\)\ns=\$\?; printf '\\n%s %s %s\\n' (\S+) (\S+) \$s; printf '\\n%s\\n' \2 >&2\n", re.DOTALL
)
BATCH = re.compile(r'mkdir -p -- "\$cigri_base/outbox" "\$cigri_base/c(\d+)" .*\nif ! mkdir b(\d+); then\n')
JOB = re.compile(r"(?<=\n)(\d+)\) cigri_job (\d+) \d+ \d+ (\d+)(?: \w+)?\n((?:cigri_task .*\n)+);;\n")
TASK = re.compile(r"^cigri_task (\d+) (\d+) (\d+) ", re.MULTILINE)
OVER = re.compile(r"xargs rm -rf <<'EOF'\n(.*?)EOF\n", re.DOTALL)
STORED = re.compile(r"^    printf '%s' '(.*?)'\n", re.DOTALL | re.MULTILINE)
LIMIT = re.compile(r"\(shown >= (\d+)\)")
SHOWN = re.compile(r"^cigri_show (\d+) (\d+) (\d+)$", re.MULTILINE)
REVOKED = re.compile(r"^cigri_revoke (\d+) (\d+) (\d+)$", re.MULTILINE)
VOIDED = re.compile(r'mkdir -p -- "\$cigri_base/c(\d+)/b(\d+)\.void"')
EXISTS = Answer(73, "", "the batch is there, or voided")

Workload = Callable[[int, int], GridTask]
"""What task `number` of a campaign does on this cluster."""


class Carried(NamedTuple):
    """A task as a job carries it; number 0 and id 0 are a prologue or an epilogue."""

    task_id: int
    number: int
    attempt: int


class Written(NamedTuple):
    """A job of a batch that was written to the cluster; its tasks run `side` at a time.

    The batch system knows only tasks one after the other: those side by side are told to it as so much shorter.
    """

    job_id: int
    side: int
    tasks: Sequence[Carried]


@dataclass
class Home:
    """What one user has on the cluster."""

    batches: dict[int, dict[int, Written]] = field(default_factory=dict)
    campaigns: dict[int, int] = field(default_factory=dict)  # by batch
    voided: set[int] = field(default_factory=set)
    outbox: dict[str, list[str]] = field(default_factory=dict)
    journals: dict[tuple[int, int], list[str]] = field(default_factory=dict)

    def forget(self, name: str) -> None:
        """All that is in this file of the outbox is stored, and its job over: nobody asks for it again."""
        if self.outbox.pop(name, None) is None:
            return
        batch_id, index = map(int, name.split("-"))
        del self.journals[batch_id, index], self.batches[batch_id][index]
        if not self.batches[batch_id]:
            del self.batches[batch_id]


class Site:
    """`epoch` is the scenario's start in seconds since 1970."""

    def __init__(self, system: BatchSystem, workload: Workload, epoch: float) -> None:
        self.system = system
        self._workload, self._epoch = workload, epoch
        self._homes: dict[str, Home] = {}

    def run(self, user: str, script: str) -> Answer:
        """The answer of the front-end; errors as those of a transport."""
        home = self._homes.setdefault(user, Home())
        parts = list(BUNDLED.finditer(script))
        if not parts:
            return self._do(home, user, script)
        out = err = ""
        for part in parts:
            answer = self._do(home, user, part[1])
            out += f"{answer.out}\n{part[2]} {part[3]} {answer.status}\n"
            err += f"{answer.err}\n{part[2]}\n"
        return Answer(0, out, err)

    def _do(self, home: Home, user: str, text: str) -> Answer:
        if text.startswith("simulated "):
            return self._obey(home, user, order_of(text))
        if found := BATCH.search(text):
            campaign_id, batch_id = int(found[1]), int(found[2])
            if batch_id in home.campaigns or batch_id in home.voided:
                return EXISTS
            home.campaigns[batch_id] = campaign_id
            home.batches[batch_id] = dict(_jobs(text))
            return self._obey(home, user, order_of(text[text.rindex("\nsimulated ") + 1 :]))
        if "echo 'cigri-outbox 1'" in text:
            return self._collect(home, user, text)
        if "echo 'cigri-journal 1'" in text:
            return self._journals(home, user, text)
        if "echo 'cigri-revoke 1'" in text:
            return self._revoke(home, text)
        if found := VOIDED.search(text):
            return self._void(home, int(found[2]))
        if "echo 'cigri-tail 1 there'" in text:
            return Answer(0, "cigri-tail 1 absent\n", "")
        if "/proc/loadavg" in text:
            return Answer(0, "0 1\n", "")
        raise ValueError(f"a simulated cluster does not understand: {text[:300]}")

    def _obey(self, home: Home, user: str, order: Order) -> Answer:
        about = order.about
        match order.verb:
            case "submit":
                return self._submit(home, user, about)
            case "status":
                return shown(self.system.live(user, about["prefix"]), self._epoch)
            case "history":
                known = [remote_id for _, _, remote_id in about["jobs"] if remote_id]
                tags = dict.fromkeys(tag for tag, _, remote_id in about["jobs"] if not remote_id)
                found = [sight for tag in tags for sight in self.system.find(tag)]
                return shown([*self.system.past(known), *found], self._epoch)
            case "cancel":
                self.system.cancel(about["remote_ids"])
                return answered(len(about["remote_ids"]))
            case "capacity":
                return answered(self.system.capacity()._asdict())
            case "nodes":
                return answered([self.system.machine.cores_per_node, self.system.machine.nodes])
            case "probe":
                self.system.capacity()
                return answered("simulated cluster")
        raise ValueError(f"no order to a simulated cluster: {order.verb}")

    def _submit(self, home: Home, user: str, about: Mapping[str, Any]) -> Answer:
        batch_id = batch_of(about["tag"])
        campaign_id, written = home.campaigns[batch_id], home.batches[batch_id]
        excluded = sum(1 << node for node in range(self.system.machine.nodes) if node_name(node) in about["exclude"])
        jobs = [
            GridJob(
                about["tag"],
                index,
                user,
                about["cores"],
                about["walltime"],
                about["besteffort"],
                list(self._told(campaign_id, written[index])),
                excluded,
            )
            for index in range(1, about["size"] + 1)
        ]
        try:
            return answered(self.system.submit(about["tag"], user, jobs))
        except ArrayTooLarge as error:
            return Answer(TOO_LARGE, str(error.largest), str(error))
        except SubmissionRefused as error:
            return Answer(REFUSED, "", str(error))

    def _told(self, campaign_id: int, job: Written) -> Iterator[GridTask]:
        for task in job.tasks:
            told = self._workload(campaign_id, task.number)
            yield GridTask(told.seconds / job.side, told.exit_code)

    def _collect(self, home: Home, user: str, text: str) -> Answer:
        for over in OVER.finditer(text):
            for name in over[1].splitlines():
                home.forget(name)
        self._receive(home, user)
        stored, limit = STORED.search(text), LIMIT.search(text)
        if stored is None or limit is None:
            raise ValueError(f"a simulated cluster does not understand: {text[:300]}")
        known = {name: int(lines) for name, lines in map(str.split, stored[1].splitlines())}
        said, left = ["cigri-outbox 1"], int(limit[1])
        for name, lines in home.outbox.items():
            new = lines[known.get(name, 0) :][:left]
            left -= len(new)
            if new or name not in known:
                said += [f"= {name} {known.get(name, 0)}", *(f"> {line}" for line in new)]
        unsaid = sum(len(lines) for lines in home.outbox.values()) - sum(line[0] == ">" for line in said)
        unsaid -= sum(min(known.get(name, 0), len(lines)) for name, lines in home.outbox.items())
        return Answer(0, "\n".join([*said, f"cigri-outbox end {len(said) - 1} {unsaid}\n"]), "")

    def _journals(self, home: Home, user: str, text: str) -> Answer:
        self._receive(home, user)
        lines = ["cigri-journal 1"]
        for found in SHOWN.finditer(text):
            campaign_id, batch_id, index = map(int, found.groups())
            records = home.journals.get((batch_id, index))
            state = "started" if records else "voided" if batch_id in home.voided else "absent"
            lines.append(f"= {campaign_id} {batch_id} {index} {state}")
            lines += [f"> {record}" for record in records or ()]
        return Answer(0, "\n".join([*lines, "cigri-journal end", ""]), "")

    def _revoke(self, home: Home, text: str) -> Answer:
        lines = ["cigri-revoke 1"]
        for found in REVOKED.finditer(text):
            campaign_id, batch_id, index = map(int, found.groups())
            state = "started" if (batch_id, index) in home.journals else "revoked"
            lines.append(f"= {campaign_id} {batch_id} {index} {state}")
        return Answer(0, "\n".join([*lines, "cigri-revoke end", ""]), "")

    def _void(self, home: Home, batch_id: int) -> Answer:
        if any(batch == batch_id for batch, _ in home.journals):
            return Answer(0, "cigri-void started\n", "")
        home.voided.add(batch_id)
        return Answer(0, "cigri-void voided\n", "")

    def _receive(self, home: Home, user: str) -> None:
        """Put the records of tasks that have ended where the wrapper would."""
        while ends := self.system.ended_tasks(user):
            for end in ends:
                batch_id = batch_of(end.tag)
                written = home.batches.get(batch_id, {}).get(end.array_index)
                if written is None:
                    continue  # it was given up, and all that it had told is stored
                line = self._record(written, end)
                home.outbox.setdefault(f"{batch_id}-{end.array_index}", []).append(line)
                home.journals.setdefault((batch_id, end.array_index), []).append(line)
            self.system.ended_tasks(user, [end.number for end in ends], 0)

    def _record(self, job: Written, end: TaskEnd) -> str:
        task = job.tasks[end.position]
        times = f"{round((self._epoch + end.started) * 1000)} {round(end.seconds * job.side * 1000)}"
        about = f"{job.job_id} {task.task_id} {task.attempt} {end.position + 1}"
        return f"end 1 {about} {end.exit_code} exit {times} {end.node or '-'} - ."


def batch_of(tag: str) -> int:
    """The number of the batch that a tag names (cigri.<grid>.<batch>)."""
    return int(tag.rpartition(".")[2])


def _jobs(text: str) -> Iterator[tuple[int, Written]]:
    for job in JOB.finditer(text):
        tasks = [Carried(*map(int, task.groups())) for task in TASK.finditer(job[4])]
        yield int(job[1]), Written(int(job[2]), int(job[3]), tasks)
