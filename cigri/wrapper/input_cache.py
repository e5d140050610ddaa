"""The cache of inputs of an account on a cluster: each file once, by its content, whole or not under its name.

A piece after the other is added to `HASH.part`; when all bytes are there and have the right sum it becomes `HASH`, to
which nobody writes any more, or the directory `HASH.d` that it was packed from.
"""

from collections.abc import Sequence
from typing import NamedTuple

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult
from cigri.wrapper.read_limits import IS_FILE

CACHE = "cache"
KILOBYTE = 1024  # as df counts
CACHE_HEAD, CACHE_FOOT = "cigri-cache 1", "cigri-cache end"
IS_THERE = "there"
HELD = "cigri-held "
FINISHED = {"cigri-file whole\n": True, "cigri-file wrong\n": False}

# openssl uses what the processor has for it, and is up to nine times as fast as the sha256sum of many systems.
SUM_OF = """\
cigri_sum_of() {
    openssl dgst -sha256 -r <"$1" 2>/dev/null || sha256sum <"$1"
}
"""


class CachedFile(NamedTuple):
    """A file by the SHA-256 of its content; `is_packed`: it is a tar archive of a directory, and kept unpacked."""

    sha256: str
    is_packed: bool = False

    @property
    def name(self) -> str:
        """Below the cache."""
        return f"{self.sha256}.d" if self.is_packed else self.sha256


class CacheState(NamedTuple):
    """Of each file, how many bytes of it are there (None: it is there, whole and verified); bytes that are free."""

    held: list[int | None]
    free: int | None
    """None: nobody can tell."""


def ask_cache(base: str, files: Sequence[CachedFile]) -> str:
    """sh text that prints what is free there, and for each file that it is there, or how many of its bytes are."""
    calls = "".join(f"cigri_held {file.name} {file.sha256}.part\n" for file in files)
    return f"""\
{IS_FILE}cigri_held() {{
    if [ ! -L "$1" ] && {{ [ -f "$1" ] || [ -d "$1" ]; }}; then
        echo {IS_THERE}
    elif cigri_is_file "$2"; then
        echo $(($(wc -c <"$2")))
    else
        echo 0
    fi
}}
echo '{CACHE_HEAD}'
cigri_free=-
cd -- {base}/{CACHE} 2>/dev/null || cd -- {base} 2>/dev/null || cd
{{ read -r cigri_skip && read -r cigri_skip cigri_skip cigri_skip cigri_free cigri_skip; }} <<cigri-df
$(df -Pk . 2>/dev/null)
cigri-df
echo "${{cigri_free:--}}"
cd -- {base}/{CACHE} 2>/dev/null || cd / # where none of them is
{calls}echo '{CACHE_FOOT}'
"""


def parse_cached(files: Sequence[CachedFile], answer: ShellResult) -> CacheState:
    """In their order."""
    lines = answer.out.split("\n")
    free, told = lines[1] if len(lines) > 1 else "", lines[2:-2]
    is_whole = answer.status == 0 and lines[0] == CACHE_HEAD and lines[-2:] == [CACHE_FOOT, ""]
    if not is_whole or len(told) != len(files) or not all(line == IS_THERE or line.isdecimal() for line in told):
        raise UnreadableOutput(f"what lies in the cache was not told (exit status {answer.status}): {_said(answer)}")
    held = [None if line == IS_THERE else int(line) for line in told]
    return CacheState(held, int(free) * KILOBYTE if free.isdecimal() else None)


def take_piece(base: str, file: CachedFile, offset: int, size: int) -> str:
    """sh text that adds its standard input to a file that has `offset` bytes, and prints how many it has then."""
    return f"""\
{IS_FILE}umask 077
mkdir -p -- {base}/{CACHE} && cd -- {base}/{CACHE} || exit 74
cigri_part={file.sha256}.part
if [ -e "$cigri_part" ] || [ -L "$cigri_part" ]; then
    cigri_is_file "$cigri_part" || rm -rf -- "$cigri_part" || exit 74
fi
cigri_size=0
[ ! -e "$cigri_part" ] || cigri_size=$(($(wc -c <"$cigri_part")))
cigri_status=0
if [ "$cigri_size" -eq {offset:d} ]; then
    LC_ALL=C head -c {size:d} >>"$cigri_part" || cigri_status=74
    cigri_size=$(($(wc -c <"$cigri_part")))
fi
echo "{HELD}$cigri_size"
exit $cigri_status
"""


def parse_held(answer: ShellResult) -> int:
    """How many bytes there are; raise UnreadableOutput where they could not be written."""
    size = answer.out.removeprefix(HELD).strip()
    if answer.status or not answer.out.startswith(HELD) or not size.isdecimal():
        raise UnreadableOutput(f"an input could not be written to the cluster: {_said(answer)}")
    return int(size)


def finish_file(base: str, file: CachedFile) -> str:
    """sh text that gives a file its name if it has the right sum, and removes it if not.

    What is unpacked has its name only when all of it is there; its owner may look at it, and not change it.
    """
    part, fresh = f"{file.sha256}.part", f"{file.sha256}.new"
    keep = f"chmod 500 {part} && mv -f -- {part} {file.name}"
    unpack = f"""\
{{
        [ ! -e {fresh} ] || {{ chmod -R u+w -- {fresh}; rm -rf -- {fresh}; }}
        mkdir -- {fresh} && tar -xf {part} -C {fresh} && chmod -R a-w,go= -- {fresh} && chmod u+w -- {fresh} &&
            mv -- {fresh} {file.name} && chmod a-w -- {file.name} && rm -f -- {part}
    }}"""
    return f"""\
{IS_FILE}{SUM_OF}umask 077
cd -- {base}/{CACHE} || exit 74
[ ! -e {file.name} ] || {{ rm -f -- {part}; echo 'cigri-file whole'; exit 0; }}
cigri_is_file {part} || {{ rm -rf -- {part}; echo 'cigri-file wrong'; exit 0; }}
cigri_sum=$(cigri_sum_of {part}) || exit 74
if [ "${{cigri_sum%% *}}" = {file.sha256} ]; then
    {unpack if file.is_packed else keep} || exit 74
    echo 'cigri-file whole'
else
    rm -f -- {part}
    echo 'cigri-file wrong'
fi
"""


def parse_finished(answer: ShellResult) -> bool:
    """False: what had come was not the file."""
    if answer.status or answer.out not in FINISHED:
        raise UnreadableOutput(f"an input could not be put in its place on the cluster: {_said(answer)}")
    return FINISHED[answer.out]


def drop_files(base: str, files: Sequence[CachedFile]) -> str:
    """sh text that removes these files; what is unpacked is its owner's to write again first."""
    calls = "".join(f"cigri_drop {file.name} {file.sha256}.part\n" for file in files)
    return f"""\
cigri_drop() {{
    [ -L "$1" ] || [ ! -d "$1" ] || chmod -R u+w -- "$1" || cigri_status=74
    rm -rf -- "$1" "$2" || cigri_status=74
}}
cigri_status=0
cd -- {base}/{CACHE} 2>/dev/null || exit 0 # there is none
{calls}exit $cigri_status
"""


def parse_dropped(answer: ShellResult) -> None:
    """Raise UnreadableOutput where some may be left."""
    if answer.status:
        raise UnreadableOutput(f"inputs could not be removed from the cluster: {_said(answer)}")


def _said(answer: ShellResult) -> str:
    return repr(excerpt(answer.err or answer.out))
