"""OAR: oarsub, oarstat, oardel, oarhold, oarresume and oarnodes, as 2.5.9 speaks; the JSON of OAR 3 is understood too.

OAR's commands look into its database, and where that fails they say nothing and exit 0, or try again for ever. So each
list proves that it was made, and nothing is changed before a question was answered.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from cigri.drivers import BatchRequest, Capacity, Driver, JobControl, RemoteJob, parse_options, submission_failed
from cigri.drivers.oar.backend_options import BACKEND
from cigri.drivers.oar.node_selection import sql
from cigri.drivers.oar.nodes import NODE_PROPERTY, read_nodes
from cigri.drivers.oar.options import BESTEFFORT_QUEUE, OarOptions
from cigri.drivers.oar.output_parsing import END_OF_OAR_ANSWER, capacity_of, jobs_of, read_answers, unreadable
from cigri.drivers.oar.submit_arguments import resource_problems, resource_words, type_problems
from cigri.errors import SubmissionRefused, UnreadableOutput
from cigri.requirements import Condition
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult

NO_OUTPUT = ("--stdout=/dev/null", "--stderr=/dev/null")
OAR_JOBS_AT_ONCE = 5000  # Linux takes at most 131,072 bytes in one word of a command
SIGNAL = 14  # SIGALRM, which the wrapper leaves to the prelude

ONE = "resource_id = (SELECT min(resource_id) FROM resources)"
OAR_LISTS = f"""\
export LC_ALL=C
unset OAR_OARSTAT_OUTPUT_FORMAT OAR_JOB_ID OAR_JOBID OAR_CPUSET OAR_JOB_KEY_FILE PERL5OPT PERL5DB PERLIO PERL_UNICODE
cigri_me=$(id -un)
cigri_list() {{ # options of oarstat, condition; where there is no such job a resource bears witness to that
    cigri_said=$(oarstat -J $1 --sql "$2") || exit
    [ -n "$cigri_said" ] || cigri_said=$(oarnodes -J -s --sql "NOT EXISTS (SELECT 1 FROM jobs WHERE $2) AND {ONE}") ||
        exit
    printf '%s\\n{END_OF_OAR_ANSWER}\\n' "$cigri_said"
}}
"""
# Without its database oarstat fails at once, while the commands that change something wait for it.
AWAKE = f'{OAR_LISTS}cigri_list "" "job_id = 0" >/dev/null\n'

REFUSALS = frozenset({4, 5, 6, 7, 8, 10, 16, 17, 18, *range(226, 256)})  # exit statuses of oarsub
NO_DATABASE = re.compile(r"\[IOlib\]|DBD::|DBI connect|DB connection error")
NEWS = re.compile(
    r"^(Simple array job submission is used|\[ADMISSION RULE\] (?!Error).*|OAR_JOB_ID=-\d+|ERROR: ld\.so: .*)\n",
    re.MULTILINE,
)
# Of oarhold and oarresume, also when the job is gone or is so already.
TAKEN = re.compile(r"request was sent|this job does not exist|is not in the (right|Hold or Suspended) state")
COMPLAINT = "/!\\"
ALIVE = "state NOT IN ('Terminated', 'Error')"

T = TypeVar("T")


class OarDriver(Driver):
    """OAR clusters. Jobs are never idempotent, since a second attempt is ours to decide.

    OAR warns a job by one signal before its walltime and before a local user's job takes its cores; the prelude tells
    the two apart, and says XCPU or TERM. The command's arguments are the seconds of warning and those of notice.
    """

    prelude = """\
CIGRI_INDEX=$OAR_ARRAY_INDEX
CIGRI_REMOTE_ID=$OAR_JOB_ID
read -r CIGRI_NODE <"$OAR_NODEFILE"
cigri_nodes() { # the file has a line for each core, in order
    cigri_oar_before=
    while read -r cigri_oar_line; do
        [ "$cigri_oar_line" = "$cigri_oar_before" ] || printf '%s\\n' "$cigri_oar_line"
        cigri_oar_before=$cigri_oar_line
    done <"$OAR_NODEFILE"
}
cigri_oar_warning=${2:-0} cigri_oar_notice=${3:-0}
read -r cigri_oar_begin cigri_skip </proc/uptime
cigri_oar_warned() { # true when the signal is to be sent now; what comes later is the same warning again
    cigri_caught=1
    [ -z "$cigri_oar_signal" ] || return 1
    read -r cigri_oar_uptime cigri_skip </proc/uptime
    cigri_oar_left=$((OAR_JOB_WALLTIME_SECONDS - ${cigri_oar_uptime%.*} + ${cigri_oar_begin%.*}))
    if [ "$cigri_oar_left" -le $((cigri_oar_warning + 30)) ]; then
        cigri_oar_signal=XCPU cigri_oar_delay=$((cigri_oar_left - cigri_oar_notice))
    else
        cigri_oar_signal=TERM cigri_oar_delay=$((cigri_oar_warning > cigri_oar_notice ? cigri_oar_warning - 10 : 0))
    fi
    [ "$cigri_oar_delay" -gt 5 ] || return 0
    ( # a short task may be done by then
        sleep "$cigri_oar_delay"
        read -r cigri_skip cigri_skip cigri_skip cigri_oar_parent cigri_skip </proc/self/stat
        [ "$cigri_oar_parent" != $$ ] || kill "-$cigri_oar_signal" $$
    ) </dev/null >/dev/null 2>&1 &
    return 1
}
cigri_oar_signal=
trap 'cigri_oar_warned && kill "-$cigri_oar_signal" $$' ALRM
"""

    backend = BACKEND

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = parse_options(OarOptions, "oar", options)
        # What runs a job does not reach OAR's server at its end, tries again after 30 s, 60 s, ... 15 min, and hears no
        # oardel meanwhile; for a job that does not die OAR suspects the node.
        self.end_delay = self._options.end_delay
        stopping = {JobControl.SUSPEND, JobControl.RESUME} if self._options.suspend else set()
        self.controls = frozenset({JobControl.HOLD, JobControl.RELEASE} | stopping)

    def problems(self, request: BatchRequest) -> list[str]:
        problems = [*resource_problems(request.resources, self._options), *type_problems(request.types, self._options)]
        if request.besteffort and request.queue not in ("", BESTEFFORT_QUEUE):
            problems.append(
                f"oar runs besteffort jobs in its queue {BESTEFFORT_QUEUE} only, not in {request.queue!r}; "
                f'leave the queue out, or write "type": "normal"'
            )
        if request.besteffort and any(kind.startswith("inner=") for kind in request.types):
            problems.append('oar never starts a besteffort job in a container (inner=ID); write "type": "normal"')
        return problems + self.common_problems(request)

    def select(self, requirement: Condition) -> list[str]:
        return [sql(requirement, self._options.columns, self._options.memory)]

    def submit(self, request: BatchRequest) -> str:
        options, warning = self._options, request.notice
        if request.besteffort:
            warning = max(warning, options.grace)
        words = ["oarsub", f"--array={request.size}", f"--name={request.tag}", *NO_OUTPUT]
        words += resource_words(request.resources, request.walltime, options.core)
        if warning > 0:
            words += [f"--checkpoint={warning}", f"--signal={SIGNAL}"]
        types = dict.fromkeys(["besteffort", *request.types] if request.besteffort else request.types)
        words += [f"--type={kind}" for kind in types]
        words += self._place(request)
        command = shlex.quote(f'exec ./job "$OAR_WORKDIR" {warning} {request.notice}')
        return f'{AWAKE}{shlex.join(words)} --directory="$PWD" {command} 2>&1; echo "{END_OF_OAR_ANSWER} $?"'

    def _place(self, request: BatchRequest) -> list[str]:
        """Where, and on whose account."""
        options, sizes = self._options, request.resources
        queue = request.queue or ("" if request.besteffort else options.queue)
        project = request.project or options.project
        conditions = [wish for wish in (options.properties, request.properties) if wish]
        conditions += [f"{options.memory} >= {sizes.mem}"] if options.memory and sizes.mem else []
        conditions += [f"{options.disk} >= {sizes.tmp}"] if options.disk and sizes.tmp else []
        conditions += self.select(request.requirement) if request.requirement is not None else ()
        if nodes := ", ".join(f"'{_name(node)}'" for node in request.exclude):
            conditions.append(f"{NODE_PROPERTY} NOT IN ({nodes})")
        joined = conditions[0] if len(conditions) == 1 else " AND ".join(f"({wish})" for wish in conditions)
        wishes = {"queue": queue, "project": project, "property": joined}
        return [f"--{name}={value}" for name, value in wishes.items() if value]

    def parse_submit(self, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        """After exit status 9 (nobody listens) the jobs are in OAR's database all the same, and are found by tag."""
        ended = re.search(rf"^{END_OF_OAR_ANSWER} (\d+)\n\Z", answer.out, re.MULTILINE)
        if not ended:
            raise unreadable("oarsub", answer)
        ids = sorted(map(int, re.findall(r"^OAR_JOB_ID=(\d+)$", answer.out, re.MULTILINE)))
        said = answer.out[: ended.start()]
        message = NEWS.sub("", said).strip()
        if not ids and int(ended[1]) in REFUSALS and message and not NO_DATABASE.search(message):
            raise SubmissionRefused(message)
        if not ids:
            raise submission_failed("oarsub", int(ended[1]), said, answer.err)
        if int(ended[1]) != 0 or len(set(ids)) != request.size:
            raise unreadable("oarsub", answer)
        return {index: str(job) for index, job in enumerate(ids, start=1)}

    def status(self, prefix: str) -> str:
        """When a job is to start stands in long lists alone: they are asked for the first that waits of each array.

        Where none waits any more by then, there is no second list: nothing has to bear witness to that.
        """
        ours = f"job_user = '$cigri_me' AND job_name LIKE '{_name(prefix)}%'"
        waiting = f"{ours} AND state = 'Waiting'"
        first = f"{waiting} AND job_id IN (SELECT min(job_id) FROM jobs WHERE {waiting} GROUP BY array_id)"
        starts = f"""\
case $cigri_said in *'"Waiting"'*)
    cigri_said=$(oarstat -J -f --sql "{first}") || exit
    case $cigri_said in *[0-9]*) printf '%s\\n{END_OF_OAR_ANSWER}\\n' "$cigri_said" ;; esac ;;
esac"""
        return f"{OAR_LISTS}cigri_list '' \"{ours} AND {ALIVE}\"\n{starts}"

    def parse_status(self, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        jobs = jobs_of(read_answers("oarstat", answer))
        return [job for job in jobs if job.tag.startswith(prefix) and not job.state.is_final]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        """By name and index, which a job that OAR itself submits again has from the one before it."""
        indexes: dict[str, list[int]] = {}
        for tag, index, _ in jobs:
            indexes.setdefault(tag, []).append(index)
        conditions = [
            f"job_name = '{_name(tag)}' AND array_index IN ({', '.join(map(str, chunk))})"
            for tag, numbers in indexes.items()
            for chunk in _chunks(numbers)
        ]
        lines = [
            f"cigri_list -f \"job_user = '$cigri_me' AND ({' OR '.join(question)})\""
            for question in _joined(conditions)
        ]
        return OAR_LISTS + "\n".join(lines)

    def parse_history(self, answer: ShellResult) -> list[RemoteJob]:
        return jobs_of(read_answers("oarstat", answer))

    def cancel(self, remote_ids: Sequence[str]) -> str:
        """Whatever goes on living is listed: oardel has one message for jobs that are gone and for those of others."""
        lines = []
        for chunk in _chunks(remote_ids):
            ids = [str(int(remote_id)) for remote_id in chunk]
            doomed = "job_id NOT IN (SELECT frag_id_job FROM frag_jobs)"
            lines.append(f"oardel {' '.join(ids)} >/dev/null")
            lines.append(f"cigri_list '' \"job_id IN ({', '.join(ids)}) AND {ALIVE} AND {doomed}\"")
        return AWAKE + "\n".join(lines)

    def parse_cancel(self, answer: ShellResult) -> None:
        if read_answers("oardel", answer):
            raise unreadable("oardel", answer)

    def control(self, verb: JobControl, remote_ids: Sequence[str]) -> str:
        command = {
            JobControl.HOLD: "oarhold",
            JobControl.RELEASE: "oarresume",
            JobControl.SUSPEND: "oarhold -r",
            JobControl.RESUME: "oarresume",
        }[verb]
        lines = [f"{command} {' '.join(str(int(remote_id)) for remote_id in chunk)}" for chunk in _chunks(remote_ids)]
        return AWAKE + "\n".join([*lines, f"echo {END_OF_OAR_ANSWER}"])

    def parse_control(self, answer: ShellResult) -> None:
        """Of what stands on stderr only OAR's own complaints count: each command of a session may say more there."""
        *lines, end, _ = ["", "", *answer.out.split("\n")]
        said = answer.err.splitlines()
        refused = [line for line in said if line.startswith(COMPLAINT) and not TAKEN.search(line)]
        others = [line for line in lines if line and not TAKEN.search(line)]
        is_taken = any(map(TAKEN.search, [*lines, *said])) and not NO_DATABASE.search(answer.err)
        if answer.status != 0 or end != END_OF_OAR_ANSWER or others or refused or not is_taken:
            raise unreadable("oarhold or oarresume", answer)

    def capacity(self, queue: str) -> str:
        """Queues have no resources of their own; of a queue that is not there or is stopped nothing is listed."""
        condition = "type = 'default'"
        if self._options.properties:
            condition += f" AND ({self._options.properties})"
        if queue:
            name = queue.replace("'", "''")
            condition += f" AND EXISTS (SELECT 1 FROM queues WHERE queue_name = '{name}' AND queues.state = 'Active')"
        return f"{OAR_LISTS}oarnodes -J --sql {shlex.quote(condition)} && echo {END_OF_OAR_ANSWER}"

    def parse_capacity(self, answer: ShellResult) -> Capacity:
        return capacity_of(answer, self._options.core)

    def nodes(self) -> str:
        """The same resources as those that count."""
        return self.capacity("")

    def parse_nodes(self, answer: ShellResult) -> list[AlikeNodes]:
        return read_nodes(answer, self._options.core, self._options.memory, self._options.columns)

    def probe(self) -> str:
        """The scheduler notes when it was there last, once a minute at least."""
        recent = "moldable_job_id = 0 AND start_time > $(date +%s) - 600"
        seen = f"EXISTS (SELECT 1 FROM gantt_jobs_predictions_visu WHERE {recent}) AND {ONE}"
        return f'{OAR_LISTS}oarstat -V && oarnodes -J -s --sql "{seen}" && echo {END_OF_OAR_ANSWER}'

    def parse_probe(self, answer: ShellResult) -> str:
        version, _, lists = answer.out.partition("\n")
        number = re.search(r"(?:version *:? *)?(\d+\.\d\S*)", version)
        if answer.status != 0 or not number or not lists.endswith(f"{END_OF_OAR_ANSWER}\n"):
            raise unreadable("oarstat or oarnodes", answer)
        if not re.search(r'"\d+"', lists):
            raise UnreadableOutput("OAR's scheduler was not seen in the last ten minutes: does Almighty run?")
        return f"OAR {number[1]}"


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+", text):
        raise ValueError(f"no tag of ours, and no node: {text!r}")
    return text


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + OAR_JOBS_AT_ONCE] for start in range(0, len(items), OAR_JOBS_AT_ONCE))


def _joined(conditions: Sequence[str]) -> Iterator[list[str]]:
    """Some conditions for each question, so that none is longer than a word of a command may be."""
    question: list[str] = []
    for condition in conditions:
        if question and sum(map(len, question)) + len(condition) > 60_000:
            yield question
            question = []
        question.append(condition)
    if question:
        yield question


DRIVER = OarDriver
