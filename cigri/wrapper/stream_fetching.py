"""Files of outputs are brought: many small ones in one stream of tar, a large one piece by piece.

What lies there may be anything. tar reads no link and no FIFO, and of what it sends only plain files count that were
asked for.
"""

import tarfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import RawShellResult
from cigri.wrapper.batch_operations import StreamName
from cigri.wrapper.journal import JobKey
from cigri.wrapper.read_limits import IS_FILE

MANY, ONE, NONE = b"cigri-outputs 1\n", b"cigri-output 1 ", b"cigri-output 1 absent\n"
TAR_BLOCK = tarfile.BLOCKSIZE


class StreamLocation(NamedTuple):
    """Which output it is."""

    key: JobKey
    position: int
    stream: StreamName

    @property
    def name(self) -> str:
        """Below the directory of the grid."""
        key = self.key
        return f"c{key.campaign_id:d}/b{key.batch_id:d}/{key.index:d}.{self.position:d}.{self.stream}"


class FetchedStream(NamedTuple):
    """An output, or a part of it; size None: there is no such file, or something in its place that is none."""

    place: StreamLocation
    size: int | None
    content: bytes


def fetch_outputs(base: str, places: Sequence[StreamLocation], offset: int, most: int) -> str:
    """sh text that prints at most `most` bytes of these files; `offset`: of one alone, what is behind it."""
    if offset:
        (place,) = places
        return f"""\
cigri_file={base}/{place.name}
{IS_FILE}cigri_is_file "$cigri_file" || {{ echo 'cigri-output 1 absent'; exit 0; }}
echo "cigri-output 1 $(($(wc -c <"$cigri_file")))"
tail -c +{offset + 1:d} -- "$cigri_file" | head -c {most:d}
"""
    names = "".join(f"{place.name}\n" for place in places)
    return f"""\
cd -- {base} 2>/dev/null || {{ echo 'cigri-output 1 absent'; exit 0; }}
echo 'cigri-outputs 1'
tar -cf - --no-recursion -T - <<'EOF' | head -c {most:d}
{names}EOF
"""


def parse_outputs(places: Sequence[StreamLocation], answer: RawShellResult) -> list[FetchedStream]:
    """In their order; those at the end are not told of that had no room."""
    if answer.out == NONE:
        return [FetchedStream(place, None, b"") for place in places]
    if answer.out.startswith(ONE):
        head, _, content = answer.out.removeprefix(ONE).partition(b"\n")
        if len(places) == 1 and head.isdigit():
            return [FetchedStream(places[0], int(head), content)]
    elif answer.out.startswith(MANY):
        told = list(_files(memoryview(answer.out)[len(MANY) :], places))
        if told:
            return told
    said = excerpt(answer.err.decode(errors="replace"))
    raise UnreadableOutput(f"the outputs did not come (exit status {answer.status}): {said!r}")


def _files(stream: memoryview, places: Sequence[StreamLocation]) -> Iterator[FetchedStream]:
    """As tar told of them; a stream without its end was cut."""
    found: dict[str, FetchedStream] = {}
    by_name = {place.name: place for place in places}
    is_whole, start = False, 0
    while not is_whole and start + TAR_BLOCK <= len(stream):
        try:
            head = tarfile.TarInfo.frombuf(bytes(stream[start : start + TAR_BLOCK]), "utf-8", "surrogateescape")
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # typeshed does not know it
            is_whole = True
            continue
        except tarfile.HeaderError as error:
            raise UnreadableOutput(f"what should be an archive of outputs is none: {error}") from None
        if head.size < 0:
            raise UnreadableOutput(f"an output is told to have {head.size} bytes")
        start += TAR_BLOCK
        if head.name in by_name and head.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            content = bytes(stream[start : start + head.size])
            found[head.name] = FetchedStream(by_name[head.name], head.size, content)
        start += -(-head.size // TAR_BLOCK) * TAR_BLOCK
    last = max((number for number, place in enumerate(places) if place.name in found), default=-1)
    for place in places if is_whole else places[: last + 1]:
        yield found.get(place.name, FetchedStream(place, None, b""))
