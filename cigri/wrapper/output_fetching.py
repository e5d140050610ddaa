"""The outputs that tasks have left, a directory each, are brought: small files in one stream, a large one by pieces.

What lies there may be anything, and so may what a cluster says of it: only plain files count, by names that lead
nowhere else. Files are told in the order of the bytes of their names, so that somebody can go on behind one of them.
"""

import tarfile
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt, leads_below
from cigri.shell.results import RawShellResult, ShellResult
from cigri.wrapper.journal import JobKey

MANY, ONE, NONE = b"cigri-files 1\n", b"cigri-file 1 ", b"cigri-file 1 absent\n"
MOST_FILES_NAMED = 1000
MOST_NAMED = 60_000  # bytes: what xargs gives to one command in any case
NO_ARCHIVE = (tarfile.TarError, ValueError, OverflowError, RecursionError)  # of what should be an archive, and is none


class OutputDirectory(NamedTuple):
    """The outputs of one attempt at a task."""

    key: JobKey
    position: int

    @property
    def name(self) -> str:
        """Below the directory of the grid."""
        key = self.key
        return f"c{key.campaign_id:d}/b{key.batch_id:d}/{key.index:d}.{self.position:d}.d"


class RemoteOutputFile(NamedTuple):
    """A file of a parcel; its path is that below the parcel's directory, as the bytes that the cluster has for it."""

    parcel: OutputDirectory
    path: bytes


class OutputFilePart(NamedTuple):
    """A file, or a part of it; size None: there is none, or it is told when it is asked for alone (a hard link)."""

    file: RemoteOutputFile
    size: int | None
    content: bytes


def fetch_files(base: str, parcels: Sequence[OutputDirectory], behind: RemoteOutputFile | None, most: int) -> str:
    """sh text that prints at most `most` bytes of the files of these parcels, those behind one of them."""
    names = " ".join(parcel.name for parcel in parcels)
    known = f"{behind.parcel.name}/".encode() + behind.path.replace(b"\n", b"\1") if behind else b""
    return f"""\
echo 'cigri-files 1'
cd -- {base} 2>/dev/null || exit 0
case $(tar --version 2>&1) in *GNU*) cigri_as_is=--no-unquote ;; *) cigri_as_is='' ;; esac
cigri_known={_word(known)} && cigri_known=${{cigri_known%x}}
find {names} -type f -print0 2>/dev/null | tr '\\n\\0' '\\1\\n' | LC_ALL=C sort |
    LC_ALL=C cigri_known=$cigri_known awk '$0 > ENVIRON["cigri_known"] {{
        names += length($0) + 9
        if (++files > {MOST_FILES_NAMED} || (files > 1 && names > {MOST_NAMED})) exit
        print
    }}' |
    tr '\\n\\1' '\\0\\n' | xargs -0 -r tar -cf - --no-recursion $cigri_as_is -- | head -c {most:d}
"""


def fetch_part(base: str, file: RemoteOutputFile, offset: int, most: int) -> str:
    """sh text that prints at most `most` bytes of one file, from an offset on; no link on the way to it is followed."""
    return f"""\
cigri_absent() {{ echo 'cigri-file 1 absent'; exit 0; }}
cd -- {base}/{file.parcel.name} 2>/dev/null || cigri_absent
cigri_path={_word(file.path)} && cigri_path=${{cigri_path%x}}
cigri_way=. cigri_steps=$cigri_path/
while [ -n "$cigri_steps" ]; do
    cigri_way=$cigri_way/${{cigri_steps%%/*}} cigri_steps=${{cigri_steps#*/}}
    [ ! -L "$cigri_way" ] || cigri_absent
done
[ -f "$cigri_way" ] || cigri_absent
echo "cigri-file 1 $(($(wc -c <"$cigri_way")))"
tail -c +{offset + 1:d} -- "$cigri_way" | head -c {most:d}
"""


def parse_files(parcels: Sequence[OutputDirectory], answer: RawShellResult) -> list[OutputFilePart]:
    """As many as had room; the last one may be a part. None: there are no more."""
    if not answer.out.startswith(MANY):
        said = excerpt(answer.err.decode(errors="replace"))
        raise UnreadableOutput(f"the outputs did not come (exit status {answer.status}): {said!r}")
    by_name = {parcel.name.encode(): parcel for parcel in parcels}
    stream, pieces = answer.out[len(MANY) :], dict[RemoteOutputFile, OutputFilePart]()
    try:
        for member in _members(stream):
            *head, path = member.name.encode("utf-8", "surrogateescape").split(b"/", 3)
            parcel = by_name.get(b"/".join(head))
            if parcel is None or not leads_below(path) or not (member.isreg() or member.islnk()):
                continue
            content = stream[member.offset_data : member.offset_data + member.size] if member.isreg() else b""
            file = RemoteOutputFile(parcel, path)
            pieces.setdefault(file, OutputFilePart(file, member.size if member.isreg() else None, content))
    except NO_ARCHIVE as error:
        raise UnreadableOutput(f"what should be an archive of outputs is none: {error}") from None
    return list(pieces.values())


def parse_rest(file: RemoteOutputFile, answer: RawShellResult) -> list[OutputFilePart]:
    """One piece, or none where there is no such file."""
    head, newline, content = answer.out.removeprefix(ONE).partition(b"\n")
    if answer.out == NONE:
        return []
    if not answer.out.startswith(ONE) or not newline or not head.isdigit():
        said = excerpt(answer.err.decode(errors="replace"))
        raise UnreadableOutput(f"the output did not come (exit status {answer.status}): {said!r}")
    return [OutputFilePart(file, int(head), content)]


def drop_parcels(base: str, parcels: Sequence[OutputDirectory]) -> str:
    """sh text that removes what has been brought; what is gone is no error."""
    names = "".join(f"{parcel.name}\n" for parcel in parcels)
    return f"""\
cd -- {base} 2>/dev/null || exit 0
xargs rm -rf -- <<'EOF' || exit 74
{names}EOF
"""


def parse_dropped(answer: ShellResult) -> None:
    """Raise UnreadableOutput where some may be left."""
    if answer.status:
        said = excerpt(answer.err)
        raise UnreadableOutput(f"outputs could not be removed from the cluster (exit status {answer.status}): {said!r}")


def _members(stream: bytes) -> list[tarfile.TarInfo]:
    """The last one was perhaps cut."""
    if not stream:
        return []
    members = []
    with tarfile.open(fileobj=BytesIO(stream), mode="r:", encoding="utf-8") as archive:
        try:
            while member := archive.next():
                if member.size < 0:
                    raise UnreadableOutput(f"an output is told to have {member.size} bytes")
                members.append(member)
        except tarfile.ReadError:
            if not members:
                raise
    return members


def _word(text: bytes) -> str:
    """sh text for these bytes and an x, which keeps newlines at their end."""
    return "$(printf '" + "".join(f"\\{byte:03o}" for byte in text) + "x')"
