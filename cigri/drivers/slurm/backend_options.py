"""The options of sbatch that users may choose, in its own spelling."""

import re

from cigri.backend_options import BackendOption, BackendOptionTable, between, matching

AMOUNT = re.compile(r"([1-9]\d{0,8})([KMGT]?)B?", re.IGNORECASE)
NAMES = r"[A-Za-z0-9_.@+-]+(?:,[A-Za-z0-9_.@+-]+)*"
HOSTS = r"[A-Za-z0-9_.,-]+(?:\[[0-9,-]+\][A-Za-z0-9_.,-]*)*"
FEATURES_PATTERN = r"[A-Za-z0-9_.:=+*&|()\[\]-]+"
GRES = r"(?:gres[:/])?[A-Za-z0-9_.@-]+(?::[A-Za-z0-9_.-]+){0,2}"
LICENSE = r"[A-Za-z0-9_.-]+(?:@[A-Za-z0-9_.-]+)?(?::[1-9]\d*)?"

ONE_SHAPE = "Slurm takes no arrays of heterogeneous jobs, so that all nodes of a job have one shape"


def _amount(value: str) -> str:
    """In MB, as Slurm has it; 0 would be the whole of a node."""
    if not (amount := AMOUNT.fullmatch(value)):
        raise ValueError(f"expected an amount as 512M or 2G, in MB without a letter, not {value!r}")
    return f"{amount[1]}{amount[2].upper() or 'M'}"


NODE_LIST = matching(HOSTS, "names of nodes, as n[1-4],m7 (no file)")

BACKEND = BackendOptionTable(
    (
        BackendOption("cpus-per-task", between(1, 2**31 - 1), "cpu resource to use", "-c", ("cpu",), "cpu"),
        BackendOption("mem", _amount, "mem resource to use", field="mem"),
        BackendOption("tmp", _amount, "tmp resource to use", field="tmp"),
        BackendOption(
            "constraint",
            matching(FEATURES_PATTERN, "features of nodes, as 'fast&(ib|opa)'"),
            "features that a node must have",
            "-C",
            ("features",),
            "properties",
        ),
        BackendOption("exclude", NODE_LIST, "nodes where no job shall run", "-x", ("excludes",)),
        BackendOption("gres", matching(rf"{GRES}(?:,{GRES})*", "NAME[:TYPE][:COUNT],..."), "generic resources"),
        BackendOption(
            "licenses",
            matching(rf"{LICENSE}(?:[,;]{LICENSE})*", "NAME[:COUNT],..."),
            "licenses",
            "-L",
            ("license", "licence", "licences"),
        ),
        BackendOption("nodelist", NODE_LIST, "nodes that each job gets, all of them", "-w", ("nodes",)),
        BackendOption("partition", matching(NAMES, "names of partitions"), "partition", "-p", field="queue"),
        BackendOption("qos", matching(r"[A-Za-z0-9_.-]+", "a name"), "quality of service", "-q"),
        BackendOption("reservation", matching(NAMES, "names of reservations"), "reservation", "", ("reserv",)),
        BackendOption("wckey", matching(r"[A-Za-z0-9_.@-]+", "a name"), "workload characterization key"),
    ),
    elsewhere=dict.fromkeys(("-t", "--time"), "write the walltime in 'walltime'")
    | {"-N": "write nodes in 'resources'"}
    | dict.fromkeys(("-A", "--account"), "write the account in 'project'")
    | dict.fromkeys(("-J", "--job-name", "-a", "--array", "-n", "--ntasks", "-o", "-e"), "CiGri says it itself"),
    one_shape=ONE_SHAPE,
    note="gres0 is gres; gres1 and so on would be shapes of a heterogeneous job, of which Slurm takes no arrays.",
)
