"""Jobs that have more memory than they asked for are ended with a reason, and their wrappers are told of peaks."""

import os
import re
import shlex
import signal
import sys
from tempfile import NamedTemporaryFile

from cigri.localbatch.memory import MemoryOfJob
from tests.localbatch.host import Host

SEEN = """
def seen(least):
    for line in open(os.environ["CIGRI_LOCAL_FEATURES"] + "/peaks"):
        pid, kilobytes, _ = line.split()
        if int(pid) == os.getpid() and int(kilobytes) >= least * 1024: return True
def until_seen(least):
    while True:
        time.sleep(0.05)
        try:
            if seen(least): return
        except OSError: pass
"""


def python(text: str) -> str:
    """A line of sh, which stays the parent."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(f'import mmap, os, sys, time{SEEN}{text}')}; exit $?"


def holds(megabytes: int, then: str = "while True: time.sleep(60)") -> str:
    return python(f"x = b'x' * ({megabytes} * 2**20)\n{then}")


def test_a_job_that_has_more_than_it_asked_for_is_ended(host: Host) -> None:
    greedy, modest = host.submit(holds(150), "--mem=100"), host.submit(holds(60, "until_seen(60)"), "--mem=100")
    [end] = host.end_of(greedy)
    assert (end["state"], end["exit_code"]) == ("out_of_memory", 137)
    assert re.fullmatch(r"it asked for 100 MB of memory and had 1[5-9]\d MB", end["reason"])
    assert host.end_of(modest)[0]["state"] == "succeeded"
    assert not host.live()


def test_what_asks_for_none_has_no_limit(host: Host) -> None:
    assert host.end_of(host.submit(holds(150, "until_seen(150)")))[0]["state"] == "succeeded"


def test_a_job_finds_no_peaks_of_those_before(host: Host) -> None:
    assert host.end_of(host.submit(holds(20, "until_seen(20)")))[0]["state"] == "succeeded"
    told = 'ls -d "$CIGRI_LOCAL_FEATURES"/* >>$D/found'
    host.end_of(host.submit(told))
    assert not [line for line in host.wait_for_lines("found") if line.endswith("/peaks")]


def test_all_processes_of_a_job_count_together(host: Host) -> None:
    """Also one that has left its session and its parent."""
    left = f"setsid sh -c {shlex.quote(f'({holds(70)}) &')}"
    name = host.submit(f"{left}; {holds(70)}", "--mem=100")
    assert host.end_of(name)[0]["state"] == "out_of_memory"
    assert not host.live()


def test_what_a_job_shares_with_itself_counts_once(host: Host) -> None:
    forks = "x = b'x' * (80 * 2**20)\nfor _ in range(3):\n    if not os.fork(): break\nuntil_seen(0)"
    [end] = host.end_of(host.submit(python(forks), "--mem=150"))
    assert (end["state"], end["reason"]) == ("succeeded", "")


def test_a_mapped_file_does_not_count(host: Host) -> None:
    """Not in memory as /dev/shm is: the kernel can read it again."""
    with NamedTemporaryFile(dir="/var/tmp") as file:
        file.write(b"x" * (100 * 2**20))
        file.flush()
        mapped = f"m = mmap.mmap(os.open({file.name!r}, os.O_RDONLY), 0, access=mmap.ACCESS_READ)"
        reads = "for i in range(0, len(m), 4096): m[i]\nuntil_seen(100)\nx = b'x' * (20 * 2**20)\nuntil_seen(120)"
        [end] = host.end_of(host.submit(python(f"{mapped}\n{reads}"), "--mem=60"))
    assert (end["state"], end["reason"]) == ("succeeded", "")


def test_the_next_daemon_looks_on(host: Host) -> None:
    begun, go = str(host.directory / "begun"), str(host.directory / "open")
    grows = f"open({begun!r}, 'w').write('x\\n')\nwhile not os.path.exists({go!r}): time.sleep(0.05)"
    name = host.submit(python(f"{grows}\nx = b'x' * (150 * 2**20)\nwhile True: time.sleep(60)"), "--mem=100")
    host.wait_for_lines("begun")
    host.stop(signal.SIGKILL)
    assert host.states(name) == ["running"]
    (host.directory / "open").touch()
    assert host.end_of(name)[0]["state"] == "out_of_memory"


def test_processes_that_are_gone_have_nothing(tmp_path: os.PathLike[str]) -> None:
    gone = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(gone, 0)
    path = f"{tmp_path}/peaks"
    assert MemoryOfJob(path).look(gone, [gone], 100) == 0
    assert not os.path.exists(path)
