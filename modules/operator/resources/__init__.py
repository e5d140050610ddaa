"""`cigri resources`: describes sites, clusters and queues; one file an action."""

from modules.operator import dispatch

ACTIONS = {
    "apply": "put a description into force, or see what it would change",
    "show": "the description that holds, or an earlier one",
    "history": "every description that was applied",
    "diff": "how two of them differ",
}
EXAMPLES = """\
  cigri resources apply resources.toml --dry-run
  cigri resources apply resources.toml
  cigri resources diff 3
  cigri resources show 3 | cigri resources apply -

what holds where, and why: gridclusters --properties"""


def run(argv: list[str]) -> int:
    return dispatch("cigri resources", "Describe sites, clusters and queues.", ACTIONS, EXAMPLES, argv)
