"""What else is done to the files on a cluster: look at an output, withdraw a batch, remove a campaign."""

from collections.abc import Sequence
from typing import Literal

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.read_limits import IS_FILE

StreamName = Literal["out", "err"]
TAIL_HEAD, TAIL_FOOT = "cigri-tail 1 there\n", "\ncigri-tail end\n"


def tail(
    base: str, campaign_id: int, batch_id: int, index: int, position: int, stream: StreamName, max_bytes: int
) -> str:
    """sh text that prints the last bytes of a task's output."""
    return f"""\
cigri_file={base}/c{campaign_id:d}/b{batch_id:d}/{index:d}.{position:d}.{stream}
{IS_FILE}cigri_is_file "$cigri_file" || {{ echo 'cigri-tail 1 absent'; exit 0; }}
echo 'cigri-tail 1 there'
tail -c {max_bytes:d} -- "$cigri_file" || exit 74
printf '\\ncigri-tail end\\n'
"""


def parse_tail(answer: ShellResult) -> str | None:
    """The text, or None when there is no such file, or something in its place that is none."""
    if answer.status == 0 and answer.out == "cigri-tail 1 absent\n":
        return None
    if answer.status or not answer.out.startswith(TAIL_HEAD) or not answer.out.endswith(TAIL_FOOT):
        raise UnreadableOutput(f"the output did not come whole (exit status {answer.status}): {excerpt(answer.err)!r}")
    return answer.out[len(TAIL_HEAD) : -len(TAIL_FOOT)]


def void_batch(base: str, campaign_id: int, batch_id: int) -> str:
    """sh text after which no job of the batch can start any more, unless one did before.

    The mark b<batch>.void comes first, and write_batch looks for it after it has made b<batch>: so of a writer and a
    withdrawer at the same moment at least one sees the other. The journals are looked at after the renaming, because
    a job claims its index by the old name.
    """
    return f"""\
cigri_base={base}
umask 077
mkdir -p -- "$cigri_base/c{campaign_id:d}/b{batch_id:d}.void" && cd -- "$cigri_base/c{campaign_id:d}" || exit 74
cigri_started() {{
    set -- "$1"/journal.*
    [ -e "$1" ]
}}
if [ -d b{batch_id:d} ] && ! cigri_started b{batch_id:d}; then
    mv b{batch_id:d} b{batch_id:d}.void/ || exit 74
fi
if cigri_started b{batch_id:d}.void/b{batch_id:d}; then
    mv b{batch_id:d}.void/b{batch_id:d} . || exit 74
fi
if [ -d b{batch_id:d} ]; then
    rmdir b{batch_id:d}.void
    echo 'cigri-void started'
else
    echo 'cigri-void voided'
fi
"""


def parse_void(answer: ShellResult) -> bool:
    """True: nothing ran and nothing will; False: jobs did start, and the batch stands as it was."""
    outcomes = {"cigri-void voided\n": True, "cigri-void started\n": False}
    if answer.status or answer.out not in outcomes:
        raise UnreadableOutput(
            f"the batch was perhaps not voided (exit status {answer.status}): {excerpt(answer.err)!r}"
        )
    return outcomes[answer.out]


def purge_campaign(base: str, campaign_id: int, batch_ids: Sequence[int]) -> str:
    """sh text that removes these batches of a campaign, all that it left on the cluster but records not yet collected.

    Another life of the database may have had a campaign of this number: what it left is not ours to remove.
    """
    if campaign_id < 1:
        raise ValueError(f"no campaign has the number {campaign_id}")
    names = "".join(f"b{batch_id:d}\nb{batch_id:d}.void\n" for batch_id in batch_ids)
    return f"""\
cigri_base={base}
case $cigri_base in
*/../* | */.. | */./*) exit 78 ;;
/*/*) cd -- "$cigri_base/c{campaign_id:d}" 2>/dev/null || exit 0 ;;
*) exit 78 ;;
esac
xargs rm -rf -- <<'EOF' || exit 74
{names}EOF
cd .. && rmdir c{campaign_id:d} 2>/dev/null || :
"""


def parse_purged(answer: ShellResult) -> None:
    """Raise UnreadableOutput unless all was removed."""
    if answer.status != 0:
        raise UnreadableOutput(f"not all was removed (exit status {answer.status}): {excerpt(answer.err)!r}")
