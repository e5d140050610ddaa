"""What running jobs say of themselves (JOBSTATUS), and what they are told of a shutdown: one command for many jobs."""

import re
from collections.abc import Sequence

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.journal import JobKey
from cigri.wrapper.read_limits import FILE_BYTES, IS_FILE, WRITE_NEW
from cigri.wrapper.termination_cost import KEYS

HEAD, FOOT = "cigri-status 1", "cigri-status end"
STATUS_ENTRY = re.compile(r"= (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\w+))?", re.ASCII)
LONGEST_STATUS = 100  # characters of a value
STATUS_LOCK_SECONDS = 2  # a pilot that holds its lock longer is not waited for; once one did, nobody is
VALUE_BLOCKS = 2  # of a file of the status, as `find -size` counts

PLACE_FUNCTION = f"""\
{IS_FILE}cigri_place() {{
    cigri_batch=$cigri_base/c$1/b$2
    cigri_status=$cigri_batch/status.$3 cigri_news=$cigri_batch/shutdown.$3 cigri_machine_news=$cigri_batch/machine.$3
    cigri_is_file "$cigri_batch/journal.$3" || return 0
    read -r cigri_word cigri_version cigri_first cigri_second cigri_third cigri_rest <<EOF
$(head -c {FILE_BYTES} "$cigri_batch/journal.$3" | sed -n '/^features [12] .* [.]$/h; ${{x;p;}}')
EOF
    case "$cigri_word $cigri_version $cigri_third $cigri_rest" in
    'features 1 . ') cigri_third=- ;; # of a wrapper that knew nothing of the machine
    'features 2 '*' .') ;;
    *) return 0 ;;
    esac
    cigri_status=$cigri_first cigri_news=$cigri_second cigri_machine_news=$cigri_third
}} 2>/dev/null
"""


def read_status(base: str, keys: Sequence[JobKey]) -> str:
    """sh text that prints the status of each of these jobs that has one, read under its lock."""
    return f"""\
cigri_base={base} cigri_wait={STATUS_LOCK_SECONDS}
{PLACE_FUNCTION}cigri_print() {{
    flock -s -w "$cigri_wait" 9 || {{
        cigri_wait=0
        return
    }}
    cigri_small=$(find "$cigri_status/." ! -name . -prune -type f -size -{VALUE_BLOCKS + 1})
    for cigri_key in {" ".join(KEYS)}; do
        cigri_value=
        case "$cigri_small
" in
        *"/$cigri_key
"*) IFS= read -r cigri_value <"$cigri_status/$cigri_key" ;;
        esac
        [ -n "$cigri_value" ] || continue
        printf '> %s %.{LONGEST_STATUS}s\\n' "$cigri_key" "$cigri_value"
    done
}}
cigri_show() {{
    cigri_place "$@"
    echo "= $1 $2 $3"
    case $cigri_status in /*) ;; *) return ;; esac
    cigri_is_file "$cigri_status/used_CPU" || return
    cigri_print 9<"$cigri_status/used_CPU"
}} 2>/dev/null
echo '{HEAD}'
{_calls("cigri_show", keys)}echo '{FOOT}'
"""


def parse_status_files(answer: ShellResult, keys: Sequence[JobKey]) -> dict[JobKey, dict[str, str]]:
    """What each job says, which may be nothing; raise UnreadableOutput when the answer is not whole."""
    statuses: dict[JobKey, dict[str, str]] = {}
    key = JobKey(0, 0, 0)
    for line in _lines(answer):
        if entry := STATUS_ENTRY.fullmatch(line):
            key = JobKey(int(entry[1]), int(entry[2]), int(entry[3]))
            statuses[key] = {}
        elif line.startswith("> ") and key in statuses:
            name, _, value = line[2:].partition(" ")
            statuses[key][name] = value
    if set(statuses) != set(keys):
        raise UnreadableOutput("the answer about the status of jobs is not about those that were asked for")
    return statuses


def announce(base: str, keys: Sequence[JobKey], at: int, *, machine_only: bool = False) -> str:
    """sh text that tells running jobs when they and their machine will be shut down; a new time replaces an old one.

    `machine_only`: they will be over by then.
    """
    write = f"""[ ! -d "$1" ] && cigri_write_new "$1.new" '{at:d}\n'"""  # `mv` would put it into a directory
    return _tell(base, keys, write + ' && mv -f "$1.new" "$1" && cigri_turn "$2" /told', machine_only)


def withdraw(base: str, keys: Sequence[JobKey], *, machine_only: bool = False) -> str:
    """sh text after which these jobs no longer find a shutdown announced, or only none of their machine."""
    return _tell(base, keys, """cigri_turn "$2" '' && rm -f "$1\"""", machine_only)


def parse_told(answer: ShellResult) -> set[JobKey]:
    """The jobs that were told; others have ended, or the site tells them itself."""
    entries = [entry for line in _lines(answer) if (entry := STATUS_ENTRY.fullmatch(line)) and entry[4] == "told"]
    return {JobKey(int(entry[1]), int(entry[2]), int(entry[3])) for entry in entries}


def _tell(base: str, keys: Sequence[JobKey], change: str, machine_only: bool) -> str:
    """`change` is what is done to the file $1, and to the link $2 by which the job finds it in its directory."""
    return f"""\
cigri_base={base}
{WRITE_NEW}{PLACE_FUNCTION}cigri_turn() {{
    [ -L "$1" ] || return 0
    cigri_to=$(readlink "$1") && ln -sfn "${{cigri_to%/told}}$2" "$1.new" && mv -fT "$1.new" "$1"
}}
cigri_change() {{
    case $1 in /*) ;; *) return 1 ;; esac
    [ -d "${{1%/*}}" ] && {change} && cigri_is_told=1
}}
cigri_tell() {{
    cigri_place "$@"
    cigri_is_told=
    cigri_change "$cigri_machine_news" "$cigri_batch/host.$3"
    {":" if machine_only else 'cigri_change "$cigri_news" "$cigri_batch/own.$3"'}
    [ -z "$cigri_is_told" ] || echo "= $1 $2 $3 told"
}} 2>/dev/null
echo '{HEAD}'
{_calls("cigri_tell", keys)}echo '{FOOT}'
"""


def _calls(function: str, keys: Sequence[JobKey]) -> str:
    return "".join(f"{function} {key.campaign_id:d} {key.batch_id:d} {key.index:d}\n" for key in keys)


def _lines(answer: ShellResult) -> list[str]:
    lines = answer.out.split("\n")
    if answer.status != 0 or lines[0] != HEAD or lines[-2:] != [FOOT, ""]:
        error = excerpt(answer.err)
        raise UnreadableOutput(f"the status of jobs did not come whole (exit status {answer.status}): {error!r}")
    return lines[1:-2]
