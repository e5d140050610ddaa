"""`cigri cluster`: declares, tests and changes clusters; one file an action."""

from modules.operator import dispatch

ACTIONS = {
    "list": "every cluster and how it is",
    "add": "declare a cluster",
    "change": "change the configuration of a declared cluster",
    "show": "configuration, state and accounts of a cluster",
    "test": "try, step by step, all that CiGri does there",
    "enable": "give it jobs; past failures are forgiven",
    "disable": "give it no new jobs; those it has are watched to their end",
    "drain": "give it no new jobs, and tell or kill those that run by a time",
    "undrain": "end that",
    "nodes": "nodes that are left out as sick; give them jobs again",
    "jobs": "jobs of yours that live there, of operators those of everybody",
    "remove": "forget a cluster that no campaign has used",
    "map": "say which account runs a grid user's jobs there",
}
EXAMPLES = """\
  cigri cluster add dahu --driver slurm --ssh cigri@dahu.example.org --set max_waiting=100
  cigri cluster test dahu
  cigri cluster map dahu alice asmith"""


def run(argv: list[str]) -> int:
    return dispatch("cigri cluster", "Declare, test and change clusters.", ACTIONS, EXAMPLES, argv)
