"""Claim the indexes of jobs that have not started, as their wrapper would: whatever starts later, runs nothing."""

import re
from collections.abc import Sequence

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.journal import JobKey

HEAD, FOOT = "cigri-revoke 1", "cigri-revoke end"
REVOKED_ENTRY = re.compile(r"= (\d{1,18}) (\d{1,18}) (\d{1,18}) (revoked|started)", re.ASCII)


def revoke(base: str, keys: Sequence[JobKey]) -> str:
    """sh text that claims these indexes; where the batch is gone there is nothing to claim, and nothing starts."""
    calls = "".join(f"cigri_revoke {key.campaign_id:d} {key.batch_id:d} {key.index:d}\n" for key in keys)
    return f"""\
cigri_base={base}
cigri_revoke() {{
    cigri_said=revoked cigri_file=$cigri_base/c$1/b$2/journal.$3
    if [ ! -d "$cigri_base/c$1/b$2" ]; then
        :
    elif [ ! -e "$cigri_file" ] && [ ! -L "$cigri_file" ] && (umask 077; set -C; : >"$cigri_file") 2>/dev/null; then
        printf 'revoked 1 %s .\\n' "$3" >>"$cigri_file" # the claim stands without it, on a full disk
    else
        cigri_said=started
        [ ! -f "$cigri_file" ] || [ -L "$cigri_file" ] || case $(head -c 64 -- "$cigri_file") in
        "revoked 1 $3 ."*) cigri_said=revoked ;;
        esac
    fi
    echo "= $1 $2 $3 $cigri_said"
}}
echo '{HEAD}'
{calls}echo '{FOOT}'
"""


def parse_revoked(answer: ShellResult, keys: Sequence[JobKey]) -> set[JobKey]:
    """Those that never start; of the others somebody else has the index, or nothing could be written."""
    lines = answer.out.split("\n")
    whole = answer.status == 0 and lines[0] == HEAD and lines[-2:] == [FOOT, ""]
    entries = [entry for line in lines[1:-2] if (entry := REVOKED_ENTRY.fullmatch(line))] if whole else []
    said = {JobKey(int(entry[1]), int(entry[2]), int(entry[3])): entry[4] for entry in entries}
    if set(said) != set(keys):
        raise UnreadableOutput(f"jobs were perhaps not revoked (exit status {answer.status}): {excerpt(answer.err)!r}")
    return {key for key, word in said.items() if word == "revoked"}
