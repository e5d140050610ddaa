"""Many small files for the cache in one command: a tar archive in which each has the SHA-256 of its content as name.

It is unpacked beside the cache's files, verified there, and what is right gets its name among them; so a bundle that is
cut has brought what of it was whole.
"""

import io
import tarfile
from collections.abc import Iterable, Sequence

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.input_cache import CACHE

HEAD, FOOT = "cigri-bundle 1", "cigri-bundle end"
MOST_FILES = 1000
"""Their names stand in one command."""


def bundle(files: Iterable[tuple[str, bytes]]) -> bytes:
    """An archive of these, by their sums."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for sum, content in files:
            member = tarfile.TarInfo(sum)
            member.size, member.mode = len(content), 0o600
            tar.addfile(member, io.BytesIO(content))
    return archive.getvalue()


def take_files(base: str, token: str) -> str:
    """sh text that unpacks its standard input, and prints the names of those that have their sum and are in the cache.

    What an earlier one has left is removed; one that is still at work there fails by it, and is done again.
    """
    fresh = f"bundle-{token}"
    return f"""\
umask 077
cigri_status=0
mkdir -p -- {base}/{CACHE} && cd -- {base}/{CACHE} || exit 74
rm -rf -- bundle-*
mkdir -- {fresh} && cd -- {fresh} || exit 74
LC_ALL=C tar -xf - || cigri_status=74 # what came whole is taken
set -- *
[ -e "$1" ] || exit 74
cigri_sums=$(sha256sum -- "$@") || exit 74
echo '{HEAD}'
cigri_right=''
while read -r cigri_sum cigri_name; do
    if [ "$cigri_sum" = "$cigri_name" ]; then
        cigri_right="$cigri_right $cigri_name"
    else
        rm -f -- "$cigri_name"
    fi
done <<cigri-sums
$cigri_sums
cigri-sums
if [ "$cigri_right" ]; then
    chmod 500 $cigri_right && mv -f -- $cigri_right .. || exit 74
fi
cd .. && rm -rf -- {fresh} || exit 74
[ -z "$cigri_right" ] || printf '%s\\n' $cigri_right
echo '{FOOT}'
exit $cigri_status
"""


def parse_taken(sums: Sequence[str], answer: ShellResult) -> set[str]:
    """Those that are not there, as their bytes were others; raise UnreadableOutput where not all have come."""
    lines = answer.out.split("\n")
    if answer.status or lines[0] != HEAD or lines[-2:] != [FOOT, ""] or not {*lines[1:-2]} <= {*sums}:
        said = excerpt(answer.err or answer.out)
        raise UnreadableOutput(f"small inputs could not be written to the cluster: {said!r}")
    return {*sums} - {*lines[1:-2]}
