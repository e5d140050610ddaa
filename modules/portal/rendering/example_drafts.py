"""Descriptions to begin with: small campaigns that run on any cluster as they are."""

from typing import NamedTuple

from cigri.errors import NotFound


class ExampleDraft(NamedTuple):
    """A draft, and what it is an example of; `kind`: as in LINE_KINDS."""

    title: str
    described: str
    lines: str = ""
    kind: str = ""


EXAMPLE_DRAFTS = {
    "words": ExampleDraft(
        "one command, other words for each task",
        "name: hello\nexec_file: echo hello\nwalltime: 1 min\nclusters: any\n",
        "earth\nmoon\nstars\n",
    ),
    "table": ExampleDraft(
        "a table, a task for each row",
        "# {mesh} and {seed} are columns of the table below.\n"
        "name: table\nexec_file: echo solve {mesh} --seed {seed}\nwalltime: 1 min\nclusters: any\n",
        "mesh,seed,comment\nwing,1,the usual one\nwing,2,\nplane,1,slower\n",
        ".csv",
    ),
    "sweep": ExampleDraft(
        "a sweep: each value with each other",
        "name: sweep\nexec_file: echo run --temperature {temperature} --model {model} --seed {seed}\n"
        "walltime: 1 min\nclusters: any\nsweep:\n"
        "  temperature: {from: 2.0, to: 2.4, step: 0.1}\n  model: [square, triangular]\n  seed: {from: 1, to: 10}\n",
    ),
    "resources": ExampleDraft(
        "cores and memory, and retries",
        "name: resources\nexec_file: echo simulate --size {size}\nresources: {cpu: 2, mem: 1 GB}\nwalltime: 10 min\n"
        "retries: 2\nclusters: any\nsweep:\n  size: [100, 200, 400]\n",
    ),
    "outputs": ExampleDraft(
        "files that each task writes, collected",
        "# Download them with gridget; each task has a directory of its own.\n"
        "name: outputs\nexec_file: sh -c 'echo $((6 * 7)) > result-{seed}.txt'\noutputs: [\"result-*.txt\"]\n"
        "walltime: 1 min\nclusters: any\nsweep:\n  seed: {from: 1, to: 4}\n",
    ),
}


def find_example(name: str) -> ExampleDraft:
    """Raise NotFound for one that there is not."""
    if name not in EXAMPLE_DRAFTS:
        raise NotFound(f"there is no example {name!r}; there are {', '.join(EXAMPLE_DRAFTS)}")
    return EXAMPLE_DRAFTS[name]
