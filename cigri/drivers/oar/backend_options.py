"""The options of oarsub that users may choose, in its own spelling; each has a field of its own in a campaign."""

from cigri.backend_options import BackendOption, BackendOptionTable, matching

LINE = matching(r"[^\0-\x1f\x7f]+", "one line")
OAR_NAME = matching(r"[A-Za-z0-9_.-]+", "a name")

BACKEND = BackendOptionTable(
    (
        BackendOption("queue", OAR_NAME, "queue", "-q", field="queue"),
        BackendOption("property", LINE, "condition on resources, in SQL", "-p", ("properties",), "properties"),
        BackendOption("project", OAR_NAME, "project", field="project"),
        BackendOption("type", LINE, "type of jobs; may be given more than once", "-t", ("types",), "types", ","),
        BackendOption(
            "resource",
            LINE,
            "resources, as /nodes=1/core=4; more than once: alternatives",
            "-l",
            ("resources",),
            "resources",
            "\n",
        ),
    ),
    elsewhere=dict.fromkeys(("-n", "--name", "--array", "-d", "--directory", "-O", "-E"), "CiGri says it itself")
    | {"--checkpoint": "write 'checkpoint'", "--walltime": "write 'walltime'"},
    note="The walltime stands in 'walltime', not in -l.",
)
