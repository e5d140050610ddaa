"""What is understood of options in the spelling of each batch system, and what is refused in which words."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backend.drivers import DRIVERS

UNDERSTOOD = [
    ("slurm", "-c 4", {"cpus-per-task": "4"}),
    ("slurm", "-c4 --cpus-per-task=4", None),
    ("slurm", "-c4", {"cpus-per-task": "4"}),
    ("slurm", "--mem 2g --tmp=512", {"mem": "2G", "tmp": "512M"}),
    (
        "slurm",
        "-C 'fast&(ib|opa)' -x n[1-3],m7 -w n9",
        {"constraint": "fast&(ib|opa)", "exclude": "n[1-3],m7", "nodelist": "n9"},
    ),
    (
        "slurm",
        "--gres=gpu:a100:2,disk -L matlab:2,maple@flex",
        {"gres": "gpu:a100:2,disk", "licenses": "matlab:2,maple@flex"},
    ),
    (
        "slurm",
        "-pfast,slow -q high --reservation=r1 --wckey=w",
        {"partition": "fast,slow", "qos": "high", "reservation": "r1", "wckey": "w"},
    ),
    (
        "slurm",
        "--features=a --excludes=b --licence=c --nodes=d --reserv=e",
        {"constraint": "a", "exclude": "b", "licenses": "c", "nodelist": "d", "reservation": "e"},
    ),
    ("gridengine", "-p -7 -q all.q -P chem", {"priority": "-7", "queue": "all.q", "project": "chem"}),
    (
        "gridengine",
        "-l arch=lx-amd64 -soft -l mem_free=4G -l fast -hard -l gpu=1",
        {"hard": "arch=lx-amd64,gpu=1", "soft": "mem_free=4G,fast"},
    ),
    ("gridengine", "'--hard=-l a=b -q x.q@n1' '--soft=-l c=d'", {"hard": "a=b", "queue": "x.q@n1", "soft": "c=d"}),
    ("gridengine", "--hard=a=b,c=d", {"hard": "a=b,c=d"}),
    ("gridengine", "-R y -js 12 -ar 3", {"reserve": "y", "job-share": "12", "reservation": "3"}),
    (
        "oar",
        "-q night -p \"mem > 4 and cpu = 'x'\" --project p",
        {"queue": "night", "property": "mem > 4 and cpu = 'x'", "project": "p"},
    ),
    (
        "oar",
        "-t inner=3 -t timesharing=*,* -l /nodes=1 -l /nodes=2",
        {"type": "inner=3,timesharing=*,*", "resource": "/nodes=1\n/nodes=2"},
    ),
    ("local", "--whatever -z ;", {}),
]

REFUSED = [
    ("slurm", "-z 3", "unknown option -z; there are: -c, --mem"),
    ("slurm", "--contraint=a", "unknown option --contraint; did you mean --constraint?"),
    ("slurm", "--wrap='rm -rf /'", "unknown option --wrap"),
    ("slurm", "-t 3", "write the walltime in 'walltime'"),
    ("slurm", "-A x", "write the account in 'project'"),
    ("slurm", "-J x", "-J is not for here; CiGri says it itself"),
    ("slurm", "--array=1-4", "--array is not for here"),
    ("slurm", "-c", "-c, --cpus-per-task needs a value"),
    ("slurm", "--mem=", "--mem needs a value"),
    ("slurm", "-c 0", "expected a whole number from 1 to"),
    ("slurm", "-c four", "not 'four'"),
    ("slurm", "--mem=0", "expected an amount as 512M or 2G"),
    ("slurm", "--mem=5m2", "expected an amount"),
    ("slurm", "-w /etc/passwd", "names of nodes, as n[1-4],m7 (no file)"),
    ("slurm", "-x ./nodes", "no file"),
    ("slurm", "-q '$(id)'", "-q, --qos: expected a name"),
    ("slurm", "-C 'a;b'", "expected features of nodes"),
    ("slurm", "--gres=a:b:c:d", "NAME[:TYPE][:COUNT]"),
    ("slurm", "-L 'a b'", "NAME[:COUNT]"),
    ("slurm", "-q a -q b", "-q, --qos is given twice"),
    ("slurm", "fast", "'fast' is no option; quote a value that holds blanks"),
    ("slurm", "-h", "`gridsub -b -h`"),
    ("slurm", "--help", "`gridsub -b -h`"),
    ("gridengine", "5", "expected a whole number from -1023 to 0 (only operators"),
    ("gridengine", "-p -2000", "expected a whole number from -1023"),
    ("gridengine", "-S /bin/sh", "unknown option -S; there are: -p, -q"),
    ("gridengine", "-soft -q x.q", "a queue cannot be soft here"),
    ("gridengine", "-l h_rt=4", "write the walltime, the cores or the queue instead"),
    ("gridengine", "-l 'a=b c'", "expected requests, as arch=lx-amd64"),
    ("gridengine", "-pe mpi 4", "write cpu and nodes in 'resources'"),
    ("gridengine", "-N x", "CiGri says it itself"),
    ("gridengine", "-js -4", "expected a whole number from 0"),
    ("gridengine", "-l", "expected requests, as arch"),
    ("oar", "-n x", "CiGri says it itself"),
    ("oar", "-q 'a b'", "expected a name"),
    ("oar", "--stdout=/x", "unknown option --stdout"),
    ("oar", "-p 'a\nb'", "expected one line"),
]


@pytest.mark.parametrize(("driver", "text", "found"), UNDERSTOOD)
def test_options_are_understood(driver: str, text: str, found: dict[str, str] | None) -> None:
    if found is None:
        with pytest.raises(ValueError, match="given twice"):
            DRIVERS[driver].read_backend(shlex.split(text))
        return
    assert DRIVERS[driver].read_backend(shlex.split(text)) == found


@pytest.mark.parametrize(("driver", "text", "told"), REFUSED)
def test_everything_else_is_refused_in_words(driver: str, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        DRIVERS[driver].read_backend(shlex.split(text))


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ValueError, match=r"-c.*'x'.*unknown option --foo.*--qos is given twice"):
        DRIVERS["slurm"].read_backend(["-c", "x", "--foo", "bar", "-q", "a", "-q", "b"])


WORDS = ["-c", "-p", "-l", "-q", "-C", "--mem", "-hard", "-soft", "-t", "4", "a=b", "x"]


@pytest.mark.parametrize("driver", ["slurm", "gridengine", "oar"])
@given(
    words=st.lists(
        st.text(max_size=12) | st.sampled_from(["-c", "-p", "-l", "-q", "-C", "--mem", "-hard", "-soft", "-t"]),
        max_size=6,
    )
)
def test_whatever_is_given_is_read_or_refused(driver: str, words: list[str]) -> None:
    try:
        found = DRIVERS[driver].read_backend(words)
    except ValueError:
        return
    kept = {name: value for name, value in found.items() if "\n" not in value}
    assert DRIVERS[driver].read_backend([f"--{name}={value}" for name, value in kept.items()]) == kept
