"""How sbatch is run: its words are kept apart from the job's id, and it is ended where it would wait for room.

With as many jobs as MaxJobCount allows, sbatch says so at once and tries again for two minutes before it gives up.
"""

import re

from cigri.drivers.slurm.output_parsing import END_OF_ANSWER
from cigri.errors import SubmissionFailed
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult

NO_SUCH_ARRAY = "Invalid job array specification"
WAITS_FOR_ROOM = re.compile(r"^sbatch: .*, sleeping and retrying$", re.MULTILINE)

_LIMITS = re.compile(r"^(MaxJobCount|MinJobAge) *= (.+)$", re.MULTILINE)
_LONGEST_SAID = 2000

# `read` sees each line of a pipe at once; mawk would wait for more. Where a site's own sbatch is a script that calls
# Slurm's, only the script is ended, and the submission goes on until it is cut off.
_WATCH = """\
cigri_watch() {
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            "cigri-pid "*) pid=${line#* }; continue ;;
            *", sleeping and retrying") kill "$pid" ;;
        esac
        printf '%s\\n' "$line"
    done
}
"""
_WITH_PID = """sh -c 'echo "cigri-pid $$" >&2; exec "$@"' sh"""
_AFTER = f"""\
status=${{said##*cigri-status }}
said=$(printf %s "${{said%cigri-status *}}")
[ -z "$said" ] || printf '%s\\n' "$said" >&2
case $said in
    *"{NO_SUCH_ARRAY}"*) scontrol show config | grep "^MaxArraySize " ;;
    *", sleeping and retrying"*) scontrol show config | grep -E "^(MaxJobCount|MinJobAge) " ;;
esac
[ $status -ne 0 ] || echo {END_OF_ANSWER}
exit $status"""


def watched(command: str) -> str:
    """The lines of sh that run this command of sbatch, whose words are quoted already."""
    run = f'{{ {_WITH_PID} {command} 2>&1 >&3; echo "cigri-status $?"; }} | cigri_watch'
    return f"{_WATCH}{{ said=$({run}); }} 3>&1\n{_AFTER}"


def held_up(answer: ShellResult) -> SubmissionFailed | None:
    """The error of a submission that waited for room; None where it did not."""
    said = WAITS_FOR_ROOM.search(answer.err)
    if answer.status == 0 or not said:
        return None
    limits = ", ".join(f"{name} = {value}" for name, value in _LIMITS.findall(answer.out))
    words = excerpt(said[0], _LONGEST_SAID) + (f" ({limits})" if limits else "")
    return SubmissionFailed("sbatch", answer.status, words, is_held_up=True)
