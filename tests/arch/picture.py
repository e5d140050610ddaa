"""The flow of a grid, drawn from the second lines of cigri/flow: `python -P -m tests.arch.picture` writes it.

An arrow is a file that at most a few programs give, and that a module of the cycle, or users, take from another one.
"""

import re
from collections import defaultdict
from pathlib import Path

from cigri.lifecycle import CYCLE
from tests.arch.ends import FLOW, all_ends, name_of

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
FLOW_PICTURE = re.compile(r"(<!-- the flow -->\n).*?(<!-- /the flow -->)", re.DOTALL)
PROGRAMS = ("users", *(name.replace("_", " ") for name in CYCLE))
MOST_GIVERS = 2
"""What more programs give, as events, is between all of them: it would hide the rest."""


def arrows() -> dict[tuple[str, str], list[str]]:
    """The nouns that go from one program to another, in the order of the cycle."""
    found = defaultdict(list)
    for path in sorted(FLOW.glob("*.py")):
        ends = all_ends().get(name_of(path))
        if ends is None:
            continue
        givers, takers = ends.givers & set(PROGRAMS), ends.takers & set(PROGRAMS)
        if len(ends.givers) <= MOST_GIVERS:
            for giver in givers:
                for taker in takers - {giver}:
                    found[giver, taker].append(path.stem.replace("_", " "))
    return dict(sorted(found.items(), key=lambda item: tuple(map(PROGRAMS.index, item[0]))))


def drawn() -> str:
    """The arrows as Mermaid reads them."""
    lines = ["```mermaid", "flowchart LR"]
    names = {program: program.replace(" ", "_") for program in PROGRAMS}
    lines += [f'    {names[program]}["{program}"]' for program in PROGRAMS]
    for (giver, taker), nouns in arrows().items():
        lines.append(f'    {names[giver]} -->|"{"<br/>".join(nouns)}"| {names[taker]}')
    return "\n".join([*lines, "```", ""])


def page(text: str) -> str:
    """The page with the picture of today."""
    return FLOW_PICTURE.sub(lambda match: match[1] + drawn() + match[2], text)


if __name__ == "__main__":
    ARCHITECTURE.write_text(page(ARCHITECTURE.read_text()))
